"""Rows of a step that fused supersteps, where the engine switched direction on its own."""

from __future__ import annotations

import numpy as np
import pytest

from dromos.plan import Levels
from dromos.runner.trace import FusedRow, Trace, TraceRow

WHOLE = TraceRow("BFS", 0, 3, 1, 4, 4, "sync-push-dd", "the engine switches", None, 0.5, 12, 96)


def fused(pulled: list[bool] | None) -> Trace:
    levels = Levels(
        np.array([1, 4, 2]),
        np.array([4, 6, 2]),
        np.array([0.1, 0.2, 0.1]),
        None if pulled is None else np.array(pulled),
    )
    return Trace([FusedRow(WHOLE, levels)])


def test_each_superstep_has_the_direction_it_took() -> None:
    trace = fused([False, True, False])
    assert [row.path for row in trace] == ["sync-push-dd", "sync-pull-dd", "sync-push-dd"]
    assert trace.paths == {"sync-push-dd": 2, "sync-pull-dd": 1}
    assert [row.frontier for row in trace] == [1, 4, 2]
    assert trace.supersteps == 3
    assert trace.seconds == pytest.approx(0.5)


def test_without_a_switch_the_decided_path_stands() -> None:
    assert fused(None).paths == {"sync-push-dd": 3}
