"""How the rows of a graph are cut into pieces that are sent to a device and sorted one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

__all__ = ["joined", "pieces_of_rows"]

_CUTS_PER_PIECE: Final = 8


def pieces_of_rows(offsets: Any, arcs: int, most: int, least: int) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows, and of their arcs, of at most ``most`` arcs; a single row may have more.

    The last ones hold half of the rest, down to ``least``: nothing arrives while they are sorted.
    """
    rows = len(offsets) - 1
    if arcs <= most:
        return iter([(0, rows, 0, arcs)] if arcs else [])
    marks = np.arange(0, arcs, max(min(most, least) // _CUTS_PER_PIECE, 1)).astype(offsets.dtype)
    if isinstance(offsets, np.ndarray):
        after = np.searchsorted(offsets, marks, side="right")
        near = np.concatenate([after - 1, after])
        begin = offsets[near]
    else:
        import cupy

        after = cupy.searchsorted(offsets, cupy.asarray(marks), side="right")
        near = cupy.concatenate([after - 1, after])
        near, begin = cupy.stack([near, offsets.take(near).astype(near.dtype)]).get()
    at, places = np.unique(near, return_index=True)
    inner = at < rows
    return joined([*at[inner].tolist(), rows], [*begin[places][inner].tolist(), arcs], most, least)


def joined(
    rows: Sequence[int], arcs: Sequence[int], most: int, least: int | None = None
) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows that begin and end at some of ``rows``, where ``arcs`` begin, with the bounds of their arcs.

    Each has at most ``most`` arcs, but rows between two neighbors in the list stay together. With ``least``, none has
    more than half of the rest either, unless that is less.

    >>> list(joined([0, 1, 2, 4, 9], [0, 3, 5, 20, 22], 6))
    [(0, 2, 0, 5), (2, 4, 5, 20), (4, 9, 20, 22)]
    >>> [end for _, _, _, end in joined(range(17), range(17), 6, 2)]
    [6, 11, 13, 15, 16]
    """
    first = 0
    for last in range(1, len(rows)):
        limit = most if least is None else min(most, max(least, (arcs[-1] - arcs[first]) // 2))
        if last + 1 < len(rows) and arcs[last + 1] - arcs[first] <= limit:
            continue
        if arcs[last] > arcs[first]:
            yield rows[first], rows[last], arcs[first], arcs[last]
        first = last
