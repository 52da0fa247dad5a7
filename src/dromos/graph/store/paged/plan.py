"""Which reads load a set of pages: neighbors together, small gaps read over, in windows that fit a buffer."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.graph.store.paged.section import Request

__all__ = ["DENSE", "begun_small", "requests", "run_edges", "windows"]

DENSE: Final = 0.75
"""Consecutive pages of which at least this share is read are a window of their own."""


def run_edges(mask: Array) -> Array:
    """The runs of true entries: where each begins and ends.

    >>> run_edges(np.array([True, True, False, True])).tolist()
    [[0, 2], [3, 4]]
    """
    padded = np.zeros(len(mask) + 2, dtype=np.int8)
    padded[1:-1] = mask
    return np.flatnonzero(np.diff(padded)).reshape(-1, 2)


def requests(missing: Array, resident: Array, *, gap: int, most: int, block: int) -> list[Request]:
    """The reads for the ``missing`` pages (a mask).

    A gap of up to ``gap`` pages between two of them is read over, since that takes the disk less time than another
    request. It contains no ``resident`` page, since nothing is read twice. A request has at most ``most`` pages, but
    never a part of a ``block``, which is checked as a whole.

    >>> none = np.zeros(8, dtype=bool)
    >>> requests(np.array([1, 0, 1, 0, 0, 0, 1, 1], dtype=bool), none, gap=1, most=8, block=1)
    [Request(first=0, last=3), Request(first=6, last=8)]
    """
    runs = run_edges(missing)
    if len(runs) > 1:
        runs = _read_over_gaps(runs, resident, gap)
    step = max(1, most // block) * block
    cut: list[Request] = []
    for first, last in runs.tolist():
        while first < last:
            end = min(last, (first // step + 1) * step)
            cut.append(Request(first, end))
            first = end
    return cut


def _read_over_gaps(runs: Array, resident: Array, gap: int) -> Array:
    """Runs of pages joined where at most ``gap`` pages lie between them, none of which is ``resident``."""
    ends, begins = runs[:-1, 1], runs[1:, 0]
    there = np.append(0, np.cumsum(resident))
    apart = np.flatnonzero((begins - ends > gap) | (there[begins] > there[ends]))
    return np.column_stack((runs[np.append(0, apart + 1), 0], runs[np.append(apart, len(runs) - 1), 1]))


def windows(read: Array, wanted: Array, *, pages: int, block: int) -> list[Request]:
    """Cut the ``wanted`` pages into windows that each need about ``pages`` pages to be ``read`` (both masks).

    Windows begin and end with a block, so that none has to wait for a part of another's. Pages already in memory cost
    nothing: if nothing is read, there is a single window. But where most pages are read, windows have ``pages`` pages,
    whether all of them are read or not.

    >>> full = np.ones(8, dtype=bool)
    >>> windows(full, full, pages=4, block=2)
    [Request(first=0, last=4), Request(first=4, last=8)]
    >>> windows(~full, full, pages=4, block=2)
    [Request(first=0, last=8)]
    >>> windows(np.array([1, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0], dtype=bool), np.ones(12, dtype=bool), pages=4, block=1)
    [Request(first=0, last=4), Request(first=4, last=8), Request(first=8, last=12)]
    """
    blocks = np.arange(0, len(read), block)
    if not len(blocks):
        return []
    size = max(pages // block, 1)  # blocks of a window
    counts = np.add.reduceat(read.astype(np.int64), blocks)
    dense = np.add.reduceat(counts, blocks[: len(counts) : size] // block) >= DENSE * size * block
    dense = np.repeat(dense, size)[: len(counts)]
    run = np.cumsum(np.diff(dense, prepend=dense[0]))  # consecutive blocks that are all dense, or all not
    needed = np.cumsum(np.where(dense, block, counts))
    before = np.append(0, needed)[np.flatnonzero(np.diff(run, prepend=-1))]
    number = (needed - before[run] - 1) // max(pages, 1)
    starts = np.flatnonzero(np.diff(number, prepend=number[0] - 1) | np.diff(run, prepend=-1))
    ends = np.append(starts[1:], len(blocks))
    found = []
    for first, last in zip((starts * block).tolist(), (ends * block).tolist(), strict=True):
        inside = np.flatnonzero(wanted[first:last])
        if len(inside):
            found.append(Request(first, min(last, len(read))))
    return found


def begun_small(found: list[Request], wanted: Array, *, pages: int, block: int) -> list[Request]:
    """The windows, with the first one cut into a small one of ``pages`` pages, one twice as large, and so on.

    So the first one is soon there to be computed on, and there are few more windows than before. ``wanted`` (a mask)
    has a page in each; ``pages`` is a multiple of ``block``.

    >>> begun_small([Request(0, 11), Request(11, 20)], np.ones(20, dtype=bool), pages=2, block=1)
    [Request(first=0, last=2), Request(first=2, last=6), Request(first=6, last=11), Request(first=11, last=20)]
    """
    if not found:
        return found
    (first, last), *others = found
    cut, size = list[Request](), max(pages // block, 1) * block
    while last - first > 2 * size:
        end = first + size
        if wanted[first:end].any() and wanted[end:last].any():
            cut.append(Request(first, end))
            first = end
        size *= 2
    return [*cut, Request(first, last), *others]
