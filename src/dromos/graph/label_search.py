"""Search for a few labels among many, without an index of all.

Building an index takes as long as a few dozen of these searches, and several times the memory of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dromos.dtypes import Array

__all__ = ["find_integers", "find_strings"]

_BLOCK = 1 << 18  # labels that are searched together: temporary arrays grow with this, not with the graph


def find_integers(integers: Array, wanted: Sequence[int]) -> Array:
    """The position of each of ``wanted`` among ``integers``, which are unique; -1 if missing.

    >>> find_integers(np.array([7, 3, 9]), [9, 4]).tolist()
    [2, -1]
    """
    found = np.full(len(wanted), -1, dtype=np.int64)
    for begin in range(0, len(integers), _BLOCK):
        block = integers[begin : begin + _BLOCK]
        for i in np.flatnonzero(found < 0).tolist():
            at = np.flatnonzero(block == wanted[i])
            if len(at):
                found[i] = begin + int(at[0])
        if (found >= 0).all():
            break
    return found


def find_strings(utf8: Array, offsets: Array, wanted: Sequence[bytes]) -> Array:
    """The position of each of ``wanted`` among the strings ``utf8[offsets[i] : offsets[i + 1]]``; -1 if missing.

    >>> find_strings(np.frombuffer(b"adabob", np.uint8), np.array([0, 3, 6]), [b"bob", b"bo"]).tolist()
    [1, -1]
    """
    found = np.full(len(wanted), -1, dtype=np.int64)
    count = len(offsets) - 1
    for begin in range(0, count, _BLOCK):
        ends = offsets[begin + 1 : min(begin + _BLOCK, count) + 1]
        lengths = ends - offsets[begin : begin + len(ends)]
        for i in np.flatnonzero(found < 0).tolist():
            at = np.flatnonzero(lengths == len(wanted[i]))
            for back, byte in enumerate(reversed(wanted[i]), start=1):  # labels share beginnings more often than ends
                if not len(at):
                    break
                at = at[utf8[ends[at] - back] == byte]
            if len(at):
                found[i] = begin + int(at[0])
        if (found >= 0).all():
            break
    return found
