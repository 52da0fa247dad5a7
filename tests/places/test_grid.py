"""Parts in rows and columns give what the reference engine gives on the whole graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.parts import Leaf
from dromos.engines.reference_part import ReferenceLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.graph import Graph, generators
from dromos.places import PlacedEngine
from dromos.places.grid import Grid
from dromos.program import Program
from tests.places.test_programs import check_on
from tests.program import programs
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program
from tests.program.running import graphs
from tests.sizes import examples

EDGE_VALUES = [type(p) for p in programs.examples(3) if type(p).ir().edge_fields or type(p).ir().edge_params]
KINDS = [type(p) for p in programs.examples(3) if type(p) not in EDGE_VALUES]


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


@pytest.mark.parametrize("kind", [programs.BFS, programs.SSSP, programs.PageRank], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("grid", ["2x2", "1x2", "2x1", "2x3"])
def test_compiled_programs(kind: type[Program], grid: str) -> None:
    rows, columns = map(int, grid.split("x"))
    engine = PlacedEngine(CpuLeaf(2), grid=Grid(rows, columns))
    for graph in (generators.uniform(300, 900, seed=2), generators.star(9), generators.path(130)):
        weighted = generators.with_random_weights(graph, 1, 9, seed=2)
        check_on(kind, weighted.with_weights(np.asarray(weighted.weights, np.float32)), engine)
