"""Small graphs are answered without a compiler in a fresh process, and compiled code takes over where it pays."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import dromos as dr
from dromos.runner import first_calls


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not imported Numba."""
    monkeypatch.setattr(first_calls, "_is_cold", lambda: True)
    monkeypatch.setattr(first_calls, "_spent", 0.0)
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)


def test_a_fresh_process_answers_without_numba() -> None:
    code = """
import sys
import dromos as dr
g = dr.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=False)
answers = dr.bfs(g, 0), dr.pagerank(g), dr.connected_components(g), dr.core_numbers(g), dr.triangles(g)
print({answer.device for answer in answers}, "numba" in sys.modules, answers[0].level.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "{'numpy'} False [0, 1, 2, 3, -1, -1]"


def test_what_was_asked_for_is_done(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dr.generators.path(5)
    assert dr.bfs(path, 0).device == "numpy"
    assert dr.bfs(path, 0, device="cpu").device == "cpu"
    assert dr.bfs(path, 0, path="sync-push-dd").device == "cpu"
    monkeypatch.setenv("DROMOS_DEVICE", "cpu")
    assert dr.bfs(path, 0).device == "cpu"


def test_a_run_that_takes_long_begins_again_with_compiled_code(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "_PATIENCE", 0.0)
    result = dr.bfs(dr.generators.path(300), 0)
    assert result.device == "cpu"
    assert np.array_equal(result.level, np.arange(300))
    assert result.trace.supersteps == 300


def test_after_enough_such_calls_code_is_compiled(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dr.generators.path(5)
    dr.bfs(path, 0)
    assert 0 < first_calls._spent < 60
    monkeypatch.setattr(first_calls, "_ENOUGH", first_calls._spent)
    assert dr.bfs(path, 0).device == "cpu"


def test_large_graphs_are_compiled_for(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "_SMALL_ARCS", 3)
    assert dr.bfs(dr.generators.path(3), 0).device == "cpu"  # four arcs
