"""The order in which sources share most: neighbors one after the other.

Sweeps of a batch share the visit of a vertex if they reach it in the same level, and the levels of neighbors differ by
at most one everywhere.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, store
from dromos.jit import kernel


@kernel
def cluster(offsets, targets, sources, wanted, size, order):
    """Write ``sources`` to ``order`` in clusters of up to ``size``, each grown along arcs from its first member.

    ``wanted`` is 1 at all sources, and 0 in the end. A row is visited once, and only until the cluster is full.
    """
    filled = np.int64(0)
    for at in range(sources.size):
        v = np.int64(load(sources, at))
        if load(wanted, v):
            store(wanted, v, 0)
            store(order, filled, v)
            grown, full = filled, filled + size
            filled += 1
            while grown < filled < full:
                u = np.int64(load(order, grown))
                for arc in range(np.int64(load(offsets, u)), np.int64(load(offsets, u + 1))):
                    w = np.int64(load(targets, arc))
                    if load(wanted, w):
                        store(wanted, w, 0)
                        store(order, filled, w)
                        filled += 1
                        if filled == full:
                            break
                grown += 1
