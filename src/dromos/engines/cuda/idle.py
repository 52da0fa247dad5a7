"""Streams and pinned memory that wait for their next use: they take longer to make than to use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

__all__ = ["IdlePool"]

T = TypeVar("T")


class IdlePool(Generic[T]):
    """What was made on each device and is idle now.

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
        """One of the current device, made where none is idle; after an error it is not used again."""
        idle = self._idle.setdefault(device, [])
        try:
            one = idle.pop()
        except IndexError:
            one = self._make()
        yield one
        idle.append(one)
