"""The initial state of a program on the CPU: computed by NumPy until a kernel would pay off.

A run initializes once. NumPy needs milliseconds for that, and compiling a kernel takes about a second. So a kernel is
used only if it is on disk already, or once a process has spent enough time on initializing. Both give the same bytes:
operations that NumPy and compiled code round differently are left to the kernel, and sums are added in the kernel's
order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.launching import LINE, QUEUE, STOP
from dromos.engines.cpu.skeletons import constants
from dromos.engines.parts import fold_reductions
from dromos.engines.vectorised.part import VectorisedPart
from dromos.parallel import is_compiled, run_team
from dromos.program import FieldSpec, GraphTypes, Program, ProgramIR
from dromos.program.monoid import SUM

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution
    from dromos.engines.cpu.general_part import CpuPart

__all__ = ["initialise", "only_compiled", "start_by_arrays", "without_large_arrays"]

_ENOUGH: Final = 0.1  # seconds over all runs of a program in a process: about what compiling takes
_LARGE: Final = 1 << 22  # vertices: above, NumPy's intermediate arrays take too much memory
_MEDIUM: Final = 1 << 17  # vertices: above, they take too much of a budget
_ROUNDED: Final = frozenset({"arctan", "cos", "exp", "expm1", "log", "log1p", "pow", "sin", "tan", "tanh"})
_FOLD, _OUT, _IN = constants("common", "FOLD", "OUT_DEGREES", "IN_DEGREES")
(_SUMMED,) = constants("slices", "SUMMED")
_NO_BYTES = np.empty(0, dtype=np.uint8)

_Key = tuple[str, GraphTypes, str]
_spent: dict[_Key, float] = {}
"""Seconds that NumPy has spent, by program and skeleton; infinite if there is a kernel."""
_only_compiled = False


def initialise(run: CpuExecution) -> Array:
    """Initialize the fields, the edge fields, the frontier and the reductions of a run; return the kernels' report."""
    key = (run.ir.hash, run.typed.types, "supersteps")
    if run.ir.edge_fields or not _is_for_arrays(key, run.ir, run.graph.num_vertices, lambda: _is_kept(run)):
        return _by_kernel(run)
    with _counted(key):
        return _by_arrays(run)


def start_by_arrays(part: CpuPart, kernel: Any, args: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]] | None:
    """The first frontier and the reductions of a part whose fields are initialized; None if ``kernel`` has to do it.

    ``args`` are the kernel's arguments.
    """
    key = (part.ir.hash, part.types, part.skeleton)
    if not _is_for_arrays(key, part.ir, part.shape.num_vertices, lambda: is_compiled(kernel, *args[2:])):
        return None
    with _counted(key):
        fields = _Fields(part.program, part.shape, part.types, part.first, part.last, {**part.state, **part.edge_state})
        queue = fields.initialise()
        sums = tuple(np.zeros(-(-(part.last - part.first) // _SUMMED), dtype) for dtype in fields.reduction_types())
        return queue.astype(part.types.id), _reductions(fields, sums, _SUMMED)


@contextmanager
def only_compiled() -> Iterator[None]:
    """Initialize only by kernels inside this context, to have them all on disk, or to test them.

    >>> with only_compiled():
    ...     pass
    """
    global _only_compiled
    before, _only_compiled = _only_compiled, True
    try:
        yield
    finally:
        _only_compiled = before


def without_large_arrays(num_vertices: int) -> AbstractContextManager[None]:
    """Initialize by kernels inside this context if NumPy's intermediate arrays would take more than some megabytes.

    >>> with without_large_arrays(1 << 20):
    ...     pass
    """
    return only_compiled() if num_vertices > _MEDIUM else nullcontext()


def _is_for_arrays(key: _Key, ir: ProgramIR, num_vertices: int, is_kept: Callable[[], bool]) -> bool:
    if _only_compiled or num_vertices > _LARGE or ir.tables or ir.operations & _ROUNDED:
        return False
    if key not in _spent:
        _spent[key] = np.inf if is_kept() else 0.0
    return _spent[key] < _ENOUGH


@contextmanager
def _counted(key: _Key) -> Iterator[None]:
    begin = time.thread_time()
    yield
    _spent[key] += time.thread_time() - begin


# ---- by NumPy ------------------------------------------------------------------------------------------------------


class _Fields(VectorisedPart):
    """A part of a graph over fields that another object holds."""

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, state: Mapping[str, Array]
    ) -> None:
        self._held = state
        super().__init__(program, shape, types, first, last)

    def _allocate(self, specs: tuple[FieldSpec, ...], rows: int) -> dict[str, Array]:
        return {spec.name: self._held[spec.name] for spec in specs}

    def reduction_columns(self) -> list[Array]:
        """The input of each reduction: one value per vertex."""
        own = self._own()
        return self._columns(own, own)

    def reduction_types(self) -> list[np.dtype[Any]]:
        """The type of each reduction."""
        return [self.typed.reduction_type(spec.name) for spec in self.ir.reductions]


def _by_arrays(run: CpuExecution) -> Array:
    n = run.graph.num_vertices
    fields, report = _Fields(run.program, run.graph, run.typed.types, 0, n, run.state), run.report()
    queue = fields.initialise()
    run.set_reductions(_reductions(fields, run.sums(), _FOLD))
    front = run.frontier
    front.queue[: len(queue)] = queue
    front.begin(len(queue), stamped=front.always)
    out, inn = run.topology.rows[0], run.topology.in_offsets(run.graph)
    report[_OUT] = _row_lengths(out, queue)
    if inn.size:
        report[_IN] = _row_lengths(inn, queue)
    return report


def _row_lengths(offsets: Array, queue: Array) -> int:
    """The total number of arcs in the rows of these vertices."""
    if len(queue) == len(offsets) - 1:
        return int(offsets[-1]) - int(offsets[0])
    return int((offsets[queue + 1] - offsets[queue]).sum(dtype=np.int64))


def _reductions(fields: _Fields, sums: tuple[Array, ...], block: int) -> tuple[Any, ...]:
    """The reductions; sums of floats are added as kernels do: in blocks, each from its first vertex to its last.

    ``sums`` are zeros, with room for each block at the front.
    """
    if not fields.ir.reductions:
        return ()
    columns = fields.reduction_columns()
    for place, (spec, into) in enumerate(zip(fields.ir.reductions, sums, strict=True)):
        if spec.monoid is SUM and into.dtype.kind == "f":
            blocks = np.pad(columns[place], (0, -len(columns[place]) % block)).reshape(-1, block)
            into[: len(blocks)] = np.add.accumulate(blocks, axis=1)[:, -1] + into.dtype.type(0)  # turns -0.0 into 0.0
            columns[place] = into
    return fold_reductions(fields.typed, columns)


# ---- by a kernel ---------------------------------------------------------------------------------------------------


def _is_kept(run: CpuExecution) -> bool:
    """Whether the kernel's machine code is on disk."""
    kernel = kernel_module(run.typed, run.analysis, "supersteps").initialise
    args = _arguments(run, _NO_BYTES, run.counters(), run.report())
    return is_compiled(kernel, *args)


def _by_kernel(run: CpuExecution) -> Array:
    front, counters, report = run.frontier, run.counters(), run.report()
    # the stop flag is not read: passing it selects the team of the steps to come, which is then awake for them
    stop = counters[STOP * LINE :] if run.threads > 1 else None
    # a traversal that claims vertices keeps its frontier only in the queue
    queued = run.analysis.claimed is not None or run.analysis.search is not None
    member = _NO_BYTES if queued else front.unwritten_member()
    kernel = kernel_module(run.typed, run.analysis, "supersteps").initialise
    run_team(kernel, *_arguments(run, member, counters, report), threads=run.threads, stop=stop)
    run.check_overflow(report, "init")
    front.begin(int(counters[QUEUE * LINE]), stamped=not queued)
    run.set_reductions(fold_reductions(run.typed, run.unfilled_sums()))
    return report


def _arguments(run: CpuExecution, member: Array, counters: Array, report: Array) -> tuple[Any, ...]:
    front = run.frontier
    return (
        run.graph_arrays(), run.fields(), run.edge_fields(), run.context(), member, front.stamp, front.queue,
        run.buffer(), counters, run.memory(), report, run.sums(),
    )  # fmt: skip
