"""Arguments of algorithms: weights by name, values by vertex, graphs without self-loops or parallel edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import ArcsOnDiskError, InvalidArgumentError
from dromos.graph import Graph, build_small
from dromos.graph.build import expand_sources
from dromos.graph.derived import derived
from dromos.graph.slices import GraphSlice
from dromos.graph.transform import loops_by_row
from dromos.graph.weight_range import range_of_weights
from dromos.parallel import in_blocks
from dromos.runner import Session, array_module
from dromos.whole_numbers import whole_number

__all__ = [
    "count_of",
    "finite",
    "lightest",
    "loops_of",
    "refuse_rows_on_disk",
    "require_undirected_store",
    "row_sums",
    "simple",
    "simple_for_programs",
    "sources_of_arcs",
    "symmetric",
    "total_of",
    "vertex_values",
    "weight_range",
    "weighted",
]

_SUMMED = 1 << 17  # numbers of a block


def weighted(graph: Graph, weight: str | None) -> Graph:
    """The graph as it is for ``weight="weight"``, without its weights for None (NetworkX's spelling of it)."""
    if weight is None:
        return graph if graph.weights is None else _without_weights(graph)
    if weight != "weight":
        raise InvalidArgumentError(
            f"weight={weight!r}: only weight='weight' or None (leave the weights out) is supported"
        )
    return graph


def _without_weights(graph: Graph) -> Graph:
    return derived(graph, "without weights", lambda given: given.with_weights(None))


def weight_range(
    graph: Graph, *, negative: bool = True, infinite: bool = True, slices: Iterable[GraphSlice] | None = None
) -> tuple[float, float]:
    """The least and the greatest weight, 1 and 1 without weights; those below zero or infinite are refused if asked.

    ``slices``: all arcs of a graph on disk as a session reads them, within its budget.

    >>> weight_range(Graph.from_edges([0, 1], [1, 2], [3, 7]))
    (3, 7)
    """
    found = range_of_weights(graph, slices)
    if not negative and found[0] < 0:
        raise InvalidArgumentError(f"the weight {found[0]:g} is negative; this algorithm needs weights of 0 or more")
    if not infinite and not np.isfinite(found).all():
        raise InvalidArgumentError("a weight is infinite; this algorithm needs finite weights")
    return found


def row_sums(graph: Graph, value: Callable[[GraphSlice], Array]) -> Array:
    """For each vertex the sum of ``value`` (a number for each arc of a slice) over its out-arcs.

    >>> row_sums(Graph.from_edges([0, 0, 2], [1, 2, 0]), lambda piece: piece.targets).tolist()
    [3.0, 0.0, 0.0]
    """
    total = np.zeros(graph.num_vertices)
    for piece in graph.arc_slices():
        own = np.bincount(piece.sources - piece.start, weights=value(piece), minlength=piece.num_vertices)
        total[piece.start : piece.stop] += own
    return total


def loops_of(graph: Graph) -> Array:
    """How many of the arcs of each vertex lead back to it.

    >>> loops_of(Graph.from_edges([0, 1], [1, 1])).tolist()
    [0, 1]
    """
    if not graph.has_self_loops:
        return np.zeros(graph.num_vertices, dtype=np.int64)
    if not getattr(graph, "on_disk", False) and not build_small.is_preferred(graph.num_arcs):
        return loops_by_row(graph)
    return row_sums(graph, lambda piece: piece.sources == piece.targets).astype(np.int64)


def simple(graph: Graph) -> Graph:
    """The graph without self-loops, weights and all but one of parallel edges; the graph itself where it is so.

    It is made once and kept with the graph, as far as memory allows.

    >>> simple(Graph.from_edges([0, 0, 1], [1, 1, 1])).num_edges
    1
    """
    if not graph.has_self_loops and not graph.has_parallel_edges and graph.weights is None:
        return graph
    return derived(graph, "simple", _simplified)


def simple_for_programs(graph: Graph, *, directed: bool = False) -> Graph:
    """As :func:`simple`, for programs, which read the rows of a graph on disk as they are.

    A store that is not so is refused with the way to make one that is: an undirected one, unless a ``directed`` graph
    is to stay so, with its in-edges.
    """
    _require_simple_store(graph, ("--transpose " if directed else "--symmetrize ") if graph.directed else "")
    return simple(graph)


def require_undirected_store(graph: Graph, difference: str = "") -> None:
    """Refuse a directed graph on disk, of which no undirected one is made.

    ``difference``: what else such a store changes, for the error.
    """
    if graph.on_disk and graph.directed:
        raise InvalidArgumentError(
            f"{graph.source_file} is directed, and this needs every edge in both directions, once and without "
            f"self-loops; make such a store with `dromos convert --symmetrize --dedupe --drop-self-loops IN OUT.drm` "
            f"(--memory sets a budget for it{difference}), or use dr.read(path)"
        )


def _require_simple_store(graph: Graph, options: str) -> None:
    """Refuse a graph on disk with self-loops or parallel edges; ``options``: how a store is made beside leaving out."""
    found = {"self-loops": graph.has_self_loops, "parallel edges": graph.has_parallel_edges}
    if graph.on_disk and any(found.values()):
        raise InvalidArgumentError(
            f"{graph.source_file} has {' and '.join(what for what, is_there in found.items() if is_there)}, which "
            f"must not count here; make a store without them with `dromos convert {options}"
            "--dedupe --drop-self-loops IN OUT.drm` (--memory sets a budget for it), or use dr.read(path)"
        )


def _simplified(graph: Graph) -> Graph:
    bare = graph if graph.weights is None else _without_weights(graph)
    if not graph.has_self_loops and not graph.has_parallel_edges:
        return bare
    edges = bare.edges()
    return Graph.from_edges(
        edges.src, edges.dst,
        num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True, drop_self_loops=True,
    )  # fmt: skip


def lightest(graph: Graph) -> Graph:
    """The graph without self-loops and all but the lightest of parallel edges; the graph itself where it is so.

    >>> lightest(Graph.from_edges([0, 0, 1], [1, 1, 1], [5.0, 2.0, 1.0])).weights.tolist()
    [2.0]
    """
    if not graph.has_self_loops and not graph.has_parallel_edges:
        return graph
    _require_simple_store(graph, f"{'--transpose ' if graph.directed else ''}--merge-weights min ")
    edges = graph.edges()
    return Graph.from_edges(
        edges.src, edges.dst, edges.weight, num_vertices=graph.num_vertices, directed=graph.directed,
        dedupe=True, drop_self_loops=True, merge_weights="min",
    )  # fmt: skip


def symmetric(graph: Graph, *, dedupe: bool = True) -> Graph:
    """The graph with every arc in both directions; the graph itself where it is so.

    It is kept as that of :func:`simple`.

    >>> symmetric(Graph.from_edges([0], [1])).num_arcs
    2
    """
    if graph.symmetric:
        return graph
    return derived(graph, f"symmetric, dedupe={dedupe}", lambda given: given.symmetrized(dedupe=dedupe))


def sources_of_arcs(graph: Graph) -> Array:
    """The source of every arc, beside ``graph.targets``."""
    return expand_sources(graph.offsets, graph.targets.dtype)


def vertex_values(
    graph: Graph,
    given: Mapping[Any, float] | Any,
    name: str,
    session: Session | None = None,
    checks: list[Callable[[], None]] | None = None,
) -> Array:
    """Numbers by vertex: an array with one each, or a mapping from vertices (labels or ids), 0 for those left out.

    An array on a GPU stays there. With a ``session``, others are brought to where its programs read them. Whether the
    numbers are finite is told at once, or with ``checks`` by a function that is added there: who calls it later does
    not wait for a GPU now.

    >>> vertex_values(Graph.from_edges(["a"], ["b"]), {"b": 2}, "personalization").tolist()
    [0.0, 2.0]
    """
    n = graph.num_vertices
    if isinstance(given, Mapping):
        values = np.zeros(n)
        for vertex, value in given.items():
            values[graph.vertex_id(vertex)] = value
    else:
        try:
            values = array_module(given).asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"{name} is neither a mapping from vertices to numbers nor an array") from None
        if values.shape != (n,):
            raise InvalidArgumentError(f"{name} has shape {values.shape}, but the graph has {n:,} vertices")
    if session is not None:
        values = session.placed(values)
    look = None if session is None else session.has_not_finite(values)

    def check() -> None:
        if not _is_finite(values) if look is None else look():
            raise InvalidArgumentError(f"{name} holds a number that is not finite; replace NaN and infinity")

    if checks is None or look is None:
        check()
    else:
        checks.append(check)
    return values


def _is_finite(values: Array) -> bool:
    """Whether no number is infinite or NaN; then their sum is so too, unless it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(values.sum())
    return bool(np.isfinite(total)) or bool(array_module(values).isfinite(values).all())


def finite(value: float, name: str, low: float, high: float) -> float:
    """``value`` if it is a number in ``low..high``."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low <= value <= high:
        allowed = f"of {low:g} or more" if high >= np.finfo(np.float64).max else f"in {low:g}..{high:g}"
        kind = "finite number" if value == np.inf else "number"
        raise InvalidArgumentError(f"{name}={value!r} is not a {kind} {allowed}")
    return float(value)


def refuse_rows_on_disk(graph: Graph, name: str) -> None:
    """Refuse a graph on disk where a kernel for graphs in memory returns one row per edge, and say what to do."""
    if graph.on_disk:
        raise ArcsOnDiskError(
            f"the arcs of {graph.source_file} stay on disk, and {name} needs them in memory; its answer has one row "
            "per edge and is larger than the graph itself. Use dr.read(path) or graph.load(), which map the arcs, "
            "instead of dr.open(path) (on the command line: leave --memory out), or graph.subgraph(vertices) for a part"
        )


def total_of(values: Array) -> float:
    """The sum, block by block on all threads: the same whatever their number.

    >>> total_of(np.array([1, 2, 4], np.int32))
    7.0
    """
    parts = np.zeros(-(-len(values) // _SUMMED))

    def add(begin: int, end: int) -> None:
        parts[begin // _SUMMED] = values[begin:end].sum(dtype=np.float64)

    in_blocks(add, len(values), _SUMMED)
    return float(parts.sum())


def count_of(value: int, name: str, low: int = 0) -> int:
    """``value`` if it is a whole number from ``low`` on."""
    number = whole_number(value)
    if number is None or number < low:
        raise InvalidArgumentError(f"{name}={value!r} is not a whole number of {low} or more")
    return number
