"""Asynchronous supersteps of a part that owns all vertices, over slices of its rows: one pass, applied at once.

A pass over slices costs the same whether its messages are applied at its end or at once, but at once they travel on
with every row that follows. Where the rows serve both directions (the graph is symmetric), each row that is in memory
gathers from its neighbors and then sends to them, so a pass carries news along every arc in both directions.

A superstep on ``push`` sends from the rows that are active when they come by; on ``pull`` all rows gather.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import proxy

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.launching import LINE, QUEUE, edge_arrays, rows_in, slice_arrays
from dromos.engines.cpu.memory import reused_zeros
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.topology import HUB_LENGTH
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.slices import PagedSlice
from dromos.plan import Path

if TYPE_CHECKING:
    from dromos.engines.cpu.general_part import CpuPart

__all__ = ["AsynchronousSlices"]

(MESSAGES,) = constants("common", "MESSAGES")
BY_MARK, ALWAYS, NOT = constants("asynchronous_slices", "BY_MARK", "ALWAYS", "NOT")
PENDING, QUIET = 1, 2
_THIN: Final = 64  # a frontier of fewer vertices than this part of all is kept as a list; otherwise marks are scanned
_NO_PAGES: Final = np.empty(0, np.uint8)


class AsynchronousSlices:
    """The asynchronous supersteps of one part."""

    def __init__(self, part: CpuPart) -> None:
        self._part = proxy(part)  # weak, since the part holds this
        self._kernels = kernel_module(part.typed, part.analysis, "asynchronous_slices")
        n = part.shape.num_vertices
        self._words = reused_zeros(-(-n // 8), np.uint64)
        self._marks = self._words.view(np.uint8)
        self._frontier: Array | None = None  # the one that the marks belong to
        self._carried = -1  # the vertex whose row is being sent piece by piece
        self._listed = self._pulled = False
        self._size = 0
        self._none = np.empty(0, part.types.id)
        self.begun = False
        """Whether a superstep has begun, and has not been settled yet."""

    def _begin(self, path: Path) -> None:
        part = self._part
        frontier, n = part.frontier, part.shape.num_vertices
        assert frontier is not None
        if self._frontier is not frontier:  # another kind of superstep came between
            self._words[:] = 0
            self._marks[frontier] = PENDING
        self._frontier, self.begun, self._carried, self._size = frontier, True, -1, 0
        pulls = path.direction == "pull"
        self._pulled = pulls and not self._sends(path)
        self._listed = not pulls and path.driven == "dd" and len(frontier) * _THIN < n

    def _sends(self, path: Path) -> bool:
        if path.direction == "push":
            return True
        # A pull may leave out rows that want no message, which would have to send all the same. And an edge may have
        # another value in each direction.
        part = self._part
        return part.rows_serve_both and part.analysis.wants is None and not part.ir.edge_params

    def send(self, piece: GraphSlice, path: Path) -> int:
        """Process the rows of a slice; return the number of messages."""
        part = self._part
        if not self.begun:
            self._begin(path)
        launcher, sends = part.launcher, self._sends(path)
        first_rule, last_rule = self._rules(piece, path) if sends else (NOT, NOT)
        rows = rows_in(piece, self._frontier) if self._listed and self._frontier is not None else self._none
        if self._listed and not len(rows):
            return 0
        pages, first_page, page_bits = _pages_of(piece)
        own = part.arrays
        counters, report = launcher.counters(queue=self._size), launcher.report()
        launcher.run(
            self._kernels.pass_slice, slice_arrays(part, piece), read_only(pages), np.int64(first_page),
            np.int64(page_bits), path.direction == "pull", sends, np.int64(first_rule), np.int64(last_rule),
            self._listed, read_only(rows), len(rows), own.fields, own.old,
            edge_arrays(part, piece, path.direction), launcher.context(), own.locks, self._marks, own.following,
            np.empty(piece.num_arcs // HUB_LENGTH + 1, np.int64), launcher.buffer(), counters, launcher.memory(),
            report,
            counters=counters, work=piece.num_arcs,
        )  # fmt: skip
        launcher.require_fit(report, "update")
        self._size = int(counters[QUEUE * LINE])
        return int(report.reshape(-1, LINE)[:, MESSAGES].sum())

    def settle(self) -> Array:
        """End the superstep; return the next frontier, ascending."""
        part = self._part
        if not self._listed:
            counters = part.launcher.counters()
            part.launcher.run(
                self._kernels.collect_waiting, read_only(part.shape.offsets), self._words, self._marks,
                self._pulled, part.arrays.following, part.launcher.buffer(), counters, work=part.shape.num_vertices,
            )  # fmt: skip
            self._size = int(counters[QUEUE * LINE])
        self._frontier = np.sort(part.arrays.following[: self._size])
        self.begun = False
        return self._frontier

    def _rules(self, piece: GraphSlice, path: Path) -> tuple[int, int]:
        """Whether the first and the last row of a slice are sent, if it holds only pieces of them.

        What a row sends must go along all of it. So whether it is sent is decided where the row begins, and whatever
        changes its vertex from then on is for the next superstep. Slices come in the order of their arcs.
        """
        offsets, first, last = self._part.shape.offsets, piece.start, piece.stop - 1
        if piece.num_vertices == 0:
            return NOT, NOT
        begins_inside = int(piece.offsets[0]) != int(offsets[first])
        ends_inside = int(piece.offsets[-1]) != int(offsets[last + 1])
        first_rule = (ALWAYS if self._carried == first else NOT) if begins_inside else BY_MARK
        if not ends_inside:
            return first_rule, first_rule if first == last else BY_MARK
        if not (begins_inside and first == last):
            taken = self._marks[last] == PENDING and self._has_all_of(last, path)
            self._carried = last if taken else -1
            if taken:
                self._marks[last] = QUIET
        last_rule = ALWAYS if self._carried == last else NOT
        return (last_rule if first == last else first_rule), last_rule

    def _has_all_of(self, vertex: int, path: Path) -> bool:
        """Whether this superstep's slices hold the whole row of ``vertex``."""
        if path.direction == "pull" or path.driven == "td":
            return True
        assert self._frontier is not None
        at = int(np.searchsorted(self._frontier, vertex))
        return at < len(self._frontier) and int(self._frontier[at]) == vertex


def _pages_of(piece: GraphSlice) -> tuple[Array, int, int]:
    """Which pages a slice has: a mask, the number of the first one, and the bits of their size; no mask: all."""
    if not isinstance(piece, PagedSlice):
        return _NO_PAGES, 0, 0
    first, pages, size = piece.first_page, piece.pages, piece.page_arcs
    # the first row may begin before the first page, and the last one end behind the last
    inside = first * size <= int(piece.offsets[0]) and int(piece.offsets[-1]) <= (first + len(pages)) * size
    if inside and pages.all():
        return _NO_PAGES, 0, 0
    return pages.view(np.uint8), first, size.bit_length() - 1
