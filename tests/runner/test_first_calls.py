"""Small graphs are answered without a compiler in a fresh process, and compiled code takes over where it pays."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.runner import first_calls


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not loaded a kernel."""
    monkeypatch.setattr(first_calls, "_is_cold", lambda: True)
    monkeypatch.setattr(first_calls, "_spent", 0.0)
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)


def test_a_fresh_process_answers_without_a_compiler() -> None:
    code = """
import dromos as dr
from dromos.compiling import kernels_are_loaded
from dromos.runner import first_calls
first_calls._ENOUGH = first_calls._LOADING = first_calls._COMPILING = 600  # however slow the machine is
g = dr.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=False)
answers = [dr.bfs(g, 0), dr.pagerank(g), dr.connected_components(g), dr.core_numbers(g), dr.triangles(g)]
answers += [dr.minimum_spanning_forest(g), dr.bridges(g), dr.truss_numbers(g), dr.closeness(g)]
answers += [dr.node_similarity(g), dr.random_walks(g), dr.edge_betweenness(g), dr.personalized_pagerank(g, [0])]
dr.largest_component(g)
assert dr.modularity(g, [0, 0, 0, 0, 1, 1]).modularity == 0.375 and dr.assortativity(g).degree.sum() == 8
compiled = [dr.louvain(g), dr.leiden(g)]
assert [answer.community.tolist() for answer in compiled] == [dr.louvain(g, device="numpy").community.tolist()] * 2
devices = [{answer.device for answer in group} for group in (answers, compiled)]
print(*devices, kernels_are_loaded(), answers[0].level.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == "{'numpy'} {'cpu'} False [0, 1, 2, 3, -1, -1]"


def test_what_was_asked_for_is_done(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dr.generators.path(5)
    assert dr.bfs(path, 0).device == "numpy"
    assert dr.bfs(path, 0, device="cpu").device == "cpu"
    assert dr.bfs(path, 0, path="sync-push-dd").device == "cpu"
    monkeypatch.setenv("DROMOS_DEVICE", "cpu")
    assert dr.bfs(path, 0).device == "cpu"


def test_a_run_that_takes_long_begins_again_with_compiled_code(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 0.0)
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


def test_a_kernel_that_takes_long_begins_again_with_compiled_code(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = dr.Graph.from_edges(np.arange(5000), (np.arange(5000) + 1) % 5000, directed=False)
    assert dr.minimum_spanning_forest(ring).device == "numpy"
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 0.0)
    result = dr.minimum_spanning_forest(ring)
    assert (result.device, result.count) == ("cpu", 4999)


def test_searches_that_take_long_count_nothing_twice(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dr.generators.path(70)
    expected = dr.harmonic(path, sources=range(66), device="cpu").centrality
    assert np.allclose(dr.harmonic(path, sources=range(66)).centrality, expected)
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 0.0)
    result = dr.harmonic(path, sources=range(66))
    assert result.device == "cpu"
    assert np.allclose(result.centrality, expected)


def test_how_long_a_program_is_waited_for(cold: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Longer where nothing was generated for it yet, since compiling takes longer than loading."""
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 600.0)
    path = dr.generators.path(30)
    assert dr.bfs(path, 0).device == "numpy"
    (tmp_path / "BFS_claiming_0123456789abcdef.py").touch()
    assert dr.bfs(path, 0).device == "cpu"


def test_what_other_threads_do_for_a_call_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks = {"thread_time": 10.0, "process_time": 20.0}
    for name in clocks:
        monkeypatch.setattr(first_calls.time, name, lambda name=name: clocks[name])
    monkeypatch.setenv("DROMOS_NUM_THREADS", "2")
    effort = first_calls.Effort()
    clocks.update(thread_time=11.0, process_time=26.0)
    assert effort.seconds() == 3  # two threads have shared six seconds of work
    clocks.update(thread_time=16.0)
    assert effort.seconds() == 6  # or this one had all of it


def test_a_composition_goes_on_with_kernels_once_there_is_a_compiler(
    cold: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 0.0)
    rings = dr.Graph.from_edges([6, 0, 1, 1, 2, 3, 3, 4, 5], [0, 1, 0, 2, 3, 2, 4, 5, 4])
    result = dr.strongly_connected_components(rings)
    assert (result.device, result.label.tolist()) == ("cpu", [0, 0, 2, 2, 4, 4, 6])
    assert {row.phase for row in result.trace} == {"Trim", "Reach", "strong"}
