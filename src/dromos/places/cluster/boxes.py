"""Messages from every rank to every other one, small and large, in few operations of MPI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array

__all__ = ["SLOT", "WORD", "Boxes"]

SLOT: Final = 2048
"""Bytes for each pair of ranks that go with the sizes: a small superstep costs one collective operation."""
WORD: Final = 8
"""Bytes of a size."""


class Boxes:
    """What every rank has for every other one: sizes and small boxes in one operation, large ones directly.

    A large box is on its way while the next ones are packed, and what came is merged while others are on their way; in
    the order of the ranks, so that sums of floats come out the same.
    """

    def __init__(self, comm: Any, slots: Array) -> None:
        """``slots`` are used again from superstep to superstep."""
        self._comm, self._slots = comm, slots
        self._sending: list[Any] = []
        self.sent_bytes = 0

    def send(self, rank: int, box: Array) -> None:
        """Give ``box`` to a rank; every rank does so for every other one, in the order of the ranks."""
        slot = self._slots[rank]
        slot[:WORD].view(np.int64)[0] = len(box)
        if len(box) <= SLOT - WORD:
            slot[WORD : WORD + len(box)] = box
        else:
            self._sending.append(self._comm.Isend(box, dest=rank))
        self.sent_bytes += len(box)

    def received(self) -> Iterator[Array]:
        """The boxes of all others, in the order of the ranks."""
        incoming = np.empty_like(self._slots)
        self._comm.Alltoall(self._slots, incoming)
        sizes = incoming[:, :WORD].copy().view(np.int64).ravel().tolist()
        own = self._comm.Get_rank()
        large = {rank: np.empty(size, np.uint8) for rank, size in enumerate(sizes) if size > SLOT - WORD}
        arriving = {rank: self._comm.Irecv(room, source=rank) for rank, room in large.items()}
        for rank, size in enumerate(sizes):
            if rank in large:
                arriving[rank].Wait()
                yield large[rank]
            elif rank != own:
                yield incoming[rank, WORD : WORD + size]
        for request in self._sending:
            request.Wait()
