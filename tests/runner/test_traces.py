"""Traces: a row a step, shown, drawn and kept."""

from __future__ import annotations

import pickle
import sys

import pytest

import dromos as dr
from dromos.errors import (
    MissingDependencyError,
)


def test_a_trace_has_a_row_a_step():
    graph = dr.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 0])
    trace = dr.bfs(graph, 0, path="sync-push-dd", device="reference").trace
    assert [row.superstep for row in trace] == [0, 1, 2]
    assert [row.frontier for row in trace] == [1, 2, 1]
    assert [row.out_degree for row in trace] == [2, 2, 1]
    assert [row.in_degree for row in trace] == [1, 2, 2]
    assert all(row.reason == "fixed by the caller" and row.bytes > 0 for row in trace)
    assert trace.to_arrow().column_names[:3] == ["phase", "superstep", "supersteps"]
    assert len(trace.to_pandas()) == 3
    assert len(trace[1:]) == 2
    assert pickle.loads(pickle.dumps(trace)) == trace


def test_a_composition_names_its_phases():
    trace = dr.strongly_connected_components(dr.generators.cycle(4), device="reference").trace
    assert {row.phase for row in trace} == {"Reach"}
    two = dr.betweenness(dr.generators.path(3), sources=[0], device="reference").trace
    assert [row.phase for row in two][:1] == ["Paths"]
    assert "LevelDependencies" in repr(two)


def test_a_long_trace_is_shown_without_its_middle():
    trace = dr.bfs(dr.generators.path(60), 0, device="reference").trace
    lines = repr(trace).splitlines()
    assert len(lines) == 2 + 21
    assert any(set(line.split()) == {"…"} for line in lines)


def test_plotting_without_matplotlib_tells_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'dromos\[plot\]'"):
        dr.bfs(dr.generators.path(3), 0, device="reference").trace.plot()


def test_plotting_draws_a_bar_a_step():
    pytest.importorskip("matplotlib").use("Agg")
    axes = dr.bfs(dr.generators.path(5), 0, device="reference", path="sync-push-dd").trace.plot()
    assert len(axes.patches) == 5
    shared = dr.bfs(dr.generators.path(5), 0, device="numpy+reference", share=0.5, split="low", path="sync-push-dd")
    assert list(shared.trace[0].busy) == ["numpy", "reference", "exchange"]
    assert len(shared.trace.plot().patches) == 5 * (1 + 3)


def test_calls_of_a_kernel_are_numbered():
    result = dr.eigenvector(dr.generators.grid(9, 9), device="cpu")
    for phase in ("product", "lanczos"):
        before = 0
        for row in (row for row in result.trace if row.phase == phase):
            assert row.superstep == before
            before += row.supersteps
        assert before > 0
