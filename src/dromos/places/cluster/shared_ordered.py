"""Delta-stepping over ranks of one machine: values lie in shared memory, and a superstep costs one small exchange."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.cpu.ordered_part import OrderedPart
from dromos.engines.cpu.shared_order import SharedOrder
from dromos.engines.parts import Partial
from dromos.places.cluster.host_memory import HostMemory
from dromos.places.exchange import Exchange
from dromos.places.feed import Feed
from dromos.places.ordered import RisingLimit
from dromos.program import TypedProgram

__all__ = ["SharedOrdered"]


class SharedOrdered:
    """See :class:`dromos.places.ordered.OrderedRun`; every rank makes one and calls it in the same order."""

    def __init__(
        self, part: OrderedPart, feed: Feed, exchange: Exchange, comm: Any, bounds: Sequence[int], host: HostMemory
    ) -> None:
        self._comm, self._part, self._exchange = comm, part, exchange
        piece = next(iter(feed.fetch(feed.holding(None, "push"), "push")), None)
        self._run = SharedOrder(part, piece, bounds, comm.Get_rank(), host.arrays)
        self._own, self._all = np.zeros(4), np.zeros((comm.Get_size(), 4))
        self._least = -math.inf
        width = exchange.largest([part.step_width(piece)])  # also: all ranks have put their values there
        self._limit = RisingLimit(width, part.shape.num_arcs)
        self._seconds, self._split = np.zeros(2), (0.0, 0.0)  # of this rank so far, and of all up to the last store

    def step(self, typed: TypedProgram) -> Partial:
        """See :class:`dromos.places.ordered.OrderedRun`."""
        clock = Stopwatch()
        self._own[:] = self._run.advance(self._limit.over(self._least))
        advanced = clock.seconds()
        self._comm.Allgather(self._own, self._all)
        told = clock.seconds()
        self._run.collect()
        self._seconds += advanced + clock.seconds() - told, told - advanced
        near, _, looked, num_told = (int(total) for total in np.where(self._all < np.inf, self._all, 0).sum(axis=0))
        self._limit.looked_at(looked)
        far = float(self._all[:, 1].min())
        self._least = -math.inf if near else far
        self._part.finish(())
        return Partial(near + (far < math.inf), 0, 0, looked, sent=num_told)

    def store(self) -> None:
        """See :class:`dromos.places.ordered.OrderedRun`."""
        self._run.store()
        everyone = np.empty((self._comm.Get_size(), 2))
        self._comm.Allgather(self._seconds, everyone)  # also: nobody lowers values again before all are here
        self._seconds[:] = 0.0
        self._split = float(everyone[:, 0].max()), float(everyone[:, 1].min())

    def split(self) -> tuple[float, float]:
        """See :class:`dromos.places.ordered.OrderedRun`."""
        return self._split

    def shared(self, name: str) -> Array | None:
        """See :class:`dromos.places.ordered.OrderedRun`."""
        return self._run.values if name == self._run.name else None
