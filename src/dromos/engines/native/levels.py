"""Shared code of kernels in which all threads of a team process a graph level by level."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import store_relaxed
from dromos.jit import LINE, barrier, inline

__all__ = ["chunk_of", "ready"]


@inline
def chunk_of(size, threads, least, most):
    """How many of ``size`` vertices a thread takes at a time: several turns for each, so that none waits for long."""
    return max(np.int64(least), min(np.int64(most), size // (8 * threads)))


@inline
def ready(memory, cursors, thread, threads, number):
    """Wait at barrier ``number``, and reset the cursor that is used after the next one."""
    barrier(memory, thread, threads, number)
    if thread == 0:
        store_relaxed(cursors, ((number + 1) & 1) * LINE, 0)
