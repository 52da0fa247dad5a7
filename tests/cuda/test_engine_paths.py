"""The CUDA engine against the reference engine: every program, every legal path, however the engine is set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from dromos.engines.cuda import CudaEngine
from dromos.engines.reference import ReferenceEngine
from dromos.errors import IllegalPathError
from dromos.graph import Graph, generators
from dromos.plan import Path
from dromos.program import GraphTypes, Program, analyse
from tests.program import programs
from tests.program.running import run
from tests.program.small_graphs import graphs

pytestmark = pytest.mark.gpu

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
EXAMPLES = [type(program) for program in programs.examples(3)]
SETTINGS = [
    {"renumber": False},
    {"fusion": "none"},
    {"fusion": "selective"},
    {"defines": ("FILTER=1",)},
    {"defines": ("FILTER=2",)},
    {"defines": ("HUB_WORDS=4",)},
    {"defines": ("BLOCK_ROW=32", "GRID_ROW=64")},
    {"defines": ("PROBES=1",)},
    {"block": 128},
    {"blocks": 1},
    {"share": 0.0},
]


def example(kind: type[Program], vertices: int) -> Program:
    """The fixture program of a class, for a graph of that size."""
    return next(program for program in programs.examples(vertices) if type(program) is kind)


def check(program: Program, graph: Graph, **options: object) -> None:
    """Every legal path gives what the reference engine gives."""
    expected, _ = run(program, graph, "sync-push-dd")
    for path in analyse(program.typed(TYPES)).legal_paths:
        found, _ = run(program, graph, path, engine=CudaEngine(options))
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=f"{program} {path} {name}"
                )


def uneven_graph(seed: int) -> Graph:
    """Skewed or flat, directed or not, with loops, parallel edges and vertices without edges."""
    graph = (
        generators.uniform(300, 900, seed=seed, directed=seed % 2 == 0)
        if seed < 2
        else generators.rmat(7, 6, seed=seed, symmetrize=seed % 2 == 1)
    )
    graph = generators.with_random_weights(graph, 1, 9, seed=seed)
    return graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_path_of_every_program_is_the_reference_engines(kind: type[Program]) -> None:
    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(graph=graphs(max_vertices=10))
    def on_small_graphs(graph: Graph) -> None:
        check(example(kind, graph.num_vertices), graph)

    on_small_graphs()
    for seed in range(4):
        graph = uneven_graph(seed)
        check(example(kind, graph.num_vertices), graph)


@pytest.mark.parametrize("options", SETTINGS, ids=lambda options: "-".join(map(str, next(iter(options.items())))))
@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSP, programs.PageRank, programs.Components])
def test_every_setting_gives_the_same_answers(kind: type[Program], options: dict[str, object]) -> None:
    graph = uneven_graph(3)
    check(example(kind, graph.num_vertices), graph, **options)


@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSP, programs.PageRank])
def test_ids_of_eight_bytes_give_the_same_answers(kind: type[Program]) -> None:
    given = generators.rmat(8, 8, seed=5, weights=(1, 9))
    weights = given.weights.astype(np.float32)  # type: ignore[union-attr]
    graph = Graph._make(given.offsets, given.targets.astype(np.int64), weights, flags=given._flags)
    check(example(kind, graph.num_vertices), graph)


@pytest.mark.parametrize("path", ["sync-push-dd", "async-push-dd", "sync-pull-td", "sync-pull-dd"])
def test_hubs_are_walked_by_blocks_and_by_the_grid(path: str) -> None:
    leaves = 150_000
    star = generators.with_random_weights(generators.star(leaves), 1, 9, seed=1)
    star = star.with_weights(star.weights.astype(np.float32))  # type: ignore[union-attr]
    found, _ = run(programs.SSSP(source=1), star, path, engine=CudaEngine())
    first = float(star.weights[star.offsets[1]])  # type: ignore[index]
    assert found["distance"][0] == first
    np.testing.assert_array_equal(found["distance"][2:], first + star.weights[star.offsets[2:-1]])  # type: ignore[index]


@pytest.mark.parametrize("path", analyse(programs.Handing.typed(TYPES)).legal_paths)
def test_who_is_always_active_is_looked_for_in_no_queue(path: str) -> None:
    graph, outcomes = uneven_graph(1), []
    for engine, taken in ((ReferenceEngine(), "sync-push-dd"), (CudaEngine(), path)):
        execution = engine.prepare(programs.Handing(), graph)
        for _ in range(25):  # by then everything has been handed on, in whichever order
            execution.step(Path.parse(taken))
        outcomes.append(execution.result()["kept"])
    np.testing.assert_allclose(outcomes[1], outcomes[0], rtol=1e-6)


def test_thousands_of_levels_take_few_steps() -> None:
    line = generators.path(20_000)
    found, history = run(programs.BFS(source=0), line, engine=CudaEngine())
    assert found["level"].tolist() == list(range(20_000))
    assert len(history) < 20


def test_statistics_are_those_of_the_last_step() -> None:
    execution = CudaEngine().prepare(programs.BFS(source=0), generators.path(5))
    after = execution.step(Path.parse("sync-push-dd"), 2)
    assert execution.stats == after
    assert (after.superstep, after.frontier, after.finished) == (2, 1, "")
    execution.step(Path.parse("sync-push-dd"), None)
    assert execution.stats.finished == "frontier empty"


def test_an_illegal_path_is_refused() -> None:
    execution = CudaEngine().prepare(programs.BFS(source=0), generators.path(3))
    with pytest.raises(IllegalPathError, match="async"):
        execution.step(Path.parse("async-push-dd"))


def test_results_stay_on_the_device_when_asked() -> None:
    cupy = pytest.importorskip("cupy")
    found, _ = run(programs.BFS(source=0), generators.path(5), "sync-push-dd", engine=CudaEngine({"on_device": True}))
    assert isinstance(found["level"], cupy.ndarray)
    assert found["level"].get().tolist() == [0, 1, 2, 3, 4]
