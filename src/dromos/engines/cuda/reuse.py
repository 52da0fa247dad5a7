"""The memory of a run, left to the next run of the same program on the same graph.

A search of a large graph takes a fraction of a millisecond, and taking its memory and telling the kernels where all of
it lies takes as long. So a run that has ended, and of which nothing is asked any more, stays with the graph's copy on
the device, as long as such runs are small.
"""

from __future__ import annotations

from typing import Any, Final

from dromos.engines import GraphLike, check_params, graph_types
from dromos.engines.cuda.device_graph import copy_of
from dromos.engines.cuda.execution import CudaExecution
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.prepared import prepared
from dromos.program import Program

__all__ = ["leave_memory", "run_of"]

_MOST_IDLE: Final = 256 << 20
"""Bytes of runs that wait beside one graph on the device."""


def run_of(program: Program, graph: GraphLike, options: CudaOptions) -> CudaExecution:
    """The program in its initial state, in the memory of an earlier run if there is one."""
    known = prepared(program.typed(graph_types(graph)))
    copy = copy_of(graph, renumber=options.renumber) if _may_wait(options) else None
    run: CudaExecution | None = None if copy is None else copy.idle.pop(_key(known, options), None)
    if run is not None and copy is not None:
        check_params(program, graph)
        run.begin(program, graph, copy)
        return run
    return CudaExecution(program, graph, options)


def leave_memory(run: CudaExecution) -> None:
    """Let the next run have the memory of ``run``, of which nothing may be asked after that."""
    copy, known, options = run.on_device, run.known, run.options
    aliased = options.on_device and copy.rank is None  # the caller has the fields themselves
    size = known.state_bytes(run.program, run.graph)
    fits = _may_wait(options) and run.graph.num_vertices > 0 and size <= _MOST_IDLE
    if aliased or known.in_given_order or not fits or not run.stats.finished:
        return
    run.forget_inputs()
    key, idle = _key(known, options), copy.idle
    idle[key] = run
    for other in list(idle)[: -max(_MOST_IDLE // size, 1)]:  # about so many of this size
        idle.pop(other, None)


def _may_wait(options: CudaOptions) -> bool:
    """Not where a run was told how much memory to take."""
    return options.memory is None and options.share is None


def _key(known: Any, options: CudaOptions) -> tuple[Any, ...]:
    import cupy

    return known, options, int(cupy.cuda.get_current_stream().ptr)
