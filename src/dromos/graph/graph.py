"""The graph: immutable compressed sparse rows with weights, labels and flags."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError, InvalidArgumentError, UnknownVertexError
from dromos.graph import build, interop, making, pictures, summary, transform
from dromos.graph import from_igraph as igraph_graphs
from dromos.graph import from_networkx as networkx_graphs
from dromos.graph import slices as slicing
from dromos.graph import vertex_data as vertex_columns
from dromos.graph.checks import check_rows
from dromos.graph.columns import weight_column
from dromos.graph.hints import made_by, missing_attribute
from dromos.graph.labels import Labels
from dromos.graph.picking import picked
from dromos.graph.records import Edges, Flags
from dromos.graph.slices import GraphSlice
from dromos.graph.vertex_data import VertexData
from dromos.whole_numbers import whole_number

__all__ = ["Edges", "Flags", "Graph"]


class Graph:
    """An immutable graph in compressed sparse rows.

    The out-neighbors of vertex ``u`` are ``targets[offsets[u]:offsets[u + 1]]``. An undirected graph stores every edge
    in both directions (a self-loop once), and is its own transpose. Make a graph with :meth:`from_edges`,
    :func:`dromos.read`, a generator, or a ``from_…`` method.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 0, 2], [1, 2, 1], [0.5, 2.0, 1.5])
    >>> g
    <Graph: 3 vertices, 3 edges, directed, float64 weights>
    >>> g.out_degree.tolist(), g.in_degree.tolist()
    ([2, 0, 1], [0, 2, 1])
    """

    __slots__ = ("__weakref__", "_check", "_derived", "_flags", "_in_degree", "_labels", "_offsets", "_out_degree",
                 "_shared", "_targets", "_transpose", "_vertex_data", "_weights", "source_file")  # fmt: skip

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
    _vertex_data: VertexData
    source_file: str | None

    def __init__(self, *given: Any, **options: Any) -> None:
        raise TypeError(f"make a graph with {made_by(given[0] if given else None)}")

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
        vertex_data: VertexData | None = None,
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
        self._vertex_data = VertexData() if vertex_data is None else vertex_data
        self.source_file = source_file
        return self

    # ---- making ------------------------------------------------------------------------------------------------

    from_edges = classmethod(making.from_edges)
    from_csr = classmethod(making.from_csr)
    from_scipy = classmethod(interop.from_scipy)
    from_networkx = classmethod(networkx_graphs.from_networkx)
    from_igraph = classmethod(igraph_graphs.from_igraph)
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
        """The number of vertices, including isolated ones."""
        return len(self._offsets) - 1

    @property
    def num_arcs(self) -> int:
        """The number of stored arcs: an undirected edge counts twice, a self-loop once."""
        return len(self._targets)

    @property
    def num_edges(self) -> int:
        """The number of edges: an undirected edge counts once."""
        if self.directed:
            return self.num_arcs
        return (self.num_arcs + self.num_self_loops) // 2

    @property
    def num_self_loops(self) -> int:
        """The number of edges from a vertex to itself."""
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
        """The labels of the vertices, or ``None`` if vertices have only ids."""
        return self._labels

    @property
    def vertex_data(self) -> VertexData:
        """Attributes of the vertices: read-only columns by name, one value per vertex in the order of the ids.

        :meth:`from_networkx` and :meth:`from_igraph` import node attributes, :meth:`with_vertex_data` sets columns, and
        :meth:`to_networkx` exports them. Subgraphs and relabelled graphs keep the rows of their vertices; files do not
        store vertex data.

        >>> import networkx as nx
        >>> g = Graph.from_networkx(nx.karate_club_graph())
        >>> g.vertex_data["club"][[0, 33]].tolist()
        ['Mr. Hi', 'Officer']
        """
        return self._vertex_data

    @property
    def directed(self) -> bool:
        """Whether the edges are directed."""
        return self._flags.directed

    @property
    def symmetric(self) -> bool:
        """Whether every arc has a reverse arc of the same weight; computed once if it is not known."""
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
        """All flags; those that are not known are computed."""
        return Flags(self.directed, self.symmetric, self.sorted, self.has_parallel_edges, self.has_self_loops)

    @property
    def known_flags(self) -> Flags:
        """The flags that are known, without computing the others."""
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
        """The graph with every arc reversed, built once and kept; a symmetric graph is its own transpose."""
        if self._flags.symmetric:
            return self
        if self._transpose is None:
            self._keep_transpose(transform.transposed(self))
        assert self._transpose is not None
        return self._transpose

    @property
    def has_transpose(self) -> bool:
        """Whether :attr:`transpose` needs no work: it was built before, or the graph is known to be symmetric."""
        return bool(self._flags.symmetric) or self._transpose is not None

    @property
    def known_transpose(self) -> Graph | None:
        """The transpose where it has been built, and is not the graph itself."""
        return self._transpose

    @property
    def nbytes(self) -> int:
        """The memory that the arrays of the graph take, without a transpose."""
        arrays = (self._offsets, self._targets, self._weights, self._labels)
        return sum(part.nbytes for part in arrays if part is not None)

    def require_in_memory(self) -> None:
        """Raise an error for a graph that stays on disk (:func:`dromos.open`); a graph in memory passes."""

    def neighbors(self, vertex: Any) -> Array:
        """The ids of the out-neighbors of ``vertex`` (a label, or an id if the graph has no labels), one per arc.

        >>> Graph.from_edges([0, 0], [2, 1]).neighbors(0).tolist()
        [1, 2]
        """
        at = self.vertex_id(vertex)
        if self._check is not None and not self._row_is_right(at):  # one row is no reason to look at all of them
            self._run_check()
        return self._targets[self._offsets[at] : self._offsets[at + 1]]

    def vertex_id(self, vertex: Any) -> int:
        """The id of a vertex given by its label, or by its id if the graph has no labels.

        >>> Graph.from_edges(["ada"], ["bob"]).vertex_id("bob")
        1
        """
        return self._checked_id(vertex) if self._labels is None else self._labels.id_of(vertex)

    def edges(self, *, arcs: bool = False) -> Edges:
        """The edges as columns of ids: each undirected edge once, or all stored arcs with ``arcs=True``.

        >>> Graph.from_edges([0, 1], [1, 2], directed=False).edges().dst.tolist()
        [1, 2]
        """
        src = build.expand_sources(self.offsets, self.targets.dtype)
        if self.directed or arcs:
            return Edges(src, self._targets, self._weights)
        once = src <= self._targets
        if self._weights is None:
            src, dst = picked(once, src, self._targets)
            return Edges(src, dst, None)
        src, dst, weight = picked(once, src, self._targets, self._weights)
        return Edges(src, dst, weight)

    # ---- parts and transformations -----------------------------------------------------------------------------

    def arc_slices(self) -> Iterator[GraphSlice]:
        """All arcs in slices: one for a graph in memory, many one after the other for a graph on disk.

        >>> [s.targets.tolist() for s in Graph.from_edges([0, 1], [1, 2]).arc_slices()]
        [[1, 2]]
        """
        yield self.slice(0, self.num_vertices)

    def with_rows_of(self, vertices: Array) -> Graph:
        """A graph with the same vertices in whose memory the out-rows of ``vertices`` (ids) are: this one.

        >>> Graph.from_edges([0, 1], [1, 2]).with_rows_of(np.array([1])).num_arcs
        2
        """
        return self

    def reverse(self) -> Graph:
        """The graph with every edge reversed; an undirected graph is returned as it is."""
        return self.transpose

    slices = slicing.slices
    slice = slicing.slice_of
    degree_subset = slicing.degree_subset
    symmetrized = transform.symmetrized
    subgraph = transform.subgraph
    relabel_by_degree = transform.relabel_by_degree
    egonet = transform.egonet
    cross_edges = transform.cross_edges
    with_vertex_data = vertex_columns.with_vertex_data
    plot = pictures.plot
    plot_degrees = pictures.plot_degrees

    def degree_histogram(self, *, direction: str = "out") -> Array:
        """How many vertices have each degree: entry ``d`` counts those of degree ``d``.

        >>> Graph.from_edges([0, 0], [1, 2]).degree_histogram().tolist()
        [2, 0, 1]
        """
        if direction not in ("out", "in"):
            raise InvalidArgumentError(f"direction={direction!r} is neither 'out' nor 'in'")
        return np.bincount(self.out_degree if direction == "out" else self.in_degree)

    def with_weights(self, weights: Array | None) -> Graph:
        """The same edges with other weights, one per arc in the order of ``targets``, or with none."""
        values = weight_column(weights, self.num_arcs, of="arcs, in the order of targets")
        if values is not None:
            values = making.own(values, weights)
        graph = Graph._make(
            self.offsets, self.targets, values,
            labels=self._labels, flags=replace(self._flags, symmetric=None), vertex_data=self._vertex_data,
        )  # fmt: skip
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
        """Whether both graphs have equal vertices, labels, rows and weights in the same order; ignores vertex data."""
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self.directed == other.directed
            and transform.same_arrays(self, other)
            and self._labels == other._labels
        )  # fmt: skip

    __hash__ = None  # type: ignore[assignment]

    if not TYPE_CHECKING:  # a type checker knows what there is

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(name, type(self))

    def __repr__(self) -> str:
        return summary.short(self)

    def _repr_html_(self) -> str:
        return summary.html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._offsets, self._targets, self._weights, self._labels, self._flags, self._vertex_data)
        return _unpickle, parts

    # ---- inner -------------------------------------------------------------------------------------------------

    def _checked_id(self, vertex: Any) -> int:
        if isinstance(vertex, np.ndarray):
            raise UnknownVertexError(f"an array of {vertex.size} numbers is not one vertex; give a whole number")
        at = whole_number(vertex)
        if at is None:
            several = isinstance(vertex, list | tuple | set)
            raise UnknownVertexError(
                f"no vertex {vertex!r}: this graph has no labels, so vertices are whole numbers"
                + "; to search from several, use dromos.multi_source_bfs or dromos.distances" * several
            )
        if not 0 <= at < self.num_vertices:
            held = f"0..{self.num_vertices - 1}" if self.num_vertices else "none: the graph is empty"
            raise UnknownVertexError(f"no vertex {at}: the ids of this graph are {held}")
        return at

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


def _unpickle(
    offsets: Array, targets: Array, weights: Array | None, labels: Labels | None, flags: Flags, data: VertexData
) -> Graph:
    return Graph._make(
        offsets, targets, weights,
        labels=labels, flags=flags, vertex_data=data, check=lambda: check_rows(offsets, targets, weights),
    )  # fmt: skip


def _read_only(array: Array) -> Array:
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view
