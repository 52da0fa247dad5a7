"""Pages that are loaded and dropped within a budget: read ahead of the kernels, the most used ones cached."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from dromos.compiling import Timer
from dromos.dtypes import Array
from dromos.graph.store.paged.batch_reader import open_batch_reader
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.memory import HUGE
from dromos.graph.store.paged.plan import DENSE, begun_small, requests, run_edges, windows
from dromos.graph.store.paged.pool import READERS, Batch, ReadPool
from dromos.graph.store.paged.ring_reader import open_ring
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.section import Request
from dromos.graph.store.paged.slots import Slot, Slots
from dromos.graph.store.paged.ways import way_to_read

__all__ = ["GAP_BYTES", "REQUEST_BYTES", "Pager", "Room", "unpacking_bytes"]

REQUEST_BYTES = 1 << 20
"""The largest request: disks reach full throughput at this size, and a reader thread is soon free again."""
_AHEAD = 3
"""Windows that are read while the kernels compute on one."""
GAP_BYTES = 32 << 10
"""Gaps up to this size are read over, which takes 16 us on a disk of 2 GB/s. A separate request costs 40 us in a
reader thread, and less through a kernel queue. With 64 KiB a BFS of R-MAT 24 reads 4 % more and takes as long."""
_FIRST_BYTES: Final = 4 << 20
"""The first window of a superstep has about so many bytes: nothing is computed before it is there."""
_MOST_USES: Final = 0xFFFFFFFF


@dataclass(frozen=True)
class Room:
    """Memory for pages, in bytes: buffers for windows being read or computed on, and the cache across supersteps."""

    buffers: int
    cache: int


class _Flight(NamedTuple):
    """A window whose pages are being read."""

    window: Request
    asked: list[Request]
    slot: Slot | None
    nbytes: int
    """Of memory: those of the pages, or of the slot."""
    batch: Batch


class _Kept:
    """Which pages of some rows stay in memory, and how often each was wanted."""

    def __init__(self, rows: PagedRows) -> None:
        self.cached = np.zeros(rows.num_pages, dtype=bool)
        self.uses = np.zeros(rows.num_pages, dtype=np.uint32)
        self.even = False
        """Whether no page of this superstep can displace another: all were wanted equally often."""
        self.least = _MOST_USES
        """The least number of uses of a cached page: a page that was not used more often displaces none."""

    def note_uses(self, wanted: Array) -> None:
        """Update ``even`` and ``least`` from the pages that a superstep wants, once for all of its windows."""
        uses = self.uses[wanted]
        least = int(uses.min(initial=_MOST_USES))
        self.note_least()
        self.even = least == int(uses.max(initial=0)) and self.least >= least

    def note_least(self) -> None:
        """Update ``least``."""
        self.least = int(self.uses[self.cached].min(initial=_MOST_USES))

    def add(self, pages: Array) -> None:
        """Keep pages in room that was free."""
        self.cached[pages] = True
        self.least = min(self.least, int(self.uses[pages].min(initial=_MOST_USES)))

    def swap(self, pages: Array, others: Array) -> None:
        """Keep ``others`` in place of ``pages``."""
        self.cached[pages], self.cached[others] = False, True
        if len(others):
            self.note_least()


class Pager:
    """The pages of a store's rows, for one run.

    ``windows`` yields a superstep's wanted pages window by window while the next windows are read. A used page stays if
    the cache has room, or replaces a page that was used less often. Pages used equally often do not replace each other:
    if every superstep wants all pages, the cached ones stay and only the rest are read.
    """

    def __init__(self, source: ByteSource, room: Room, *, pool: ReadPool | None = None) -> None:
        self.source, self._room, self._slots = source, room, Slots()
        self.pool = ReadPool() if pool is None else pool
        way = way_to_read(source.nbytes)
        self.ring = open_ring(source, self.pool) if way == "io_uring" else None
        self.batches = open_batch_reader(source, self.pool) if way == "compiled" else None
        self.bytes_read = self.cached_bytes = 0
        self.waiting = Timer()
        """How long kernels waited for pages: reading and checking that did not overlap with computing."""
        self._kept: dict[int, tuple[PagedRows, _Kept]] = {}
        self._dropping, self._dropped = ReadPool(1), Batch(0)

    def prepare(self, rows: PagedRows) -> _Kept:
        """Register ``rows`` before their pages are requested; compiles the code that reads them now, not later."""
        if id(rows) not in self._kept:
            if self.batches is not None:
                self.batches.prepare(rows)
            self._kept[id(rows)] = rows, _Kept(rows)
        return self._kept[id(rows)][1]

    @property
    def room(self) -> Room:
        """The memory for pages. Setting it, or reading :attr:`spare`, releases idle buffers."""
        return self._room

    @room.setter
    def room(self, room: Room) -> None:
        self._slots.release()
        self._room = room

    def count(self, rows: PagedRows, wanted: Array) -> None:
        """Record which pages a superstep wants (a mask); the pages wanted most often stay cached."""
        kept = self.prepare(rows)
        kept.uses += wanted
        kept.note_uses(wanted)

    def windows(
        self,
        rows: PagedRows,
        wanted: Array,
        *,
        ahead: int = _AHEAD,
        counted: bool = False,
        in_place: bool = True,
        once: Callable[[], bool] = lambda: False,
    ) -> Iterator[Request]:
        """Windows of pages; all ``wanted`` pages (a mask) of a window are in memory until the next window is requested.

        ``ahead``: how many further windows are read meanwhile; all of them share the buffers. ``counted``: the wanted
        pages are among those already passed to :meth:`count`. ``in_place``: pages lie in their places; otherwise they
        may lie in a slot, where :meth:`PagedRows.columns` finds them. ``once``: whether pages are wanted this once, so
        that none has to stay even if the cache has room: to fill that, new memory would be cleared.
        """
        self.source.check_unchanged()
        kept = self.prepare(rows)
        if not counted:
            self.count(rows, wanted)
        missing = rows.missing(wanted)
        self._dropped.wait()
        size = self.room.buffers // self._in_memory(ahead)
        buffers, pages = size * (ahead + 1), size // rows.page_bytes
        even = -(-HUGE // rows.page_bytes)
        pages = max(pages // even, 1) * even if pages > even else pages  # so that windows end on huge-page boundaries
        todo = deque(self._cut(rows, wanted, missing, pages, begin_small=ahead > 0 and not in_place))
        flying: deque[_Flight] = deque()
        in_buffers, asked = 0, None
        while todo or flying:
            if not ahead:
                self._dropped.wait()  # the next window takes the place of the last one
            while todo:
                asked = self._requests(rows, missing, todo[0]) if asked is None else asked
                staying = sum(flight.nbytes for flight in flying if flight.slot is None)
                passes = not in_place and self._suits_a_slot(missing, todo[0], pages)
                passes = passes and (once() or self._only_passes(rows, kept, missing, todo[0], staying))
                nbytes = (pages if passes else _pages(asked)) * rows.page_bytes
                if flying and in_buffers + nbytes > buffers:
                    break
                in_buffers += nbytes
                window = todo.popleft()
                self._slots.release(buffers - in_buffers + (nbytes if passes else 0))
                slot = self._slots.take(rows, window, pages) if passes else None
                if slot is not None and rows.resident[window.first : window.last].any():
                    slot.copy(rows, run_edges(rows.resident[window.first : window.last]) + window.first)
                soon = not flying or 2 * _pages(asked) < pages
                batch = self._start(rows, asked, slot, waited_for=soon)
                flying.append(_Flight(window, asked, slot, nbytes, batch))
                asked = None
            flight = flying.popleft()
            with self.waiting:
                flight.batch.wait()
            rows.serve(flight.asked, flight.slot)
            try:
                yield flight.window
            finally:
                rows.slot = None
            if flight.slot is None:
                self._settle(rows, kept, wanted, flight.window, flight.asked)
            else:
                self._slots.put(flight.slot)
            in_buffers -= flight.nbytes

    @staticmethod
    def _cut(rows: PagedRows, wanted: Array, missing: Array, pages: int, *, begin_small: bool) -> list[Request]:
        """The windows of a superstep, each with about ``pages`` pages to read."""
        found = windows(missing, wanted, pages=pages, block=rows.block_pages)
        if begin_small and found and missing[found[0].first : found[0].last].any():
            return begun_small(found, wanted, pages=_FIRST_BYTES // rows.page_bytes, block=rows.block_pages)
        return found

    def _suits_a_slot(self, missing: Array, window: Request, pages: int) -> bool:
        """Whether most of a window's pages, at most ``pages``, are read, by code that reads to slots."""
        first, last = window
        if self.batches is None or last - first > pages:
            return False
        return bool(np.count_nonzero(missing[first:last]) >= DENSE * (last - first))

    def _only_passes(self, rows: PagedRows, kept: _Kept, missing: Array, window: Request, staying: int) -> bool:
        """Whether none of the pages that are read will stay; ``staying``: bytes of others that may, once read."""
        if self.room.cache - self.cached_bytes - staying >= rows.page_bytes:
            return False
        first, last = window
        return kept.even or int(kept.uses[first:last][missing[first:last]].max(initial=0)) <= kept.least

    def buffers_for(self, window_bytes: int, ahead: int) -> int:
        """The buffer size at which windows have ``window_bytes`` bytes, with ``ahead`` windows read ahead."""
        return window_bytes * self._in_memory(ahead)

    def _in_memory(self, ahead: int) -> int:
        """Windows in memory at once: those ahead, the one being computed on, and one being dropped."""
        return ahead + 1 + (ahead > 0 and self.batches is not None)

    def first_cached(self, rows: PagedRows) -> int:
        """The number of leading pages that are all cached."""
        cached = self.prepare(rows).cached
        return len(cached) if cached.all() else int(np.argmin(cached))

    @property
    def spare(self) -> int:
        """Bytes unused between two supersteps: the buffers, and what is left of the cache."""
        self._slots.release()
        return self.room.buffers + max(0, self.room.cache - self.cached_bytes)

    def evict(self, rows: PagedRows, first: int, last: int) -> None:
        """Drop the cached pages among ``first..last``, and wait until their memory is released."""
        cached = self.prepare(rows).cached
        pages = first + np.flatnonzero(cached[first:last])
        cached[first:last] = False
        self.cached_bytes -= len(pages) * rows.page_bytes
        self._drop(rows, pages)
        self._dropped.wait()

    def occupy(self, nbytes: int) -> None:
        """Reserve ``nbytes`` of the cache for something else, for the rest of the run."""
        self.cached_bytes += nbytes

    def fit(self, rows: PagedRows) -> None:
        """Drop cached pages, the last ones first, until the contents of the cache fit its room."""
        excess = -(-(self.cached_bytes - self.room.cache) // rows.page_bytes)
        if excess > 0:
            cached = np.flatnonzero(self.prepare(rows).cached)[-excess:]
            if len(cached):
                self.evict(rows, int(cached[0]), int(cached[-1]) + 1)

    def close(self) -> None:
        """End the threads and close the file."""
        if self.ring is not None:
            self.ring.close()
        self.pool.close()
        self._slots.release()
        self._dropping.close()
        self.source.close()

    def _requests(self, rows: PagedRows, missing: Array, window: Request) -> list[Request]:
        first, last = window
        found = requests(
            missing[first:last], rows.resident[first:last],
            gap=GAP_BYTES // rows.page_bytes, most=REQUEST_BYTES // rows.page_bytes, block=rows.block_pages,
        )  # fmt: skip
        return [Request(first + begin, first + end) for begin, end in found]

    def _start(self, rows: PagedRows, asked: list[Request], slot: Slot | None, *, waited_for: bool) -> Batch:
        self.bytes_read += sum(map(rows.bytes_of, asked))
        for run in _joined(asked) if slot is None else ():
            rows.expect(run)
        if self.ring is not None and asked and rows.pieces(asked[0]):
            return self.ring.submit(rows, asked)
        if self.batches is not None:
            return self.batches.submit(rows, asked, slot, waited_for=waited_for)
        return self.pool.submit([partial(rows.read, self.source, request) for request in asked])

    def _settle(self, rows: PagedRows, kept: _Kept, wanted: Array, window: Request, served: list[Request]) -> None:
        """Choose which of the pages just read stay cached."""
        if kept.even and self.room.cache - self.cached_bytes < rows.page_bytes:
            self._drop_runs(rows, np.array(list(_joined(served)), dtype=np.int64).reshape(-1, 2))
            return
        fresh = np.concatenate([np.arange(first, last) for first, last in served] or [np.empty(0, dtype=np.int64)])
        room = max(0, self.room.cache - self.cached_bytes) // rows.page_bytes
        if len(fresh) > room:
            fresh = fresh[np.argsort(~kept.uses[fresh], kind="stable")]  # most used first
        staying, others = fresh[:room], fresh[room:]
        kept.add(staying)
        self.cached_bytes += len(staying) * rows.page_bytes
        if not len(others):
            return
        if kept.even:
            self._drop(rows, others)
            return
        # evict only pages that were used less often, and none that this superstep still needs
        loose = kept.cached & (kept.uses < kept.uses[others[0]])
        loose[window.last :] &= ~wanted[window.last :]
        old = np.flatnonzero(loose)
        old = old[np.argsort(kept.uses[old], kind="stable")][: len(others)]
        swapped = kept.uses[others[: len(old)]] > kept.uses[old]
        out, others_in = old[swapped], others[: len(old)][swapped]
        kept.swap(out, others_in)
        self._drop(rows, out)
        self._drop(rows, np.concatenate([others[: len(old)][~swapped], others[len(old) :]]))

    def _drop(self, rows: PagedRows, pages: Array) -> None:
        if not len(pages):
            return
        first = int(pages.min())
        mask = np.zeros(int(pages.max()) + 1 - first, dtype=bool)
        mask[pages - first] = True
        self._drop_runs(rows, first + run_edges(mask))

    def _drop_runs(self, rows: PagedRows, runs: Array) -> None:
        """Drop runs of pages, each given as its first page and the one after its last."""
        for first, last in runs.tolist():
            rows.resident[first:last] = False
        edges = np.ascontiguousarray(runs.T)
        self._dropped.wait()
        if self.batches is None:
            rows.drop(*edges)
        else:  # drop while the next window is computed on
            self._dropped = self._dropping.submit([partial(rows.drop, *edges, compiled=True)])


def _joined(asked: list[Request]) -> Iterator[Request]:
    """Join requests that follow each other."""
    first = 0
    for number, request in enumerate(asked):
        if number + 1 == len(asked) or asked[number + 1].first != request.last:
            yield Request(asked[first].first, request.last)
            first = number + 1


def _pages(asked: list[Request]) -> int:
    return sum(last - first for first, last in asked)


def unpacking_bytes(rows: PagedRows) -> int:
    """Bytes of the buffers from which the reader threads unpack pages."""
    return READERS * rows.buffer_bytes(max(REQUEST_BYTES // rows.page_bytes, rows.block_pages))
