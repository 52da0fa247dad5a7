"""Messages that depend on their source alone, made once per source and gathered along arcs."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.hooks import identity, load_message, merge, prefetch_message
from dromos.intrinsics import load
from dromos.jit import inline

# ---- everything above is replaced by a program's own hooks


AHEAD = 64  # arcs between the prefetch of an offer and its use: more than a processor looks ahead by itself


@inline
def gather_offers(offers, sources, base, begin, end, far):
    """The merged offers of the sources of the arcs ``begin..end``, which are counted from ``base``.

    It merges in four chains, which do not wait for each other. ``far``: the offers do not fit in a core's cache, so
    those of the arcs that follow are prefetched.
    """
    final = np.int64(sources.size) - 1
    a = identity()
    b = identity()
    c = identity()
    d = identity()
    arc = begin
    while arc + 4 <= end:
        if far:
            for later in range(arc + AHEAD, arc + AHEAD + 4):
                prefetch_message(offers, base + np.int64(load(sources, min(later, final))))
        a = merge(a, load_message(offers, base + np.int64(load(sources, arc))))
        b = merge(b, load_message(offers, base + np.int64(load(sources, arc + 1))))
        c = merge(c, load_message(offers, base + np.int64(load(sources, arc + 2))))
        d = merge(d, load_message(offers, base + np.int64(load(sources, arc + 3))))
        arc += 4
    while arc < end:
        if far:
            prefetch_message(offers, base + np.int64(load(sources, min(arc + AHEAD, final))))
        a = merge(a, load_message(offers, base + np.int64(load(sources, arc))))
        arc += 1
    return merge(merge(a, b), merge(c, d))
