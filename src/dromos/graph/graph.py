"""The graph: immutable compressed sparse rows with weights, labels and flags that are true."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dromos.dtypes import OFFSET, Array, id_dtype
from dromos.errors import GraphDataError, InvalidArgumentError, ResourceError, UnknownVertexError
from dromos.graph import build, interop, summary, transform
from dromos.graph.build import MergeRule
from dromos.graph.checks import check_rows, is_shared
from dromos.graph.columns import id_column, vertex_count, weight_column
from dromos.graph.from_igraph import from_igraph
from dromos.graph.from_networkx import from_networkx
from dromos.graph.labels import Labels, factorize
from dromos.graph.slices import GraphSlice, VertexSubset, equal_edge_bounds

if TYPE_CHECKING:
    from dromos.graph.transform import Relabelled

__all__ = ["Edges", "Flags", "Graph"]


class Edges(NamedTuple):
    """Edges as columns; ``weight`` is ``None`` for an unweighted graph."""

    src: Array
    dst: Array
    weight: Array | None


@dataclass(frozen=True)
class Flags:
    """What is known of a graph; ``None`` stands for "not looked at yet"."""

    directed: bool = True
    symmetric: bool | None = None
    sorted: bool | None = None
    parallel_edges: bool | None = None
    self_loops: bool | None = None


class Graph:
    """An immutable graph in compressed sparse rows.

    The out-neighbours of vertex ``u`` are ``targets[offsets[u]:offsets[u + 1]]``. An undirected graph stores every edge
    in both directions (a self-loop once), and its transpose is itself. Make one with :meth:`from_edges`,
    :func:`dromos.read`, a generator, or a ``from_…`` method.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 0, 2], [1, 2, 1], [0.5, 2.0, 1.5])
    >>> g
    <Graph: 3 vertices, 3 edges, directed, float64 weights>
    >>> g.out_degree.tolist(), g.in_degree.tolist()
    ([2, 0, 1], [0, 2, 1])
    """

    __slots__ = ("__weakref__", "_check", "_derived", "_flags", "_in_degree", "_labels", "_offsets", "_out_degree",
                 "_shared", "_targets", "_transpose", "_weights", "source_file")  # fmt: skip

    on_disk = False
    """Whether the arcs stay in a file, and come in pages: see :func:`dromos.open`."""

    _offsets: Array
    _targets: Array
    _weights: Array | None
    _labels: Labels | None
    _flags: Flags
    _transpose: Graph | None
    _out_degree: Array | None
    _in_degree: Array | None
    _check: Callable[[], None] | None
    _derived: dict[str, Graph]
    _shared: bool
    source_file: str | None

    def __init__(self) -> None:
        raise TypeError("make a graph with Graph.from_edges, Graph.from_csr, dromos.read or dromos.generators")

    @classmethod
    def _make(
        cls,
        offsets: Array,
        targets: Array,
        weights: Array | None = None,
        *,
        labels: Labels | None = None,
        flags: Flags | None = None,
        transpose: Graph | None = None,
        source_file: str | None = None,
        check: Callable[[], None] | None = None,
    ) -> Graph:
        """Wrap arrays; for Dromos's own modules.

        The arrays are known to be right, or ``check`` is called before anybody gets to see them: it raises unless they
        are the rows of a graph. Kernels index by them without looking.
        """
        self = object.__new__(cls)
        self._offsets = _read_only(offsets)
        self._targets = _read_only(targets)
        self._weights = None if weights is None else _read_only(weights)
        self._labels = labels
        self._flags = flags if flags is not None else Flags()
        self._transpose = transpose
        self._out_degree = self._in_degree = None
        self._check, self._shared = check, False
        self._derived = {}
        self.source_file = source_file
        return self

    # ---- making ------------------------------------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls,
        src: Array | Sequence[Any],
        dst: Array | Sequence[Any],
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
            src, dst: ids ``0..n-1``, or labels: strings always are, integers with ``labels=True``.
            weight: one number per edge; kept exactly (float32, float64 or int32).
            num_vertices: how many vertices there are; the largest id + 1 unless given (isolated vertices are kept).
            directed: ``False`` says that every edge goes both ways; each is given once, and stored in both directions.
            labels: names of the vertices ``0..n-1``; or ``True`` where ``src`` and ``dst`` hold labels, not ids.
            symmetrize: ``True`` makes an undirected graph of directed edges. ``False`` with ``directed=False`` says
                that both directions of every edge are in the input already, which is checked.
            dedupe: keep one of several edges with the same ends, its weight by ``merge_weights``.
            drop_self_loops: leave out edges from a vertex to itself.
            merge_weights: ``"first"`` in input order, ``"min"``, ``"max"`` or ``"sum"``.
            threads: threads to build with; all cores unless given.

        >>> Graph.from_edges(["ada", "ada"], ["bob", "eve"], directed=False)
        <Graph: 3 vertices, 2 edges, undirected, str labels>
        """
        source, target = id_column(src, "src"), id_column(dst, "dst")
        if len(source) != len(target):
            raise GraphDataError(f"src has {len(source):,} ids and dst {len(target):,}; an edge needs one of each")
        weights = weight_column(weight, len(source))
        names: Labels | None = None
        if labels is True or source.dtype == object or target.dtype == object:
            if labels is not None and labels is not True:
                raise InvalidArgumentError("src and dst hold labels themselves; give ids there to pass labels beside")
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

    @classmethod
    def from_csr(
        cls,
        offsets: Array,
        targets: Array,
        weights: Array | None = None,
        *,
        directed: bool = True,
        labels: Iterable[Any] | None = None,
        copy: bool = True,
    ) -> Graph:
        """A graph of CSR arrays, which are checked.

        Arrays that somebody could still write to are copied; read-only ones of fitting types are not. ``copy=False``
        shares the memory of the others too. They are then checked again before every run, at memory speed, and writing
        to them while something runs is not safe.

        >>> Graph.from_csr(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32), directed=False)
        <Graph: 2 vertices, 1 edge, undirected>
        """
        offsets, targets = np.asarray(offsets), np.asarray(targets)
        if offsets.ndim != 1 or targets.ndim != 1 or offsets.dtype.kind not in "iu" or targets.dtype.kind not in "iu":
            raise GraphDataError("offsets and targets must be one-dimensional arrays of integers")
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(targets) or np.any(offsets[1:] < offsets[:-1]):
            raise GraphDataError(f"offsets must rise from 0 to the number of targets, {len(targets):,}")
        count = len(offsets) - 1
        if len(targets) and not (int(targets.min()) >= 0 and int(targets.max()) < count):
            raise GraphDataError(f"targets must lie in 0..{count - 1}")
        values = weight_column(weights, len(targets))
        names = None if labels is None else Labels.from_values(labels)
        vertex_count(targets[:0], targets[:0], count, names)
        offsets, rows_shared = _taken(offsets, OFFSET, copy)
        targets, targets_shared = _taken(targets, id_dtype(count), copy)
        if copy and values is not None:
            values = _own(values, weights)
        graph = cls._make(offsets, targets, values, labels=names, flags=Flags(directed=directed))
        graph._shared = rows_shared or targets_shared
        if not directed and not graph.symmetric:
            raise GraphDataError("directed=False, but some arc lacks its reverse (or has another weight there)")
        return graph

    from_scipy = classmethod(interop.from_scipy)
    from_networkx = classmethod(from_networkx)
    from_igraph = classmethod(from_igraph)
    from_arrow = classmethod(interop.from_arrow)
    from_pandas = classmethod(interop.from_pandas)
    from_polars = classmethod(interop.from_polars)
    to_scipy = interop.to_scipy
    to_networkx = interop.to_networkx
    to_arrow = interop.to_arrow
    to_pandas = interop.to_pandas

    # ---- looking -----------------------------------------------------------------------------------------------

    @property
    def num_vertices(self) -> int:
        """How many vertices there are, isolated ones included."""
        return len(self._offsets) - 1

    @property
    def num_arcs(self) -> int:
        """How many directed arcs are stored: an undirected edge counts twice, a self-loop once."""
        return len(self._targets)

    @property
    def num_edges(self) -> int:
        """How many edges there are: an undirected edge counts once."""
        if self.directed:
            return self.num_arcs
        return (self.num_arcs + self.num_self_loops) // 2

    @property
    def num_self_loops(self) -> int:
        """How many edges lead from a vertex to itself."""
        return transform.count_loops(self) if self.has_self_loops else 0

    @property
    def offsets(self) -> Array:
        """Where each row begins in ``targets``: ``int64``, one more than there are vertices. Read-only."""
        if self._check is not None:
            self._run_check()
        return self._offsets

    @property
    def targets(self) -> Array:
        """The target of every arc, row by row: ``int32``, or ``int64`` beyond 2^31 vertices. Read-only."""
        if self._check is not None:
            self._run_check()
        return self._targets

    @property
    def weights(self) -> Array | None:
        """The weight of every arc in the order of ``targets``, or ``None``. Read-only."""
        if self._check is not None and self._weights is not None:
            self._run_check()
        return self._weights

    @property
    def labels(self) -> Labels | None:
        """The names of the vertices, or ``None`` where the ids are the names."""
        return self._labels

    @property
    def directed(self) -> bool:
        """Whether an edge leads one way only."""
        return self._flags.directed

    @property
    def symmetric(self) -> bool:
        """Whether every arc has its reverse, with the same weight (found out once, if it was not known)."""
        if self._flags.symmetric is None:
            reversed_rows = transform.transposed(self)
            found = transform.same_rows(self, reversed_rows)
            self._flags = replace(self._flags, symmetric=found)
            if not found:
                self._keep_transpose(reversed_rows)
        return bool(self._flags.symmetric)

    @property
    def sorted(self) -> bool:
        """Whether every row is sorted by target."""
        if self._flags.sorted is None:
            self._scan()
        return bool(self._flags.sorted)

    @property
    def has_parallel_edges(self) -> bool:
        """Whether two edges have the same source and the same target."""
        if self._flags.parallel_edges is None:
            self._scan()
        return bool(self._flags.parallel_edges)

    @property
    def has_self_loops(self) -> bool:
        """Whether an edge leads from a vertex to itself."""
        if self._flags.self_loops is None:
            self._scan()
        return bool(self._flags.self_loops)

    @property
    def flags(self) -> Flags:
        """All flags, with those found out that were not known."""
        return Flags(self.directed, self.symmetric, self.sorted, self.has_parallel_edges, self.has_self_loops)

    @property
    def known_flags(self) -> Flags:
        """The flags as far as they are known, at no cost."""
        return self._flags

    @property
    def out_degree(self) -> Array:
        """The number of arcs that leave each vertex."""
        if self._out_degree is None:
            self._out_degree = _read_only(np.diff(self.offsets))
        return self._out_degree

    @property
    def in_degree(self) -> Array:
        """The number of arcs that reach each vertex."""
        if self._in_degree is None:
            if self._flags.symmetric or self._transpose is not None:
                self._in_degree = self.transpose.out_degree
            else:
                self._in_degree = _read_only(np.bincount(self.targets, minlength=self.num_vertices))
        return self._in_degree

    @property
    def transpose(self) -> Graph:
        """The graph with every arc reversed: built once and kept; the graph itself where that is symmetric."""
        if self._flags.symmetric:
            return self
        if self._transpose is None:
            self._keep_transpose(transform.transposed(self))
        assert self._transpose is not None
        return self._transpose

    @property
    def nbytes(self) -> int:
        """The memory that the arrays of the graph take, without a transpose."""
        arrays = (self._offsets, self._targets, self._weights, self._labels)
        return sum(part.nbytes for part in arrays if part is not None)

    def require_in_memory(self) -> None:
        """Nothing for a graph in memory; one that stays on disk (:func:`dromos.open`) refuses, and tells what to do."""

    def neighbors(self, vertex: Any) -> Array:
        """The ids of the targets of the arcs that leave ``vertex`` (a label, or an id where the graph has no labels).

        >>> Graph.from_edges([0, 0], [2, 1]).neighbors(0).tolist()
        [1, 2]
        """
        at = self.vertex_id(vertex)
        if self._check is not None and not self._row_is_right(at):  # one row is no reason to look at all of them
            self._run_check()
        return self._targets[self._offsets[at] : self._offsets[at + 1]]

    def vertex_id(self, vertex: Any) -> int:
        """The id of a vertex given by its label, or by its id where the graph has no labels.

        >>> Graph.from_edges(["ada"], ["bob"]).vertex_id("bob")
        1
        """
        return self._checked_id(vertex) if self._labels is None else self._labels.id_of(vertex)

    def edges(self, *, arcs: bool = False) -> Edges:
        """The edges as columns of ids: each undirected edge once, unless all stored ``arcs`` are asked for.

        >>> Graph.from_edges([0, 1], [1, 2], directed=False).edges().dst.tolist()
        [1, 2]
        """
        src = build.expand_sources(self.offsets, self.targets.dtype)
        if self.directed or arcs:
            return Edges(src, self._targets, self._weights)
        once = src <= self._targets
        return Edges(src[once], self._targets[once], None if self._weights is None else self._weights[once])

    # ---- parts and transformations -----------------------------------------------------------------------------

    def slices(self, count: int) -> list[GraphSlice]:
        """Cut the graph into ``count`` contiguous ranges of vertices with about equally many arcs, as views.

        >>> [s.num_arcs for s in Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0]).slices(2)]
        [2, 2]
        """
        bounds = equal_edge_bounds(self.offsets, count).tolist()
        return [self.slice(start, stop) for start, stop in pairwise(bounds)]

    def slice(self, start: int, stop: int) -> GraphSlice:
        """The rows of the vertices ``start..stop``, as views."""
        if not 0 <= start <= stop <= self.num_vertices:
            raise InvalidArgumentError(f"{start}..{stop} is not a range of vertices within 0..{self.num_vertices}")
        begin, end = self.offsets[start], self.offsets[stop]
        weights = None if self._weights is None else self._weights[begin:end]
        return GraphSlice(start, stop, self.offsets[start : stop + 1], self.targets[begin:end], weights)

    def arc_slices(self) -> Iterator[GraphSlice]:
        """All arcs, in slices: one for a graph in memory, many in turn for one that stays on disk.

        >>> [s.targets.tolist() for s in Graph.from_edges([0, 1], [1, 2]).arc_slices()]
        [[1, 2]]
        """
        yield self.slice(0, self.num_vertices)

    def degree_subset(self, low: int = 0, high: int | None = None) -> VertexSubset:
        """The vertices whose out-degree is at least ``low`` and below ``high``; their rows are not copied.

        >>> Graph.from_edges([0, 0, 1], [1, 2, 2]).degree_subset(1).vertices.tolist()
        [0, 1]
        """
        chosen = self.out_degree >= low
        if high is not None:
            chosen &= self.out_degree < high
        return VertexSubset(np.flatnonzero(chosen), self.offsets, self.targets, self._weights)

    def reverse(self) -> Graph:
        """The graph with every edge turned round (itself, where it is undirected)."""
        return self.transpose

    def symmetrized(self, *, dedupe: bool = True, merge_weights: MergeRule = "first") -> Graph:
        """An undirected graph with an edge wherever this one has an arc in either direction.

        >>> Graph.from_edges([0, 1, 1], [1, 0, 2]).symmetrized().num_edges
        2
        """
        return transform.symmetrized(self, dedupe=dedupe, merge_weights=merge_weights)

    def subgraph(self, vertices: Iterable[Any] | Array) -> Graph:
        """The graph induced by ``vertices``, in the order wanted; its labels tell which they were.

        Vertices are given by label (by id where the graph has no labels), or as a truth value for each.

        >>> Graph.from_edges([0, 1, 2], [1, 2, 0]).subgraph([1, 2]).labels
        <2 int labels: 1, 2>
        """
        return transform.subgraph(self, vertices)

    def relabel_by_degree(self, *, descending: bool = True, named: bool = False) -> Relabelled:
        """The same graph with ids ordered by out-degree, and the permutation to put results back.

        ``named``: the old ids become the labels of a graph that has none, so that vertices are still called by them.

        >>> r = Graph.from_edges([2, 2, 1], [0, 1, 0]).relabel_by_degree()
        >>> r.graph.out_degree.tolist(), r.restore(r.graph.out_degree).tolist()
        ([2, 1, 0], [0, 1, 2])
        """
        return transform.relabel_by_degree(self, descending=descending, named=named)

    def egonet(self, vertex: Any, radius: int = 1) -> Graph:
        """The subgraph of all vertices that ``vertex`` reaches in at most ``radius`` steps.

        >>> Graph.from_edges([0, 1, 2], [1, 2, 3]).egonet(0, radius=2).num_vertices
        3
        """
        return transform.egonet(self, self.vertex_id(vertex), radius)

    def cross_edges(self, part: Array | Sequence[int]) -> Edges:
        """The edges whose ends lie in different parts; ``part`` gives a number to each vertex.

        >>> Graph.from_edges([0, 1], [1, 2]).cross_edges([0, 0, 1]).src.tolist()
        [1]
        """
        return transform.cross_edges(self, np.asarray(part))

    def degree_histogram(self, *, direction: str = "out") -> Array:
        """How many vertices have each degree: entry ``d`` counts those of degree ``d``.

        >>> Graph.from_edges([0, 0], [1, 2]).degree_histogram().tolist()
        [2, 0, 1]
        """
        if direction not in ("out", "in"):
            raise InvalidArgumentError(f"direction={direction!r} is neither 'out' nor 'in'")
        return np.bincount(self.out_degree if direction == "out" else self.in_degree)

    def with_weights(self, weights: Array | None) -> Graph:
        """The same edges with other weights, one an arc in the order of ``targets``, or with none."""
        values = weight_column(weights, self.num_arcs)
        if values is not None:
            values = _own(values, weights)
        graph = Graph._make(
            self.offsets, self.targets, values, labels=self._labels, flags=replace(self._flags, symmetric=None)
        )
        graph._shared = self._shared
        if values is None:
            graph._flags = self._flags
        elif not self.directed and not graph.symmetric:
            raise GraphDataError("the two directions of an undirected edge were given different weights")
        return graph

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the graph to a file; see :func:`dromos.write`."""
        from dromos.graph.formats import write

        write(self, path, **options)

    def __eq__(self, other: object) -> bool:
        """Whether both graphs have the same vertices, labels, rows and weights in the same order."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and transform.same_arrays(self, other)
            and self._labels == other._labels
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return summary.short(self)

    def _repr_html_(self) -> str:
        return summary.html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._offsets, self._targets, self._weights, self._labels, self._flags)
        return _unpickle, parts

    # ---- inner -------------------------------------------------------------------------------------------------

    def _checked_id(self, vertex: Any) -> int:
        if isinstance(vertex, np.ndarray):
            raise UnknownVertexError(f"an array of {vertex.size} numbers is not one vertex; give a whole number")
        if isinstance(vertex, bool) or not hasattr(vertex, "__index__"):
            raise UnknownVertexError(f"no vertex {vertex!r}: this graph has no labels, so vertices are whole numbers")
        at = vertex.__index__()
        if not 0 <= at < self.num_vertices:
            held = f"0..{self.num_vertices - 1}" if self.num_vertices else "none: the graph is empty"
            raise UnknownVertexError(f"no vertex {at}: the ids of this graph are {held}")
        return int(at)

    def _run_check(self) -> None:
        """Have arrays checked that came from elsewhere; where they are wrong, every use raises."""
        check = self._check
        if check is not None:
            check()
            self._check = None

    def check_shared_rows(self) -> None:
        """Check again what a caller may have written to meanwhile; a run does it first. Nothing is shared by default.

        >>> Graph.from_edges([0], [1]).check_shared_rows()
        """
        if self._shared:
            check_rows(self._offsets, self._targets, self._weights)

    def _row_is_right(self, vertex: int) -> bool:
        begin, end = int(self._offsets[vertex]), int(self._offsets[vertex + 1])
        if not 0 <= begin <= end <= self.num_arcs:
            return False
        row = self._targets[begin:end]
        return not row.size or (int(row.min()) >= 0 and int(row.max()) < self.num_vertices)

    def _scan(self) -> None:
        found = build.scan_rows(self.offsets, self.targets)
        parallel = found.parallel if found.sorted else transform.has_parallel_unsorted(self)
        self._flags = replace(self._flags, sorted=found.sorted, self_loops=found.loops, parallel_edges=parallel)

    def _keep_transpose(self, transpose: Graph) -> None:
        self._transpose = transpose
        transpose._transpose = self


def _unpickle(offsets: Array, targets: Array, weights: Array | None, labels: Labels | None, flags: Flags) -> Graph:
    return Graph._make(
        offsets, targets, weights, labels=labels, flags=flags, check=lambda: check_rows(offsets, targets, weights)
    )


def _taken(given: Array, dtype: Any, copy: bool) -> tuple[Array, bool]:
    """An array of a caller in the type wanted, with a copy if ``copy``; and whether its memory is still the caller's.

    Memory that nobody can write to is never copied.
    """
    array = np.ascontiguousarray(given, dtype=dtype)
    if not np.may_share_memory(array, given) or not is_shared(given):
        return array, False
    return (array.copy(), False) if copy else (array, True)


def _own(values: Array, given: Any) -> Array:
    """``values``, made of what a caller has ``given``; a copy where the caller could still write to them."""
    taken_over = values is given or values.base is not None
    return values.copy() if taken_over and is_shared(values) else values


def _read_only(array: Array) -> Array:
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
