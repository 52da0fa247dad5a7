"""Page readers of an opened graph, kept between calls: threads, completed checks, cached pages."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

__all__ = ["Closing", "KeptReader"]


class Closing(Protocol):
    """An object with threads and an open file."""

    def close(self) -> None: ...


Reader = TypeVar("Reader", bound=Closing)


class KeptReader:
    """At most one reader, reused for the same key; it is closed with this object.

    Calls from several threads take turns. A forked process has none of the threads, and makes a new reader.

    >>> class Read:
    ...     def close(self) -> None: print("closed")
    >>> kept = KeptReader()
    >>> with kept.using("a", Read) as first: pass
    >>> with kept.using("a", Read) as again: print(again is first)
    True
    >>> with kept.using("b", Read) as other: print(other is first)
    closed
    False
    >>> kept.clear()
    closed
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._process, self._turn = os.getpid(), threading.Lock()
        self._key: Any = None
        self._held: list[Closing] = []
        self._end = weakref.finalize(self, _close, self._held, self._process)

    @contextmanager
    def using(self, key: Any, make: Callable[[], Reader]) -> Iterator[Reader]:
        """The reader for ``key``; one that was interrupted by an error is not used again."""
        if self._process != os.getpid():
            _close(self._held, self._process)
            self._begin()
        with self._turn:
            if not self._held or self._key != key:
                _close(self._held, self._process)  # release its memory first
                self._key = key
                self._held.append(make())
            try:
                yield self._held[0]  # type: ignore[misc]
            except BaseException:
                _close(self._held, self._process)
                raise

    def clear(self) -> None:
        """Release what the reader holds."""
        if self._process == os.getpid():
            with self._turn:
                _close(self._held, self._process)


def _close(held: list[Closing], process: int) -> None:
    while held:
        reader = held.pop()
        if process == os.getpid():
            reader.close()
