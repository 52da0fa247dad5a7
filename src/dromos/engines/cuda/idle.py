"""Pool of streams and pinned memory for reuse: making them takes longer than using them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["IdlePool"]

T = TypeVar("T")


class IdlePool(Generic[T]):
    """Objects that were made on each device and are idle now.

    >>> pool = IdlePool(list)
    >>> with pool.borrowed(0) as first, pool.borrowed(0) as second:
    ...     first is second
    False
    >>> with pool.borrowed(0) as again:
    ...     again is first or again is second
    True
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._idle: dict[int, list[T]] = {}

    @contextmanager
    def borrowed(self, device: int) -> Iterator[T]:
        """Borrow one of the current device, made if none is idle; after an error it is not reused."""
        idle = self._idle.setdefault(device, [])
        try:
            one = idle.pop()
        except IndexError:
            one = self._make()
        yield one
        idle.append(one)
