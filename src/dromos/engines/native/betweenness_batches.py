"""Dependencies of many sources, 8 or 16 in one sweep (``betweenness_batch_kernels``).

All threads share a batch, level by level; or, on small graphs, each has its own batches, without barriers. A batch is
abandoned if its sources share too little, or have more paths than a float can count. Its sources are then swept one at
a time, and so are all later ones, once more than half were abandoned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["add_batches", "width_for"]

_FEWEST: Final = 4  # least number of sources for a batch
_WORK: Final = 1 << 24  # arcs times sources: less work is done before a batch has begun
_MEMORY: Final = 1 << 30
_APART: Final = 16 << 20  # beyond, threads evict each other's rows from the cache
_SHARED: Final = 2  # average number of sources that must reach a vertex together
_ROUND_SECONDS: Final = 0.2
_MARKS: Final = {8: np.uint8, 16: np.uint16}


def batch_bytes(graph: Graph, width: int) -> int:
    """The most memory of a batch; the list of vertices is that long only if sources share nothing."""
    marks = width // 8
    a_vertex = width * (8 + graph.targets.dtype.itemsize + marks) + 4 * marks + 16
    return graph.num_vertices * a_vertex


def width_for(graph: Graph, sources: int) -> int:
    """The number of sources of a batch; 0 if they are better swept one at a time.

    >>> import dromos as dr
    >>> width_for(dr.generators.path(10), 10), width_for(dr.generators.rmat(13, 16, seed=1), 1000)
    (0, 16)
    """
    if sources < _FEWEST or sources * graph.num_arcs < _WORK:
        return 0
    widths = [16, 8] if sources > 8 else [8]
    return next((width for width in widths if batch_bytes(graph, width) <= _MEMORY), 0)


def add_batches(
    graph: Graph,
    sources: Sequence[int],
    width: int,
    *,
    endpoints: bool,
    progress: Callable[[int], Any],
    team: int,
    stop: Array,
) -> tuple[Array, list[int]]:
    """The sum of the dependencies of ``sources`` in batches of ``width``, and the sources that are left.

    ``progress`` is called with the number of sources done.

    >>> import dromos as dr
    >>> star, stop = dr.generators.star(16), np.zeros(1, np.int64)
    >>> score, left = add_batches(star, range(1, 17), 16, endpoints=False, progress=print, team=1, stop=stop)
    16
    >>> score[:3].tolist(), left
    ([240.0, 0.0, 0.0], [])
    """
    batches = _batches(graph, sources, width)
    apart = team > 1 and len(batches) >= 2 * team and team * batch_bytes(graph, width) <= _APART
    workers = [_Worker(graph, 1 if apart else team, width, endpoints) for _ in range(team if apart else 1)]
    done, taken, at_once = 0, 0, len(workers)
    left: list[Array] = []
    while taken < len(batches) and 2 * len(left) <= taken:
        begin = time.perf_counter()
        some = batches[taken : taken + at_once]
        taken += len(some)
        if apart:
            run_team(_each_its_own, workers, some, left, stop, threads=team, stop=stop)
        else:
            left += [batch for batch in some if not workers[0].add(batch, stop, together=True)]
        done += sum(map(len, some))
        progress(done - sum(map(len, left)))
        if apart and time.perf_counter() - begin < _ROUND_SECONDS:
            at_once *= 2
    score = sum((worker.score for worker in workers[1:]), start=workers[0].score)
    return score, sorted(int(source) for batch in left + batches[taken:] for source in batch)


def _each_its_own(
    thread: int, threads: int, workers: list[_Worker], batches: list[Array], left: list[Array], stop: Array
) -> None:
    mine = batches[thread::threads]
    left.extend(batch for batch in mine if not stop[0] and not workers[thread].add(batch, stop, together=False))


def _batches(graph: Graph, sources: Sequence[int], width: int) -> list[Array]:
    """The sources in batches of equal size, neighbors together."""
    from dromos.engines.native import betweenness_clusters as kernels

    cluster: Callable[..., Any] = kernels.cluster
    given = np.asarray(sources, np.int64)
    wanted, order = np.zeros(graph.num_vertices, np.uint8), np.empty(len(given), np.int64)
    wanted[given] = 1
    cluster(graph.offsets, graph.targets, given, wanted, width, order)
    return np.array_split(order, -(-len(order) // width))


class _Worker:
    """The memory of ``team`` threads for sweeping from one batch after the other, and the sum so far."""

    def __init__(self, graph: Graph, team: int, width: int, endpoints: bool) -> None:
        from dromos.engines.native import betweenness_batch_kernels as kernels
        from dromos.jit import LINE

        n, ids, back = graph.num_vertices, graph.targets.dtype, graph.transpose
        kind = _MARKS[width]
        self._kernels, self._team, self._extra = kernels, team, float(endpoints)
        self._graph = (graph.offsets, graph.targets, back.offsets, back.targets)
        marks = tuple(huge_zeros(n, kind) for _ in range(4))
        order, marks_of = huge_zeros(n * width, ids), huge_zeros(n * width, kind)
        self.score = huge_zeros(n, np.float64)
        self._arrays = (_rows(n, width), marks, order, marks_of, huge_zeros(n + 2, np.int64), self.score)
        self._of_threads = (
            np.zeros(team * (width + LINE), np.int64),
            np.zeros(team * (kernels.PIECE + 4 * LINE), ids),
            np.zeros(team * (width + LINE), np.float64),
            np.left_shift(np.uint64(1), np.arange(width, dtype=np.uint64)),
            np.zeros(team * kernels.BUFFER, ids),
        )
        self._cursors = np.zeros(kernels.CURSORS * LINE, np.int64)

    def add(self, sources: Array, stop: Array, *, together: bool) -> bool:
        """Add the dependencies of ``sources`` to the score; return whether that was done, and not abandoned.

        The team runs it, which leaves this thread free to handle Ctrl-C, or this thread itself.
        """
        from dromos.jit import team_memory

        kernels = self._kernels
        kernel: Callable[..., Any] = kernels.sweep_batch
        given_up = np.zeros(1, np.int64)
        arguments = (
            sources, self._extra, _SHARED, self._graph, *self._arrays, *self._of_threads, self._cursors,
            team_memory(self._team), stop, given_up,
        )  # fmt: skip
        if together:
            run_team(kernel, *arguments, threads=self._team, stop=stop)
        else:
            kernel(0, 1, *arguments)
        return not given_up[0]


def _rows(n: int, width: int) -> Array:
    """A table of rows, aligned to cache lines."""
    floats = huge_zeros(n * width + 8, np.float64)
    first = -(floats.ctypes.data // 8) % 8
    return floats[first : first + n * width]
