"""Running: the loop, fixed paths, limits and devices."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.engines.null import NullEngine
from dromos.engines.reference import ReferenceEngine
from dromos.errors import (
    IllegalPathError,
    InvalidArgumentError,
)
from dromos.plan import PATHS, Path, Stats
from dromos.runner import Session
from dromos.runner.devices import engine_for
from dromos.runner.loop import iterate
from tests.runner.hops import Hops

DEVICES = pytest.mark.parametrize("device", ["reference", "cpu"])


@DEVICES
@pytest.mark.parametrize("path", ["auto", *map(str, PATHS)])
def test_a_program_runs_on_every_path(device, path):
    result = dr.run(Hops(source=1), dr.generators.path(4), device=device, path=path)
    assert result.hops.tolist() == [1, 0, 1, 2]
    assert result.finished == "frontier empty"
    assert result.device == device
    if path != "auto":
        assert set(result.trace.paths) == {path}


@DEVICES
def test_compile_once_run_often_with_other_parameters(device):
    runner = dr.compile(Hops(source=0), dr.generators.path(3), device=device)
    assert runner().hops.tolist() == [0, 1, 2]
    assert runner(source=2).hops.tolist() == [2, 1, 0]
    assert runner(max_iter=1).hops.tolist()[:2] == [0, 1]
    assert "Hops(source=0)" in repr(runner)
    with pytest.raises(InvalidArgumentError, match="Hops has no parameter sauce"):
        runner(sauce=2)


@DEVICES
def test_max_iter_cuts_a_run_off(device):
    graph = dr.generators.path(6)
    for limit in range(5):
        result = dr.run(BFS(source=0), graph, max_iter=limit, device=device)
        assert result.level.max() == limit
        assert result.finished == ""
        assert result.iterations == limit
    assert dr.run(BFS(source=0), graph, max_iter=6, device=device).finished == "frontier empty"


class Scripted:
    """An execution that fuses as many supersteps as it may."""

    def __init__(self, total):
        self.total, self.horizons = total, []
        self.caps = ReferenceEngine().prepare(BFS(source=0), dr.generators.path(3)).caps
        self.stats = Stats(0, 1, 1, 1)

    def step(self, path, horizon=1):
        self.horizons.append(horizon)
        done = min(self.stats.superstep + (horizon or self.total), self.total)
        self.stats = Stats(done, 1, 1, 1, finished="frontier empty" if done == self.total else "")
        return self.stats


def test_fused_supersteps_are_bounded_by_limits_and_watchers():
    free = Scripted(500)
    history = iterate(free, Path())
    assert (free.horizons, len(history)) == ([None], 1)
    limited = Scripted(500)
    iterate(limited, Path(), max_iter=70)
    assert (limited.horizons, limited.stats.superstep) == ([70], 70)
    told = []
    watched = Scripted(150)
    iterate(watched, Path(), progress=lambda done, total: told.append((done, total)))
    assert told == [(64, 0), (128, 0), (150, 0)]


def test_a_fused_step_says_how_many_supersteps_it_ran():
    graph = dr.generators.path(50)
    result = dr.run(BFS(source=0), graph, path="sync-push-dd", device="cpu")
    assert result.trace.supersteps == result.iterations == 50
    assert sum(row.supersteps for row in result.trace) == 50


def test_a_path_that_would_change_the_answer_is_refused_with_the_reason():
    graph = dr.generators.path(3)
    with pytest.raises(IllegalPathError, match=r"BFS: cannot run on async-push-dd: update\(\) reads the superstep"):
        dr.bfs(graph, 0, path="async-push-dd", device="reference")
    with pytest.raises(InvalidArgumentError, match="'sideways' is not a path"):
        dr.bfs(graph, 0, path="sideways")


def test_an_engine_that_lacks_a_path_says_so():
    class Poor(ReferenceEngine):
        name = "poor"

        def prepare(self, program, graph):
            execution = super().prepare(program, graph)
            execution.caps = type(execution.caps)(3, 4, "traversal", (Path.parse("sync-push-dd"),))
            return execution

    with pytest.raises(InvalidArgumentError, match="the engine 'poor' has no path sync-pull-td; it has sync-push-dd"):
        dr.run(BFS(source=0), dr.generators.path(3), device=Poor(), path="sync-pull-td")


def test_the_default_device_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("DROMOS_DEVICE", "reference")
    assert engine_for().name == "reference"
    monkeypatch.setenv("DROMOS_DEVICE", "toaster")
    with pytest.raises(InvalidArgumentError, match="'toaster' is not a device"):
        engine_for()


def test_the_null_engine_takes_steps_and_gives_nothing():
    session = Session("nothing", dr.generators.path(3), device=NullEngine())
    assert session.run(BFS(source=0)).finished == "frontier empty"
    assert session.native("triangles") is None
    with pytest.raises(InvalidArgumentError, match="the engine 'null' has no such kernel"):
        session.require_native("triangles")


def test_a_limit_may_be_a_number_of_numpy():
    from dromos.algorithms.bfs import BFS

    path = dr.generators.path(9)
    assert dr.run(BFS(source=0), path, max_iter=np.int64(3), device="numpy").iterations == 3
