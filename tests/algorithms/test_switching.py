"""The answer does not depend on which paths the steps of a run take: every step may take another one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.algorithms.bfs import BFS
from dromos.algorithms.connected_components import Components
from dromos.algorithms.core_numbers import Peel
from dromos.algorithms.pagerank import pagerank_program
from dromos.algorithms.sssp import sssp_program
from dromos.engines.reference import ReferenceEngine
from dromos.runner.devices import engine_for
from tests.algorithms.support import examples, graphs

PROGRAMS = {
    "bfs": lambda graph: BFS(source=0),
    "sssp": lambda graph: sssp_program(np.dtype(np.float64))(source=0),
    "components": lambda graph: Components(),
    "pagerank": lambda graph: pagerank_program()(alpha=0.5, tolerance=1e-9),
    "peel": lambda graph: Peel(k=2),
}


def run(engine, program, graph, choose):
    execution = engine.prepare(program, graph)
    while not execution.stats.finished:
        execution.step(choose(execution.caps.paths))
    return execution


@pytest.mark.parametrize("name", PROGRAMS)
@examples(25)
@given(graph=graphs(low=1, weights=(0.5, 1.0, 3.0), unweighted=False), data=st.data())
def test_any_order_of_paths_gives_the_answer(name, graph, data):
    program = PROGRAMS[name](graph)
    expected = run(ReferenceEngine(), program, graph, lambda paths: paths[0])
    found = run(engine_for("cpu"), program, graph, lambda paths: data.draw(st.sampled_from(paths)))
    for field, values in expected.result().items():
        if field != "parent":  # any parent of the level above will do
            np.testing.assert_allclose(found.result()[field], values, rtol=1e-12, atol=1e-12)
    if name in ("pagerank", "bfs"):
        assert found.stats.superstep == expected.stats.superstep
