"""A program that starts without the compiler, and continues in compiled code if it takes long.

Both engines keep the state of a run in arrays of the same types, so it can be handed over between two supersteps.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from dromos.engines import Engine, Execution, GraphLike
from dromos.engines.saving import ResumableExecution, Saved
from dromos.plan import Row
from dromos.program import Program
from dromos.runner import first_calls
from dromos.runner.devices import engine_for
from dromos.runner.loop import Progress, iterate

__all__ = ["Ran", "hand_over", "run_in_two_tiers"]


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
    stats = execution.stats
    if stats.finished or (max_iter is not None and stats.superstep >= max_iter):
        return Ran(engine, execution, rows)
    engine = engine_for("cpu", threads)
    compiled = engine.prepare(program, graph)
    if program.ir().edge_fields:  # the engines keep them in different orders: start over
        rows = []
    else:
        hand_over(execution, compiled, graph)
    rows += iterate(compiled, max_iter=max_iter, progress=progress)
    return Ran(engine, compiled, rows)


def hand_over(execution: Execution, to: Execution, graph: GraphLike) -> None:
    """Have ``to``, which has not run, continue from the state of a run in one part."""
    saved = cast(ResumableExecution, execution).save()
    whole = {name.removeprefix("0."): values.copy() for name, values in saved.items()}
    # the number of arcs that a search has not looked at only guides its choice of paths
    state: Saved = {**whole, "untouched": np.asarray(float(graph.num_arcs))}
    cast(ResumableExecution, to).restore(state, execution.stats)
