"""The arguments of kernels over slices, and how they are run: the same for every kind of part on the CPU."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Final
from weakref import proxy

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.topology import NO_VALUES
from dromos.errors import FieldOverflowError
from dromos.graph.slices import GraphSlice
from dromos.parallel import run_team
from dromos.plan.path import Direction

if TYPE_CHECKING:
    from dromos.engines.array_part import ArrayPart

__all__ = [
    "BLOCK",
    "LINE",
    "OVERFLOWS",
    "QUEUE",
    "STOP",
    "TOUCHED",
    "Launcher",
    "as_bytes",
    "edge_arrays",
    "rows_in",
    "slice_arrays",
]

LINE: Final = 16  # dromos.jit.LINE, whose import would load the compiler; a test compares them
BLOCK, QUEUE, TOUCHED, STOP = constants("common", "BLOCK", "QUEUE", "TOUCHED", "STOP")
(OVERFLOWS,) = constants("common", "OVERFLOWS")
_WORTH_A_TEAM: Final = 1 << 13  # arcs, or vertices, from which waking the other threads pays off


class Launcher:
    """Runs kernels for a part on ``threads`` threads, and makes the small arrays that all kernels take."""

    def __init__(self, part: ArrayPart, threads: int) -> None:
        self._part = proxy(part)  # weak, since the part holds this: its memory is released as soon as it is unused
        self.threads = threads
        self._degrees: AbstractSet[str] = part.ir.operations & {"out_degree", "in_degree"}

    def run(self, kernel: Any, *args: Any, counters: Array | None = None, work: int) -> None:
        """Run a kernel, on all threads if that pays off; Ctrl-C sets the stop flag among its ``counters``."""
        threads = self.threads if work >= _WORTH_A_TEAM else 1
        stop = None if counters is None or threads == 1 else counters[STOP * LINE :]
        run_team(kernel, *args, threads=threads, stop=stop)

    def context(self) -> tuple[Any, ...]:
        """The values that belong to no vertex: superstep, sizes, degrees, parameters, reductions."""
        part = self._part
        return (
            np.int32(part.superstep),
            np.int64(part.shape.num_vertices),
            np.int64(part.shape.num_arcs),
            read_only(part.shape.offsets) if "out_degree" in self._degrees else NO_VALUES,
            read_only(part.shape.in_degree) if "in_degree" in self._degrees else NO_VALUES,
            *(part.program.params[spec.name] for spec in part.ir.context_params),
            *part.reductions,
            *(part.table(name) for name in part.ir.tables),
        )

    def counters(self, *, queue: int = 0, touched: int = 0) -> Array:
        """The cursors and sizes of a team; ``queue`` and ``touched`` are the initial sizes of these lists."""
        counters = np.zeros(8 * LINE, dtype=np.int64)
        counters[QUEUE * LINE], counters[TOUCHED * LINE] = queue, touched
        return counters

    def report(self) -> Array:
        """A cache line for each thread."""
        return np.zeros(self.threads * LINE, dtype=np.int64)

    def memory(self) -> Array:
        """The memory of barriers."""
        return np.zeros(3 * LINE * self.threads, dtype=np.int64)

    def buffer(self) -> Array:
        """A block for each thread."""
        return np.empty(self.threads * BLOCK, dtype=np.int64)

    def require_fit(self, report: Array, function: str) -> None:
        """Raise if a thread reports a value that did not fit its field."""
        if report.reshape(-1, LINE)[:, OVERFLOWS].any():
            raise FieldOverflowError(
                f"{self._part.ir.name}.{function}: a value does not fit the integer type of its field; "
                "declare the field with a wider type"
            )


def slice_arrays(part: ArrayPart, piece: GraphSlice) -> tuple[Any, ...]:
    """A slice as kernel arguments: the first vertex, offsets, unsigned ends, and weights if they are read."""
    ends = piece.targets.view(np.dtype(f"u{piece.targets.itemsize}"))
    weights = None if part.typed.types.weight is None else piece.weights
    read = NO_VALUES if weights is None else weights
    return np.int64(piece.start), read_only(piece.offsets), read_only(ends), read_only(read)


def edge_arrays(part: ArrayPart, piece: GraphSlice, direction: Direction = "push") -> tuple[Array, ...]:
    """The edge fields of a slice's arcs, and the edge parameters."""
    begin, count = int(piece.offsets[0]), piece.num_arcs
    own = begin - int(part.shape.offsets[part.first])
    fields = tuple(a[own : own + count] for a in part.edge_state.values())
    given = tuple(a[begin : begin + count] for a in part.given_by_arc(direction).values())
    return (*fields, *given) or (NO_VALUES,)


def rows_in(piece: GraphSlice, vertices: Array) -> Array:
    """The ``vertices`` (ascending) that have their row in a slice."""
    # of the same type: otherwise NumPy converts all of them first
    begin, end = np.searchsorted(vertices, np.array((piece.start, piece.stop), vertices.dtype))
    return vertices[begin:end]


def as_bytes(array: Array) -> Array:
    """Booleans as bytes, which kernels change atomically."""
    return array.view(np.uint8) if array.dtype == bool else array
