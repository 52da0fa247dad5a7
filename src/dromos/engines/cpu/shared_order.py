"""Delta-stepping on a part that shares the values of all vertices with the other parts, each in its own process.

A part lowers the values of any vertex in place. So values are not sent, and if many parts lower a vertex, its owner is
notified once. Between two steps of the driver the part is as after any superstep: its own rows and its frontier are
those of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.launching import LINE, QUEUE, TOUCHED, edge_arrays, slice_arrays
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.ordered_part import THIRD, OrderedPart
from dromos.engines.cpu.skeletons import constants
from dromos.graph.slices import GraphSlice

__all__ = ["SharedOrder"]

(FIRST,), (RELAXED,) = constants("common", "FIRST"), constants("ordered_slices", "RELAXED")


class SharedOrder:
    """The ordered run of one part. ``bounds`` delimits the vertices of all parts; this one is number ``own``.

    ``allocate`` takes numbers of rows with their types, and returns arrays that all parts share. All parts have to be
    made, with a barrier, before the first :meth:`advance`. After all parts have advanced, each one calls
    :meth:`collect` for its notifications. The next superstep then uses the other half of the mail, so no barrier is
    needed after that.
    """

    def __init__(
        self,
        part: OrderedPart,
        piece: GraphSlice | None,
        bounds: Sequence[int],
        own: int,
        allocate: Callable[[Sequence[tuple[int, Any]]], Sequence[Array]],
    ) -> None:
        n, ids = part.shape.num_vertices, part.types.id
        assert part.analysis.priority is not None
        self._part, self._piece, self._own = part, piece, own
        self._bounds = np.asarray(bounds, np.int64)
        self.name = part.analysis.priority[0]
        self._module = kernel_module(part.typed, part.analysis, "ordered_slices")
        mail, cursors = (2 * n, ids), ((len(bounds) - 1) * LINE, np.int64)
        self.values, self._marks, *halves = allocate(
            [(n, part.state[self.name].dtype), (n, np.uint8), mail, mail, cursors, cursors]
        )
        self._mail, self._cursors = halves[:2], halves[2:]
        self._half = 0
        rows = slice(part.first, part.last)
        self.values[rows], self._marks[rows] = part.state[self.name][rows], 0
        for counts in self._cursors:
            counts[own * LINE] = 0
        self._fields = tuple(self.values if name == self.name else array for name, array in part.state.items())
        self._near, self._following, self._far = (reused_empty(part.last - part.first, ids) for _ in range(3))
        self._away = reused_empty(2 * n, ids)
        self._places = np.empty(len(bounds) - 1, np.int64)
        active = part.frontier
        assert active is not None
        self._far[: len(active)] = active
        self._marks[active] = 1
        run = part.launcher
        self._rows: tuple[Any, ...] = () if piece is None else (slice_arrays(part, piece), edge_arrays(part, piece))
        self._buffers = run.buffer(), run.buffer(), run.buffer()
        self._sizes = run.counters()  # QUEUE: near, THIRD: far, TOUCHED: away
        self._sizes[THIRD * LINE] = len(active)
        self._limit = -np.inf
        self._greatest = part.no_least()[0]
        self._least = part.no_least()

    def advance(self, limit: float) -> tuple[int, float, int, int]:
        """Propagate values below ``limit`` and notify other parts of their vertices that were marked.

        Returns how many vertices are near now, here or in notifications, a lower bound on the values of far vertices as
        far as the part knows, the arcs that were traversed, and the bytes of notifications.
        """
        part, run, sizes = self._part, self._part.launcher, self._sizes
        if limit > self._limit:
            self._limit, self._least = limit, part.no_least()
            run.run(
                self._module.raise_limit, self._fields, np.float64(limit), self._marks, self._near, self._far, sizes,
                self._least, work=0,
            )  # fmt: skip
        looked = told = told_near = 0
        near = int(sizes[QUEUE * LINE])
        if near and self._piece is None:
            self._marks[self._near[:near]] = 0
            sizes[QUEUE * LINE] = 0
        elif near and self._piece is not None:
            report = run.report()
            sizes[QUEUE * LINE] = sizes[FIRST * LINE] = 0
            rows, edges = self._rows
            run.run(
                self._module.relax, rows, part.first, part.last, True, self._fields, edges, run.context(),
                np.float64(limit), self._marks, self._near, self._following, self._far, self._away, near,
                self._buffers, sizes, run.memory(), self._least, report,
                counters=sizes, work=self._piece.num_arcs,
            )  # fmt: skip
            looked = int(report[RELAXED::LINE].sum())
            told = int(sizes[TOUCHED * LINE])
        if told:
            report = np.zeros(1, np.int64)
            run.run(
                self._module.post, self._away, told, self._bounds, self._mail[self._half], self._cursors[self._half],
                self._places, report, work=0,
            )  # fmt: skip
            told_near = int(report[0])
            sizes[TOUCHED * LINE] = 0
        lowest = self._least[::LINE].min()
        least = np.inf if lowest == self._greatest else float(lowest)
        return int(sizes[QUEUE * LINE]) + told_near, least, looked, told * self._away.itemsize

    def collect(self) -> None:
        """Take in the notifications to this part."""
        cursors, begin = self._cursors[self._half], 2 * self._part.first
        count = int(cursors[self._own * LINE])
        if count:
            self._part.launcher.run(
                self._module.collect, self._mail[self._half], begin, begin + count, self._near, self._far, self._sizes,
                work=0,
            )  # fmt: skip
            cursors[self._own * LINE] = 0
        self._half = 1 - self._half

    def store(self) -> None:
        """Leave the part as after any superstep."""
        rows = slice(self._part.first, self._part.last)
        self._part.state[self.name][rows] = self.values[rows]
        near, far = self._near[: self._sizes[QUEUE * LINE]], self._far[: self._sizes[THIRD * LINE]]
        self._part.take_frontier(np.sort(np.concatenate((near, far[self._marks[far] == 1]))))
