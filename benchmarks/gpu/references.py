"""Plain algorithms on the device, one pass over all vertices at a time, to compare the engine's answers with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.gpu.device import launch_loop

if TYPE_CHECKING:
    from benchmarks.gpu.graphs import DeviceCsr

__all__ = ["reference_cores", "reference_labels", "reference_levels", "reference_ranks", "sparse_matrix"]


def _flag() -> Any:
    import cupy as cp

    return cp.zeros(1, cp.int32)


def reference_levels(graph: DeviceCsr, source: int) -> Any:
    """The levels from ``source``; -1 if there is no path."""
    import cupy as cp

    level, n = cp.full(graph.num_vertices, -1, cp.int32), np.int64(graph.num_vertices)
    level[source] = 0
    found, now = _flag(), 0
    while True:
        for _ in range(1 if now < 64 else 64):  # deep graphs test less often whether there is more
            launch_loop(
                "check", "next_level", graph.num_vertices, graph.offsets, graph.targets, n, level, np.int32(now), found
            )
            now += 1
        if not int(found[0]):
            return level
        found.fill(0)


def reference_labels(graph: DeviceCsr) -> Any:
    """The least vertex of each vertex's component."""
    import cupy as cp

    label, n = cp.arange(graph.num_vertices, dtype=cp.int32), np.int64(graph.num_vertices)
    changed = _flag()
    while True:
        launch_loop("check", "least_label", 32 * graph.num_vertices, graph.offsets, graph.targets, n, label, changed)
        launch_loop("check", "shorten", graph.num_vertices, n, label)
        if not int(changed[0]):
            return label
        changed.fill(0)


def reference_cores(graph: DeviceCsr) -> Any:
    """Core numbers by peeling, one pass over all vertices at a time."""
    import cupy as cp

    core, left = cp.full(graph.num_vertices, -1, cp.int32), graph.degrees.astype(cp.int32)
    gone, count, k = 0, _flag(), 0
    while gone < graph.num_vertices:
        for _ in range(8):  # a test after every pass would cost more than the passes that find nothing
            launch_loop("check", "peel", graph.num_vertices, graph.offsets, graph.targets, np.int64(graph.num_vertices),
                   np.int32(k), left, core, count)  # fmt: skip
        now = int(count[0])
        if now == gone:
            staying = core < 0
            k = max(k + 1, int(left[staying].min())) if bool(staying.any()) else k
        gone = now
    return core


def reference_ranks(graph: DeviceCsr, iterations: int, alpha: float = 0.85) -> Any:
    """Ranks in float64 after ``iterations``, by cuSPARSE; by a warp per row if there are too many arcs for it."""
    import cupy as cp

    gathered = _by_warps(graph) if graph.num_arcs >= 2**31 else sparse_matrix(graph, "f8").__matmul__
    degree = graph.degrees.astype(cp.float64)
    rank = cp.full(graph.num_vertices, 1 / graph.num_vertices)
    for _ in range(iterations):
        share = cp.where(degree > 0, rank / cp.maximum(degree, 1), 0)
        lost = rank[degree == 0].sum() / graph.num_vertices
        rank = alpha * (gathered(share) + lost) + (1 - alpha) / graph.num_vertices
    return rank


def _by_warps(graph: DeviceCsr) -> Callable[[Any], Any]:
    """A function that sums what each vertex's neighbors send."""
    import cupy as cp

    def gathered(sent: Any) -> Any:
        sums = cp.empty(graph.num_vertices, cp.float64)
        launch_loop("check", "gather_sums", 32 * graph.num_vertices, graph.offsets, graph.targets,
               np.int64(graph.num_vertices), sent, sums)  # fmt: skip
        return sums

    return gathered


def sparse_matrix(graph: DeviceCsr, kind: str) -> Any:
    """The adjacency matrix for cuSPARSE, with ones of type ``kind``."""
    import cupy as cp
    from cupyx.scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    shape = (graph.num_vertices, graph.num_vertices)
    return csr_matrix((cp.ones(graph.num_arcs, kind), graph.targets, graph.offsets.astype(cp.int32)), shape=shape)
