"""The k-core.

Returns ``member`` (whether the vertex is in the k-core, the largest subgraph in which every vertex has at least k
neighbors), ``degree`` (its number of neighbors in the core, 0 outside) and the number of members, ``count``. Directed
graphs, self-loops and parallel edges are treated as in :mod:`dromos.algorithms.core_numbers`.
``graph.subgraph(result.member)`` is the core.

One program peels: vertices with fewer than k neighbors leave, until none has to. The engine's own kernel runs if it
has one. Seidman, "Network structure and minimum degree", 1983.
"""

from __future__ import annotations

from typing import Final, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, sources_of_arcs
from dromos.algorithms.core_numbers import Peel, degeneracy, peeled_graph
from dromos.algorithms.verifying import nowhere, peel
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, array_module

__all__ = ["KCoreResult", "k_core", "verify"]

# Bytes per vertex that peeling takes beyond core numbers, so that too small a budget for a graph on disk is refused at
# once.
_MORE_FOR_PEELING: Final = 24


class KCoreResult(Result):
    """What :func:`k_core` returns."""

    member: Array
    degree: Array
    count: int
    k: int


def k_core(graph: Graph, k: int | None = None, **how: Unpack[Options]) -> KCoreResult:
    """The vertices of the ``k``-core; without ``k``, of the densest core that is not empty.

    Args:
        graph: any; edge directions are ignored.
        k: minimum degree inside the core.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> result = dr.k_core(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False), 2)
    >>> result.member.tolist(), result.degree.tolist(), result.count
    ([True, True, True, False], [2, 2, 2, 0], 3)
    """
    session = Session("k_core", graph, **how)
    on = peeled_graph(graph)
    session.keep_between_runs()
    if k is None:
        session.hold_beside_programs(_MORE_FOR_PEELING)
        wanted = degeneracy(session, on)
        session.hold_beside_programs(0)
    else:
        wanted = count_of(k, "k")
    least = min(wanted, on.num_vertices)  # nobody has so many neighbors, and more do not fit a program's integer
    left = _left(session, on, least)
    member, module = left >= least, array_module(left)
    return session.result(
        KCoreResult,
        {
            "member": session.for_caller(member),
            "degree": lambda: session.for_caller(module.where(member, left, 0).astype(np.int64, copy=False)),
        },
        values={"count": lambda: int(module.count_nonzero(member)), "k": wanted},
        verifier=lambda result: verify(on, least, result["member"], result["degree"]),
    )


def _left(session: Session, graph: Graph, k: int) -> Array:
    """How many neighbors the members of the core have there; fewer than k for all others."""
    fields = session.native("k_core", graph, keep_on_device=True, k=k) if k else None
    return session.run(Peel(k=k), graph, keep_on_device=True).fields["left"] if fields is None else fields["left"]


def verify(graph: Graph, k: int, member: Array, degree: Array) -> None:
    """Members have their k neighbors, and all others can be peeled off."""
    src, dst = sources_of_arcs(graph), graph.targets
    within = np.bincount(src[member[src] & member[dst]], minlength=graph.num_vertices)
    nowhere(member & (within < k), "vertex {} has too few neighbors in the core")
    nowhere(within != degree, "vertex {} has another number of neighbors in the core")
    left = peel(graph, ~member, graph.out_degree.astype(np.int64), k - 1)
    nowhere(left, "vertex {} was left out, but belongs to the core")
