"""Pages read by io_uring: one thread keeps many requests in flight, and the threads of a pool check completed reads.

Only successful reads complete here. A read that fails or is short is repeated by the file's own positioned reads, which
know how to handle it and which error to raise: so both ways give the same answers.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final

from dromos.errors import FileError
from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.paged.pool import Batch, ReadPool
from dromos.graph.store.paged.ring import Ring
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.section import Request
from dromos.graph.store.paged.ways import READS

__all__ = ["RingReader", "open_ring"]

_DEPTH: Final = 64


def open_ring(source: ByteSource, pool: ReadPool) -> RingReader | None:
    """A reader for ``source``, if the system allows io_uring; otherwise None, and threads read.

    Only a plain :class:`StoreFile` is read through its descriptor; other sources (in tests) read by themselves.
    """
    if type(source) is not StoreFile:
        return None
    try:
        return RingReader(source, pool, Ring(_DEPTH))
    except OSError:  # an older system, or a container that forbids it
        return None


class _Task:
    """A request whose pieces are being read."""

    def __init__(self, rows: PagedRows, request: Request, batch: Batch) -> None:
        self.rows, self.request, self.batch = rows, request, batch
        self.pieces = rows.pieces(request)
        self.left, self.failed = len(self.pieces), False


class _Work:
    """The work of a ring's thread; it holds no reference to the reader, so that the reader can be collected."""

    def __init__(self, source: StoreFile, pool: ReadPool, ring: Ring) -> None:
        self.source, self.pool, self.ring = source, pool, ring
        self.tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self.closed = self._ended = False
        self._waiting: deque[tuple[_Task, memoryview, int]] = deque()
        self._flying: dict[int, tuple[_Task, memoryview, int]] = {}
        self._number = 0

    def serve(self) -> None:
        """Submit reads and collect them until the end; memory is not released while reads are in flight."""
        try:
            while self._take_tasks() or self._flying:
                self._hand_in()
                if self._flying:
                    self._take_back()
        except OSError as error:
            self._fail(error)
        finally:
            self.ring.close()

    def _fail(self, error: OSError) -> None:
        """Pass the error on to all waiting and all future requests, since the system accepts no more reads."""
        told = FileError(f"io_uring failed: {error.strerror}; set {READS}=threads", path=self.source.path)
        for task, *_ in (*self._flying.values(), *self._waiting):
            task.batch.done(told)
        while not self._ended:
            if (asked := self.tasks.get()) is None:
                return
            asked.batch.done(told)

    def end(self) -> None:
        """Drop requests that have not started."""
        self.closed = True
        self.tasks.put(None)

    def _take_tasks(self) -> bool:
        """Take new requests; waits if there is nothing else to do. Returns False at the end.

        The end is signaled once, and may come while reads are in flight; these are waited for.
        """
        while not self._ended:
            try:
                task = self.tasks.get(block=not (self._flying or self._waiting))
            except Empty:
                return True
            if task is None:
                self._ended = True
            elif self.closed:
                task.batch.done()
            else:
                self._waiting.extend((task, *piece) for piece in task.pieces)
        return False

    def _hand_in(self) -> None:
        while self._waiting and self.ring.room and not self.closed:
            task, buffer, position = self._waiting.popleft()
            fd, expected = self.source.ring_piece(buffer, position)
            self._number += 1
            self._flying[self._number] = task, buffer, expected
            address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
            self.ring.add(self._number, fd, address, len(buffer), position)

    def _take_back(self) -> None:
        for number, result in self.ring.wait():
            task, _, expected = self._flying.pop(number)
            task.left -= 1
            task.failed |= result != expected
            if task.left == 0:
                finish = task.rows.read if task.failed else task.rows.check
                self.pool.add(partial(finish, self.source, task.request), task.batch)


class RingReader:
    """Reads requests of a file; close it before the file and the pool."""

    def __init__(self, source: StoreFile, pool: ReadPool, ring: Ring) -> None:
        self._work = _Work(source, pool, ring)
        self._end = weakref.finalize(self, self._work.end)
        self._thread: threading.Thread | None = None

    def submit(self, rows: PagedRows, asked: Sequence[Request]) -> Batch:
        """Read and check pages, in about this order."""
        batch = Batch(len(asked))
        for request in asked:
            self._work.tasks.put(_Task(rows, request, batch))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work.serve, name="dromos-read-ring", daemon=True)
            self._thread.start()
        return batch

    def close(self) -> None:
        """Wait for reads in flight, then end."""
        self._end()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()
        else:  # nothing was read, or Ctrl-C interrupted the start of the thread
            self._work.ring.close()
