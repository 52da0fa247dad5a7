"""All rows of a stored graph in memory, read through the checks of its pages, and kept for the next call."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.graph.graph import Graph
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.offsets import offset_bytes
from dromos.graph.store.paged.pager import Pager, Room, unpacking_bytes
from dromos.graph.store.paged.rows import PagedRows
from dromos.parallel import in_blocks

if TYPE_CHECKING:
    from dromos.graph.store.stored import StoredGraph

__all__ = ["KeptGraph", "bytes_on_disk", "read_whole", "whole_bytes"]

_BUFFERS: Final = 64 << 20  # pages are read to their final place, so this only limits how far reads run ahead
_FOUND: Final = np.dtype(np.uint32).itemsize  # kernels take offsets of 4 bytes where these suffice
# A transpose, while it is made: sources, targets, and both in buckets; weights, and these in buckets.
_ID_COPIES: Final = 4
_WEIGHT_COPIES: Final = 2


@dataclass
class KeptGraph:
    """What a store has in memory between two calls; shared by all views of an opened graph."""

    graph: Graph | None = None
    """The graph as it is in the file, once a call has read all of it."""
    bytes_read: int = 0
    """The bytes that runs over pages have read since the graph was opened, or since it was last read whole."""
    derived: dict[str, int] = field(default_factory=dict)
    """The bytes, at most, of each kind of data that engines have derived from the graph in memory and keep with it."""
    turn: threading.RLock = field(default_factory=threading.RLock, compare=False, repr=False)
    """Held by the thread that reads the graph whole, or releases it: calls from several threads take turns."""

    def forget(self) -> None:
        """Release the graph."""
        with self.turn:
            self._replace(None)

    def forget_derived(self) -> None:
        """Release what engines keep with the graph: they find it by the graph's identity."""
        with self.turn:
            if self.graph is not None:
                self._replace(_same(self.graph))

    def _replace(self, graph: Graph | None) -> None:
        has_transpose = self.graph is not None and self.graph.known_transpose is not None
        self.graph, self.derived = graph, {}
        if has_transpose:  # the two refer to each other, and would stay until somebody looks for such circles
            gc.collect()

    @property
    def nbytes(self) -> int:
        """The bytes of the graph's arrays."""
        graph = self.graph  # another thread may release it at any time
        if graph is None:
            return 0
        held = [each for each in (graph, graph.known_transpose) if each is not None]
        return sum(
            each.offsets.nbytes + each.targets.nbytes + (0 if each.weights is None else each.weights.nbytes)
            for each in held
        )

    def view_of(self, stored: StoredGraph, *, weights: bool) -> Graph | None:
        """The kept graph in the direction of ``stored``; None if there is none, or if it lacks weights."""
        graph = self.graph
        if graph is None or (weights and graph.weights is None and stored.weights is not None):
            return None
        if stored.weights is None and graph.weights is not None:
            graph = _without_weights(graph)
        return graph.transpose if stored.out_prefix else graph


def whole_bytes(stored: StoredGraph, *, weights: bool) -> int:
    """The memory that :func:`read_whole` takes, with what an engine derives from the graph: at most its transpose."""
    rows = [stored.paged_rows(prefix, weights=weights) for prefix in _prefixes(stored)]
    pages = sum(len(section.memory.bytes) for each in rows for section in each.sections)
    tables = sum(each.table_bytes + unpacking_bytes(each) for each in rows)
    offsets = (stored.num_vertices + 1) * (np.dtype(OFFSET).itemsize + _FOUND) + offset_bytes(stored.header)
    made = 0
    if stored.in_prefix is None:
        sizes = [section.section.dtype.itemsize for section in rows[0].sections]
        made = offsets + stored.num_arcs * (_ID_COPIES * sizes[0] + _WEIGHT_COPIES * sum(sizes[1:]))
    return pages + tables + len(rows) * offsets + made


def bytes_on_disk(stored: StoredGraph, *, weights: bool) -> int:
    """The bytes of the arcs in the file, without weights if these are not wanted."""
    wanted = ["targets", *(["weights"] if weights and stored.weights is not None else [])]
    sections = [stored.header.section(prefix + name) for prefix in _prefixes(stored) for name in wanted]
    return sum(section.nbytes for section in sections if section is not None)


def read_whole(
    stored: StoredGraph,
    *,
    weights: bool,
    opener: Callable[[Origin], ByteSource],
    known: Mapping[str, PagedRows] | None = None,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Read all rows of a store, in both directions if it has both, and keep them; return the bytes that were read.

    Every page is checked as in a run over pages. ``known``: rows by the prefix of their sections, whose pages in memory
    are not read again; nobody else uses them any more. ``told`` is called with the bytes read, and how many there are.

    >>> import dromos as dr, tempfile, pathlib
    >>> from dromos.graph.store.paged.stripes import open_source
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> dr.write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> stored = dr.open(file)
    >>> read_whole(stored, weights=True, opener=open_source)
    8
    >>> stored.kept_graph.graph
    <Graph: 3 vertices, 2 edges, directed>
    """
    known = known or {}
    rows = {
        prefix: known[prefix] if prefix in known else stored.paged_rows(prefix, weights=weights)
        for prefix in _prefixes(stored)
    }
    total = bytes_on_disk(stored, weights=weights)
    room = Room(buffers=_BUFFERS, cache=sum(each.num_pages * each.page_bytes for each in rows.values()))
    with closing(Pager(opener(stored.origin), room)) as pager:
        for each in rows.values():
            for _ in pager.windows(each, np.ones(each.num_pages, dtype=bool)):
                told(pager.bytes_read, total)
        read = pager.bytes_read
    kept = stored.kept_graph
    kept.bytes_read, kept.graph = 0, _graph_of(stored, rows)
    return read


def _same(graph: Graph) -> Graph:
    """Another graph on the same arrays."""
    made, *reverse = (
        Graph._make(each.offsets, each.targets, each.weights, flags=each.known_flags, source_file=each.source_file)
        for each in (graph, graph.known_transpose)
        if each is not None
    )
    for other in reverse:
        made._keep_transpose(other)
    return made


def _without_weights(graph: Graph) -> Graph:
    plain = graph.with_weights(None)
    if graph.known_transpose is not None:
        plain._keep_transpose(graph.known_transpose.with_weights(None))
    return plain


def _widened(offsets: Array) -> Array:
    """Offsets of 8 bytes; several threads write them, since most of the time goes into clearing new memory."""
    found = np.empty(len(offsets), dtype=OFFSET)
    in_blocks(lambda begin, end: np.copyto(found[begin:end], offsets[begin:end]), len(offsets))
    return found


def _prefixes(stored: StoredGraph) -> list[str]:
    both = not stored.symmetric and stored.header.section("transpose_targets") is not None
    return ["", "transpose_"] if both else [""]


def _graph_of(stored: StoredGraph, rows: dict[str, PagedRows]) -> Graph:
    flags = stored.header.flags
    made = [
        Graph._make(
            _widened(stored.row_offsets(prefix)), each.targets, each.weights,
            flags=replace(flags, sorted=True) if prefix else flags, source_file=stored.origin.path,
        )
        for prefix, each in rows.items()
    ]  # fmt: skip
    graph, *reverse = made
    for other in reverse:
        graph._keep_transpose(other)
    return graph
