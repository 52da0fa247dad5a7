"""A few threads that read while others compute. The system's calls, the checksums and NumPy let go of the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

__all__ = ["READERS", "Batch", "ReadPool"]

READERS = 4
"""Threads that keep a disk busy with requests of a megabyte; more of them only take the GIL from each other."""


class Batch:
    """Reads that belong together; whoever needs them waits for all."""

    def __init__(self, size: int) -> None:
        self._left, self._lock, self._ready = size, threading.Lock(), threading.Event()
        self._error: BaseException | None = None
        if size == 0:
            self._ready.set()

    def done(self, error: BaseException | None = None) -> None:
        """One of the reads ended; the first error counts."""
        with self._lock:
            self._left -= 1
            self._error = self._error or error
            if self._left <= 0 or error is not None:
                self._ready.set()

    @property
    def ready(self) -> bool:
        """Whether nobody would have to wait."""
        return self._ready.is_set()

    def wait(self) -> None:
        """Return when all reads are done; raise the first error."""
        self._ready.wait()
        if self._error is not None:
            raise self._error


class ReadPool:
    """Threads that start with the first read, and end with :meth:`close`, also after Ctrl-C.

    >>> pool, found = ReadPool(2), []
    >>> pool.submit([lambda: found.append(1), lambda: found.append(2)]).wait()
    >>> pool.close()
    >>> sorted(found)
    [1, 2]
    """

    def __init__(self, threads: int = READERS) -> None:
        self._size = threads
        self._threads: list[threading.Thread] = []
        self._queue: SimpleQueue[tuple[Callable[[], Any], Batch] | None] = SimpleQueue()
        self._closed = False

    def submit(self, reads: Sequence[Callable[[], Any]]) -> Batch:
        """Have ``reads`` done, in about this order."""
        batch = Batch(len(reads))
        for read in reads:
            self._queue.put((read, batch))
        while reads and len(self._threads) < self._size:
            thread = threading.Thread(target=self._work, name=f"dromos-read-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return batch

    def _work(self) -> None:
        while (task := self._queue.get()) is not None:
            read, batch = task
            error: BaseException | None = None
            if not self._closed:
                try:
                    read()
                except BaseException as raised:
                    error = raised
            batch.done(error)

    def close(self) -> None:
        """Drop what has not begun, and wait for the threads to end."""
        self._closed = True
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()
