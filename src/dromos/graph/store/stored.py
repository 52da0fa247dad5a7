"""A graph that stays in its file: counts, flags, labels and row offsets in memory, arcs read in pages by a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FileError, InvalidArgumentError
from dromos.file_names import file_name
from dromos.graph.formats.files import file_errors
from dromos.graph.graph import Graph
from dromos.graph.labels import Labels
from dromos.graph.slices import GraphSlice
from dromos.graph.store.header_page import checked_table, unpack_header
from dromos.graph.store.kept_labels import KeptLabels
from dromos.graph.store.label_sections import labels_kind, labels_of
from dromos.graph.store.layout import ALIGNMENT, Header
from dromos.graph.store.origin import Origin
from dromos.graph.store.packs import PackIndex
from dromos.graph.store.paged.arcs import ArcsOnDisk
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.kept import KeptReader
from dromos.graph.store.paged.offsets import offset_bytes, read_offsets, read_section
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.selected import rows_between, selected_rows
from dromos.graph.store.paged.slices import slice_of
from dromos.graph.store.paged.stripes import open_source
from dromos.graph.store.striped import is_striped, read_stripes, read_through
from dromos.graph.store.whole import KeptGraph
from dromos.graph.summary import human_bytes, size_and_kind
from dromos.graph.vertex_data import VertexData
from dromos.sizes import available_memory

__all__ = ["StoredGraph", "open_origin", "open_store"]

_SCAN_BYTES = 16 << 20
"""Bytes of pages in memory during one pass over all arcs outside of a run."""


def open_store(path: str | os.PathLike[str]) -> StoredGraph:
    """Open a store (``.drm``) without reading its arcs, for graphs larger than memory.

    Algorithms run on it within a budget, ``dr.bfs(graph, 0, memory="2G")``, and read the arcs they need in pages.
    Functions that need the whole graph in memory refuse it; :meth:`StoredGraph.load` (or ``dr.read``) maps the same
    file.

    >>> import dromos as dr, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> graph = dr.open(file)
    >>> graph
    <StoredGraph: 3 vertices, 2 edges, directed; 12.0 KiB on disk>
    >>> graph.out_degree.tolist()
    [1, 1, 0]
    """
    return StoredGraph._open(*open_origin(path))


def open_origin(path: str | os.PathLike[str]) -> tuple[Origin, Array]:
    """The header and the files of a store, striped or not, and its table of checksums."""
    place = file_name(path, "graph.drm")
    with file_errors(place):
        if place.is_dir():
            raise FileError("is a directory; give the file in it", path=place)
        with open(place, "rb") as file:
            status = os.fstat(file.fileno())
            page = file.read(ALIGNMENT)
            stripes = read_stripes(page + file.read(), place) if is_striped(page) else None
            if stripes is None:
                header = unpack_header(page, status.st_size, place)
                file.seek(header.checksums_offset)
                table = file.read()
            else:
                header = unpack_header(read_through(stripes, 0, min(ALIGNMENT, stripes.size)), stripes.size, place)
                table = read_through(stripes, header.checksums_offset, stripes.size - header.checksums_offset)
    origin = Origin.of(os.fspath(place.absolute()), status, header=header, stripes=stripes)
    return origin, checked_table(header, table, origin.path)


class StoredGraph(Graph):
    """A graph whose arcs stay in a store; made by :func:`dromos.open`.

    Counts, flags, degrees and labels work as in a :class:`~dromos.graph.Graph`. ``targets`` and ``weights`` have types
    and lengths, but reading their elements raises an error.
    """

    __slots__ = (
        "_between", "_checksums", "_kept_labels", "_loaded", "_prefix", "_rows", "_weighted", "kept_graph",
        "kept_reader", "making_memory", "origin",
    )  # fmt: skip

    on_disk = True
    _checksums: Array
    _between: dict[tuple[str, bool], GraphSlice]
    _kept_labels: KeptLabels
    _loaded: Graph | None
    _prefix: str
    _rows: dict[str, Array]
    _weighted: bool
    kept_graph: KeptGraph
    """The graph in memory, if a call has read it whole; shared by all views of the graph."""
    kept_reader: KeptReader
    """The reader of single rows, kept between calls and shared by all views of the graph."""
    making_memory: int | None
    """Bytes for sorting the in-edges, if they have to be made; a quarter of the free memory unless given."""
    origin: Origin

    @classmethod
    def _open(
        cls,
        origin: Origin,
        checksums: Array,
        *,
        prefix: str = "",
        weighted: bool = True,
        rows: dict[str, Array] | None = None,
        labels: KeptLabels | None = None,
        kept_reader: KeptReader | None = None,
        kept_graph: KeptGraph | None = None,
    ) -> StoredGraph:
        self = object.__new__(cls)
        self.origin, self._checksums, self._prefix, self._weighted = origin, checksums, prefix, weighted
        self._rows = {} if rows is None else rows  # the offsets of both directions, shared by all views of the graph
        self._kept_labels = KeptLabels() if labels is None else labels
        self.kept_reader = KeptReader() if kept_reader is None else kept_reader
        self.kept_graph = KeptGraph() if kept_graph is None else kept_graph
        self._flags = origin.header.flags
        self._transpose = self._out_degree = self._in_degree = self._check = None
        self._loaded, self._derived, self._between = None, {}, {}
        self._check, self._shared = None, False  # offsets and pages are checked where they are read
        self._vertex_data = VertexData()
        self.source_file, self.making_memory = origin.path, None
        return self

    # ---- what is in memory ---------------------------------------------------------------------------------------

    @property
    def header(self) -> Header:
        """The header of the store."""
        return self.origin.header

    @property
    def num_vertices(self) -> int:
        """How many vertices there are, isolated ones included."""
        return self.header.num_vertices

    @property
    def num_arcs(self) -> int:
        """How many directed arcs are stored: an undirected edge counts twice, a self-loop once."""
        return self.header.num_arcs

    @property
    def num_edges(self) -> int:
        """How many edges there are: an undirected edge counts once."""
        return self.header.num_edges

    @property
    def num_self_loops(self) -> int:
        """How many edges lead from a vertex to itself; in a directed graph known only if there are none."""
        if not self.directed:
            return 2 * self.num_edges - self.num_arcs
        return 0 if not self.has_self_loops else self.require_in_memory()

    @property
    def _offsets(self) -> Array:  # type: ignore[override]
        return self.row_offsets(self._prefix)

    def row_offsets(self, prefix: str) -> Array:
        """The offsets of the out-rows (``""``) or of the stored in-rows (``"transpose_"``), read and checked once."""
        if prefix not in self._rows:
            with self.reading() as source:
                offsets = read_offsets(source, self.header, self._checksums, f"{prefix}offsets")
            offsets.flags.writeable = False
            self._rows[prefix] = offsets
        return self._rows[prefix]

    def held_bytes(self, directions: int = 1) -> dict[str, int]:
        """Bytes that the graph itself holds during a run, by name: row offsets, and labels that have been read."""
        held = {"row offsets": directions * offset_bytes(self.header)}
        labels = self._kept_labels.nbytes
        return held | {"labels": labels} if labels else held

    def make_room(self, *, keep_graph: bool = False) -> None:
        """Release the memory of what can be read again: labels, pages, and arcs if a call has read all of them.

        ``keep_graph``: not the arcs.

        >>> import dromos as dr, tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
        >>> dr.write(dr.generators.path(3), file)
        >>> graph = dr.open(file)
        >>> dr.pagerank(graph, memory="1G", device="cpu").trace.read, graph.make_room()
        (16, None)
        """
        self.kept_reader.clear()
        self._kept_labels.forget()
        if not keep_graph:
            self.kept_graph.forget()

    @property
    def _targets(self) -> Any:  # type: ignore[override]
        section = self.header.section("targets")
        assert section is not None
        return ArcsOnDisk(section.dtype, self.num_arcs, self.origin.path)

    @property
    def _weights(self) -> Any:  # type: ignore[override]
        section = self.header.section("weights") if self._weighted else None
        return None if section is None else ArcsOnDisk(section.dtype, self.num_arcs, self.origin.path)

    @property
    def _labels(self) -> Labels | None:  # type: ignore[override]
        return self._kept_labels.get(self._read_labels)

    def _read_labels(self) -> Labels | None:
        return labels_of(self._read_whole)

    def vertex_id(self, vertex: Any) -> int:
        """The id of a vertex given by its label, or by its id if the graph has no labels."""
        found = self._kept_labels.id_of(vertex, self._read_labels)
        return self._checked_id(vertex) if found is None else found

    @property
    def symmetric(self) -> bool:
        """Whether every arc has its reverse, with the same weight, as far as the store knows."""
        return bool(self._flags.symmetric)

    @property
    def out_degree(self) -> Array:
        """The number of arcs that leave each vertex."""
        return _degrees(self._offsets)

    @property
    def in_degree(self) -> Array:
        """The number of arcs that reach each vertex."""
        if self._in_degree is None:
            self._in_degree = _degrees(self.row_offsets(self.require_in_edges()))
        return self._in_degree

    @property
    def nbytes(self) -> int:
        """The size of the file."""
        return self.header.file_bytes

    # ---- the other direction, other weights ------------------------------------------------------------------------

    @property
    def in_prefix(self) -> str | None:
        """The prefix of the names of the in-row sections; None if the store has no in-rows."""
        if self.symmetric:
            return self._prefix
        other = "" if self._prefix else "transpose_"
        return other if self.header.section(f"{other}targets") is not None else None

    @property
    def why_no_transpose(self) -> str:
        """How to get in-rows for a store without them."""
        return (
            f"{self.origin.path} is directed and holds no transpose; write it with `dromos convert --transpose`, or "
            "dr.write(graph, path, transpose=True)"
        )

    @property
    def transpose(self) -> Graph:
        """The graph with every arc reversed; see :meth:`require_in_edges`."""
        return self if self.symmetric else self.view(prefix=self.require_in_edges())

    def require_in_edges(self, memory: int | None = None) -> str:
        """Make sure that there are in-edges, and return :attr:`in_prefix`.

        If the store of a directed graph holds none, a second store beside it does; it is made within ``memory`` bytes
        if the disk has room, and used from then on.
        """
        if self.in_prefix is None:
            from dromos.graph.store.beside import store_with_transpose

            given = self.making_memory if memory is None else memory
            other = open_store(store_with_transpose(self, available_memory() // 4 if given is None else given))
            self.kept_reader.clear()
            self.origin, self._checksums, self._between = other.origin, other._checksums, {}
        assert self.in_prefix is not None
        return self.in_prefix

    @property
    def has_transpose(self) -> bool:
        """Whether the store holds the in-rows too, or the graph is its own transpose."""
        return self.in_prefix is not None

    def with_weights(self, weights: Array | None) -> Graph:
        """The same graph without its weights; a graph on disk cannot get other weights."""
        if weights is not None:
            self.require_in_memory()
        return self.view(weighted=False)

    def view(self, *, prefix: str | None = None, weighted: bool | None = None) -> StoredGraph:
        """The same opened graph with the rows of this prefix as its out-rows, or without weights."""
        return StoredGraph._open(
            self.origin, self._checksums,
            prefix=self._prefix if prefix is None else prefix,
            weighted=self._weighted if weighted is None else weighted, rows=self._rows, labels=self._kept_labels,
            kept_reader=self.kept_reader, kept_graph=self.kept_graph,
        )._within(self.making_memory)  # fmt: skip

    def _within(self, memory: int | None) -> StoredGraph:
        self.making_memory = memory
        return self

    # ---- reading ---------------------------------------------------------------------------------------------------

    def reading(self, opener: Callable[[Origin], ByteSource] = open_source) -> closing[ByteSource]:
        """The open file, as a context manager; raises if it is not the file that the graph was opened from."""
        return closing(opener(self.origin))

    def paged_rows(self, prefix: str, *, weights: bool, page_bytes: int | None = None) -> PagedRows:
        """The out-rows or in-rows in pages, none read yet; without weights if this graph leaves them out."""
        packs = self._pack_index(prefix) if self.header.packed else None
        return PagedRows(
            self.header, self._checksums,
            prefix=prefix, weights=weights and self._weighted, page_bytes=page_bytes, packs=packs,
        )  # fmt: skip

    def _pack_index(self, prefix: str) -> PackIndex:
        targets, name = self.header.section(f"{prefix}targets"), f"{prefix}packs"
        assert targets is not None
        if name not in self._rows:
            entries = self._read_whole(name)
            assert entries is not None
            self._rows[name] = entries
        return PackIndex.of(self._rows[name], targets, self.header.pack_arcs, Path(self.origin.path))

    def _read_whole(self, name: str) -> Array | None:
        """All of a section, checked; ``None`` if the store has no such section."""
        section = self.header.section(name)
        if section is None:
            return None
        entries = np.empty(section.items, dtype=section.dtype)
        with self.reading() as source:
            read_section(source, self.header, self._checksums, section, entries)
        return entries

    def arc_slices(self, buffers: int | None = None) -> Iterator[GraphSlice]:
        """All arcs in slices, read in turn; each is released before the next. ``buffers``: bytes of pages at once."""
        rows, offsets = self.paged_rows(self._prefix, weights=self._weighted), self._offsets
        wanted = np.ones(rows.num_pages, dtype=bool)
        with closing(self._pager(buffers)) as pager:
            for window in pager.windows(rows, wanted, in_place=False):
                yield slice_of(rows, offsets, wanted, window)

    def arc_blocks(self, size: int, memory: int) -> Iterator[tuple[Array, Array, Array | None]]:
        """Sources, targets and weights of all arcs in the order of the rows, ``size`` at a time, for a conversion.

        An eighth of ``memory`` bytes, or a little more, is for pages.
        """
        buffers = min(_SCAN_BYTES, max(1 << 20, memory // 8))
        for piece in self.arc_slices(buffers):
            at = 0
            for sources, targets in piece.arc_blocks(size, piece.targets.dtype):
                weights = None if piece.weights is None else piece.weights[at : at + len(targets)].copy()
                yield sources, targets.copy(), weights
                at += len(targets)

    def _pager(self, buffers: int | None = None) -> Pager:
        """A pager for reads outside of a run; the caller closes it."""
        return Pager(open_source(self.origin), Room(buffers=buffers or _SCAN_BYTES, cache=0))

    def with_rows_of(self, vertices: Array) -> Graph:
        """A graph in memory with the same vertices, in which only ``vertices`` (ids) have their rows.

        This way, subgraphs and egonets of a graph on disk read only the pages that hold these rows.

        >>> import dromos as dr, tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
        >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), file)
        >>> dr.open(file).with_rows_of(np.array([1])).targets.tolist()
        [2]
        """
        rows = self.paged_rows(self._prefix, weights=self._weighted)
        with closing(self._pager()) as pager:
            offsets, columns = selected_rows(pager, rows, self._offsets, vertices)
        return Graph._make(offsets, columns[0], columns[1] if len(columns) > 1 else None, flags=self._flags)

    @property
    def out_prefix(self) -> str:
        """The prefix of the names of the out-row sections."""
        return self._prefix

    def rows_between(self, first: int, last: int, prefix: str, *, weights: bool) -> GraphSlice:
        """The rows ``first..last`` in memory, checked against their checksums; the most recent result is kept."""
        kept = self._between.get((prefix, weights))
        if kept is None or (kept.start, kept.stop) != (first, last):
            self._between.pop((prefix, weights), None)  # release the previous result first
            rows = self.paged_rows(prefix, weights=weights)
            with closing(self._pager()) as pager:
                kept = rows_between(pager, rows, self.row_offsets(prefix), first, last)
            self._between[prefix, weights] = kept
        return kept

    def check_unchanged(self) -> None:
        """Raise a :class:`~dromos.errors.FileError` if the file was changed since it was opened."""
        with self.reading():
            pass

    def load(self, **options: Any) -> Graph:
        """The graph mapped into memory, as :func:`dromos.read` gives it.

        >>> import dromos as dr, tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
        >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), file)
        >>> dr.open(file).load().targets.tolist()
        [1, 2]
        """
        from dromos.graph.store.reader import load

        self.check_unchanged()
        graph = load(self.origin.path, **options)
        graph = graph.transpose if self._prefix else graph
        return graph if self._weighted else graph.with_weights(None)

    def loaded(self) -> Graph:
        """As :meth:`load`, but the same graph at every call, so that its copy on a GPU is found again."""
        self.check_unchanged()
        if self._loaded is None:
            self._loaded = self.load()
        return self._loaded

    # ---- what needs the arcs ---------------------------------------------------------------------------------------

    def require_in_memory(self, *args: Any, **options: Any) -> NoReturn:
        """Raise an error that says how to get the arcs into memory."""
        self.targets[:]
        raise AssertionError("unreachable: arcs on disk refuse to be read")

    _scan = edges = neighbors = slices = slice = degree_subset = relabel_by_degree = require_in_memory
    to_scipy = to_networkx = to_arrow = to_pandas = write = require_in_memory

    def symmetrized(self, **options: Any) -> Any:
        """Refused: a symmetric store is made by ``dromos convert --symmetrize``."""
        raise InvalidArgumentError(
            f"this needs every edge in both directions, and {self.origin.path} is directed; make a store that has them "
            "with `dromos convert --symmetrize IN OUT.drm`, within a budget with --memory"
        )

    def __eq__(self, other: object) -> bool:
        """Whether both were opened from stores of the same content."""
        if not isinstance(other, StoredGraph):
            return NotImplemented
        same = self.header.identity == other.header.identity
        return same and (self._prefix, self._weighted) == (other._prefix, other._weighted)

    __hash__ = None

    def __repr__(self) -> str:
        labels = labels_kind(lambda name: self.header.section(name) is not None)  # without reading them
        kinds = size_and_kind(self) + ([] if labels is None else [f"{labels} labels"])
        return f"<StoredGraph: {', '.join(kinds)}; {human_bytes(self.nbytes)} on disk>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.origin.path, self.header.identity, self._prefix, self._weighted)


def _reopen(path: str, identity: bytes, prefix: str, weighted: bool) -> StoredGraph:
    graph = open_store(path)
    if graph.header.identity != identity:
        raise FileError("the file now holds another graph; open it again", path=path)
    return graph.view(prefix=prefix, weighted=weighted)


def _degrees(offsets: Array) -> Array:
    """Differences of offsets, in 4 bytes if the offsets have 4 bytes."""
    degrees: Array = np.diff(offsets)
    return degrees.view(np.int32) if degrees.dtype == np.uint32 and int(degrees.max(initial=0)) < 1 << 31 else degrees
