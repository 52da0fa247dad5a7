"""Graphs from columns of edges and from arrays of rows, checked as they come in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import OFFSET, Array, id_dtype
from dromos.errors import GraphDataError, InvalidArgumentError, ResourceError
from dromos.graph import build
from dromos.graph.build import MergeRule
from dromos.graph.checks import is_shared
from dromos.graph.columns import id_column, vertex_count, weight_column
from dromos.graph.factorizing import factorize
from dromos.graph.hints import with_known_keywords
from dromos.graph.label_arrays import is_arrow_text
from dromos.graph.labels import Labels
from dromos.graph.records import Flags

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["from_csr", "from_edges", "own"]


@with_known_keywords
def from_edges(
    cls: type[Graph],
    /,
    src: Array | Sequence[Any],
    dst: Array | Sequence[Any] | None = None,
    weight: Array | Sequence[float] | None = None,
    *,
    num_vertices: int | None = None,
    directed: bool = True,
    labels: Iterable[Any] | bool | None = None,
    symmetrize: bool | None = None,
    dedupe: bool = False,
    drop_self_loops: bool = False,
    merge_weights: MergeRule = "first",
    threads: int | None = None,
) -> Graph:
    """A graph from columns of edges.

    Args:
        src, dst: ids ``0..n-1``, or labels: strings are always labels, integers with ``labels=True``. Pairs such as
            ``[(0, 1), (1, 2)]``, or an array of two columns, are given as ``src`` alone.
        weight: one number per edge; stored exactly (float32, float64 or int32).
        num_vertices: the number of vertices, including isolated ones; by default the largest id + 1.
        directed: ``False`` makes the edges undirected: each is given once and stored in both directions.
        labels: names of the vertices ``0..n-1``; or ``True`` if ``src`` and ``dst`` hold labels, not ids.
        symmetrize: ``True`` makes an undirected graph of directed edges. ``False`` with ``directed=False`` means
            that the input already has both directions of every edge, which is checked.
        dedupe: keep one of several edges with the same ends, with a weight chosen by ``merge_weights``.
        drop_self_loops: leave out edges from a vertex to itself.
        merge_weights: ``"first"`` in input order, ``"min"``, ``"max"`` or ``"sum"``.
        threads: the number of threads; by default all cores.

    >>> from dromos import Graph
    >>> Graph.from_edges(["ada", "ada"], ["bob", "eve"], directed=False)
    <Graph: 3 vertices, 2 edges, undirected, str labels>
    >>> Graph.from_edges([(0, 1), (1, 2)])
    <Graph: 3 vertices, 2 edges, directed>
    """
    if not isinstance(directed, bool | np.bool_):
        raise InvalidArgumentError(f"directed={directed!r} is neither True nor False")
    if dst is None:
        src, dst = _ends(src)
    texts = is_arrow_text(src) and is_arrow_text(dst) and len(src) > 0
    source: Any
    target: Any
    source, target = (src, dst) if texts else (id_column(src, "src"), id_column(dst, "dst"))
    if len(source) != len(target):
        raise GraphDataError(f"src has {len(source):,} ids and dst {len(target):,}; an edge needs one of each")
    weights = weight_column(weight, len(source))
    names: Labels | None = None
    if texts or labels is True or source.dtype == object or target.dtype == object:
        if labels is not None and labels is not True:
            raise InvalidArgumentError(
                "src and dst hold labels; leave labels= out, or give ids in src and dst and their names as labels=[...]"
            )
        source, target, names = factorize(source, target)
        if num_vertices is not None and num_vertices != len(names):
            raise GraphDataError(f"num_vertices={num_vertices}, but the edges name {len(names)} vertices")
    elif labels is not None and labels is not False:
        names = Labels.from_values(labels)
    count = vertex_count(source, target, num_vertices, names)
    mirror = (not directed) if symmetrize is None else symmetrize
    try:
        offsets, targets, values = build.build_csr(
            source, target, weights, count,
            mirror=mirror, drop_self_loops=drop_self_loops, dedupe=dedupe, merge_weights=merge_weights,
            threads=threads,
        )  # fmt: skip
    except MemoryError:
        raise ResourceError(
            f"a graph of {count:,} vertices and {len(source):,} edges does not fit into memory; give fewer "
            "vertices (labels=True numbers sparse ids), or convert a file with `dromos convert --memory`"
        ) from None
    undirected = mirror or not directed
    flags = Flags(
        directed=not undirected,
        symmetric=True if mirror else None,
        sorted=True,
        parallel_edges=False if dedupe else None,
        self_loops=False if drop_self_loops else None,
    )
    graph = cls._make(offsets, targets, values, labels=names, flags=flags)
    if undirected and not mirror and not graph.symmetric:
        raise GraphDataError(
            "directed=False with symmetrize=False says that every edge is given in both directions with one "
            "weight, and some are not; leave symmetrize out to have the reverse edges added"
        )
    return graph


def _ends(pairs: Any) -> tuple[Any, Any]:
    """The columns of a list of pairs, or of an array with two columns."""
    columns: list[Any] = []
    if isinstance(pairs, np.ndarray):
        columns = list(pairs.T) if pairs.ndim == 2 else []
    elif (package := type(pairs).__module__.partition(".")[0]) in ("pandas", "polars") and hasattr(pairs, "columns"):
        raise GraphDataError(f"src is a data frame; make a graph of it with Graph.from_{package}(frame)")
    elif isinstance(pairs, Iterable):
        rows = [tuple(pair) if isinstance(pair, list | tuple | np.ndarray) else () for pair in pairs]
        columns = list(zip(*rows, strict=True)) if rows and {len(row) for row in rows} == {2} else []
    if len(columns) != 2:
        raise GraphDataError(
            "dst is missing, and src does not hold pairs; give two columns, Graph.from_edges(src, dst), or pairs such "
            "as [(0, 1), (1, 2)]"
        )
    return columns[0], columns[1]


def from_csr(
    cls: type[Graph],
    /,
    offsets: Array,
    targets: Array,
    weights: Array | None = None,
    *,
    directed: bool = True,
    labels: Iterable[Any] | None = None,
    copy: bool = True,
) -> Graph:
    """A graph from CSR arrays, which are checked.

    Writable arrays are copied; read-only arrays of suitable types are shared. ``copy=False`` shares the memory of
    writable arrays too. They are then checked again before every run, at memory speed, and writing to them during a
    run is not safe.

    >>> from dromos import Graph
    >>> Graph.from_csr(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), directed=False)
    <Graph: 2 vertices, 1 edge, undirected>
    """
    offsets, targets = np.asarray(offsets), np.asarray(targets)
    if targets.size == 0 and targets.ndim == 1:
        targets = targets.astype(np.int64)  # an empty list says nothing of its type
    if offsets.ndim != 1 or targets.ndim != 1 or offsets.dtype.kind not in "iu" or targets.dtype.kind not in "iu":
        raise GraphDataError("offsets and targets must be one-dimensional arrays of integers")
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(targets) or np.any(offsets[1:] < offsets[:-1]):
        raise GraphDataError(f"offsets must rise from 0 to the number of targets, {len(targets):,}")
    count = len(offsets) - 1
    if len(targets) and not (int(targets.min()) >= 0 and int(targets.max()) < count):
        raise GraphDataError(f"targets must lie in 0..{count - 1}")
    values = weight_column(weights, len(targets), of="arcs")
    names = None if labels is None else Labels.from_values(labels)
    vertex_count(targets[:0], targets[:0], count, names)
    offsets, rows_shared = _taken(offsets, OFFSET, copy)
    targets, targets_shared = _taken(targets, id_dtype(count), copy)
    if copy and values is not None:
        values = own(values, weights)
    graph = cls._make(offsets, targets, values, labels=names, flags=Flags(directed=directed))
    graph._shared = rows_shared or targets_shared
    if not directed and not graph.symmetric:
        raise GraphDataError("directed=False, but some arc lacks its reverse (or has another weight there)")
    return graph


def _taken(given: Array, dtype: Any, copy: bool) -> tuple[Array, bool]:
    """An array of a caller in the type wanted, with a copy if ``copy``; and whether its memory is still the caller's.

    Memory that nobody can write to is never copied.
    """
    array = np.ascontiguousarray(given, dtype=dtype)
    if not np.may_share_memory(array, given) or not is_shared(given):
        return array, False
    return (array.copy(), False) if copy else (array, True)


def own(values: Array, given: Any) -> Array:
    """``values``, made of what a caller has ``given``; a copy where the caller could still write to them."""
    taken_over = values is given or values.base is not None
    return values.copy() if taken_over and is_shared(values) else values
