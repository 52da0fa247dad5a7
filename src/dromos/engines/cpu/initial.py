"""The first state of a program on the CPU: by NumPy, until a kernel for it would be repaid.

A run initialises once. NumPy needs milliseconds for that, and compiling a kernel about a second, so there is one only
where it is on disk already, or where a process has initialised for so long that it is worth having. Both give the same
bytes: operations that NumPy and compiled code round differently are left to the kernel, and sums are added up in the
kernel's order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.launching import LINE, QUEUE, STOP
from dromos.engines.cpu.skeletons import constants
from dromos.engines.parts import fold_reductions
from dromos.engines.vectorised.part import VectorisedPart
from dromos.parallel import run_team
from dromos.program import GraphTypes, ProgramIR
from dromos.program.monoid import SUM

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["initialise", "only_compiled"]

_ENOUGH: Final = 0.1  # seconds of all runs of a program in a process
_LARGE: Final = 1 << 22  # vertices: beyond, NumPy's intermediate arrays take too much memory
_ROUNDED: Final = frozenset({"arctan", "cos", "exp", "expm1", "log", "log1p", "pow", "sin", "tan", "tanh"})
_FOLD, _OUT, _IN = constants("common", "FOLD", "OUT_DEGREES", "IN_DEGREES")
_NO_BYTES = np.empty(0, dtype=np.uint8)

_spent: dict[tuple[str, GraphTypes], float] = {}
"""How long NumPy has been at it, by program; infinite where there is a kernel."""
_only_compiled = False


def initialise(run: CpuExecution) -> Array:
    """Initialise the fields, the edge fields, the frontier and the reductions of a run; the kernels' report."""
    key = (run.ir.hash, run.typed.types)
    if _only_compiled or not _is_for_arrays(run.ir, run.graph.num_vertices):
        return _by_kernel(run)
    if key not in _spent:
        _spent[key] = np.inf if _is_kept(run) else 0.0
    if _spent[key] >= _ENOUGH:
        return _by_kernel(run)
    begin = time.thread_time()
    report = _by_arrays(run)
    _spent[key] += time.thread_time() - begin
    return report


@contextmanager
def only_compiled() -> Iterator[None]:
    """Initialise by kernels inside, for who wants to have them all on disk, or to test them.

    >>> with only_compiled():
    ...     pass
    """
    global _only_compiled
    before, _only_compiled = _only_compiled, True
    try:
        yield
    finally:
        _only_compiled = before


def _is_for_arrays(ir: ProgramIR, num_vertices: int) -> bool:
    return num_vertices <= _LARGE and not (ir.edge_fields or ir.tables or ir.operations & _ROUNDED)


# ---- by NumPy ------------------------------------------------------------------------------------------------------


class _WholeGraph(VectorisedPart):
    """A run's graph in one part, over the fields of the run."""

    def __init__(self, run: CpuExecution) -> None:
        self._fields = run.state
        super().__init__(run.program, run.graph, run.typed.types, 0, run.graph.num_vertices)

    def _allocate(self, specs: Any, rows: int) -> dict[str, Array]:
        return {spec.name: self._fields[spec.name] for spec in specs}

    def reduction_columns(self) -> list[Array]:
        """What each reduction is over: one value per vertex."""
        own = self._own()
        return self._columns(own, own)


def _by_arrays(run: CpuExecution) -> Array:
    part, report = _WholeGraph(run), run.report()
    queue = part.initialise()
    if run.ir.reductions:
        columns = part.reduction_columns()
        for place, (spec, sums) in enumerate(zip(run.ir.reductions, run.sums(), strict=True)):
            if spec.monoid is SUM and sums.dtype.kind == "f":
                _add_up(columns[place], sums)
                columns[place] = sums
        run.set_reductions(fold_reductions(run.typed, columns))
    front = run.frontier
    front.queue[: len(queue)] = queue
    front.begin(len(queue), stamped=front.always)
    out, inn = run.topology.rows[0], run.topology.in_offsets(run.graph)
    report[_OUT] = (out[queue + 1] - out[queue]).sum(dtype=np.int64)
    if inn.size:
        report[_IN] = (inn[queue + 1] - inn[queue]).sum(dtype=np.int64)
    return report


def _add_up(values: Array, sums: Array) -> None:
    """The sums of blocks of vertices, each from its first vertex to its last, as the kernel adds them."""
    rest = -len(values) % _FOLD
    blocks = np.pad(values, (0, rest)).reshape(-1, _FOLD)
    total = sums[: len(blocks)]  # zeros
    for column in blocks.T:
        total += column


# ---- by a kernel ---------------------------------------------------------------------------------------------------


def _is_kept(run: CpuExecution) -> bool:
    """Whether the kernel's machine code is on disk."""
    from dromos.machine_code import is_kept

    kernel = kernel_module(run.typed, run.analysis, "supersteps").initialise
    args = _arguments(run, _NO_BYTES, run.counters(), run.report())
    return is_kept(kernel, (0, run.threads, *args))


def _by_kernel(run: CpuExecution) -> Array:
    front, counters, report = run.frontier, run.counters(), run.report()
    # with a stop flag that nobody looks at: so the team is the one of the steps to come, and is awake for them
    stop = counters[STOP * LINE :] if run.threads > 1 else None
    # a traversal that claims vertices has its frontier in the queue alone
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
