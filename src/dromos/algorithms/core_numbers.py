"""Core numbers.

Returns ``core``: the greatest k such that the vertex is in a subgraph in which every vertex has at least k neighbors.
As in NetworkX, the degree in a directed graph is in-degree plus out-degree. Self-loops are ignored and parallel edges
count once (NetworkX refuses both).

The engine's own kernel runs if it has one: in memory it peels (Kabir and Madduri, "Parallel k-core decomposition on
multicore platforms", 2017), on disk it lowers bounds (:mod:`dromos.places.stream.cores`). Otherwise one program peels
the graph for rising k; the k at which a vertex is removed is its core number. The next k is the smallest number of
neighbors that any remaining vertex has, a reduction. Batagelj and Zaveršnik, "An O(m) algorithm for cores decomposition
of networks", 2003.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import require_undirected_store, simple_for_programs, sources_of_arcs
from dromos.algorithms.verifying import nowhere, peel
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.graph.derived import derived
from dromos.plan.cost import Cost
from dromos.runner import Options, Result, Session

__all__ = ["CoreNumbersResult", "Cores", "Peel", "core_numbers", "degeneracy", "peeled_graph", "verify"]

COST: Final = Cost(passes=12, over_pages=30, beside=50, undirected_on_disk=True)


class Peel(dr.Program):
    """A vertex with fewer than ``k`` neighbors left leaves, and tells them."""

    k = dr.param(int)
    left = dr.field(np.int64)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        return v.out_degree

    def start(self, v: Any) -> Any:
        return v.out_degree < self.k

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        return v.left - message

    def active(self, old: Any, new: Any) -> Any:
        return (old.left >= self.k) & (new.left < self.k)


_MANY = np.iinfo(np.int64).max


class Cores(dr.Program):
    """Peels for every k. While vertices leave, those that they leave with ``k`` neighbors or fewer follow them.

    When none has left in a superstep, ``k`` rises to the least number of neighbors that is left, and those that have
    it leave. Nobody is to be active in between, so ``guard``, any vertex, stays active and says nothing.
    """

    guard = dr.param(int)
    left = dr.field(np.int64)
    core = dr.field(np.int64, init=-1)
    turn = dr.field(np.int32, init=-1)  # the superstep in which the vertex tells its neighbors that it has left
    combine = dr.SUM
    update_on = "all"

    @dr.reduction(dr.SUM)
    def remaining(self, v: Any) -> Any:
        return dr.where(v.core < 0, 1, 0)

    @dr.reduction(dr.MIN)
    def least(self, v: Any) -> Any:
        return dr.where(v.core < 0, v.left, _MANY)

    @dr.reduction(dr.MAX)
    def level(self, v: Any) -> Any:
        return v.core

    @dr.reduction(dr.SUM)
    def leaving(self, old: Any, new: Any) -> Any:
        return dr.where(old.core != new.core, 1, 0)

    def init(self, v: Any) -> Any:
        return {"left": v.out_degree}

    def start(self, v: Any) -> Any:
        return v.id == self.guard

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.turn == self.superstep

    def wants(self, v: Any) -> Any:
        return v.core < 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        k = dr.where(self.leaving > 0, self.level, self.least)
        left = v.left - message
        leaves = (v.core < 0) & (left <= k)
        return {
            "left": left,
            "core": dr.where(leaves, k, v.core),
            "turn": dr.where(leaves, self.superstep + 1, v.turn),
        }

    def active(self, old: Any, new: Any) -> Any:
        return (old.core != new.core) | (new.id == self.guard)

    def converged(self) -> Any:
        return self.remaining == 0


def peeled_graph(graph: Graph) -> Graph:
    """The undirected graph that cores are defined on: an edge of a directed graph counts at both of its ends."""
    require_undirected_store(graph, "; there two opposite edges count as one, and here as two")
    bare = simple_for_programs(graph)
    # also where every arc has its reverse: then they are two edges
    return derived(bare, "both ends", lambda given: given.symmetrized(dedupe=False)) if graph.directed else bare


class CoreNumbersResult(Result):
    """What :func:`core_numbers` returns."""

    core: Array
    degeneracy: int


def core_numbers(graph: Graph, **how: Unpack[Options]) -> CoreNumbersResult:
    """The core number of every vertex.

    Args:
        graph: any; edge directions are ignored.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.

    >>> import dromos as dr
    >>> dr.core_numbers(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)).core.tolist()
    [2, 2, 2, 1]
    """
    session = Session("core_numbers", graph, **how)
    on = peeled_graph(graph)
    core = _cores(session, on)
    return session.result(
        CoreNumbersResult,
        {"core": core},
        values={"degeneracy": _greatest(core)},
        verifier=lambda result: verify(on, result["core"]),
    )


def degeneracy(session: Session, graph: Graph) -> int:
    """The greatest core number of an undirected simple graph."""
    return _greatest(_cores(session, graph))


def _cores(session: Session, graph: Graph) -> Array:
    fields = session.native("cores", graph, keep_on_device=True)
    return _peel(session, graph) if fields is None else fields["core"]


def _greatest(core: Array) -> int:
    return int(core.max()) if len(core) else 0


def _peel(session: Session, graph: Graph) -> Array:
    if graph.num_vertices == 0:
        return np.zeros(0, dtype=np.int64)
    guard = int(np.argmin(graph.out_degree))  # its arcs are looked at in every superstep
    return session.run(Cores(guard=guard), graph).fields["core"]


def verify(graph: Graph, core: Array) -> None:
    """Every vertex has as many neighbors in its core as it claims, and peeling by the claimed numbers ends even."""
    src, dst = sources_of_arcs(graph), graph.targets
    within = np.bincount(src[core[dst] >= core[src]], minlength=graph.num_vertices)
    nowhere(within < core, "vertex {} has fewer neighbors in its core than its core number")
    degree = graph.out_degree.astype(np.int64)
    for k in np.unique(core):
        left = peel(graph, core == k, degree, int(k))
        nowhere(left, f"vertex {{}} belongs to a denser core than the {k}-core that it claims")
