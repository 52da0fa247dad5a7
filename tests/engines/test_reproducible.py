"""The same run gives the same bytes, whichever thread took which vertices."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
import dromos.program as pr
from dromos.engines.cpu import CpuEngine
from dromos.engines.cpu.execution import CpuExecution
from dromos.graph import Graph, generators
from dromos.plan import Path, candidates
from dromos.program import Program
from tests.program import programs
from tests.program.running import run

RUNS = 20


def lumpy() -> Graph:
    """Skewed degrees, sinks, and a hub whose row is cut into pieces."""
    edges = generators.rmat(12, 4, seed=3).edges()
    leaves = np.arange(1, 20_000)
    src, dst = np.concatenate([edges.src, leaves]), np.concatenate([edges.dst, np.zeros_like(leaves)])
    weights = np.random.default_rng(4).random(len(src)).astype(np.float32) + np.float32(0.1)
    return Graph.from_edges(src, dst, weights, num_vertices=20_000)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return lumpy()


@pytest.mark.parametrize("threads", [2, 4])
def test_pagerank(graph: Graph, threads: int) -> None:
    graph = graph.with_weights(graph.weights.astype(np.float64))  # type: ignore[union-attr]  # as in other tests
    ranks = {dr.pagerank(graph, threads=threads, device="cpu").rank.tobytes() for _ in range(RUNS)}
    assert len(ranks) == 1


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("program", [programs.PageRank(), programs.DeltaPageRank()], ids=lambda p: type(p).__name__)
def test_sums_of_floats_and_reductions_on_the_paths_that_the_planner_takes(
    graph: Graph, program: Program, threads: int
) -> None:
    found = [run(program, graph, engine=CpuEngine(threads=threads))[0] for _ in range(RUNS)]
    for name in found[0]:
        assert len({fields[name].tobytes() for fields in found}) == 1, name


def test_reductions_do_not_depend_on_the_number_of_threads(graph: Graph) -> None:
    found = [run(programs.PageRank(), graph, "sync-pull-td", engine=CpuEngine(threads=t))[0] for t in (1, 2, 3, 5)]
    for name in found[0]:
        assert len({fields[name].tobytes() for fields in found}) == 1, name


def test_sums_are_pushed_by_several_threads_only_where_the_program_says_that_any_order_will_do(graph: Graph) -> None:
    class Loose(programs.DeltaPageRank):
        any_order = True

    for program, pushes in ((programs.DeltaPageRank(), False), (Loose(), True)):
        found = candidates(CpuExecution(program, graph, 2).caps)
        assert any(path.direction == "push" for path in found) == pushes
    assert Loose.ir().hash != programs.DeltaPageRank.ir().hash


class Cooling(pr.Program):
    """Heat that spreads and is lost, until little is left; what the vertices add up to goes into the next superstep."""

    heat = pr.field(np.float64)
    combine = pr.SUM
    update_on = "all"

    def init(self, v):
        return 1 / (v.id + 3)

    @pr.reduction(pr.SUM)
    def total(self, v):
        return v.heat

    @pr.reduction(pr.ARGMAX)
    def hottest(self, v):
        return v.heat, v.id

    def compute(self, u, edge, v):
        return u.heat / (u.out_degree + 1)

    def update(self, v, message):
        return 0.5 * message + pr.where(self.superstep % 2 == 0, 0.001, 0.002) * self.total / self.num_vertices

    def active(self, old, new):
        return True

    def converged(self):
        return self.total < 1e-3


def test_supersteps_in_one_call_are_those_of_many_calls(graph: Graph) -> None:
    path = Path.parse("sync-pull-td")
    expected = dr.run(Cooling(), graph, device="numpy")
    ends = []
    for threads, horizon in ((1, 1), (1, None), (3, 4), (3, None)):
        execution = CpuEngine(threads=threads).prepare(Cooling(), graph)
        calls = 0
        while not execution.stats.finished:
            stats = execution.step(path, horizon)
            calls += 1
        assert stats.finished == "converged"
        assert (calls == 1) == (horizon is None)
        np.testing.assert_allclose(execution.state["heat"], expected["heat"], rtol=1e-9)
        ends.append((stats.superstep, execution.state["heat"].tobytes(), dict(execution.reductions)))
    assert ends[1:] == ends[:-1]
