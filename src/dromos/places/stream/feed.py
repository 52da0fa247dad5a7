"""The pages of a store as slices: only those that hold rows with something to do, read while kernels run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np

from dromos.compiling import Timer, kernels_are_loaded
from dromos.dtypes import Array, read_only
from dromos.engines.parts import Part
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.slices import slice_of
from dromos.parallel import run_team
from dromos.places.stream.kept_rows import KeepingPart, KeptRows
from dromos.places.stream.shelf import RowShelf
from dromos.places.stream.sorted_rows import SortedRows
from dromos.plan.path import Direction

__all__ = ["PageFeed", "SecondsByPart", "pages_of", "pages_of_bits"]

_SMALL = 1 << 18  # vertices whose bits one thread looks at
_BLOCK = 1 << 14  # vertices that NumPy processes together: temporary arrays grow with this, not with the graph


class SecondsByPart(NamedTuple):
    """The seconds of a superstep in which none of its kernels ran."""

    disk: float
    """Waiting for pages to be read and checked."""
    host: float
    """Choosing what to read and what to keep, and sorting rows or putting them aside."""

    def told(self, whole: float) -> tuple[tuple[str, float], ...]:
        """By name, with the kernels, which have the rest of ``whole`` seconds.

        >>> SecondsByPart(0.5, 0.25).told(1.0)
        (('kernels', 0.25), ('disk', 0.5), ('host', 0.25))
        """
        return ("kernels", max(whole - self.disk - self.host, 0.0)), ("disk", self.disk), ("host", self.host)


class _MarkingPart(Part, Protocol):
    """A part that has sets of vertices as bits."""

    def marked(self, direction: Direction) -> Array | None:
        """The vertices whose rows the part reads next, as 64-bit words of all vertices; None if it has them listed."""


def _marks(part: Part) -> TypeGuard[_MarkingPart]:
    return hasattr(part, "marked")


class PageFeed:
    """See :class:`dromos.places.Feed`: the numbers of slices are those of pages.

    A slice covers all pages of a window of the pager. It has the rows of the vertices that ``holding`` was called with;
    other rows may be missing, and read as arcs to vertex 0. Leaf engines read no other rows.
    """

    in_memory = False

    def __init__(self, pager: Pager, rows: dict[Direction, PagedRows], offsets: dict[Direction, Array]) -> None:
        self.pager, self._rows, self._offsets = pager, rows, offsets
        self._asked: dict[Direction, Array] = {}  # the pages that a direction would read, until a superstep runs
        self._fetching = Timer()
        self._shelf: RowShelf | None = None
        self._keeps_pages = True
        self._sorted: SortedRows | None = None
        self._kept: KeptRows | None = None
        for direction in rows:
            pager.prepare(rows[direction])

    def keep_unsettled(self, capacity: int, unsettled: Callable[[int, int], Array], *, pages: bool) -> None:
        """Keep rows for later pulls in ``capacity`` bytes; see :class:`RowShelf` for which programs may.

        ``unsettled(first, last)`` lists which of these vertices still want a message, after a slice with them was sent.
        ``pages``: keep the pages of pulls all the same, as the run may go on in memory.
        """
        self._keeps_pages = pages
        pulled, offset_dtype, id_dtype = self._rows["pull"], self._offsets["pull"].dtype, unsettled(0, 0).dtype
        columns = [pulled.targets] if pulled.weights is None else [pulled.targets, pulled.weights]
        each = id_dtype.itemsize + offset_dtype.itemsize + sum(column.itemsize for column in columns)
        most = len(pulled.targets) * each  # a row that is kept has an arc
        self._shelf, self._unsettled = RowShelf(min(capacity, most), offset_dtype), unsettled
        self._shelf.prepare(id_dtype, columns)

    def sort_cached(self, sorted_rows: SortedRows) -> None:
        """Sort the in-rows once it is worthwhile; see :class:`SortedRows` for which programs may."""
        self._sorted = sorted_rows

    def keep_on(self, part: KeepingPart) -> None:
        """Let a part with a memory of its own keep the first pages; see :class:`KeptRows`."""
        self._kept = KeptRows(part, self._rows, self._offsets)

    def expect(self, supersteps: int | None) -> None:
        """Set before the first superstep how many there are at most; None: any number."""
        if self._sorted is not None:
            self._sorted.expect(supersteps)

    def close(self) -> None:
        """Stop the reader threads, and close the files."""
        if self._kept is not None:
            self._kept.close()
        self.pager.close()
        if self._sorted is not None:
            self._sorted.release(self.pager)

    @property
    def directions(self) -> tuple[Direction, ...]:
        """See :class:`dromos.places.Feed`."""
        return tuple(self._rows)

    @property
    def rows_serve_both(self) -> bool:
        """Whether the rows of a pull are those of a push."""
        return "pull" in self._rows and self._rows["push"] is self._rows["pull"]

    def forget_rows(self) -> None:
        """Drop kept rows, so that they are read again: other vertices may want a message now."""
        self._asked.clear()
        if self._shelf is not None:
            self._shelf = RowShelf(self._shelf.capacity, self._offsets["pull"].dtype)

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """The pages with arcs of any of ``vertices`` (ascending ids; None: of all)."""
        rows = self._rows[direction]
        if vertices is None:
            return np.arange(rows.num_pages)
        if self._holds_all(direction):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(pages_of(vertices, self._offsets[direction], rows.page_arcs, rows.num_pages))

    def _holds_all(self, direction: Direction) -> bool:
        """Whether all rows that are still wanted are kept without their pages."""
        return direction == "pull" and self._shelf is not None and self._shelf.complete

    def wanted_by(self, part: Part, direction: Direction) -> Array:
        """As :meth:`holding`, of the vertices whose rows the part reads next; a device finds the pages itself."""
        rows = self._rows[direction]
        if direction in self._asked:
            return self._asked[direction]
        if self._kept is not None:
            return self._kept.wanted(rows, direction)
        bits = part.marked(direction) if _marks(part) else None
        if bits is None:
            return self.holding(part.frontier if direction == "push" else part.wanting(), direction)
        if self._holds_all(direction):
            return np.empty(0, dtype=np.int64)
        offsets = self._offsets[direction]
        return np.flatnonzero(pages_of_bits(bits, part.first, part.last, offsets, rows.page_arcs, rows.num_pages))

    def missing_bytes(self, part: Part, direction: Direction) -> int:
        """The bytes that the next superstep of a part would read; also caches its :meth:`wanted_by`."""
        rows = self._rows[direction]
        pages = self._asked[direction] = self.wanted_by(part, direction)
        wanted = _mask(pages, rows.num_pages)
        if self._kept is not None:
            wanted[: self._kept.pages(rows)] = False
        return rows.missing_bytes(wanted)

    def whole_bytes(self) -> tuple[int, int]:
        """The bytes of all pages, and of those that are not in memory."""
        each = self.rows_by_prefix().values()
        whole = sum(section.file_bytes(np.arange(rows.num_pages)) for rows in each for section in rows.sections)
        return whole, sum(rows.missing_bytes(np.ones(rows.num_pages, dtype=bool)) for rows in each)

    def rows_by_prefix(self) -> dict[str, PagedRows]:
        """The rows of both directions, by the prefix of their sections."""
        return {rows.prefix: rows for rows in self._rows.values()}

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.Feed`."""
        slices = self._fetch(numbers, direction)
        while True:
            with self._fetching:
                piece = next(slices, None)
            if piece is None:
                return
            yield piece

    def seconds_by_part(self, since: SecondsByPart | None = None) -> SecondsByPart:
        """The seconds that slices waited for the disk and for decisions about pages, ``since`` or in all."""
        disk = self.pager.waiting.seconds
        found = SecondsByPart(disk, self._fetching.seconds - disk)
        return found if since is None else SecondsByPart(found.disk - since.disk, found.host - since.host)

    def _fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        self._asked.clear()
        rows, offsets = self._rows[direction], self._offsets[direction]
        wanted = _mask(numbers, rows.num_pages)
        kept = 0
        if self._kept is not None:
            yield from self._kept.slices(self.pager, rows, offsets, wanted, direction)
            kept = self._kept.pages(rows)
        shelf = self._shelf if direction == "pull" else None
        pulls_all = direction == "pull" and len(numbers) == rows.num_pages
        if self._sorted is not None and not pulls_all:
            self._sorted.release(self.pager)
        if self._sorted is not None and pulls_all:
            yield from self._sorted.slices(self.pager, rows, offsets)
        elif shelf is None:
            for window in self.pager.windows(rows, wanted, in_place=False):
                yield slice_of(rows, offsets, wanted, window, cut=kept)
        elif shelf.complete:
            yield from shelf.slices()
        else:
            shelf.begin()
            for window in self.pager.windows(rows, wanted, in_place=False, once=self._pulls_once):
                piece = slice_of(rows, offsets, wanted, window)
                yield piece
                shelf.take(piece, self._unsettled(piece.start, piece.stop))
            shelf.end()

    def _pulls_once(self) -> bool:
        """Whether pages of a pull will not be read again, since the shelf has had room for all rows so far."""
        return self._shelf is not None and not self._shelf.too_small and not self._keeps_pages


def pages_of(vertices: Array, offsets: Array, page_arcs: int, num_pages: int) -> Array:
    """A mask of the pages that hold arcs of ``vertices`` (ascending); a page has a power of two of arcs.

    >>> pages_of(np.array([1, 2]), np.array([0, 2, 2, 9]), page_arcs=2, num_pages=5).tolist()
    [False, True, True, True, True]
    """
    marked = np.zeros(num_pages, dtype=bool)
    if len(vertices) > _BLOCK and kernels_are_loaded():  # a leaf without compiled code loads no compiler
        from dromos.places.stream import feed_kernels as kernels

        run_team(kernels.mark_pages, vertices, offsets, page_arcs.bit_length() - 1, marked.view(np.uint8))
        return marked
    for low in range(0, len(vertices), _BLOCK):
        ids = vertices[low : low + _BLOCK]
        begin, end = offsets[ids], offsets[ids + 1]
        some = end > begin
        if not some.all():
            begin, end = begin[some], end[some]
        first, last = begin // page_arcs, (end - 1) // page_arcs
        marked[first] = True
        marked[last] = True
        long = np.flatnonzero(last > first + 1)
        for begins, ends in zip(first[long].tolist(), last[long].tolist(), strict=True):
            marked[begins:ends] = True
    return marked


def pages_of_bits(bits: Array, first: int, last: int, offsets: Array, page_arcs: int, num_pages: int) -> Array:
    """As :func:`pages_of`, for those of ``first..last`` whose bits are set in 64-bit words; by compiled code.

    >>> bits, offsets = np.array([0b110], np.uint64), np.array([0, 2, 2, 9])
    >>> pages_of_bits(bits, 0, 3, offsets, page_arcs=2, num_pages=5).tolist()
    [False, True, True, True, True]
    """
    from dromos.places.stream import feed_kernels as kernels

    marked = np.zeros(num_pages, dtype=bool)
    run_team(
        kernels.mark_pages_of_bits, read_only(bits), np.int64(first), np.int64(last), read_only(offsets),
        page_arcs.bit_length() - 1, marked.view(np.uint8),
        threads=1 if last - first < _SMALL else None,
    )  # fmt: skip
    return marked


def _mask(numbers: Array, size: int) -> Array:
    mask = np.zeros(size, dtype=bool)
    mask[numbers] = True
    return mask
