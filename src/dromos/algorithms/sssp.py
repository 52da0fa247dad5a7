"""Shortest paths from one source.

Returns ``distance`` (float64; infinite where there is no path) and ``parent`` (the previous vertex on one shortest
path; the source is its own parent; -1 where there is no path). Without weights every edge counts 1; of parallel edges
the lightest counts, and self-loops change nothing unless they are negative.

Distances are merged by minimum and scheduled by priority: delta-stepping (Meyer and Sanders, "Δ-stepping: a
parallelizable shortest path algorithm", 2003) on engines that have it. Whole weights are added as integers, in the
narrowest type that the longest possible path allows. Parents are computed on first use, in one pass over the edges.
With negative weights the parents travel with the distances instead (Bellman-Ford), and a cycle among the parents is a
negative cycle: Cherkassky and Goldberg, "Negative-cycle detection algorithms", 1999.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import sources_of_arcs, weight_range, weighted
from dromos.algorithms.verifying import nowhere, require, tree_depth, with_arc
from dromos.dtypes import Array
from dromos.engines import Engine, Execution
from dromos.errors import NegativeCycleError
from dromos.graph import Graph
from dromos.parallel import in_blocks
from dromos.plan import Stats
from dromos.plan.cost import Cost, SplitCost
from dromos.runner import Options, Result, Session, on_host

__all__ = ["SSSPResult", "as_float", "distance_type", "sssp", "sssp_program", "verify"]

COST: Final = Cost(
    passes=4,
    split=SplitCost(arcs=22, vertices=68, steps=29, inner=1.5, growth=0.83, on_device=0.51),
    weighted=True,
    over_pages=47,
    beside=212,
)


@cache
def sssp_program(dtype: np.dtype[Any]) -> type[dr.Program]:
    """The program with distances of ``dtype``."""
    far = np.inf if dtype.kind == "f" else np.iinfo(dtype).max

    class SSSP(dr.Program):
        source = dr.param(int)
        distance = dr.field(dtype)
        combine = dr.MIN
        priority = "distance"

        def init(self, v: Any) -> Any:
            return dr.where(v.id == self.source, 0, far)

        def start(self, v: Any) -> Any:
            return v.id == self.source

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.distance + edge.weight

        def update(self, v: Any, message: Any) -> Any:
            return dr.minimum(v.distance, message)

    return SSSP


@cache
def parents_program(dtype: np.dtype[Any], step_by_step: bool) -> type[dr.Program]:
    """A parent for each known distance: in one pass along edges that lead further away, or breadth-first.

    The pass is enough unless a weight is zero, or so small that adding it changes nothing: then only a search from the
    source keeps parents from running in a circle.
    """
    far = np.inf if dtype.kind == "f" else np.iinfo(dtype).max

    class Parents(dr.Program):
        source = dr.param(int)
        distance = dr.vertex_param(dtype)
        parent = dr.field(dr.ID)
        combine = dr.ANY
        kind = "traversal" if step_by_step else "iterative"

        def init(self, v: Any) -> Any:
            return dr.where(v.id == self.source, v.id, -1)

        def start(self, v: Any) -> Any:
            return (v.id == self.source) if step_by_step else (v.distance < far)

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.id

        def sends(self, u: Any, edge: Any, v: Any) -> Any:
            tight = (v.distance < far) & (u.distance + edge.weight == v.distance)
            return tight if step_by_step else tight & (u.distance < v.distance)

        def update(self, v: Any, message: Any) -> Any:
            return dr.where(v.parent < 0, message, v.parent)

        def active(self, old: Any, new: Any) -> Any:
            return (new.parent != old.parent) if step_by_step else False

    return Parents


@cache
def bellman_ford_program(dtype: np.dtype[Any]) -> type[dr.Program]:
    """The program whose parents travel with the distances, for weights below zero."""
    far = np.inf if dtype.kind == "f" else np.iinfo(dtype).max

    class BellmanFord(dr.Program):
        source = dr.param(int)
        distance = dr.field(dtype)
        parent = dr.field(dr.ID)
        combine = dr.ARGMIN

        def init(self, v: Any) -> Any:
            here = v.id == self.source
            return {"distance": dr.where(here, 0, far), "parent": dr.where(here, v.id, -1)}

        def start(self, v: Any) -> Any:
            return v.id == self.source

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.distance + edge.weight, u.id

        def update(self, v: Any, message: Any) -> Any:
            distance, parent = message
            better = distance < v.distance
            return {"distance": dr.where(better, distance, v.distance), "parent": dr.where(better, parent, v.parent)}

        def active(self, old: Any, new: Any) -> Any:
            return new.distance < old.distance

    return BellmanFord


class SSSPResult(Result):
    """What :func:`sssp` returns."""

    distance: Array
    parent: Array


def sssp(graph: Graph, source: Any, weight: str | None = "weight", **how: Unpack[Options]) -> SSSPResult:
    """The lengths of the shortest paths from ``source``, and the tree they form.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        source: a vertex, by label (by id if the graph has no labels).
        weight: ``None`` ignores the graph's weights and counts edges.
        how: ``device``, ``path``, ``threads``, ``progress``.

    Raises :class:`~dromos.errors.NegativeCycleError` if ``source`` reaches a cycle of negative length.

    >>> import dromos as dr
    >>> result = dr.sssp(dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [4, 9, 3]), 0)
    >>> result.distance.tolist(), result.parent.tolist()
    ([0.0, 4.0, 7.0], [0, 0, 1])
    """
    session = Session("sssp", graph, **how)
    root, on = graph.vertex_id(source), weighted(graph, weight)
    low, high = weight_range(on)
    dtype = distance_type(on, low, high)
    check = lambda result: verify(on, root, result["distance"], result["parent"])  # noqa: E731
    if low < 0:
        program = bellman_ford_program(dtype)(source=root)
        fields = session.run(program, on, watch=_NegativeCycles(graph, root)).fields
        whole = {"distance": as_float(fields["distance"]), "parent": fields["parent"]}
        return session.result(SSSPResult, whole, vertex_fields={"parent"}, verifier=check)
    distance = session.run(sssp_program(dtype)(source=root), on, keep_on_device=True).fields["distance"]
    columns = {
        "distance": lambda: as_float(distance),
        "parent": lambda: _parents(on, root, on_host(distance), session.engine),
    }
    return session.result(SSSPResult, columns, vertex_fields={"parent"}, verifier=check)


def distance_type(graph: Graph, low: float, high: float) -> np.dtype[Any]:
    """float64; for whole weights int32 while the longest path fits, else int64, so that sums are exact and quick."""
    if graph.weights is not None and graph.weights.dtype.kind == "f":
        return np.dtype(np.float64)
    longest = graph.num_vertices * max(abs(low), abs(high))
    return np.dtype(np.int32 if longest < np.iinfo(np.int32).max else np.int64)


def as_float(distance: Array) -> Array:
    """Floats, infinite where no path leads; an array of a device stays there."""
    if distance.dtype.kind == "f":
        return distance
    far = np.iinfo(distance.dtype).max
    if hasattr(distance, "__cuda_array_interface__"):
        there = distance.astype(np.float64)
        there[distance == far] = np.inf
        return there
    out = np.empty(len(distance))

    def part(begin: int, end: int) -> None:
        here = distance[begin:end]
        np.copyto(out[begin:end], here)
        np.copyto(out[begin:end], np.inf, where=here == far)

    in_blocks(part, len(distance), block=1 << 18)
    return out


def _parents(graph: Graph, source: int, distance: Array, engine: Engine) -> Array:
    """One parent for every reached vertex."""
    session = Session("sssp", graph, device=engine)
    found = distance[:0]
    for step_by_step in (False, True):
        program = parents_program(distance.dtype, step_by_step)(source=source, distance=distance)
        found = session.run(program).fields["parent"]
        far = np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max
        if np.array_equal(found >= 0, distance < far):
            break
    return found


class _NegativeCycles:
    """Looks for a cycle of parents after 1, 2, 4, 8, … supersteps: there is one only where a cycle is negative."""

    def __init__(self, graph: Graph, source: int) -> None:
        self.graph, self.source, self.next = graph, source, 1

    def save(self) -> Mapping[str, Array]:
        """See :class:`dromos.runner.loop.ResumableWatch`: it looks at the state alone."""
        return {}

    def restore(self, saved: Mapping[str, Array], state: Mapping[str, Array]) -> None:
        """See :class:`dromos.runner.loop.ResumableWatch`."""

    def __call__(self, execution: Execution, stats: Stats) -> None:
        if stats.superstep < self.next:
            return
        self.next = 2 * stats.superstep
        parent = np.asarray(execution.state["parent"]).astype(np.int64)
        at_source = np.asarray(execution.state["distance"])[self.source]
        jump = np.where(parent < 0, self.source, parent)
        for _ in range(len(parent).bit_length()):
            jump = jump[jump]
        astray = np.arange(len(parent)) if at_source < 0 else np.flatnonzero(jump != self.source)
        if not len(astray):
            return
        cycle = [int(jump[self.source if at_source < 0 else astray[0]])]  # so many jumps end on the cycle
        while (before := int(parent[cycle[-1]])) != cycle[0]:
            cycle.append(before)
        cycle.reverse()
        least = cycle.index(min(cycle))
        cycle = cycle[least:] + cycle[:least]
        labels = self.graph.labels
        names: list[object] = list(cycle) if labels is None else labels.values_of(np.array(cycle)).tolist()
        shown = " -> ".join(map(str, [*names[:8], "…"] if len(names) > 8 else [*names, names[0]]))
        raise NegativeCycleError(f"distances decrease without end along the negative cycle {shown}", cycle=names)


def verify(graph: Graph, source: int, distance: Array, parent: Array, *, tolerance: float = 1e-9) -> None:
    """No edge makes a shorter path, every distance is that of its tree path, and the tree is one.

    ``tolerance`` is relative to the greatest finite distance: sums in another order may differ that much.
    """
    n = graph.num_vertices
    require(len(distance) == n and len(parent) == n, "there is not one distance and one parent for each vertex")
    require(distance[source] == 0, f"the distance of the source is {distance[source]}, not 0")
    reached = distance < np.inf
    nowhere(reached != (parent >= 0), "vertex {} has a parent and no distance, or a distance and no parent")
    tree_depth(parent, source)
    slack = tolerance * np.abs(distance[reached]).max(initial=1.0)
    src, dst = sources_of_arcs(graph), graph.targets
    weights = np.ones(len(dst)) if graph.weights is None else graph.weights.astype(np.float64)
    along = distance[src] + weights
    nowhere(along < distance[dst] - slack, "arc {} makes a shorter path")
    usable = reached[src] & (
        np.abs(np.where(reached[src], along, 0) - np.where(reached[dst], distance[dst], 0)) <= slack
    )
    real = with_arc(src, dst, parent, usable) | (np.arange(n) == source) | ~reached
    nowhere(~real, "no edge leads from vertex {}'s parent to it in its distance")
