"""Arrays that all ranks share, where they run on one machine.

The memory has no name that could be left behind: rank 0 makes it, the others open it through ``/proc``, and the system
frees it with the last process that holds it.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import secrets
import weakref
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import ResourceError
from dromos.identity_cache import IdentityCache

__all__ = ["HostMemory", "host_memory"]

_TOKEN: Final = 16  # random bytes at the end of each piece: proof that a rank opened the right one
_PAGE: Final = mmap.PAGESIZE
_LINE: Final = 128  # bytes: arrays do not share a line of any cache
_made = IdentityCache()
_KEPT: Final = 1 << 31
"""Bytes that are kept for later arrays while nobody uses them."""


class HostMemory:
    """Makes shared arrays; every rank calls :meth:`arrays` with the same arguments in the same order."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self._pieces: list[_Piece] = []  # in the same order on every rank

    def arrays(self, wanted: Sequence[tuple[int, Any]]) -> list[Array]:
        """Arrays of so many rows and such types, with anything in them, the same memory on every rank.

        Memory is used again when no rank has an array on it any more. Clearing fresh pages costs more than a superstep.
        """
        sizes = [rows * np.dtype(dtype).itemsize for rows, dtype in wanted]
        starts = np.cumsum([0, *(-(-size // _LINE) * _LINE for size in sizes)]).tolist()
        room = starts.pop()
        free = self._free_everywhere()
        piece = next((piece for piece in free if room <= piece.size <= max(2 * room, _PAGE)), None)
        if piece is None:
            self._drop(free)
            piece = self._new(room)
        base = np.frombuffer(piece.pages, np.uint8, count=piece.size)
        piece.base = weakref.ref(base)
        return [
            base[start : start + size].view(dtype)
            for start, size, (_, dtype) in zip(starts, sizes, wanted, strict=True)
        ]

    def _free_everywhere(self) -> list[_Piece]:
        own = np.array([piece.is_free for piece in self._pieces], np.uint8)
        if not own.size:
            return []
        everyone = np.empty((self._comm.Get_size(), own.size), np.uint8)
        self._comm.Allgather(own, everyone)
        return [piece for piece, free in zip(self._pieces, everyone.min(axis=0).tolist(), strict=True) if free]

    def _drop(self, free: list[_Piece]) -> None:
        """Let go of the oldest free pieces, so that the others are not too much."""
        kept = sum(piece.size for piece in free)
        for piece in free:
            if kept <= _KEPT:
                return
            kept -= piece.size
            self._pieces.remove(piece)

    def _new(self, size: int) -> _Piece:
        piece = _opened(self._comm, size)
        if piece is None:
            raise ResourceError(
                f"the ranks cannot share {size:,} bytes; allow their processes more memory, or run fewer of them"
            )
        self._pieces.append(piece)
        return piece


class _Piece:
    def __init__(self, pages: mmap.mmap, size: int) -> None:
        self.pages, self.size = pages, size
        self.base: Any = None

    @property
    def is_free(self) -> bool:
        return self.base is None or self.base() is None


def host_memory(comm: Any) -> HostMemory | None:
    """Memory that all ranks share; None where they run on several machines, or the system does not allow it."""
    if comm.Get_size() == 1:
        return None
    found: HostMemory | None = _made.once(comm, "memory", lambda: HostMemory(comm) if _opened(comm, 1) else None)
    return found


def _opened(comm: Any, size: int) -> _Piece | None:
    """A new piece on every rank, or None on every rank."""
    room = -(-(size + _TOKEN) // _PAGE) * _PAGE
    rank, made, told = comm.Get_rank(), -1, None
    if rank == 0 and hasattr(os, "memfd_create"):
        with contextlib.suppress(OSError):  # the others are told nothing then
            made = os.memfd_create("dromos")
            os.ftruncate(made, room)
            token = secrets.token_bytes(_TOKEN)
            os.pwrite(made, token, room - _TOKEN)
            told = f"/proc/{os.getpid()}/fd/{made}", token
    told = comm.bcast(told)
    pages = None
    if told is not None:
        path, token = told
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            pages = mmap.mmap(file, room)
            os.close(file)
            if pages[-_TOKEN:] != token:  # the same number means another file on another machine
                pages = None
        except (OSError, ValueError):
            pages = None
    everyone = comm.allgather(pages is not None)
    if made >= 0:
        os.close(made)  # not before all have opened it
    if pages is None or not all(everyone):
        return None
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without huge pages for shared memory
            pages.madvise(mmap.MADV_HUGEPAGE)
    return _Piece(pages, room - _TOKEN)
