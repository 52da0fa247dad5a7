"""Parts in rows and columns give the results of the reference engine on the whole graph."""

from __future__ import annotations

from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.parts import Leaf
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.grid import Grid
from dromos.plan import Path
from dromos.program import Program
from tests.places.test_cpu import weighted
from tests.places.test_programs import check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.small_graphs import graphs
from tests.runner.test_checkpoint import Killed, killed_at
from tests.sizes import examples

EDGE_VALUES = [type(p) for p in programs.examples(3) if type(p).ir().edge_fields or type(p).ir().edge_params]
KINDS = [type(p) for p in programs.examples(3) if type(p) not in EDGE_VALUES]
COMPILED = [programs.BFS, programs.SSSPWithParents, programs.BCBackward, programs.PageRank]  # each takes seconds


@pytest.mark.parametrize("leaf", [ReferenceLeaf, VectorisedLeaf], ids=lambda leaf: leaf.name)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_in_random_grids(kind: type[Program], leaf: type[Leaf]) -> None:
    @examples(2 if leaf is ReferenceLeaf else 4)
    @given(graph=graphs(max_vertices=8), rows=st.integers(1, 3), columns=st.integers(1, 3))
    def on_small_graphs(graph: Graph, rows: int, columns: int) -> None:
        check_on(kind, graph, PlacedEngine(leaf(), grid=Grid(rows, columns)))

    on_small_graphs()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    kind = random_program(seed)
    if kind.ir().edge_fields or kind.ir().edge_params:
        pytest.skip("arcs have values of their own")
    engine = PlacedEngine(VectorisedLeaf(), grid=Grid(2, 2))
    assert list(disagreements(kind, seed, engine, graphs=3, only="sync")) == []


@pytest.mark.parametrize("kind", COMPILED, ids=lambda kind: kind.__name__)
def test_compiled_programs(kind: type[Program]) -> None:
    for rows, columns in ((2, 2), (1, 2), (3, 1), (2, 3)):
        engine = PlacedEngine(CpuLeaf(threads=2), grid=Grid(rows, columns))
        check_on(kind, weighted(generators.uniform(150, 500, seed=2)), engine)
        check_on(kind, weighted(generators.star(9)), engine)


def test_a_claim_is_told_to_its_row_alone() -> None:
    """A search of one level: the owner of each leaf is notified once, whatever the direction."""
    star = generators.star(200)
    for direction in ("push", "pull"):
        execution = PlacedEngine(CpuLeaf(threads=1), grid=Grid(2, 2)).prepare(programs.BFS(source=0), star)
        stats = execution.step(Path(direction=direction))
        assert stats.frontier == 200
        assert stats.messages <= 2 * 200  # one for each, and one more if it came from another part


@pytest.mark.parametrize("kind", EDGE_VALUES, ids=lambda kind: kind.__name__)
def test_values_of_arcs_are_refused(kind: type[Program]) -> None:
    graph = weighted(generators.path(5))
    program = next(program for program in programs.examples(5) if type(program) is kind)
    with pytest.raises(InvalidArgumentError, match="has a value for each arc, and in a grid"):
        PlacedEngine(VectorisedLeaf(), grid=Grid(2, 1)).prepare(program, graph)


@pytest.mark.parametrize(("text", "reason"), [("3x2", "has 6 parts, not 4"), ("0x4", "not a grid")])
def test_grids_that_do_not_fit(text: str, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        Grid.parse(text, 4)


def test_the_squarest_grid() -> None:
    assert [str(Grid.parse("2d", parts)) for parts in (1, 2, 6, 7, 16)] == ["1x1", "1x2", "2x3", "1x7", "4x4"]


@pytest.mark.parametrize("kind", [programs.BFS, programs.PageRank], ids=lambda kind: kind.__name__)
def test_a_grid_goes_on_from_a_checkpoint(kind: type[Program], tmp_path: FilePath) -> None:
    graph = weighted(generators.path(40))
    program = next(program for program in programs.examples(40) if type(program) is kind)
    how = {"device": PlacedEngine(VectorisedLeaf(), grid=Grid(2, 2)), "path": "sync-push-dd", "max_iter": 8}
    whole = dr.run(program, graph, **how)
    saved = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0}
    with pytest.raises(Killed):
        dr.run(program, graph, progress=killed_at(4), **how, **saved)
    again = dr.run(program, graph, **how, **saved)
    assert again.trace[0].path == "checkpoint"
    for name in whole:
        assert again[name].tobytes() == whole[name].tobytes(), name
