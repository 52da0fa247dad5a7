"""The CPU engine against the reference engine: every program, every legal path, several threads."""

from __future__ import annotations

import inspect
import pathlib
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given

import dromos as dr
from dromos.codegen.hooks import HOOKS
from dromos.codegen.python import hooks_text
from dromos.dtypes import Array
from dromos.engines import Engine
from dromos.engines.cpu import CpuEngine
from dromos.engines.cpu.skeletons import hooks
from dromos.engines.reference import ReferenceEngine
from dromos.errors import FieldOverflowError, IllegalPathError
from dromos.graph import Graph, generators
from dromos.plan import Path
from dromos.program import ANY, MAX, GraphTypes, Program, analyse, field, maximum, where
from tests.program import programs
from tests.program.running import run
from tests.program.small_graphs import graphs
from tests.sizes import examples

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
EXAMPLES = [type(program) for program in programs.examples(3)]


def example(kind: type[Program], vertices: int) -> Program:
    """The fixture program of a class, for a graph of that size."""
    return next(program for program in programs.examples(vertices) if type(program) is kind)


def check(program: Program, graph: Graph, threads: int) -> None:
    """Every legal path gives what the reference engine gives."""
    expected, _ = run(program, graph, "sync-push-dd")
    for path in analyse(program.typed(TYPES)).legal_paths:
        found, _ = run(program, graph, path, engine=CpuEngine(threads=threads))
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=f"{program} {path} {name}"
                )


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_every_path_of_every_program_is_the_reference_engines(kind: type[Program]) -> None:
    @examples(12, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(graph=graphs(max_vertices=10))
    def on_small_graphs(graph: Graph) -> None:
        check(example(kind, graph.num_vertices), graph, threads=2)

    on_small_graphs()
    for seed in range(2):  # large enough for chunks to be dealt out among threads
        graph = generators.uniform(300, 900, seed=seed, directed=seed == 0)
        graph = generators.with_random_weights(graph, 1, 9, seed=seed)
        weighted = graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]
        check(example(kind, 300), weighted, threads=3)


def test_a_hub_is_cut_into_pieces() -> None:
    leaves = 40_000
    star = generators.with_random_weights(generators.star(leaves), 1, 9, seed=1)
    star = star.with_weights(star.weights.astype(np.float32))  # type: ignore[union-attr]
    for path in ("sync-push-dd", "async-push-dd", "sync-pull-td"):
        found, _ = run(programs.SSSP(source=1), star, path, engine=CpuEngine(threads=2))
        first = float(star.weights[star.offsets[1]])  # type: ignore[index]
        assert found["distance"][0] == first
        np.testing.assert_array_equal(found["distance"][2:], first + star.weights[star.offsets[2:-1]])  # type: ignore[index]


def test_stamps_go_round_on_a_long_path() -> None:
    line = generators.path(700)
    line = line.with_weights(np.ones(line.num_arcs, np.float32))
    found, history = run(programs.SSSP(source=0), line, "sync-push-dd", engine=CpuEngine(threads=2), limit=1000)
    assert found["distance"].tolist() == list(range(700))
    assert len(history) == 700


def test_an_illegal_path_is_refused() -> None:
    graph = generators.path(3)
    execution = CpuEngine(threads=1).prepare(programs.BFS(source=0), graph)
    with pytest.raises(IllegalPathError, match="async"):
        execution.step(Path.parse("async-push-dd"))


def test_an_overflow_is_an_error() -> None:
    import dromos.program as dr

    class Narrow(dr.Program):
        total = dr.field(np.int8, init=100)
        combine = dr.SUM

        def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
            return u.total

        def update(self, v, message):  # type: ignore[no-untyped-def]
            return v.total + message

    execution = CpuEngine(threads=1).prepare(Narrow(), generators.path(3))
    with pytest.raises(FieldOverflowError, match="wider type"):
        execution.step(Path.parse("sync-push-dd"))


class NarrowLevels(Program):
    """Breadth-first search with levels that soon do not fit."""

    level = field(np.int8)
    combine = ANY

    def init(self, v: Any) -> Any:
        return where(v.id == 0, 0, -1)

    def start(self, v: Any) -> Any:
        return v.id == 0

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id

    def update(self, v: Any, message: Any) -> Any:
        return where(v.level < 0, self.superstep + 1, v.level)

    def active(self, old: Any, new: Any) -> Any:
        return new.level != old.level


def test_a_level_that_does_not_fit_ends_a_search() -> None:
    """It is below zero again, as if nobody had been there: the search would never end, and its queue overflow."""
    for threads in (1, 2):
        with pytest.raises(FieldOverflowError, match="wider type"):
            run(NarrowLevels(), generators.path(5000), engine=CpuEngine(threads=threads))


def _kept(engine: Engine, path: str) -> Array:
    graph = generators.with_random_weights(generators.uniform(40, 160, seed=3), 1, 9, seed=4)
    graph = graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]
    execution = engine.prepare(programs.Handing(), graph)
    for _ in range(25):  # by then everything has been handed on, in whichever order
        execution.step(Path.parse(path))
    return execution.result()["kept"]


@cache
def _expected_to_be_kept() -> Array:
    return _kept(ReferenceEngine(), "sync-push-dd")


@pytest.mark.parametrize("path", analyse(programs.Handing.typed(TYPES)).legal_paths)
@pytest.mark.parametrize("threads", [1, 2])
def test_who_is_always_active_is_looked_for_in_no_queue(path: str, threads: int) -> None:
    np.testing.assert_allclose(_kept(CpuEngine(threads=threads), path), _expected_to_be_kept(), rtol=1e-6)


class Widest(Program):
    """A vector with more components than Python makes a tuple of without a list."""

    best = field(np.int64, size=31)
    combine = MAX

    def init(self, v: Any) -> Any:
        return [v.id * 3 % 7 + i for i in range(31)]

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.best

    def update(self, v: Any, message: Any) -> Any:
        return [maximum(v.best[i], message[i]) for i in range(31)]


@pytest.mark.parametrize("path", ["sync-push-dd", "sync-pull-td", "async-pull-dd"])
def test_vectors_may_be_longer_than_tuples_that_python_makes_at_once(path: str) -> None:
    expected, _ = run(Widest(), generators.path(6), "sync-push-dd")
    found, _ = run(Widest(), generators.path(6), path, engine=CpuEngine(threads=2))
    np.testing.assert_array_equal(found["best"], expected["best"])


def test_hooks_have_the_names_that_skeletons_import() -> None:
    program = programs.Hebb.typed(TYPES)
    scope: dict[str, object] = {}
    exec(hooks_text(program, analyse(program)), scope)  # the text that kernels are compiled from
    for name, value in vars(hooks).items():
        if name.startswith("__") or name == "annotations":
            continue
        assert name in scope, f"no {name} is written"
        if inspect.isfunction(value):
            given = list(inspect.signature(scope[name].function).parameters)  # type: ignore[attr-defined]
            assert given == list(inspect.signature(value).parameters), name
    for hook in HOOKS:
        assert hook.takes == tuple(inspect.signature(vars(hooks)[hook.name]).parameters), hook.name


def test_the_engine_and_its_skeletons_agree_on_the_layout_of_what_they_share() -> None:
    from dromos.engines.cpu import execution
    from dromos.engines.cpu.skeletons import asynchronous, claiming_rows, common, offering, supersteps
    from dromos.jit import LINE

    run = execution.CpuExecution
    assert (run.line, run.queue_counter) == (LINE, common.QUEUE * LINE)
    assert common.ROWS % common.FOLD == 0
    words = (execution._MESSAGES, execution._OUT, execution._IN, execution.OVERFLOWS)
    for skeleton in (supersteps, asynchronous, offering):
        assert words == (skeleton.MESSAGES, skeleton.OUT_DEGREES, skeleton.IN_DEGREES, skeleton.OVERFLOWS)
    assert claiming_rows.SLACK >= claiming_rows.BATCH


@pytest.mark.parametrize("device", ["auto", "cpu", "numpy"])
def test_a_graph_is_asked_for_nothing_that_it_lacks(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks with a default gets it, after the search for names that are alike: longer than a small run takes."""
    asked: list[str] = []
    monkeypatch.setattr(
        dr.Graph, "__getattr__", lambda graph, name: asked.append(name) or object.__getattribute__(graph, name)
    )
    for graph in (dr.generators.rmat(6, 8), dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 0])):
        dr.bfs(graph, 0, device=device)
        dr.sssp(graph, 0, device=device)
        dr.pagerank(graph, device=device)
        dr.connected_components(graph.symmetrized(), device=device)
    assert asked == []


def test_a_graph_knows_whether_its_transpose_is_there(tmp_path: pathlib.Path) -> None:
    one_way = dr.Graph.from_edges([0, 1, 2], [1, 2, 0])
    dr.write(one_way, tmp_path / "one.drm")
    dr.write(one_way, tmp_path / "both.drm", transpose=True)
    assert not dr.open(tmp_path / "one.drm").has_transpose
    assert dr.open(tmp_path / "both.drm").has_transpose
    one_way = dr.Graph.from_edges([0, 1, 2], [1, 2, 0])
    assert not one_way.has_transpose
    assert one_way.transpose.has_transpose
    assert one_way.has_transpose
    assert dr.generators.cycle(4).has_transpose
