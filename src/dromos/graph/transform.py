"""Graphs made from graphs: transposes, subgraphs, relabellings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dromos.dtypes import OFFSET, Array, as_words, read_only
from dromos.errors import GraphDataError, InvalidArgumentError, UnknownVertexError
from dromos.graph import build, build_small, permute
from dromos.graph.build import CsrArrays, MergeRule
from dromos.graph.labels import Labels
from dromos.graph.records import Edges, Flags
from dromos.parallel import run_team
from dromos.whole_numbers import whole_number

if TYPE_CHECKING:
    from dromos.graph.graph import Graph
    from dromos.graph.slices import GraphSlice

__all__ = ["Relabelled"]

_FEW_ARCS = 1 << 16  # that are put into another order by kernels which the process has for other work


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
    if build_small.is_preferred(graph.num_arcs):
        offsets, targets, weights = build_small.transposed(graph.offsets, graph.targets, graph.weights)
    else:
        src = build.expand_sources(graph.offsets, graph.targets.dtype)
        offsets, targets, weights = build.build_csr(
            graph.targets, src, graph.weights, graph.num_vertices, dst_ascending=True
        )
    flags = replace(graph.known_flags, sorted=True)
    return type(graph)._make(offsets, targets, weights, labels=graph.labels, flags=flags, vertex_data=graph.vertex_data)


def same_rows(a: Graph, b: Graph) -> bool:
    """Whether two graphs hold the same arcs with the same weights, in whatever order within a row."""
    if (a.weights is None) != (b.weights is None) or not np.array_equal(a.offsets, b.offsets):
        return False
    first, second = _sorted_rows(a), _sorted_rows(b)
    if not np.array_equal(first.targets, second.targets):
        return False
    if first.weights is None or second.weights is None:
        return True
    differing = first.weights != second.weights
    if not differing.any():
        return True
    # Parallel edges may come in another order in the one than in the other: compare their weights sorted.
    may_be_parallel = _has_neighbor_like_it(first.targets)
    if (differing & ~may_be_parallel).any():
        return False
    arcs = np.flatnonzero(may_be_parallel)
    src = build.expand_sources(first.offsets, first.targets.dtype)[arcs]
    weights = [graph.weights[arcs] for graph in (first, second) if graph.weights is not None]
    orders = [np.lexsort((column, first.targets[arcs], src)) for column in weights]
    return np.array_equal(weights[0][orders[0]], weights[1][orders[1]])


def _has_neighbor_like_it(targets: Array) -> Array:
    """Which arcs lead where the one before or the one behind leads: all parallel ones, and some beside row ends."""
    found = np.zeros(len(targets), dtype=bool)
    same = targets[1:] == targets[:-1]
    found[1:] = same
    found[:-1] |= same
    return found


def _sorted_rows(graph: Graph) -> CsrArrays:
    """The rows of a graph, each sorted by target."""
    if graph.sorted:
        return CsrArrays(graph.offsets, graph.targets, graph.weights)
    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    return build.build_csr(src, graph.targets, graph.weights, graph.num_vertices)


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
    from dromos.graph import transform_kernels as kernels

    team = build.team_size(graph.num_arcs)
    found = np.zeros(team, dtype=np.int64)
    run_team(kernels.count_loops, np.zeros(1, np.int64), graph.offsets, graph.targets, found, threads=team)
    return int(found.sum())


def loops_by_row(graph: Graph) -> Array:
    """For each vertex the number of arcs from it to itself."""
    from dromos.graph import transform_kernels as kernels

    loops = np.zeros(graph.num_vertices, dtype=np.int64)
    run_team(
        kernels.loops_by_row, np.zeros(1, np.int64), graph.offsets, graph.targets, loops,
        threads=build.team_size(graph.num_arcs),
    )  # fmt: skip
    return loops


def has_parallel_unsorted(graph: Graph) -> bool:
    """Parallel edges in rows that are not sorted: found by sorting a copy."""
    src = build.expand_sources(graph.offsets, graph.targets.dtype)
    merged = build.build_csr(src, graph.targets, None, graph.num_vertices, dedupe=True)
    return len(merged.targets) < graph.num_arcs


def symmetrized(graph: Graph, *, dedupe: bool = True, merge_weights: MergeRule = "first") -> Graph:
    """An undirected graph with an edge wherever this one has an arc in either direction.

    >>> from dromos import Graph
    >>> Graph.from_edges([0, 1, 1], [1, 0, 2]).symmetrized().num_edges
    2
    """
    if not graph.directed and not (dedupe and graph.has_parallel_edges):
        return graph
    result = type(graph).from_edges(
        *graph.edges(), num_vertices=graph.num_vertices, symmetrize=True, dedupe=dedupe, merge_weights=merge_weights
    )
    result._labels, result._vertex_data = graph.labels, graph.vertex_data
    return result


def subgraph(graph: Graph, vertices: Iterable[Any] | Array) -> Graph:
    """The graph induced by ``vertices``, in the order wanted; its labels tell which they were.

    Vertices are given by label (by id where the graph has no labels), or as a truth value for each.

    >>> from dromos import Graph
    >>> Graph.from_edges([0, 1, 2], [1, 2, 0]).subgraph([1, 2]).labels
    <2 int labels: 1, 2>
    """
    if isinstance(vertices, str | bytes):
        raise InvalidArgumentError(f"vertices={vertices!r} is not a list of vertices; write [{vertices!r}] for one")
    listed = vertices if isinstance(vertices, np.ndarray) else list(vertices)
    # To look at only: an array of strings loses the zero characters at their ends, so labels are looked up in the list.
    chosen = np.asarray(listed)
    if chosen.dtype == bool and chosen.shape == (graph.num_vertices,):
        chosen = np.flatnonzero(chosen)
    elif chosen.size == 0:
        chosen = np.empty(0, dtype=np.int64)
    elif graph.labels is not None and chosen.ndim == 1 and chosen.dtype != bool:
        chosen = np.asarray(graph.labels.ids_of(listed), dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InvalidArgumentError(f"vertices must be whole numbers in one dimension, not {chosen.dtype}")
    outside = (chosen < 0) | (chosen >= graph.num_vertices)
    if outside.any():
        raise UnknownVertexError(f"no vertex {chosen[outside][0]}: the ids are 0..{graph.num_vertices - 1}")
    new_ids = np.full(graph.num_vertices, -1, dtype=graph.targets.dtype)
    new_ids[chosen] = np.arange(len(chosen), dtype=new_ids.dtype)
    if np.count_nonzero(new_ids >= 0) < len(chosen):
        raise InvalidArgumentError("a vertex is given twice; a subgraph holds each once")
    names = Labels.from_values(chosen) if graph.labels is None else graph.labels.of_vertices(chosen)
    result = _induced(graph.with_rows_of(chosen), chosen, new_ids, names)
    result._vertex_data = graph.vertex_data.of_vertices(chosen)
    return result


def _induced(graph: Graph, chosen: Array, new_ids: Array, names: Labels | None) -> Graph:
    """The rows of ``chosen``, renamed by ``new_ids``, without the arcs that lead to a vertex named -1."""
    chosen = chosen.astype(np.int64, copy=False)
    known = graph.known_flags
    if build_small.is_preferred(graph.num_arcs):
        src, dst, kept = build_small.kept_arcs(graph, chosen, new_ids)
    elif known.sorted and _ascends(chosen):  # what is left of a row is in order, and so are the rows
        rows = _kept_rows(graph, chosen, new_ids)
        return type(graph)._make(*rows, labels=names, flags=_flags_of_some(graph))
    else:
        src, dst, kept = _kept_arcs(graph, chosen, new_ids)
    if known.symmetric and known.parallel_edges is False:
        # each arc has one back of the same weight; of those the targets ascend, which spares most of the sorting
        offsets, targets, values = build.build_csr(dst, src, kept, len(chosen), dst_ascending=True)
    else:
        offsets, targets, values = build.build_csr(src, dst, kept, len(chosen))
    return type(graph)._make(offsets, targets, values, labels=names, flags=_flags_of_some(graph))


def _flags_of_some(graph: Graph) -> Flags:
    """What is known of sorted rows of some vertices, or all, when it is known of the whole."""
    known = graph.known_flags
    return Flags(
        directed=graph.directed,
        symmetric=True if known.symmetric else None,
        sorted=True,
        parallel_edges=False if known.parallel_edges is False else None,
        self_loops=False if known.self_loops is False else None,
    )


def _ascends(ids: Array) -> bool:
    return bool(np.all(ids[1:] > ids[:-1]))


def _kept_arcs(graph: Graph, chosen: Array, new_ids: Array) -> Edges:
    """The arcs from ``chosen`` vertices to those that have a new id, by new ids."""
    starts = _kept_starts(graph, chosen, new_ids)
    src = np.empty(starts[-1], dtype=graph.targets.dtype)
    return Edges(src, *_gathered(graph, chosen, new_ids, starts, src))


def _kept_rows(graph: Graph, chosen: Array, new_ids: Array) -> CsrArrays:
    """The same as rows, each in the order that it has."""
    starts = _kept_starts(graph, chosen, new_ids)
    return CsrArrays(starts, *_gathered(graph, chosen, new_ids, starts, np.empty(0, dtype=graph.targets.dtype)))


def _kept_starts(graph: Graph, chosen: Array, new_ids: Array) -> Array:
    """Where the kept arcs of each of the ``chosen`` vertices begin, and where the last ones end."""
    from dromos.graph import transform_kernels as kernels

    starts = np.zeros(len(chosen) + 1, dtype=OFFSET)
    if len(chosen) == graph.num_vertices:
        starts[1:] = graph.out_degree[chosen]
    else:
        run_team(
            kernels.count_kept, np.zeros(1, np.int64), graph.offsets, graph.targets, chosen, new_ids, starts[1:],
            threads=build.team_size(graph.num_arcs),
        )  # fmt: skip
    np.cumsum(starts, out=starts)
    return starts


def _gathered(graph: Graph, chosen: Array, new_ids: Array, starts: Array, src: Array) -> tuple[Array, Array | None]:
    """The targets and weights of the kept arcs; their sources are written to ``src`` unless it is empty."""
    from dromos.graph import transform_kernels as kernels

    weighted = graph.weights is not None
    weights = graph.weights if graph.weights is not None else np.empty(0, dtype=np.float32)
    dst = np.empty(starts[-1], dtype=graph.targets.dtype)
    kept_weights = np.empty(len(dst) if weighted else 0, dtype=weights.dtype)
    run_team(
        kernels.gather_kept, np.zeros(1, np.int64), graph.offsets, graph.targets, read_only(as_words(weights)),
        weighted, chosen, new_ids, starts, src, dst, as_words(kept_weights), threads=build.team_size(graph.num_arcs),
    )  # fmt: skip
    return dst, kept_weights if weighted else None


def relabel_by_degree(graph: Graph, *, descending: bool = True, named: bool = False) -> Relabelled:
    """The same graph with ids ordered by out-degree, and the permutation to put results back.

    ``named``: the old ids become the labels of a graph that has none, so that vertices are still called by them.

    >>> from dromos import Graph
    >>> r = Graph.from_edges([2, 2, 1], [0, 1, 0]).relabel_by_degree()
    >>> r.graph.out_degree.tolist(), r.restore(r.graph.out_degree).tolist()
    ([2, 1, 0], [0, 1, 2])
    """
    old_ids = permute.degree_order(graph.out_degree, descending=descending)
    new_ids = permute.inverse(old_ids, graph.targets.dtype)
    names = Labels.from_values(old_ids) if named else None
    if graph.labels is not None:
        names = graph.labels.of_vertices(old_ids)
    result = _permuted(graph, old_ids, new_ids, names)
    result._vertex_data = graph.vertex_data.of_vertices(old_ids)
    return Relabelled(result, new_ids, old_ids)


def _permuted(
    graph: Graph, old_ids: Array, new_ids: Array, names: Labels | None, empty: permute.Empty = np.empty
) -> Graph:
    """All rows in another order."""
    if graph.num_arcs < _FEW_ARCS:
        return _induced(graph, old_ids, new_ids, names)
    return with_rows(graph, permute.permuted_rows(graph, old_ids, new_ids, empty), names)


def with_rows(graph: Graph, rows: CsrArrays, names: Labels | None = None) -> Graph:
    """The graph of these rows, which are all rows of ``graph`` under other ids, sorted."""
    return type(graph)._make(rows.offsets, rows.targets, rows.weights, labels=names, flags=_flags_of_some(graph))


def reordered(graph: Graph, old_ids: Array, empty: permute.Empty = np.empty) -> Relabelled:
    """A graph whose vertex ``i`` is ``old_ids[i]``; without labels, for those who put the answers back themselves.

    ``empty``: makes the arrays of the graph.

    >>> from dromos.graph import generators
    >>> reordered(generators.path(3), np.array([1, 0, 2])).graph.neighbors(0).tolist()
    [1, 2]
    """
    new_ids = permute.inverse(old_ids, graph.targets.dtype, empty)
    return Relabelled(_permuted(graph, old_ids, new_ids, None, empty), new_ids, old_ids)


def reordered_with_arcs(graph: Graph, old_ids: Array) -> tuple[Relabelled, Array]:
    """As :func:`reordered`, and the old number of each arc."""
    new_ids = permute.inverse(old_ids, graph.targets.dtype)
    src = new_ids[build.expand_sources(graph.offsets, graph.targets.dtype)]
    numbers = np.arange(graph.num_arcs, dtype=np.int64)
    offsets, targets, arcs = build.build_csr(src, new_ids[graph.targets], numbers, graph.num_vertices)
    arcs = numbers if arcs is None else arcs
    weights = None if graph.weights is None else graph.weights[arcs]
    flags = Flags(directed=graph.directed, symmetric=True if graph.known_flags.symmetric else None, sorted=True)
    made = type(graph)._make(offsets, targets, weights, labels=None, flags=flags)
    return Relabelled(made, new_ids, old_ids), arcs


def egonet(graph: Graph, vertex: Any, radius: int = 1) -> Graph:
    """The subgraph of all vertices that ``vertex`` reaches in at most ``radius`` steps.

    >>> from dromos import Graph
    >>> Graph.from_edges([0, 1, 2], [1, 2, 3]).egonet(0, radius=2).num_vertices
    3
    """
    steps = whole_number(radius)
    if steps is None or steps < 0:
        raise InvalidArgumentError(f"radius={radius!r} is not a whole number of steps")
    start = graph.vertex_id(vertex)
    seen = np.zeros(graph.num_vertices, dtype=bool)
    seen[start] = True
    frontier = np.array([start])  # a plain search by levels, since an egonet is small
    for _ in range(steps):
        near = graph.with_rows_of(frontier)
        degrees = near.out_degree[frontier]
        shifts = near.offsets[frontier] - np.cumsum(degrees) + degrees
        reached = np.zeros_like(seen)
        reached[near.targets[np.arange(degrees.sum()) + np.repeat(shifts, degrees)]] = True
        frontier = np.flatnonzero(reached & ~seen)
        if frontier.size == 0:
            break
        seen |= reached
    return subgraph(graph, seen)


def cross_edges(graph: Graph, part: Array | Sequence[int]) -> Edges:
    """The edges whose ends lie in different parts; ``part`` gives a number to each vertex.

    >>> from dromos import Graph
    >>> Graph.from_edges([0, 1], [1, 2]).cross_edges([0, 0, 1]).src.tolist()
    [1]
    """
    part = np.asarray(part)
    if part.shape != (graph.num_vertices,):
        raise GraphDataError(
            f"part has the shape {part.shape}; expected one for each of {graph.num_vertices:,} vertices"
        )
    found = [_crossing(piece, part, graph) for piece in graph.arc_slices()]
    if not found:  # a graph on disk without arcs
        nothing = np.empty(0, dtype=graph.targets.dtype)
        return Edges(nothing, nothing, None)
    src, dst = (np.concatenate([edges[column] for edges in found]) for column in (0, 1))
    weights = [edges.weight for edges in found if edges.weight is not None]
    return Edges(src, dst, np.concatenate(weights) if weights else None)


def _crossing(piece: GraphSlice, part: Array, graph: Graph) -> Edges:
    """Those of a slice; each undirected edge once."""
    src, dst = piece.sources.astype(graph.targets.dtype, copy=False), piece.targets
    crossing = part[src] != part[dst]
    if not graph.directed:
        crossing &= src <= dst
    return Edges(src[crossing], dst[crossing], None if piece.weights is None else piece.weights[crossing])
