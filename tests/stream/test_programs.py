"""Programs and algorithms on graphs on disk, in budgets of a few pages, give the same results as in memory."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import FieldOverflowError
from dromos.graph import Graph
from dromos.graph.store.paged.ways import READS
from dromos.places import PlacedEngine
from dromos.places.stream import StreamEngine
from dromos.program import GraphTypes, Program, analyse
from tests.program import programs
from tests.program.agreement import given as given_params
from tests.program.random_programs import random_program
from tests.program.running import run
from tests.sizes import examples
from tests.stream.stores import PAGE, stored, tiny_budget

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float32))
KINDS = [type(program) for program in programs.examples(3)]


def many_pages(seed: int, directed: bool) -> Graph:
    """Some 40 vertices, up to 9 pages of arcs; some rows are longer than a page, some are empty."""
    draw = np.random.default_rng(seed)
    n, arcs = int(draw.integers(20, 60)), int(draw.integers(1, 5000))
    src, dst = draw.integers(0, n, (2, arcs))
    src[: arcs // 2] = draw.integers(0, n)
    weights = draw.integers(1, 9, arcs).astype(np.float32)
    return Graph.from_edges(src, dst, weights, num_vertices=n, directed=directed, threads=1)


def check(program: Program, graph: Graph, file: dr.StoredGraph, engine: StreamEngine, loose: float = 1.0) -> None:
    """Every offered path, and the planner's, gives the results of NumPy in memory.

    Synchronous paths do so in as many supersteps.
    ``loose``: a factor of the tolerances, for a leaf that adds up in another order.
    """
    inside = PlacedEngine(VectorisedLeaf())
    expected, steps = run(program, graph, "sync-push-dd", engine=inside)
    for path in (None, *engine.prepare(program, file).caps.paths):
        found, taken = run(program, file, None if path is None else str(path), engine=engine)
        if all(row.decision.path.sync == "sync" for row in taken):
            assert len(taken) == len(steps), f"{program} {path}"
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=loose * 1e-5, atol=loose * 1e-7,
                    err_msg=f"{program} {path} {name}",
                )  # fmt: skip


def check_kind(
    kind: type[Program],
    folder: Path,
    engine: Callable[[Program, Graph, dr.StoredGraph], StreamEngine],
    loose: float = 1.0,
) -> None:
    """As :func:`check`, of a program of this kind on graphs of each kind, with the engine for each of them."""
    for seed, directed in ((11, False), (12, True), (13, True)):
        graph = many_pages(seed, directed)
        program = next(p for p in programs.examples(graph.num_vertices) if type(p) is kind)
        (own := folder / str(seed)).mkdir()
        file = stored(graph, own)
        check(program, graph, file, engine(program, graph, file), loose)


def check_random(seed: int, graph: Graph, engine: Callable[[Program], tuple[Graph, Any]], loose: float = 1.0) -> None:
    """A random program gives the same results on what ``engine`` returns as on NumPy in memory, or fails on both."""
    draw = random.Random(seed)
    kinds = (random_program(draw.randrange(10_000)) for _ in range(99))
    # a stream has out-rows, and in-rows for pulls, but no rows with every edge in both directions
    fitting = (k for k in kinds if analyse(k.typed(TYPES)).deterministic and k.ir().direction == "out")
    program = given_params(next(fitting), graph)
    expected, found = outcome(program, graph, PlacedEngine(VectorisedLeaf())), outcome(program, *engine(program))
    assert (expected is None) == (found is None)
    for name in expected or ():
        np.testing.assert_allclose(found[name], expected[name], rtol=loose * 1e-5, atol=loose * 1e-7, err_msg=name)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_streamed_is_the_program_in_memory(
    kind: type[Program], tmp_path_factory: pytest.TempPathFactory
) -> None:
    @examples(2)
    @given(seed=st.integers(0, 1000), directed=st.booleans(), transpose=st.booleans())
    def on_graphs_of_some_pages(seed: int, directed: bool, transpose: bool) -> None:
        graph = many_pages(seed, directed)
        program = next(p for p in programs.examples(graph.num_vertices) if type(p) is kind)
        if program.ir().name == "InDegrees" and not transpose:
            transpose = True
        file = stored(graph, tmp_path_factory.mktemp("stream"), transpose=transpose, chunk_bytes=PAGE << seed % 3)
        budget = tiny_budget(program, file, pages=seed % 9)
        with mock.patch.dict(os.environ, {READS: "compiled" if seed % 3 else "threads"}):  # the former also to slots
            check(program, graph, file, StreamEngine(VectorisedLeaf(), budget, page_bytes=PAGE))

    on_graphs_of_some_pages()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_streamed(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "compiled" if seed % 3 else "threads")
    graph = many_pages(seed, directed=seed % 2 == 0)
    file = stored(graph, tmp_path)

    def engine(program: Program) -> tuple[Graph, StreamEngine]:
        return file, StreamEngine(VectorisedLeaf(), tiny_budget(program, file, pages=seed), page_bytes=PAGE)

    check_random(seed, graph, engine)


def outcome(program: Program, graph: Graph, engine: Any) -> Any:
    """The fields after at most ten supersteps; None if a value does not fit its field."""
    try:
        with np.errstate(all="ignore"):
            return dict(dr.run(program, graph, device=engine, max_iter=10))
    except FieldOverflowError:
        return None
