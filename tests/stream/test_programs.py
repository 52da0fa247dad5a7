"""Programs and algorithms on graphs on disk, in budgets of a few pages, give the same results as in memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import FieldOverflowError
from dromos.graph import Graph
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


def check(program: Program, graph: Graph, file: dr.StoredGraph, seed: int) -> None:
    """Every offered path, and the planner's, gives the results of the same leaf in memory, in as many supersteps."""
    inside = PlacedEngine(VectorisedLeaf())
    expected, steps = run(program, graph, "sync-push-dd", engine=inside)
    engine = StreamEngine(VectorisedLeaf(), tiny_budget(program, file, pages=seed % 9), page_bytes=PAGE)
    for path in (None, *engine.prepare(program, file).caps.paths):
        found, taken = run(program, file, None if path is None else str(path), engine=engine)
        assert len(taken) == len(steps), f"{program} {path}"
        for name in expected:
            if name != "parent":  # a choice among equals
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-5, atol=1e-7, err_msg=f"{program} {path} {name}"
                )


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
        check(program, graph, file, seed)

    on_graphs_of_some_pages()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_streamed(seed: int, tmp_path: Path) -> None:
    graph = many_pages(seed, directed=seed % 2 == 0)
    file = stored(graph, tmp_path)
    draw = random.Random(seed)
    kinds = (random_program(draw.randrange(10_000)) for _ in range(99))
    # a stream has out-rows, and in-rows for pulls, but no rows with every edge in both directions
    fitting = (k for k in kinds if analyse(k.typed(TYPES)).deterministic and k.ir().direction == "out")
    program = given_params(next(fitting), graph)
    inside = PlacedEngine(VectorisedLeaf())
    engine = StreamEngine(VectorisedLeaf(), tiny_budget(program, file, pages=seed), page_bytes=PAGE)
    outcomes = [outcome(program, on, how) for on, how in ((graph, inside), (file, engine))]
    assert (outcomes[0] is None) == (outcomes[1] is None)
    for name in outcomes[0] or ():
        np.testing.assert_allclose(outcomes[1][name], outcomes[0][name], rtol=1e-5, atol=1e-7, err_msg=name)


def outcome(program: Program, graph: Graph, engine: Any) -> Any:
    """The fields after at most ten supersteps; None if a value does not fit its field."""
    try:
        with np.errstate(all="ignore"):
            return dict(dr.run(program, graph, device=engine, max_iter=10))
    except FieldOverflowError:
        return None
