"""Messages that depend on their source alone, made once per source and gathered along arcs."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from dromos.engines.cpu.skeletons.hooks import identity, load_message, merge
from dromos.intrinsics import load
from dromos.jit import inline

# ---- everything above is replaced by a program's own hooks


@inline
def gather_offers(offers, sources, base, begin, end):
    """The merged offers of the sources of the arcs ``begin..end``, which are counted from ``base``.

    It merges in four chains, which do not wait for each other.
    """
    a = identity()
    b = identity()
    c = identity()
    d = identity()
    arc = begin
    while arc + 4 <= end:
        a = merge(a, load_message(offers, base + np.int64(load(sources, arc))))
        b = merge(b, load_message(offers, base + np.int64(load(sources, arc + 1))))
        c = merge(c, load_message(offers, base + np.int64(load(sources, arc + 2))))
        d = merge(d, load_message(offers, base + np.int64(load(sources, arc + 3))))
        arc += 4
    while arc < end:
        a = merge(a, load_message(offers, base + np.int64(load(sources, arc))))
        arc += 1
    return merge(merge(a, b), merge(c, d))
