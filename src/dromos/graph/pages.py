"""Pages: which bytes of a store hold which vertices, for any page size, so that a graph can be streamed.

After GTS: a *small page* holds the whole rows of many consecutive vertices; a vertex whose row is longer than a page
has *large pages* of its own, each with a piece of the row. Here the pages are no second copy of the graph: they are
cut from the row offsets, and tell byte ranges of the targets (and, in proportion, the weights) as the store holds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.parallel import run_team

__all__ = ["LARGE", "SMALL", "ByteRanges", "PageTable"]

SMALL, LARGE = 0, 1
_OFFSET_BYTES = 8


class ByteRanges(NamedTuple):
    """Ranges of bytes in a file: ``begin[i]..end[i]``."""

    begin: Array
    end: Array


@dataclass(frozen=True, eq=False)
class PageTable:
    """The pages of a graph, in the order of its vertices; every vertex is in one small page or in a run of large ones.

    >>> table = PageTable.of(np.array([0, 2, 3, 10, 10]), page_bytes=16, arc_bytes=4)
    >>> table.first_vertex.tolist(), table.last_vertex.tolist(), table.kind.tolist()
    ([0, 2, 2, 3], [1, 2, 2, 3], [0, 1, 1, 0])
    >>> table.pages_of(np.array([2])).tolist()
    [1, 2]
    """

    first_vertex: Array
    last_vertex: Array
    """The first and the last vertex of each page, both in it."""
    arc_begin: Array
    arc_end: Array
    """The arcs of each page: ``arc_begin..arc_end`` of the graph's targets."""
    kind: Array
    """``SMALL`` or ``LARGE``."""
    page_bytes: int
    arc_bytes: int

    @classmethod
    def of(cls, graph: Graph | Array, *, page_bytes: int = 1 << 16, arc_bytes: int | None = None) -> PageTable:
        """Cut a graph, or the rows that ``offsets`` tell, into pages of at most ``page_bytes``.

        ``arc_bytes`` is what an arc takes in a page: an id unless given, or an id and a weight for a page that carries
        both. A small page holds at most ``page_bytes / 8`` vertices, so that its row offsets fit a page as well.
        """
        from dromos.graph import page_kernels as kernels

        if isinstance(graph, Graph):
            offsets = graph.offsets
            arc_bytes = graph.targets.itemsize if arc_bytes is None else arc_bytes
        else:
            offsets = np.ascontiguousarray(graph, dtype=np.int64)
            arc_bytes = 4 if arc_bytes is None else arc_bytes
        if arc_bytes < 1 or page_bytes < max(arc_bytes, _OFFSET_BYTES):
            raise InvalidArgumentError(
                f"page_bytes={page_bytes} with arc_bytes={arc_bytes}: a page must hold an arc, and at least 8 bytes"
            )
        if len(offsets) == 0:
            raise InvalidArgumentError("offsets are empty; rows need at least the offset 0")
        limits = page_bytes // arc_bytes, page_bytes // _OFFSET_BYTES
        none, no_kind = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8)
        total = np.zeros(1, dtype=np.int64)
        run_team(kernels.cut_pages, offsets, *limits, none, none, none, none, no_kind, total, threads=1)
        first, last, begin, end = (np.empty(total[0], dtype=np.int64) for _ in range(4))
        kind = np.empty(total[0], dtype=np.uint8)
        if total[0]:
            run_team(kernels.cut_pages, offsets, *limits, first, last, begin, end, kind, total, threads=1)
        for column in (first, last, begin, end, kind):
            column.flags.writeable = False
        return cls(first, last, begin, end, kind, page_bytes, arc_bytes)

    def __len__(self) -> int:
        """How many pages there are."""
        return len(self.kind)

    @property
    def num_large(self) -> int:
        """How many of the pages are large ones."""
        return int(np.count_nonzero(self.kind))

    def runs_of(self, vertices: Array) -> tuple[Array, Array]:
        """For each vertex its run of pages ``begin..end``: one page, or all the large pages of a long row."""
        wanted = np.asarray(vertices)
        if wanted.size and (int(wanted.min()) < 0 or int(wanted.max()) > self._last()):
            raise InvalidArgumentError(f"a vertex lies outside 0..{self._last()}, which the pages hold")
        return (
            np.searchsorted(self.last_vertex, wanted, side="left"),
            np.searchsorted(self.first_vertex, wanted, side="right"),
        )

    def pages_of(self, vertices: Array) -> Array:
        """The pages that hold any of ``vertices`` (ids in any order), ascending, each once."""
        begin, end = self.runs_of(vertices)
        change = np.zeros(len(self) + 1, dtype=np.int64)
        np.add.at(change, begin, 1)
        np.subtract.at(change, end, 1)
        return np.flatnonzero(np.cumsum(change[:-1]))

    def byte_ranges(self, pages: Array, *, base: int = 0, item_bytes: int | None = None, align: int = 1) -> ByteRanges:
        """Where the arcs of ``pages`` lie in a file whose section of them begins at ``base``.

        ``item_bytes`` is the size of an entry of that section (``arc_bytes`` unless given). ``align=4096`` widens the
        ranges to whole disk blocks, which a store's sections begin with.

        >>> table = PageTable.of(np.array([0, 2000, 3000]), page_bytes=8192)
        >>> table.byte_ranges(np.array([1]), base=4096, align=4096)
        ByteRanges(begin=array([8192]), end=array([16384]))
        """
        size = self.arc_bytes if item_bytes is None else item_bytes
        begin, end = base + self.arc_begin[pages] * size, base + self.arc_end[pages] * size
        return ByteRanges(begin // align * align, -(-end // align) * align)

    def slice_of(self, graph: Graph, page: int) -> GraphSlice:
        """A page as a slice of the graph, without a copy; of a large page's vertex it holds only this page's piece.

        >>> g = Graph.from_edges([0, 0, 0], [1, 2, 3])
        >>> [PageTable.of(g, page_bytes=8).slice_of(g, p).targets.tolist() for p in (0, 1)]
        [[1, 2], [3]]
        """
        first, last = int(self.first_vertex[page]), int(self.last_vertex[page])
        begin, end = int(self.arc_begin[page]), int(self.arc_end[page])
        whole_rows = self.kind[page] == SMALL
        offsets = graph.offsets[first : last + 2] if whole_rows else np.array([begin, end], dtype=np.int64)
        weights = None if graph.weights is None else graph.weights[begin:end]
        return GraphSlice(first, last + 1, offsets, graph.targets[begin:end], weights)

    def _last(self) -> int:
        return int(self.last_vertex[-1]) if len(self) else -1
