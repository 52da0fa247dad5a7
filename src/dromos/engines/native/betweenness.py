"""Dependencies of sources on vertices, the sums that betweenness is made of (Brandes, 2001).

Programs can express it too, and run if a path is given. They cost more: one program finds the levels and another goes
through them again, with a test of levels on every arc and a sum by atomics. Here a row is a plain sum, and path counts
may exceed the range of a float (``path_counts``).

Many sources are swept in batches if that is faster (``betweenness_batches``), from 64 on with the hubs of a graph
numbered first. The others are swept one at a time: all threads share one, level by level; or, on small graphs, each
thread has its own sources, without barriers. That takes 60 bytes per vertex, once or for each thread. The order of sums
depends only on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.native.betweenness_batches import add_batches, width_for
from dromos.engines.native.joint_order import in_hub_order
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["betweenness"]

_SMALL = 1 << 15
_BYTES_A_VERTEX = 60
_APART = 64 << 20
_BATCH_SECONDS = 0.2
_SWEEPS = 2  # from a source, forward and backward, each at least as long as a search
_RENUMBERED = 64  # sources; independent of earlier calls, so that the same call gives the same digits


def betweenness(
    graph: Graph,
    *,
    sources: Sequence[int],
    endpoints: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    threads: int | None = None,
    batch: int | None = None,
) -> Mapping[str, Array]:
    """The sum of the dependencies of ``sources`` on each vertex of a graph without self-loops and parallel edges.

    With ``endpoints``, a source also depends on itself, and on each vertex that it reaches, for that vertex. ``batch``
    is the width of batches, 8 or 16, or 0 for none; by default it depends on the size of graph and work.

    >>> import dromos as dr
    >>> betweenness(dr.generators.path(4), sources=[0, 1])["dependency"].tolist()
    [0.0, 2.0, 2.0, 0.0]
    """
    team, stop = num_threads(threads), np.zeros(1, np.int64)
    width = width_for(graph, len(sources)) if batch is None else batch if sources else 0
    renumbered = in_hub_order(graph, _SWEEPS * len(sources)) if width and len(sources) >= _RENUMBERED else None
    if renumbered is not None:
        graph, sources = renumbered.graph, renumbered.new_ids[np.asarray(sources)].tolist()

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(sources))

    score, left = np.zeros(1), sources
    if width:
        score, left = add_batches(graph, sources, width, endpoints=endpoints, progress=tell, team=team, stop=stop)
    if left or not width:
        before = len(sources) - len(left)
        score = score + _one_at_a_time(graph, left, endpoints, lambda done: tell(before + done), team, stop)
    return {"dependency": score if renumbered is None else score[renumbered.new_ids]}


def _one_at_a_time(
    graph: Graph, sources: Sequence[int], endpoints: bool, tell: Callable[[int], Any], team: int, stop: Array
) -> Array:
    apart = 2 * team <= len(sources) and team * graph.num_vertices * _BYTES_A_VERTEX <= _APART and team > 1
    if apart:
        workers = [_Worker(graph, 1, endpoints) for _ in range(team)]
    else:
        workers = [_Worker(graph, 1 if graph.num_arcs < _SMALL else team, endpoints)]
    done, batch = 0, len(workers)
    while done < len(sources):
        begin = time.perf_counter()
        some = sources[done : done + batch]
        if apart:
            run_team(_each_its_own, workers, some, stop, threads=team, stop=stop)
        else:
            for source in some:
                workers[0].add_together(source, stop)
        done += len(some)
        tell(done)
        if time.perf_counter() - begin < _BATCH_SECONDS:
            batch *= 2
    total: Array = sum((worker.score for worker in workers[1:]), start=workers[0].score)
    return total


def _each_its_own(thread: int, threads: int, workers: list[_Worker], sources: Sequence[int], stop: Array) -> None:
    for source in sources[thread::threads]:
        if not stop[0]:
            workers[thread].add(source, stop)


class _Worker:
    """The memory of ``team`` threads for sweeping from one source after the other, and the sum so far."""

    def __init__(self, graph: Graph, team: int, endpoints: bool) -> None:
        from dromos.engines.native import betweenness_kernels as kernels
        from dromos.jit import LINE

        n, ids, back = graph.num_vertices, graph.targets.dtype, graph.transpose
        self._kernel: Callable[..., Any] = kernels.sweep
        self._team, self._extra = team, float(endpoints)
        self._graph = (graph.offsets, graph.targets, back.offsets, back.targets)
        seen, exponent = huge_zeros((n + 63) >> 6, np.uint64), huge_zeros(n, np.int32)
        order, starts = huge_zeros(n, ids), huge_zeros(n + 2, np.int64)
        self.score = huge_zeros(n, np.float64)
        copies = [huge_zeros(n, np.float64) for _ in range(4)]
        buffer = np.zeros(team * kernels.BUFFER, ids)
        self._arrays = (seen, order, starts, *copies, exponent, self.score, buffer)
        self._cursors = np.zeros(kernels.CURSORS * LINE, np.int64)

    def add(self, source: int, stop: Array) -> None:
        """Add the dependencies of ``source`` to the score, on this thread."""
        self._kernel(0, 1, *self._arguments(source, stop))

    def add_together(self, source: int, stop: Array) -> None:
        """As :meth:`add`, on the team, which leaves this thread free to handle Ctrl-C."""
        run_team(self._kernel, *self._arguments(source, stop), threads=self._team, stop=stop)

    def _arguments(self, source: int, stop: Array) -> tuple[Any, ...]:
        from dromos.jit import team_memory

        meeting = team_memory(self._team)
        return source, self._extra, *self._graph, *self._arrays, self._cursors, meeting, stop
