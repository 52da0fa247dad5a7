"""Strongly connected components.

Returns ``label`` (the smallest vertex id of the component), ``size`` and the number of components, ``count``. In an
undirected graph they are the connected components. Self-loops and parallel edges change nothing.

If every edge goes both ways, the connected components are computed. Otherwise the engine's own depth-first search runs
on one thread (``dromos/engines/native/strong.py``). In large graphs, two breadth-first searches on all threads first
find the one large component that most of them have: the vertices that the best connected vertex reaches both forward
and backward (Fleischer, Hendrickson and Pınar, 2000). The depth-first search handles the rest.

On an engine without such a kernel, a composition of programs runs. First, vertices that no cycle reaches, or that reach
no cycle, are peeled off. Then comes the large component. The rest is colored by the smallest vertex that reaches it.
Each color's own component is what reaches back within the color, for all colors at once (Orzan, 2004; Slota,
Rajamanickam and Madduri, IPDPS 2014).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import loops_of, sources_of_arcs
from dromos.algorithms.bfs import BFS
from dromos.algorithms.connected_components import component_count, component_sizes
from dromos.algorithms.verifying import expand, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, on_host

__all__ = ["Color", "Reach", "StrongComponentsResult", "Trim", "strongly_connected_components", "verify"]

_WORTH_TWO_SEARCHES: Final = 1 << 21  # arcs; with fewer, one thread is done before others have begun
_THIN: Final = 2  # arcs per vertex: whatever is large in such a graph is also far across
_MOST_LEVELS: Final = 64  # of a search that is given up: a thread follows long ways as fast as many do
_SHARE: Final = 8  # a component is large that seems to have this part of the vertices
_SAMPLE: Final = 1 << 14  # arcs
# Held for each vertex between the programs: its label, color and degrees, in ids; and how many loops it has, in bytes,
# if there are any.
_IDS: Final = 4
_LOOPS: Final = 8


class Trim(dr.Program):
    """Peels off vertices to which no edge is left; ``edges`` counts those that come from others."""

    edges = dr.vertex_param(np.int64)
    left = dr.field(np.int64)
    combine = dr.SUM

    def init(self, v: Any) -> Any:
        return v.edges

    def start(self, v: Any) -> Any:
        return v.edges <= 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        return v.left - message

    def active(self, old: Any, new: Any) -> Any:
        return (old.left > 0) & (new.left <= 0)


class Color(dr.Program):
    """The least open vertex that reaches a vertex through open ones."""

    open = dr.vertex_param(bool)
    color = dr.field(dr.ID)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return v.id

    def start(self, v: Any) -> Any:
        return v.open

    def wants(self, v: Any) -> Any:
        return v.open

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.color

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.color, message)


class Reach(dr.Program):
    """What the roots reach, each within its color."""

    root = dr.vertex_param(bool)
    color = dr.vertex_param(dr.ID)
    reached = dr.field(bool)
    combine = dr.OR

    def init(self, v: Any) -> Any:
        return v.root

    def start(self, v: Any) -> Any:
        return v.root

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return True

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.color == v.color

    def update(self, v: Any, message: Any) -> Any:
        return v.reached | message


class StrongComponentsResult(Result):
    """What :func:`strongly_connected_components` returns."""

    group_field = "label"
    label: Array
    size: Array
    count: int


def strongly_connected_components(graph: Graph, **how: Unpack[Options]) -> StrongComponentsResult:
    """Strongly connected components: sets of vertices that all reach each other.

    Args:
        graph: directed edges are followed from source to target.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.

    >>> import dromos as dr
    >>> result = dr.strongly_connected_components(dr.Graph.from_edges([0, 1, 2, 2], [1, 0, 1, 3]))
    >>> result.label.tolist(), result.count
    ([0, 0, 2, 3], 3)
    """
    session = Session("strongly_connected_components", graph, **how)
    fields = session.native("components", keep_on_device=True) if graph.symmetric else _searched(session, graph)
    label = _labels(session, graph) if fields is None else fields["label"]
    # a kernel that knows the number saves a pass
    count = component_count(label) if fields is None or "count" not in fields else int(fields["count"])
    return session.result(
        StrongComponentsResult,
        {"label": label, "size": lambda: component_sizes(on_host(label))},
        values={"count": count},
        vertex_fields={"label"},
        verifier=lambda result: verify(graph, result["label"], count),
    )


def _searched(session: Session, graph: Graph) -> Mapping[str, Array] | None:
    """By the engine's own search; None where it has none."""
    session.follow_kernel("strong")
    if not session.has_native("strong"):
        return None
    worth = graph.num_arcs >= max(_WORTH_TWO_SEARCHES, _THIN * graph.num_vertices)
    large = _large_component(session, graph) if worth else None
    if large is None:
        return session.native("strong")
    fields = session.native("strong", among=~large)
    assert fields is not None
    fields["label"][large] = large.argmax()
    return fields


def _large_component(session: Session, graph: Graph) -> Array | None:
    """Which vertices are in the component of the best connected one; None where that is small, or far across."""
    pivot = _best_connected(graph)
    after = _reached(session, graph, pivot)
    if after is None or _SHARE * np.count_nonzero(after) < graph.num_vertices:
        return None
    back = graph.transpose
    before = back.targets[back.offsets[pivot] : back.offsets[pivot + 1]]
    if _SHARE * np.count_nonzero(after[before]) < len(before):  # without a cycle: none
        return None
    reaching = _reached(session, back, pivot)
    return None if reaching is None else after & reaching


def _best_connected(graph: Graph) -> int:
    """A vertex with many out-edges and many in-edges, by a sample of these: not all of them need to be counted."""
    found, times = np.unique(graph.targets[:: max(1, graph.num_arcs // _SAMPLE)], return_counts=True)
    return int(found[np.argmax(times * (graph.offsets[found + 1] - graph.offsets[found]))])


def _reached(session: Session, graph: Graph, source: int) -> Array | None:
    """What ``source`` reaches; None where that takes many levels."""
    outcome = session.run(BFS(source=source), graph, max_iter=_MOST_LEVELS)
    return outcome.fields["level"] >= 0 if outcome.finished else None


def _labels(session: Session, graph: Graph) -> Array:
    n, back = graph.num_vertices, graph.transpose
    session.hold_beside_programs(_IDS * graph.targets.dtype.itemsize + _LOOPS * graph.has_self_loops)
    label, open_ = np.arange(n, dtype=graph.targets.dtype), np.ones(n, dtype=bool)
    loops = loops_of(graph) if graph.has_self_loops else None
    for direction in (graph, back):
        open_ &= session.run(Trim.keeping(edges=_edges_of_others(direction, loops)), direction).fields["left"] > 0
    del loops
    if open_.any():
        pivot = _open_pivot(graph, open_)
        alone = np.zeros(n, dtype=bool)
        alone[pivot] = True
        found = session.run(_reach(alone, np.where(open_, 0, -1))).fields["reached"]
        found &= session.run(_reach(alone, np.where(found, 0, -1)), back).fields["reached"]
        label[found] = found.argmax()
        open_ &= ~found
        del alone, found
    if open_.any():  # a first call may have begun without a compiler, and have one now
        fields = session.native("strong", among=open_)
        if fields is not None:
            return np.where(open_, fields["label"], label)
    while open_.any():
        color = session.run(Color.keeping(open=open_)).fields["color"]
        roots = open_ & (color == np.arange(n, dtype=color.dtype))
        color[~open_] = -1
        found = session.run(_reach(roots, color), back).fields["reached"]
        label[found] = color[found]
        open_ &= ~found
        del color, roots, found
    return label


def _reach(root: Array, color: Array) -> dr.Program:
    return Reach.keeping(root=root, color=color)


def _edges_of_others(graph: Graph, loops: Array | None) -> Array:
    """How many edges come to each vertex from others; ``loops``: those from itself, if there are any."""
    edges = graph.in_degree.astype(np.int64)
    if loops is not None:
        edges -= loops
    return edges


def _open_pivot(graph: Graph, open_: Array) -> int:
    """An open vertex with many in-edges and many out-edges."""
    weight = graph.in_degree.astype(np.float64)
    weight *= graph.out_degree
    weight[~open_] = -1
    return int(np.argmax(weight))


def verify(graph: Graph, label: Array, count: int) -> None:
    """Each root reaches its component and is reached from it; and no cycle is left between components."""
    n, ids = graph.num_vertices, np.arange(graph.num_vertices)
    nowhere((label < 0) | (label > ids), "the label of vertex {} is not among the vertices up to it")
    nowhere(label[label] != label, "the label of vertex {} is not in its own component")
    require(np.count_nonzero(label == ids) == count, f"there are {np.count_nonzero(label == ids)} labels, not {count}")
    for direction, how in ((graph, "is not reached from"), (graph.transpose, "does not reach")):
        reached, front = label == ids, np.flatnonzero(label == ids)
        while len(front):
            rows, arcs = expand(direction, front)
            to = direction.targets[arcs]
            front = np.unique(to[(label[front[rows]] == label[to]) & ~reached[to]])
            reached[front] = True
        nowhere(~reached, f"vertex {{}} {how} the root of its component")
    src, dst = label[sources_of_arcs(graph)], label[graph.targets]
    src, dst = src[src != dst], dst[src != dst]
    # Kahn's order of the components: all come to their turn if there is no cycle
    waiting = np.bincount(dst, minlength=n)
    between = Graph.from_edges(src, dst, num_vertices=n)
    front, seen = np.flatnonzero(waiting == 0), 0
    while len(front):
        seen += len(front)
        _, arcs = expand(between, front)
        heads, counts = np.unique(between.targets[arcs], return_counts=True)
        waiting[heads] -= counts
        front = heads[waiting[heads] == 0]
    require(seen == n, "two components reach each other, so they are one")
