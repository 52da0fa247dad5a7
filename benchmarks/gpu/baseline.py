"""Breadth-first search in its simplest form, for the ablation tables: see ``kernels/baseline.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu.device import launch, milliseconds
from benchmarks.gpu.graphs import DeviceCsr
from benchmarks.gpu.timing import Timed

__all__ = ["plain_bfs"]

_ALPHA, _BETA = 15.0, 24.0


def plain_bfs(csr: DeviceCsr, source: int) -> Timed:
    """Levels and parents, timed as the engine's are: memory and the initial state exist before."""
    import cupy as cp

    n = csr.num_vertices
    level, parent = cp.full(n, -1, cp.int32), cp.full(n, -1, cp.int32)
    level[source], parent[source] = 0, source
    queues = cp.empty((2, n), cp.int32)
    queues[0, 0] = source
    counts = cp.zeros(2, cp.uint64)  # vertices, then arcs
    steps: list[tuple[str, int]] = []
    ms, _ = milliseconds(lambda: _levels(csr, level, parent, queues, counts, steps))
    return Timed(ms, 0.0, lambda: {"level": level, "parent": parent}, steps)


def _levels(csr: DeviceCsr, level: Any, parent: Any, queues: Any, counts: Any, steps: list[tuple[str, int]]) -> None:
    n, size, arcs, untouched, now, up = csr.num_vertices, 1, 0, float(csr.num_arcs), 0, False
    graph, size_at, arcs_at = (csr.offsets, csr.targets), counts[:1], counts[1:]
    while size:
        up = size >= n / _BETA if up else arcs > untouched / _ALPHA
        untouched -= arcs
        counts.fill(0)
        rest = (np.int32(now), level, parent, queues[(now + 1) % 2], size_at, arcs_at)
        if up:
            launch("baseline", "bottom_up", n, *graph, np.int32(n), *rest)
        else:
            launch("baseline", "top_down", size, *graph, queues[now % 2], np.uint32(size), *rest)
        size, arcs = map(int, counts.get())
        steps.append(("pull" if up else "push", 1))
        now += 1
