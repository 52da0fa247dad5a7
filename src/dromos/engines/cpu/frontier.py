"""The frontier on the CPU: a queue, and two ways to ask whether a vertex is in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.engines.cpu.memory import reused_empty, reused_zeros

__all__ = ["Frontier"]

_LAST_STAMP = 250


class Frontier:
    """The active vertices between two supersteps.

    ``queue[:size]`` lists them. Synchronous steps ask ``member[v] == stamp``: a new stamp makes a new set without
    clearing the old one; ``got`` marks by the same stamp who got a message. Asynchronous steps ask ``waiting[v]``.
    Each is brought up to date when it is next needed.
    ``always`` stands for all vertices for ever, with nothing to keep.
    """

    def __init__(self, num_vertices: int, dtype: np.dtype[Any], always: bool) -> None:
        self.num_vertices, self.always = num_vertices, always
        self.queue = reused_empty(num_vertices, dtype)
        self.following = reused_empty(num_vertices, dtype)
        self.member = reused_zeros(num_vertices, np.uint8)
        self.got = reused_zeros(num_vertices, np.uint8)
        self.stamp = np.uint8(1)
        self.waiting = np.zeros(0, dtype=np.uint8)
        self.size = 0
        self._stamped = self._waits = False

    def begin(self, size: int) -> None:
        """The first frontier was queued and stamped."""
        self.size = self.num_vertices if self.always else size
        self._stamped = True

    def prepare_sync(self, *, by_member: bool) -> bool:
        """Get ready for a synchronous step; True if the frontier is to be found by ``member`` (or is everyone)."""
        if not self._stamped:
            self._renew()
            self.member[self.queue[: self.size]] = self.stamp
            self._stamped = True
        elif self.stamp >= _LAST_STAMP:
            active = self.member == self.stamp
            self._renew()
            self.member[active] = self.stamp
        self._waits = False
        return by_member or self.always

    def restamp(self) -> None:
        """Get ready for a kernel that will fill queue and ``member`` anew, with a stamp that nothing has yet."""
        if self.stamp >= _LAST_STAMP:
            self._renew()
        else:
            self.stamp = np.uint8(self.stamp + 1)
        self._stamped, self._waits = True, False

    def prepare_async(self) -> None:
        """Get ready for an asynchronous step."""
        if self.always:
            self.queue = np.arange(self.num_vertices, dtype=self.queue.dtype)
        if not self._waits:
            if self.waiting.size != self.num_vertices:
                self.waiting = np.zeros(self.num_vertices, dtype=np.uint8)
            self.waiting[:] = 0
            self.waiting[self.queue[: self.size]] = 1
            self._waits = True
        self._stamped = False

    def prepare_ordered(self) -> None:
        """Get ready for a kernel that keeps its own order of vertices, and marks the next frontier in ``waiting``."""
        if self.waiting.size != self.num_vertices:
            self.waiting = np.zeros(self.num_vertices, dtype=np.uint8)
        elif self._waits:
            self.waiting[self.queue[: self.size]] = 0
        else:
            self.waiting[:] = 0
        self._stamped, self._waits = False, True

    def advance(self, size: int, *, stamped: bool) -> None:
        """A step has filled ``following`` with ``size`` vertices."""
        self.queue, self.following = self.following, self.queue
        self.size = self.num_vertices if self.always else size
        if stamped:
            self.stamp = np.uint8(self.stamp + 1)

    def _renew(self) -> None:
        self.member[:] = 0
        self.got[:] = 0
        self.stamp = np.uint8(1)
