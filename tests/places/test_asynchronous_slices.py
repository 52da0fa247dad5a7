"""Asynchronous supersteps over slices: the answers of the reference engine, from passes in which news travels on."""

from __future__ import annotations

import os
import random
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines import Engine, GraphShape
from dromos.engines.cpu import asynchronous_slices
from dromos.engines.cpu.part import CpuLeaf, CpuPart
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.stream import StreamEngine
from dromos.plan import Path
from dromos.program import GraphTypes, Program
from tests.program import programs
from tests.program.agreement import disagreements, runs_at_once
from tests.program.random_programs import random_program
from tests.program.running import run
from tests.stream.stores import PAGE, stored, tiny_budget
from tests.stream.test_programs import many_pages

PATHS = ("async-push-dd", "async-push-td", "async-pull-dd", "async-pull-td")
TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))


class Unordered(CpuLeaf):
    """Parts without delta-stepping, which takes the place of asynchronous pushes where there is one slice."""

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> CpuPart:
        return CpuPart(program, shape, types, first, last, self.threads)


KINDS = [type(program) for program in programs.examples(3) if runs_at_once(type(program), TYPES)]


def weighted(graph: Graph) -> Graph:
    graph = generators.with_random_weights(graph, 1, 9, seed=1)
    return graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]


def check(program: Program, graph: Graph, on: Any, engine: Engine) -> None:
    """Every asynchronous path gives the results of the reference engine."""
    expected, _ = run(program, graph, "sync-push-dd")
    assert {str(path) for path in engine.prepare(program, on).caps.paths} >= set(PATHS)  # type: ignore[attr-defined]
    for path in (None, *PATHS):
        found, _ = run(program, on, path, engine=engine)
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, err_msg=f"{program} {path} {name}")


@pytest.mark.parametrize("thin", [64, 1], ids=["scanned", "listed"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_that_may(kind: type[Program], thin: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few vertices, marks are always scanned: with ``thin=1``, frontiers are lists unless they are everyone."""
    monkeypatch.setattr(asynchronous_slices, "_THIN", thin)
    draw = random.Random(thin)
    for number in range(3):
        graph = weighted(generators.uniform(80, 240, seed=number, directed=number == 1))
        program = next(p for p in programs.examples(graph.num_vertices) if type(p) is kind)
        engine = PlacedEngine(Unordered(threads=draw.choice((1, 2))), slices=draw.randrange(2, 6))
        check(program, graph, graph, engine)


@pytest.mark.parametrize("thin", [64, 1], ids=["scanned", "listed"])
@pytest.mark.parametrize("directed", [False, True])
def test_pages_of_which_a_superstep_reads_some(
    directed: bool, thin: int, tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are cut by pages and windows, and neighbors of rows that are read may be missing."""
    monkeypatch.setattr(asynchronous_slices, "_THIN", thin)
    for seed in (4, 9, 12):
        graph = many_pages(seed, directed)
        (folder := tmp_path / str(seed)).mkdir()
        file = stored(graph, folder, transpose=True)
        program = programs.SSSP(source=0)
        for pages in (0, 3):
            engine = StreamEngine(CpuLeaf(threads=2), tiny_budget(program, file, pages=pages), page_bytes=PAGE)
            check(program, graph, file, engine)


def test_random_programs() -> None:
    left = 2 + _ASKED // 10
    for seed in range(10_000):
        kind = random_program(seed)
        if runs_at_once(kind, TYPES):
            engine = PlacedEngine(Unordered(threads=2), slices=3)
            assert list(disagreements(kind, seed, engine, only="async", graphs=3)) == []
            left -= 1
            if not left:
                return


def test_edges_with_a_value_in_each_direction_are_pulled_in_one() -> None:
    """An undirected edge is two arcs, with two values: a row that gathers along the one must not send along it."""
    assert list(disagreements(random_program(229), 229, PlacedEngine(Unordered(2), slices=3), only="async")) == []


def test_news_travels_along_the_rows_of_a_pass_in_both_directions() -> None:
    """In memory order, or against it, one pass goes down a whole path; a synchronous superstep goes one edge."""
    n = 300
    for source in (0, n - 1):
        engine = PlacedEngine(Unordered(threads=1), slices=3)
        found, steps = run(programs.SSSP(source=source), weighted(generators.path(n)), "async-pull-td", engine=engine)
        inward, _ = run(programs.SSSP(source=source), weighted(generators.path(n)), "sync-push-dd")
        np.testing.assert_array_equal(found["distance"], inward["distance"])
        assert len(steps) <= (3 if source == 0 else n)
    _, steps = run(programs.SSSP(source=0), weighted(generators.path(n)), "async-push-td", engine=engine)
    assert len(steps) <= 3


@pytest.mark.parametrize("path", PATHS)
def test_a_hub_is_divided_among_threads(path: str) -> None:
    star = weighted(generators.star(50_000))
    for source in (0, 7):
        expected, _ = run(programs.SSSP(source=source), star, "sync-push-dd", engine=PlacedEngine(Unordered(1)))
        engine = PlacedEngine(Unordered(threads=2), slices=2)
        found, _ = run(programs.SSSP(source=source), star, path, engine=engine)
        np.testing.assert_array_equal(found["distance"], expected["distance"])


def test_kinds_of_supersteps_may_alternate() -> None:
    draw = random.Random(5)
    for number in range(12):
        graph = weighted(generators.uniform(200, 600, seed=number, directed=number % 2 == 0))
        expected, _ = run(programs.SSSP(source=3), graph, "sync-push-dd")
        execution = PlacedEngine(Unordered(threads=2), slices=draw.randrange(2, 5)).prepare(
            programs.SSSP(source=3), graph
        )
        while not execution.stats.finished:
            execution.step(draw.choice(execution.caps.paths))
        np.testing.assert_array_equal(execution.result()["distance"], expected["distance"])


def test_a_saved_run_goes_on(tmp_path: FilePath) -> None:
    graph = many_pages(3, False)
    file, program = stored(graph, tmp_path), programs.SSSP(source=0)
    expected, _ = run(program, graph, "sync-push-dd")
    engine = StreamEngine(CpuLeaf(threads=2), 8 << 20, page_bytes=PAGE)
    first = engine.prepare(program, file)
    stats = first.step(Path.parse("async-push-dd"))
    saved = first.save()  # type: ignore[attr-defined]
    second = engine.prepare(program, file)
    second.restore(saved, stats)  # type: ignore[attr-defined]
    while not second.stats.finished:
        second.step(Path.parse("async-pull-dd"))
    np.testing.assert_array_equal(second.result()["distance"], expected["distance"])
    for execution in (first, second):
        execution.close()  # type: ignore[attr-defined]


def test_distances_from_disk_take_fewer_passes(tmp_path: FilePath) -> None:
    graph = generators.with_random_weights(generators.rmat(14, 16, seed=3), 1, 255, seed=3)
    file = stored(graph, tmp_path)
    source = int(graph.out_degree.argmax())
    found = dr.sssp(file, source, device="cpu", memory="4M")
    np.testing.assert_array_equal(found.distance, dr.sssp(graph, source).distance)
    limited = dr.sssp(file, source, device="cpu", memory="4M", path="sync-pull-dd")
    assert found.trace.read < 0.6 * limited.trace.read
    assert "async-pull-dd" in found.trace.paths


def test_labels_of_a_directed_graph_are_pushed(tmp_path: FilePath) -> None:
    """Pulls would read the in-rows as well, and news travels along the rows of a push just as far."""
    rng = np.random.default_rng(8)
    graph = Graph.from_edges(*rng.integers(0, 2000, (2, 100_000)), num_vertices=2000, directed=True)
    file, program = stored(graph, tmp_path, transpose=True), programs.Components()
    found = dr.run(program, file, device="cpu", memory="4M")
    np.testing.assert_array_equal(found["label"], dr.run(program, graph, device="numpy")["label"])
    assert set(found.trace.paths) <= {"async-push-td", "async-push-dd"}
    assert found.trace.read <= 1.1 * dr.run(program, file, device="cpu", memory="4M", path="async-push-dd").trace.read
    limited = dr.run(program, file, device="cpu", memory="4M", max_iter=1)
    assert set(limited.trace.paths) == {"sync-pull-td"}
