"""Which reads bring a set of pages in: neighbours together, small gaps read over, in windows that fit a buffer."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.graph.store.paged.rows import Request

__all__ = ["requests", "runs", "windows"]


def runs(mask: Array) -> list[Request]:
    """The runs of true entries.

    >>> runs(np.array([True, True, False, True]))
    [Request(first=0, last=2), Request(first=3, last=4)]
    """
    padded = np.zeros(len(mask) + 2, dtype=np.int8)
    padded[1:-1] = mask
    edges = np.flatnonzero(np.diff(padded)).reshape(-1, 2)
    return [Request(first, last) for first, last in edges.tolist()]


def requests(missing: Array, resident: Array, *, gap: int, most: int, block: int) -> list[Request]:
    """The reads for the ``missing`` pages (a mask).

    A gap of up to ``gap`` pages between two of them is read over: that takes the disk less than another request. It
    holds no page that is ``resident``, since nothing is read twice. A request has at most ``most`` pages, but never a
    part of a ``block``, which is checked as a whole.

    >>> none = np.zeros(8, dtype=bool)
    >>> requests(np.array([1, 0, 1, 0, 0, 0, 1, 1], dtype=bool), none, gap=1, most=8, block=1)
    [Request(first=0, last=3), Request(first=6, last=8)]
    """
    merged: list[Request] = []
    for run in runs(missing):
        before = merged[-1] if merged else None
        if before is not None and run.first - before.last <= gap and not resident[before.last : run.first].any():
            merged[-1] = Request(before.first, run.last)
        else:
            merged.append(run)
    step = max(1, most // block) * block
    cut: list[Request] = []
    for first, last in merged:
        while first < last:
            end = min(last, (first // step + 1) * step)
            cut.append(Request(first, end))
            first = end
    return cut


def windows(read: Array, wanted: Array, *, pages: int, block: int) -> list[Request]:
    """Cut the ``wanted`` pages into windows of which each needs about ``pages`` pages to be ``read`` (both masks).

    Windows begin and end with a block, so that none has to wait for a part of another's. Pages that are in memory
    already cost nothing: where nothing is read, one window is all there is.

    >>> full = np.ones(8, dtype=bool)
    >>> windows(full, full, pages=4, block=2)
    [Request(first=0, last=4), Request(first=4, last=8)]
    >>> windows(~full, full, pages=4, block=2)
    [Request(first=0, last=8)]
    """
    blocks = np.arange(0, len(read), block)
    if not len(blocks):
        return []
    counts = np.add.reduceat(read.astype(np.int64), blocks)
    number = (np.cumsum(counts) - 1) // max(pages, 1)
    starts = np.flatnonzero(np.diff(number, prepend=number[0] - 1))
    ends = np.append(starts[1:], len(blocks))
    found = []
    for first, last in zip((starts * block).tolist(), (ends * block).tolist(), strict=True):
        inside = np.flatnonzero(wanted[first:last])
        if len(inside):
            found.append(Request(first, min(last, len(read))))
    return found
