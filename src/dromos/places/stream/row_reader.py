"""Rows of some vertices of a graph on disk, and the targets of single arcs, out of pages that are read for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.selected import are_joined, copied_rows, targets_at

__all__ = ["PickedRows", "RowReader"]


@dataclass(frozen=True, eq=False)
class PickedRows:
    """The rows of ``vertices``, one after the other."""

    vertices: Array
    offsets: Array
    targets: Array
    weights: Array | None


class RowReader:
    """Reads for one kernel within its budget; sections are known by what their names begin with.

    ``memory``: the budget; ``work``: the bytes of it for what a kernel computes at a time, beside the pages.
    """

    def __init__(
        self, pager: Pager, rows: Mapping[str, PagedRows], offsets: Mapping[str, Array], *, memory: int, work: int
    ) -> None:
        self.offsets, self.memory, self.work = offsets, memory, work
        self._pager, self._rows = pager, rows
        for part in rows.values():
            pager.prepare(part)

    @property
    def bytes_read(self) -> int:
        """What was read from the file since it was opened."""
        return self._pager.bytes_read

    def targets_at(self, prefix: str, arcs: Array) -> Array:
        """The targets of arcs, given by their positions."""
        return targets_at(self._pager, self._rows[prefix], arcs)

    def rows_of(self, prefix: str, vertices: Array) -> PickedRows:
        """The rows of ``vertices``, which ascend."""
        offsets = self.offsets[prefix]
        begin, end = offsets[vertices].astype(OFFSET), offsets[vertices + 1].astype(OFFSET)
        columns = copied_rows(self._pager, self._rows[prefix], begin, end)
        own = np.zeros(len(vertices) + 1, OFFSET)
        np.cumsum(end - begin, out=own[1:])
        return PickedRows(vertices, own, columns[0], columns[1] if len(columns) > 1 else None)

    def are_joined(self, prefix: str, vertices: Array, targets: Array) -> Array:
        """Whether an arc leads from each of ``vertices``, in whose rows ids rise, to the target beside it."""
        offsets, order = self.offsets[prefix], np.argsort(vertices, kind="stable")
        ids, found = vertices[order], np.empty(len(vertices), dtype=bool)
        begin, end = offsets[ids].astype(OFFSET), offsets[ids + 1].astype(OFFSET)
        found[order] = are_joined(self._pager, self._rows[prefix], begin, end, targets[order])
        return found

    def close(self) -> None:
        """End the threads that read, and close the file."""
        self._pager.close()
