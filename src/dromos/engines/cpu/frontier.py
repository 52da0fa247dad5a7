"""The frontier on the CPU: a queue, and two membership tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty, reused_zeros

__all__ = ["Frontier"]

_LAST_STAMP = 250


class Frontier:
    """The active vertices between two supersteps.

    ``queue[:size]`` lists them. Synchronous steps test ``member[v] == stamp``: a new stamp makes a new set without
    clearing the old one. By the same stamp, ``got`` marks the vertices that got a message. Asynchronous steps test
    ``waiting[v]``. Each is brought up to date when it is next needed. ``always`` means that all vertices are active
    forever, with nothing to keep.
    """

    def __init__(self, num_vertices: int, dtype: np.dtype[Any], always: bool) -> None:
        self.num_vertices, self.always = num_vertices, always
        self.queue = reused_empty(num_vertices, dtype)
        self.following = reused_empty(num_vertices, dtype)
        self._member: Array | None = None
        self._got: Array | None = None
        self.stamp = np.uint8(1)
        self.waiting = np.zeros(0, dtype=np.uint8)
        self.size = 0
        self._stamped = self._waits = False

    @property
    def member(self) -> Array:
        """The stamps; allocated on first use."""
        if self._member is None:
            self._member = reused_zeros(self.num_vertices, np.uint8)
        return self._member

    def unwritten_member(self) -> Array:
        """The stamps before the first frontier, for a kernel that writes all of them."""
        self._member = reused_empty(self.num_vertices, np.uint8)
        return self._member

    @property
    def got(self) -> Array:
        """Which vertices got a message, by the stamp; allocated on first use."""
        if self._got is None:
            self._got = reused_zeros(self.num_vertices, np.uint8)
        return self._got

    def begin(self, size: int, *, stamped: bool) -> None:
        """Start with the first frontier, which is queued, and perhaps stamped."""
        self.size = self.num_vertices if self.always else size
        self._stamped = stamped

    def restore(self, vertices: Array) -> None:
        """Set a frontier that was saved."""
        self.size = len(vertices)
        self.queue[: self.size] = vertices
        self._stamped = self._waits = False

    def prepare_claims(self) -> None:
        """Prepare for a kernel that reads only the queue."""
        self._stamped = self._waits = False

    def prepare_sync(self, *, by_member: bool) -> bool:
        """Prepare for a synchronous step; True if the frontier is to be found by ``member`` (or is all vertices)."""
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

    def prepare_async(self) -> None:
        """Prepare for an asynchronous step."""
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
        """Prepare for a kernel that keeps its own order of vertices, and marks the next frontier in ``waiting``."""
        if self.waiting.size != self.num_vertices:
            self.waiting = np.zeros(self.num_vertices, dtype=np.uint8)
        elif self._waits:
            self.waiting[self.queue[: self.size]] = 0
        else:
            self.waiting[:] = 0
        self._stamped, self._waits = False, True

    def advance(self, size: int, *, stamped: bool) -> None:
        """Make the ``size`` vertices that a step has put into ``following`` the frontier."""
        self.queue, self.following = self.following, self.queue
        self.size = self.num_vertices if self.always else size
        if stamped:
            self.stamp = np.uint8(self.stamp + 1)

    def _renew(self) -> None:
        self.member[:] = 0
        if self._got is not None:
            self._got[:] = 0
        self.stamp = np.uint8(1)
