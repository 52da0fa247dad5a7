"""A few threads that read while others compute. System calls, checksums and NumPy release the GIL."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from dromos.parallel import num_threads

__all__ = ["READERS", "Batch", "ReadPool"]

READERS = min(max(8, num_threads(None)), 16)
"""Threads that keep a disk busy, even with requests of 16 KiB: with these, four threads reached two thirds of the
throughput of eight, and sixteen hardly more than eight. But a thread that checks what it has read does not read, so
with enough cores more threads overlap both. They use no more processor time, but packed pages need a buffer per
thread."""


class Batch:
    """Reads that belong together and are waited for together."""

    def __init__(self, size: int) -> None:
        self._left, self._lock, self._ready = size, threading.Lock(), threading.Event()
        self._error: BaseException | None = None
        if size == 0:
            self._ready.set()

    def done(self, error: BaseException | None = None) -> None:
        """Record that one of the reads ended; the first error is kept."""
        with self._lock:
            self._left -= 1
            self._error = self._error or error
            if self._left <= 0 or error is not None:
                self._ready.set()

    @property
    def ready(self) -> bool:
        """Whether :meth:`wait` would return at once."""
        return self._ready.is_set()

    def wait(self) -> None:
        """Wait until all reads are done; raise the first error."""
        self._ready.wait()
        if self._error is not None:
            raise self._error


class _Queue:
    """State shared by the threads and the pool; threads hold no reference to the pool, so that it can be collected."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[tuple[Callable[[], Any], Batch] | None] = SimpleQueue()
        self.closed = False

    def serve(self) -> None:
        """Do reads until the pool is closed; each thread tells the next one."""
        while (task := self.tasks.get()) is not None:
            read, batch = task
            error: BaseException | None = None
            if not self.closed:
                try:
                    read()
                except BaseException as raised:
                    error = raised
            batch.done(error)
            del task, read, batch, error  # an idle thread keeps no array alive
        self.tasks.put(None)

    def end(self) -> None:
        """Drop reads that have not started, and let the threads end; it may be called again."""
        self.closed = True
        self.tasks.put(None)


class ReadPool:
    """Threads that start with the first read, and end with :meth:`close` or when the pool is collected.

    >>> pool, found = ReadPool(2), []
    >>> pool.submit([lambda: found.append(1), lambda: found.append(2)]).wait()
    >>> pool.close()
    >>> sorted(found)
    [1, 2]
    """

    def __init__(self, threads: int = READERS) -> None:
        self.size = threads
        self._threads: list[threading.Thread] = []
        self._queue = _Queue()
        weakref.finalize(self, self._queue.end)

    def submit(self, reads: Sequence[Callable[[], Any]]) -> Batch:
        """Run ``reads``, in about this order."""
        batch = Batch(len(reads))
        if reads:
            self._start_threads()
        for read in reads:
            self._queue.tasks.put((read, batch))
        return batch

    def add(self, read: Callable[[], Any], batch: Batch) -> None:
        """Add one more read to a batch."""
        self._start_threads()
        self._queue.tasks.put((read, batch))

    def _start_threads(self) -> None:
        """Start the threads before there is work: one that has work at once keeps the GIL from the starting thread."""
        while len(self._threads) < self.size:
            name = f"dromos-read-{len(self._threads)}"
            self._threads.append(threading.Thread(target=self._queue.serve, name=name, daemon=True))
            self._threads[-1].start()

    def close(self) -> None:
        """Drop reads that have not started, and wait for the threads to end; again after a Ctrl-C, if that came."""
        self._queue.end()
        for thread in self._threads:
            if thread.is_alive():  # Ctrl-C may have come before the last one was started; if it starts, it only ends
                thread.join()
