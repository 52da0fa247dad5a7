"""Rows of some vertices of a graph on disk, and the targets of single arcs, from the pages that hold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.errors import ResourceError
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows, Request
from dromos.graph.store.paged.selected import are_joined, copied_rows, targets_at
from dromos.graph.store.paged.slices import slice_of
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.places.stream.budget import WORK_SHARE

__all__ = ["PickedRows", "RowReader", "ranges_that_fit"]


@dataclass(frozen=True, eq=False)
class PickedRows:
    """The rows of ``vertices``, concatenated."""

    vertices: Array
    offsets: Array
    targets: Array
    weights: Array | None


def ranges_that_fit(sizes: Array, room: int) -> Iterator[tuple[int, int]]:
    """Ranges of items with the given sizes in bytes, each as long as fits in ``room`` bytes, at least one item.

    >>> list(ranges_that_fit(np.array([2, 2, 9, 1]), 4))
    [(0, 2), (2, 3), (3, 4)]
    """
    ends, first = np.cumsum(sizes), 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(int(np.searchsorted(ends, before + room, side="right")), first + 1)
        yield first, last
        first = last


class RowReader:
    """Reads for one kernel within its budget; sections are identified by the prefix of their names.

    ``memory``: the budget; ``work``: the bytes of it for the working data of a kernel, beside the pages.
    """

    def __init__(
        self, pager: Pager, rows: Mapping[str, PagedRows], offsets: Mapping[str, Array], *, memory: int, work: int
    ) -> None:
        self.offsets, self.memory, self.work = offsets, memory, work
        self._pager, self._rows = pager, rows
        self._beside = 0
        for part in rows.values():
            pager.prepare(part)

    @property
    def bytes_read(self) -> int:
        """Bytes read from the file since it was opened."""
        return self._pager.bytes_read

    def too_little(self, what: str, size: int) -> ResourceError:
        """The error for ``what``, which takes ``size`` bytes: more than the working memory."""
        whole = self.memory + WORK_SHARE * size
        return ResourceError(
            f"memory={human_bytes(self.memory)} is too little: {what} takes {human_bytes(size)}, and "
            f"{human_bytes(self.work)} of the budget are for that; give {enough_bytes(whole)}",
            needed=whole,
        )

    def targets_at(self, prefix: str, arcs: Array) -> Array:
        """The targets of arcs, given by their positions."""
        return targets_at(self._pager, self._rows[prefix], arcs)

    def rows_of(self, prefix: str, vertices: Array) -> PickedRows:
        """The rows of ``vertices`` (ascending)."""
        offsets = self.offsets[prefix]
        begin, end = offsets[vertices].astype(OFFSET), offsets[vertices + 1].astype(OFFSET)
        columns = copied_rows(self._pager, self._rows[prefix], begin, end)
        own = np.zeros(len(vertices) + 1, OFFSET)
        np.cumsum(end - begin, out=own[1:])
        return PickedRows(vertices, own, columns[0], columns[1] if len(columns) > 1 else None)

    def are_joined(self, prefix: str, vertices: Array, targets: Array) -> Array:
        """Whether an arc leads from each of ``vertices``, whose rows are sorted, to the corresponding target."""
        offsets, order = self.offsets[prefix], np.argsort(vertices, kind="stable")
        ids, found = vertices[order], np.empty(len(vertices), dtype=bool)
        begin, end = offsets[ids].astype(OFFSET), offsets[ids + 1].astype(OFFSET)
        found[order] = are_joined(self._pager, self._rows[prefix], begin, end, targets[order])
        return found

    def paged(self, prefix: str) -> PagedRows:
        """The rows, of which only the pages of the current window are valid."""
        return self._rows[prefix]

    def count(self, prefix: str, wanted: Array) -> None:
        """Announce the pages (a mask) that the next calls of :meth:`windows` want together, each of them once."""
        self._pager.count(self._rows[prefix], wanted)

    def windows(self, prefix: str, wanted: Array) -> Iterator[Request]:
        """Yield runs of pages, in which all ``wanted`` ones (a mask) stay in memory until the next run is requested."""
        return self._pager.windows(self._rows[prefix], wanted, counted=True)

    def slices(self, prefix: str) -> Iterator[GraphSlice]:
        """All rows in turn; see :func:`dromos.graph.store.paged.slices.slice_of` for those that windows cut."""
        rows = self._rows[prefix]
        wanted = np.ones(rows.num_pages, dtype=bool)
        for window in self._pager.windows(rows, wanted, in_place=False):
            yield slice_of(rows, self.offsets[prefix], wanted, window)

    @property
    def most(self) -> int:
        """The most bytes that :meth:`hold` has room for."""
        return self.work + self._pager.room.cache

    def hold(self, size: int) -> None:
        """Make room for ``size`` bytes in all, at most :attr:`most`: beyond ``work``, they replace kept pages.

        Must not be called during :meth:`windows`, which relies on those pages.
        """
        beside = max(0, size - self.work)
        self._pager.occupy(beside - self._beside)
        self._beside = beside
        for rows in self._rows.values():
            self._pager.fit(rows)

    def close(self) -> None:
        """Stop the reader threads, and close the file."""
        self._pager.close()
