"""Graphs made from graphs: transposes, subgraphs, relabellings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.errors import GraphDataError, InvalidArgumentError, UnknownVertexError
from dromos.graph import build
from dromos.graph.build import MergeRule
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Edges, Graph

__all__ = ["Relabelled"]


class Relabelled(NamedTuple):
    """A graph under other ids: old vertex ``old_ids[i]`` is the new vertex ``i``; ``new_ids`` is the inverse."""

    graph: Graph
    new_ids: Array
    old_ids: Array

    def restore(self, values: Array) -> Array:
        """Values of the new vertices, put back into the order of the old ones."""
        return np.asarray(values)[self.new_ids]


def transposed(graph: Graph) -> Graph:
    """Every arc reversed, rows sorted."""
    from dromos.graph.graph import Flags

    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    offsets, targets, weights = build.build_csr(
        graph.targets, src, graph.weights, graph.num_vertices, dst_ascending=True
    )
    known = graph.known_flags
    flags = Flags(
        directed=known.directed,
        symmetric=known.symmetric,
        sorted=True,
        parallel_edges=known.parallel_edges,
        self_loops=known.self_loops,
    )
    return type(graph)._make(offsets, targets, weights, labels=graph.labels, flags=flags)


def same_rows(a: Graph, b: Graph) -> bool:
    """Whether two graphs hold the same arcs with the same weights, in whatever order within a row."""
    if not np.array_equal(a.offsets, b.offsets):
        return False
    if a.known_flags.sorted and b.known_flags.sorted and np.array_equal(a.targets, b.targets):
        if a.weights is None or b.weights is None or np.array_equal(a.weights, b.weights):
            return (a.weights is None) == (b.weights is None)
        if not a.has_parallel_edges:
            return False
    return np.array_equal(_canonical(a), _canonical(b))


def _canonical(graph: Graph) -> Array:
    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    keys = (graph.targets, src) if graph.weights is None else (graph.weights, graph.targets, src)
    order = np.lexsort(keys)
    return np.stack([key[order].astype(np.float64 if key is graph.weights else np.int64) for key in keys])


def same_arrays(a: Graph, b: Graph) -> bool:
    """Whether offsets, targets and weights are equal, entry by entry."""
    if (a.weights is None) != (b.weights is None):
        return False
    weights_agree = (
        a.weights is None
        or b.weights is None
        or (a.weights.dtype == b.weights.dtype and np.array_equal(a.weights, b.weights))
    )
    return weights_agree and np.array_equal(a.offsets, b.offsets) and np.array_equal(a.targets, b.targets)


def count_loops(graph: Graph) -> int:
    """The number of arcs from a vertex to itself."""
    return int(np.count_nonzero(build.expand_sources(graph.offsets, graph.targets.dtype) == graph.targets))


def has_parallel_unsorted(graph: Graph) -> bool:
    """Parallel edges in rows that are not sorted: found by sorting a copy."""
    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    merged = build.build_csr(src, graph.targets, None, graph.num_vertices, dedupe=True)
    return len(merged.targets) < graph.num_arcs


def symmetrized(graph: Graph, *, dedupe: bool, merge_weights: MergeRule) -> Graph:
    """See :meth:`Graph.symmetrized`."""
    if not graph.directed:
        return graph
    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    return _with_labels(
        type(graph).from_edges(
            src, graph.targets, graph.weights, num_vertices=graph.num_vertices, symmetrize=True, dedupe=dedupe,
            merge_weights=merge_weights,
        ),
        graph.labels,
    )  # fmt: skip


def subgraph(graph: Graph, vertices: Iterable[Any] | Array) -> Graph:
    """See :meth:`Graph.subgraph`."""
    chosen = np.asarray(vertices if isinstance(vertices, np.ndarray) else list(vertices))
    if chosen.dtype == bool and chosen.shape == (graph.num_vertices,):
        chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        chosen = np.empty(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InvalidArgumentError(f"vertices must be whole numbers in one dimension, not {chosen.dtype}")
    outside = (chosen < 0) | (chosen >= graph.num_vertices)
    if outside.any():
        raise UnknownVertexError(f"no vertex {chosen[outside][0]}: the ids are 0..{graph.num_vertices - 1}")
    new_ids = np.full(graph.num_vertices, -1, dtype=np.int64)
    new_ids[chosen] = np.arange(len(chosen))
    if np.count_nonzero(new_ids >= 0) < len(chosen):
        raise InvalidArgumentError("a vertex is given twice; a subgraph holds each once")
    names = Labels.from_values(chosen if graph.labels is None else graph.labels.values_of(chosen))
    return _induced(graph, chosen, new_ids, names)


def _induced(graph: Graph, chosen: Array, new_ids: Array, names: Labels | None) -> Graph:
    """The rows of ``chosen``, renamed by ``new_ids``, without the arcs that lead to a vertex named -1."""
    from dromos.graph.graph import Flags

    degrees = graph.out_degree[chosen]
    begins = np.zeros(len(chosen) + 1, dtype=OFFSET)
    np.cumsum(degrees, out=begins[1:])
    positions = np.arange(begins[-1]) + np.repeat(graph.offsets[chosen] - begins[:-1], degrees)
    dst = new_ids[graph.targets[positions]]
    inside = dst >= 0
    src = np.repeat(np.arange(len(chosen)), degrees)[inside]
    weights = None if graph.weights is None else graph.weights[positions][inside]
    offsets, targets, values = build.build_csr(src, dst[inside], weights, len(chosen))
    known = graph.known_flags
    flags = Flags(
        directed=graph.directed,
        symmetric=True if known.symmetric else None,
        sorted=True,
        parallel_edges=False if known.parallel_edges is False else None,
        self_loops=False if known.self_loops is False else None,
    )
    return type(graph)._make(offsets, targets, values, labels=names, flags=flags)


def relabel_by_degree(graph: Graph, *, descending: bool) -> Relabelled:
    """See :meth:`Graph.relabel_by_degree`; vertices of equal degree keep their order."""
    degree = -graph.out_degree if descending else graph.out_degree
    old_ids = np.argsort(degree, kind="stable")
    new_ids = np.empty(graph.num_vertices, dtype=graph.targets.dtype)
    new_ids[old_ids] = np.arange(graph.num_vertices, dtype=new_ids.dtype)
    names = None if graph.labels is None else Labels.from_values(graph.labels.values_of(old_ids))
    return Relabelled(_induced(graph, old_ids, new_ids, names), new_ids, old_ids)


def egonet(graph: Graph, vertex: int, radius: int) -> Graph:
    """See :meth:`Graph.egonet`; a plain frontier search, since an egonet is small."""
    if isinstance(radius, bool) or not hasattr(radius, "__index__") or radius < 0:
        raise InvalidArgumentError(f"radius={radius!r} is not a whole number of steps")
    seen = np.zeros(graph.num_vertices, dtype=bool)
    seen[vertex] = True
    frontier = np.array([vertex])
    for _ in range(radius):
        rows = [graph.neighbors(int(u)) for u in frontier]
        reached = np.unique(np.concatenate(rows)) if rows else frontier[:0]
        frontier = reached[~seen[reached]]
        if frontier.size == 0:
            break
        seen[frontier] = True
    return subgraph(graph, np.flatnonzero(seen))


def cross_edges(graph: Graph, part: Array) -> Edges:
    """See :meth:`Graph.cross_edges`."""
    if part.shape != (graph.num_vertices,):
        raise GraphDataError(f"part has the shape {part.shape}; expected one for each of {graph.num_vertices:,} vertices")
    edges = graph.edges()
    crossing = part[edges.src] != part[edges.dst]
    weight = None if edges.weight is None else edges.weight[crossing]
    return type(edges)(edges.src[crossing], edges.dst[crossing], weight)


def _with_labels(graph: Graph, labels: Labels | None) -> Graph:
    graph._labels = labels
    return graph
