"""Breadth-first searches from many sources at once, on the cores of this machine.

A program can express it too (``dromos/algorithms/many/program.py``), and runs if a path is given. The kernel gains by
what a program cannot express: a pull stops when the row of a vertex is full, and the vertices that a level found are
counted and written while they are in cache.

Sources are processed in groups of 64, 128, 256 or 512, a bit each. All threads share a group, level by level; or, if
there are many groups on a small graph, each thread has its own groups, without barriers. A group takes ``24 * words``
bytes per vertex and some more, see ``joint_groups.group_bytes``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.joint_groups import Found, group_bytes, step_of, width_for
from dromos.engines.native.joint_order import in_hub_order
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

if TYPE_CHECKING:
    from dromos.graph.transform import Relabelled

__all__ = ["joint"]

_NO_LIMIT: Final = np.iinfo(np.int64).max
_SMALL: Final = 1 << 15
_APART: Final = 64 << 20


class Rules(NamedTuple):
    """The rules for choosing between push and pull in a level."""

    many: int = 2
    """A frontier with more arcs than one in so many of the open vertices' is pulled from; if a push takes atomics, with
    more than a third of that."""
    few: int = 4096
    """A search that reached less than one in so many vertices is pushed nevertheless."""
    worth: int = 2
    """... unless the vertices that such searches reached have more than one in so many of the open vertices' arcs."""
    listing: int = 8
    """A frontier with no more arcs than one in so many vertices is pushed from with a list. At least three times
    ``many``."""
    short: int = 8
    """Average arcs of a row per thread, from which threads take ranges of targets."""


_RULES: Final = Rules()


def joint(
    graph: Graph,
    *,
    groups: Sequence[Array],
    consume: Callable[[Found], Any],
    limit: int | None = None,
    distance: Any = None,
    want_seen: bool = False,
    memory: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    threads: int | None = None,
) -> Mapping[str, Any]:
    """Search from each group of sources (ids), and pass what it found to ``consume``, one group at a time.

    Args:
        graph: searched along its out-edges.
        groups: at most 512 ids each; a vertex may be in a group more than once.
        consume: called for every group, in no particular order but never for two at once.
        limit: the deepest level to go to.
        distance: the dtype of rows of distances, if they are wanted.
        want_seen: whether the words of all vertices are wanted.
        memory: the most bytes for all active groups together, and the most for a copy of the graph, hubs first.
        progress: called with ``(groups done, groups)``.
        threads: the size of the team.

    >>> import dromos as dr
    >>> told = joint(dr.generators.path(4), groups=[np.array([0, 1])], consume=lambda found: print(found.distance_sum))
    [6 4]
    >>> [what for _, _, what, _ in told["steps"]]
    ['group 0: 2 sources, sharing degree 1, 2 of 3 levels pulled']
    """
    team = num_threads(threads)
    renumbered = in_hub_order(graph, sum(map(len, groups)), memory)
    largest = max((len(group) for group in groups), default=1)
    width = width_for(largest)
    small = team * group_bytes(graph.num_vertices, width, distance) <= (
        _APART if memory is None else min(_APART, memory)
    )
    apart = team > 1 and len(groups) >= 2 * team and small
    stop, lock, steps = np.zeros(1, np.int64), threading.Lock(), []

    def deliver(worker: _Worker, number: int, together: bool) -> None:
        found = worker.search(number, groups[number], stop, together=together)
        if found is None:
            return
        with lock:
            consume(found)
            steps.append(step_of(found))
            if progress is not None:
                progress(len(steps), len(groups))

    if apart:
        workers = [_Worker(graph, renumbered, 1, largest, limit, distance, want_seen) for _ in range(team)]

        def each_its_own(thread: int, threads: int) -> None:
            for number in range(thread, len(groups), threads):
                if stop[0]:
                    return
                try:
                    deliver(workers[thread], number, together=False)
                except BaseException:
                    stop[0] = 1
                    raise

        run_team(each_its_own, threads=team, stop=stop)
    else:
        alone = graph.num_arcs < _SMALL
        worker = _Worker(graph, renumbered, 1 if alone else team, largest, limit, distance, want_seen)
        for number in range(len(groups)):
            deliver(worker, number, together=True)
    return {"steps": steps}


class _Worker:
    """What ``team`` threads need to search from one group of sources after the other."""

    def __init__(
        self,
        graph: Graph,
        renumbered: Relabelled | None,
        team: int,
        largest: int,
        limit: int | None,
        distance: Any,
        want_seen: bool,
    ) -> None:
        from dromos.engines.native import joint_kernels as kernels
        from dromos.engines.native.joint_distance_kernels import DIGITS, LANES, WORDS
        from dromos.engines.native.joint_push_kernels import BUFFER
        from dromos.jit import LINE

        self._new_ids = None if renumbered is None else renumbered.new_ids
        graph = graph if renumbered is None else renumbered.graph
        n, ids, back = graph.num_vertices, graph.targets.dtype, graph.transpose
        width = width_for(largest)
        self._kernels, self._team, self._width, self._n = kernels, team, width, n
        self._limit = _NO_LIMIT if limit is None else limit
        self._graph = (graph.offsets, graph.targets, back.offsets, back.targets)
        self._in_order = team == 1 or graph.sorted
        self._tables = tuple(reused_empty(n * width, np.uint64) for _ in range(3))
        self._listed = reused_empty((n + 63) >> 6, np.uint64)
        self._orders = (reused_empty(n, ids), reused_empty(n, ids))
        self._counts = np.zeros(2 * team * 64 * width, np.int64)
        nothing = np.empty(0, ids)
        self._into: tuple[Array, ...]
        if distance is None:
            # of the type that most distances have, so that both kinds of searches share their kernels
            self._into = (np.empty(0, np.int8), np.empty(0, np.uint64), nothing, nothing)
        else:
            old = (nothing, nothing) if renumbered is None else (renumbered.new_ids, renumbered.old_ids)
            digits = reused_empty(DIGITS * n * width, np.uint64)
            self._into = (reused_empty(largest * n, distance), digits, *(np.asarray(column, ids) for column in old))
        self._want_seen = want_seen
        self._buffer = np.zeros(team * BUFFER, ids)
        packed = np.zeros(team * LANES // 8, np.uint64)
        self._lanes = (np.zeros(team * WORDS, np.uint64), packed.view(np.int8), packed)
        self._scratch = np.zeros(team * LINE, np.uint64)
        self._cursors = np.zeros(kernels.CURSORS * LINE, np.int64)

    def search(self, number: int, sources: Array, stop: Array, *, together: bool) -> Found | None:
        """Search from the group ``sources``; return None if it was stopped."""
        from dromos.jit import team_memory

        kernels, count = self._kernels, len(sources)
        begin = time.perf_counter()
        starts = np.ascontiguousarray(sources if self._new_ids is None else self._new_ids[sources], np.int64)
        bits = np.zeros(64 * self._width, bool)
        bits[:count] = True
        like = tuple(np.packbits(bits, bitorder="little").view(np.uint64))
        kind = np.int64
        sums = tuple(np.zeros(64 * self._width, dtype) for dtype in (kind, kind, np.float64, kind))
        report = np.zeros(kernels.REPORT, np.int64)
        arguments = (
            like, starts, self._limit, tuple(_RULES), self._graph, self._in_order, self._tables, self._listed,
            *self._orders, self._counts, sums, self._into, self._buffer, *self._lanes, self._scratch, self._cursors,
            team_memory(self._team), stop, report,
        )  # fmt: skip
        # on a thread of its own, the kernel reads the flag, and no other thread waits to set it
        run_team(kernels.traverse, *arguments, threads=self._team, stop=stop if together else None)
        if report[kernels.STOPPED]:
            return None
        reached, distance_sum, inverse_sum, depth = (column[:count] for column in sums)
        return Found(
            number, sources, reached, distance_sum, inverse_sum, depth,
            self._into[0].reshape(-1, self._n)[:count] if self._into[0].size else None,
            self._seen() if self._want_seen else None,
            int(report[kernels.LEVELS]), int(report[kernels.PULLED]), int(report[kernels.JOINT]),
            time.perf_counter() - begin,
        )  # fmt: skip

    def _seen(self) -> Array:
        words: Array = self._tables[0].reshape(self._n, self._width)
        return words if self._new_ids is None else words[self._new_ids]
