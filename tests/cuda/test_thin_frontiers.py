"""Long stretches of thin frontiers on the device: one launch, one atomic a block and superstep, no other barrier."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr
import dromos.program as dp
from dromos.algorithms.sssp import sssp_program
from dromos.dtypes import Array
from dromos.engines.cuda import CudaEngine
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.errors import FieldOverflowError
from dromos.graph import Graph, generators
from dromos.plan import Path
from tests.program import programs
from tests.program.running import run

pytestmark = pytest.mark.gpu


class Hops(dp.Program):
    """Levels whose messages ask for the source's state."""

    source = dp.param(int)
    level = dp.field(np.int32)
    combine = dp.ANY

    def init(self, v: Any) -> Any:
        return dp.where(v.id == self.source, 0, -1)

    def start(self, v: Any) -> Any:
        return v.id == self.source

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return dp.where(u.level >= 0, self.superstep + 1, 0)

    def update(self, v: Any, message: Any) -> Any:
        return dp.where(v.level < 0, message, v.level)

    def active(self, old: Any, new: Any) -> Any:
        return new.level != old.level


class NarrowHops(Hops):
    """Levels that do not fit: such a program is not one that takes each vertex once."""

    level = dp.field(np.int8)


def thin_wide_thin() -> Graph:
    """A path, a tree that opens to 2^15 branches and closes again, and a path."""
    line = np.arange(400)
    inner = np.arange(1, 1 << 15)
    opening = 400 + inner  # vertex k of the tree has children 2k and 2k + 1
    children = [(400 + inner, 400 + 2 * inner + side) for side in (0, 1)]
    after = 400 + (1 << 16)  # the closing tree has the leaves of the opening one
    closed = np.where(inner >= 1 << 14, 0, inner)
    closing = [
        (np.where(closed > 0, after + 2 * inner + side, 400 + 2 * inner + side), after + inner) for side in (0, 1)
    ]
    end = after + (1 << 15)
    pairs = [
        (line[:-1], line[1:]), ([399], [opening[0]]), *children, *closing,
        ([after + 1], [end]), (end + line[:-1], end + line[1:]),
    ]  # fmt: skip
    src, dst = (np.concatenate([np.asarray(pair[side], np.int64) for pair in pairs]) for side in (0, 1))
    return Graph.from_edges(src, dst, directed=False)


def weighted(graph: Graph) -> Graph:
    return generators.with_random_weights(graph, 1, 9, seed=5)


def on_cpu(graph: Graph, source: int) -> tuple[Array, Array]:
    return dr.bfs(graph, source, device="cpu").level, dr.sssp(weighted(graph), source, device="cpu").distance


GRAPHS = {
    "path": lambda: generators.path(50_000),
    "lattice": lambda: generators.grid(300, 400),
    "more than the log holds": lambda: generators.grid(1200, 1200),
    "thin, wide, thin": thin_wide_thin,
}


@pytest.mark.parametrize("name", GRAPHS)
def test_searches_are_those_of_the_cpu(name: str) -> None:
    graph = GRAPHS[name]()
    level, distance = on_cpu(graph, 7)
    found = dr.bfs(graph, 7, device="cuda")
    np.testing.assert_array_equal(found.level, level)
    found.verify()
    np.testing.assert_array_equal(dr.sssp(weighted(graph), 7, device="cuda").distance, distance)
    np.testing.assert_array_equal(dr.run(Hops(source=7), graph, device="cuda").level, level)


@pytest.mark.parametrize("options", [{"launch_ms": 0.05}, {"blocks": 2}, {"block": 64}, {"renumber": False}], ids=str)
def test_however_it_is_launched(options: dict[str, Any]) -> None:
    """Cut off again and again, or with other blocks, a run goes on where it was."""
    graph = generators.grid(150, 150)
    level, distance = on_cpu(graph, 3)
    engine = CudaEngine(options)
    np.testing.assert_array_equal(dr.bfs(graph, 3, device=engine).level, level)
    np.testing.assert_array_equal(dr.sssp(weighted(graph), 3, device=engine).distance, distance)


@pytest.mark.parametrize("horizon", [16, 17, 100])
def test_steps_of_some_levels(horizon: int) -> None:
    line = generators.path(5000)
    execution = CudaEngine().prepare(programs.BFS(source=0), line)
    steps = 0
    while not execution.stats.finished:
        after = execution.step(Path.parse("sync-push-dd"), horizon)
        steps += 1
        assert after.superstep <= horizon * steps
        assert after.frontier == (1 if after.superstep < 5000 else 0)
        assert after.messages <= 2 * horizon
    assert execution.result()["level"].tolist() == list(range(5000))
    assert execution.stats.superstep == 5000


def test_nobody_is_sent_again_because_a_launch_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vertex 2 is put off at first, comes near in the same bucket, and is sent before the launch ends."""
    graph = Graph.from_edges([0, 0, 1, 2, 3], [2, 1, 2, 3, 4], [100, 1, 1, 1, 1])
    monkeypatch.setattr(DeviceGraph, "bucket_width", 10.0)
    execution = CudaEngine().prepare(sssp_program(np.dtype(np.int32))(source=0), graph)
    ordered = Path.parse("async-push-dd")
    after = execution.step(ordered, 3)
    assert (after.superstep, after.frontier, after.messages) == (3, 1, 4)
    after = execution.step(ordered, None)
    assert after.messages == 1
    assert execution.result()["distance"].tolist() == [0, 1, 2, 3, 4]


def test_every_superstep_is_in_the_trace() -> None:
    graph = generators.grid(60, 70)
    found = dr.bfs(graph, 0, device="cuda")
    _, history = run(programs.BFS(source=0), graph, engine=CudaEngine())
    levels = history[-1].after.levels
    assert levels is not None
    np.testing.assert_array_equal(levels.frontier, np.bincount(found.level))
    assert levels.out_degree.sum() == graph.num_arcs


def test_a_value_that_does_not_fit_is_told() -> None:
    with pytest.raises(FieldOverflowError, match="NarrowHops"):
        dr.run(NarrowHops(source=0), generators.path(5000), device="cuda")


def test_a_search_begins_again_in_the_same_memory() -> None:
    graph = generators.grid(90, 50)
    execution = CudaEngine().prepare(programs.BFS(source=0), graph)
    for source in (0, 17, 4499):
        execution.restart(source=source)
        execution.step_switching()
        np.testing.assert_array_equal(execution.result()["level"], dr.bfs(graph, source, device="cpu").level)
