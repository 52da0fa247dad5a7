"""A program that starts without the compiler, and continues in compiled code if it takes long.

Both engines keep the state of a run in arrays of the same types, so it can be handed over between two supersteps.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from dromos.engines import Engine, Execution, GraphLike
from dromos.engines.saving import ResumableExecution, state_of
from dromos.plan import Row
from dromos.program import Program
from dromos.runner import first_calls
from dromos.runner.devices import engine_for
from dromos.runner.loop import Progress, is_over, iterate

__all__ = ["Ran", "run_in_two_tiers"]


class Ran(NamedTuple):
    """The engine that a program ended on, the execution there, and the steps on both engines."""

    engine: Engine
    execution: Execution
    rows: list[Row]


def run_in_two_tiers(
    program: Program, graph: GraphLike, threads: int | None, *, max_iter: int | None, progress: Progress | None
) -> Ran:
    """Run ``program`` with NumPy, and continue with compiled code once that takes long.

    >>> import dromos as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> ran = run_in_two_tiers(BFS(source=0), dr.generators.path(3), None, max_iter=None, progress=None)
    >>> ran.engine.name, ran.execution.result()["level"].tolist(), len(ran.rows)
    ('numpy', [0, 1, 2], 3)
    """
    engine = engine_for("numpy", threads)
    execution = engine.prepare(program, graph)
    leave = first_calls.limit(program.ir().name)
    rows = list(iterate(execution, max_iter=max_iter, progress=progress, leave=leave))
    if is_over(execution.stats, max_iter):
        return Ran(engine, execution, rows)
    engine = engine_for("cpu", threads)
    compiled = cast(ResumableExecution, engine.prepare(program, graph))
    if program.ir().edge_fields:  # the engines keep them in different orders: start over
        rows = []
    else:
        compiled.restore(state_of(execution, graph), execution.stats)
    rows += iterate(compiled, max_iter=max_iter, progress=progress)
    return Ran(engine, compiled, rows)
