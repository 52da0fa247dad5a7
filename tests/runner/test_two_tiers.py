"""A run that begins with NumPy and goes on with compiled code means what the reference engine says."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

import dromos as dr
from dromos.engines.saving import state_of
from dromos.plan import Path as RunPath
from dromos.plan import Stats
from dromos.runner import first_calls
from dromos.runner.devices import engine_for
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_SEEDS = range(max(4, int(os.environ.get("DROMOS_TEST_EXAMPLES", 0)) // 5))


class _HandedOver:
    """A run with NumPy for some supersteps, then on the CPU."""

    def __init__(self, program: dr.Program, graph: dr.Graph, after: int) -> None:
        self._run: Any = engine_for("numpy").prepare(program, graph)
        self._program, self._graph, self._after = program, graph, after
        self.caps = self._run.caps

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    def step(self, path: RunPath, horizon: int | None = 1) -> Stats:
        if self._run.stats.superstep == self._after:
            compiled = engine_for("cpu", 2).prepare(self._program, self._graph)
            compiled.restore(state_of(self._run, self._graph), self._run.stats)
            self._run = compiled
        stats: Stats = self._run.step(path, 1)
        return stats


class _TwoTiers:
    name = "numpy, then cpu"

    def __init__(self, after: int) -> None:
        self._after = after

    def prepare(self, program: dr.Program, graph: dr.Graph) -> Any:
        return _HandedOver(program, graph, -1 if program.ir().edge_fields else self._after)

    def native(self, name: str) -> None:
        return None


@pytest.mark.parametrize("seed", _SEEDS)  # the programs that other tests compile too
def test_random_programs(seed: int) -> None:
    engines = _TwoTiers(1), _TwoTiers(2)
    assert list(disagreements(random_program(seed), seed, *engines, only="sync", paths=2)) == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "_is_cold", lambda: True)
    monkeypatch.setattr(first_calls, "_spent", 0.0)
    monkeypatch.setattr(first_calls, "_LOADING", 0.0)
    monkeypatch.setattr(first_calls, "_COMPILING", 0.0)
    monkeypatch.delenv("DROMOS_DEVICE", raising=False)


_CALLS: dict[str, Callable[[dr.Graph], Any]] = {
    "bfs": lambda g: dr.bfs(g, 1),
    "sssp": lambda g: dr.sssp(g, 1),
    "pagerank": lambda g: dr.pagerank(g),
}


@pytest.mark.parametrize("name", _CALLS)
def test_algorithms_change_over(impatient: None, name: str) -> None:
    graph = dr.generators.rmat(8, 8, seed=1, symmetrize=False, weights=(1, 9))
    result = _CALLS[name](graph)
    assert result.device == "cpu"
    rows = list(result.trace)
    assert rows[0].superstep == 0
    assert sum(row.supersteps for row in rows) == result.iterations
    result.verify()
