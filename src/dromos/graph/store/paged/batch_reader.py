"""Pages read by compiled code: each thread of the pool serves many requests per call, without the GIL.

With a Python call for each read, checksum and fingerprint, sixteen threads spend most of their time waiting for the
GIL. Only successful reads complete here. A read that fails or returns unexpected data is repeated by
:meth:`PagedRows.read`, which knows which error to raise: so all ways to read give the same answers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

import numpy as np

from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.paged.pool import Batch, ReadPool
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.section import Request
from dromos.graph.store.paged.slots import Slot
from dromos.parallel import NO_MORE_WORK

__all__ = ["BatchReader", "open_batch_reader"]

_LARGE = 1 << 19
_REQUESTS_PER_CALL = 4
"""If requests have ``_LARGE`` bytes or more on average, a thread should serve several per call, or it spends its time
on fetching requests; the other threads read other windows meanwhile. Small requests are better all made at once."""


def open_batch_reader(source: ByteSource, pool: ReadPool) -> BatchReader | None:
    """A reader for ``source``, if the system has positioned reads.

    Only a plain :class:`StoreFile` is read through its descriptor; other sources (in tests) read by themselves.
    """
    can_read = hasattr(os, "pread") and sys.byteorder == "little"
    return BatchReader(source, pool) if can_read and type(source) is StoreFile else None


class _Job:
    """The requests of a window, shared by the threads that serve them; ``slot``: where its pages go."""

    def __init__(self, rows: PagedRows, source: StoreFile, asked: Sequence[Request], slot: Slot | None = None) -> None:
        self.rows, self.source, self.asked, self.slot = rows, source, asked, slot
        self.into = [section.memory.bytes for section in rows.sections] if slot is None else slot.parts
        self.first_page = 0 if slot is None else slot.window.first
        pages = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        self.firsts, self.lasts = np.ascontiguousarray(pages[0]), np.ascontiguousarray(pages[1])
        self.cursors = [np.zeros(1, dtype=np.int64) for _ in rows.sections]
        self.outcomes = [np.zeros(len(asked), dtype=np.int32) for _ in rows.sections]

    def work(self, worker: int) -> None:
        """Serve requests until there are none; then repeat those that failed on this thread."""
        from dromos.graph.store.paged.read_kernels import FAILED

        try:
            columns = zip(self.rows.sections, self.cursors, self.outcomes, self.into, strict=True)
            for section, cursor, outcome, into in columns:
                section.read_many(
                    self.source, worker, cursor, self.firsts, self.lasts, self.rows, outcome, into, self.first_page
                )
                for number in np.flatnonzero(outcome == FAILED + worker).tolist():
                    self.rows.read(self.source, self.asked[number])
                    if self.slot is not None:
                        self.slot.copy(self.rows, np.array([self.asked[number]]))
                        self.rows.drop_pages(self.asked[number])
        except BaseException:
            for cursor in self.cursors:
                cursor[0] = NO_MORE_WORK
            raise


class BatchReader:
    """Reads requests of a file on the threads of a pool."""

    def __init__(self, source: StoreFile, pool: ReadPool) -> None:
        self._source, self._pool = source, pool

    def prepare(self, rows: PagedRows) -> None:
        """Compile the code that reads and drops pages of ``rows``, or load it from the disk cache.

        Runs on the calling thread, where Ctrl-C is handled, and before the budget is used up: the compiler's own memory
        does not count toward it.
        """
        nothing = np.empty(0, dtype=np.int64)
        _Job(rows, self._source, []).work(0)
        Slot.prepare(rows)
        rows.drop(nothing, nothing, compiled=True)

    def submit(
        self, rows: PagedRows, asked: Sequence[Request], slot: Slot | None = None, *, waited_for: bool = True
    ) -> Batch:
        """Read and check pages, in about this order; to a slot if one is given.

        ``waited_for``: the result is waited for, or soon will be, so all threads should begin at once.
        """
        job = _Job(rows, self._source, asked, slot)
        large = sum(last - first for first, last in asked) * rows.page_bytes >= _LARGE * len(asked)
        calls = -(-len(asked) // _REQUESTS_PER_CALL) if large and not waited_for else len(asked)
        workers = min(self._pool.size, calls)
        return self._pool.submit([partial(job.work, worker) for worker in range(workers)])
