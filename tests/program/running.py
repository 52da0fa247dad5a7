"""A minimal iteration loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dromos.dtypes import Array
from dromos.engines import Engine
from dromos.engines.reference import ReferenceEngine
from dromos.plan import Decision, History, Path, Row, choose
from dromos.program import Program


def run(
    program: Program, graph: Any, path: str | None = None, *, engine: Engine | None = None, limit: int = 300
) -> tuple[Mapping[str, Array], History]:
    """The fields after a run on one path, or on the planner's paths; and the steps."""
    execution = (engine or ReferenceEngine()).prepare(program, graph)
    history, stats = History(), execution.stats
    while not stats.finished:
        assert len(history) < limit, "the run does not end"
        decision = choose(stats, history, execution.caps) if path is None else Decision(Path.parse(path), "fixed")
        after = execution.step(decision.path, decision.horizon)
        history.append(Row(stats, decision, after))
        stats = after
    return execution.result(), history
