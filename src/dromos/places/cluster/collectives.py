"""Collective operations on bytes, of which there may be more than MPI's counts of 32 bits reach."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty

__all__ = ["MOST", "gather_all", "swapped"]

MOST = (1 << 31) - 1
"""What a count or a place may be: that of an operation of MPI 3."""


def gather_all(comm: Any, given: Any, whole: Any, sizes: Sequence[int], starts: Sequence[int] | None = None) -> None:
    """Give all ranks the bytes of each, ``sizes[r]`` in ``whole``: one rank's after the other's, or from ``starts`` on.

    ``given`` are this rank's, or MPI's ``IN_PLACE``. The bytes may lie on a device where MPI can reach it.
    """
    begin = list(accumulate(sizes, initial=0))[:-1] if starts is None else list(starts)
    if _reach(sizes, begin) <= MOST:
        comm.Allgatherv(given, [whole, (list(sizes), begin)])
        return
    unit = math.gcd(*sizes, *begin)  # rows of fields are a few bytes, and that is enough
    if _reach(sizes, begin) // unit <= MOST:
        with _type_of(unit) as kind:
            parts = [size // unit for size in sizes], [start // unit for start in begin]
            own = given if not hasattr(given, "nbytes") else [given, given.nbytes // unit, kind]
            comm.Allgatherv(own, [whole, parts, kind])
        return
    rank = comm.Get_rank()
    if hasattr(given, "nbytes"):
        whole[begin[rank] : begin[rank] + sizes[rank]] = given
    for root, (start, size) in enumerate(zip(begin, sizes, strict=True)):
        for first in range(start, start + size, MOST):
            comm.Bcast(whole[first : min(first + MOST, start + size)], root)


def swapped(comm: Any, column: Array, counts: Array) -> Array:
    """The column's pieces, in the order of the ranks that they go to, after all ranks have exchanged theirs."""
    incoming = np.empty_like(counts)
    comm.Alltoall(counts, incoming)
    room = reused_empty(int(incoming.sum()), column.dtype)
    with _type_of(column.dtype.itemsize) as kind:
        comm.Alltoallv([column.view(np.uint8), counts.tolist(), kind], [room.view(np.uint8), incoming.tolist(), kind])
    return room


def _reach(sizes: Sequence[int], starts: Sequence[int]) -> int:
    return max((start + size for size, start in zip(sizes, starts, strict=True)), default=0)


@contextmanager
def _type_of(size: int) -> Iterator[Any]:
    """An MPI type of so many bytes."""
    from mpi4py import MPI

    kind = MPI.BYTE.Create_contiguous(size).Commit()
    try:
        yield kind
    finally:
        kind.Free()
