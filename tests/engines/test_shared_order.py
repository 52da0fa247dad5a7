"""Delta-stepping on parts that share the values of all vertices, as ranks of one machine do; here in one process."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.sssp import sssp_program
from dromos.engines import graph_types
from dromos.engines.cpu.ordered_part import OrderedPart
from dromos.engines.cpu.shared_order import SharedOrder
from dromos.graph.slices import GraphSlice, equal_edge_bounds
from dromos.places.ordered import RisingLimit
from tests.program.running import run
from tests.sizes import examples


def settle(program: dr.Program, graph: dr.Graph, parts: int, *, together: bool) -> np.ndarray:
    """Run ``parts`` parts to the end, one after the other or all at once, and join what each has of its own."""
    bounds = equal_edge_bounds(graph.offsets, parts).tolist()
    made: list[list[np.ndarray]] = []

    def allocate(wanted: list[tuple[int, type]]) -> list[np.ndarray]:
        if not made:
            made.append([np.full(rows, 7, dtype) for rows, dtype in wanted])  # memory has anything in it
        return made[0]

    runs, owners = [], []
    for number in range(parts):
        first, last = bounds[number], bounds[number + 1]
        part = OrderedPart(program, graph, graph_types(graph), first, last, threads=1)
        part.start()
        part.finish(())
        begin, end = int(graph.offsets[first]), int(graph.offsets[last])
        piece = GraphSlice(
            first, last, graph.offsets[first : last + 1], graph.targets[begin:end], graph.weights[begin:end]
        )
        runs.append(SharedOrder(part, piece if end > begin else None, bounds, number, allocate))
        owners.append(part)
    limit, least = RisingLimit(0.5, graph.num_arcs), -math.inf
    with ThreadPoolExecutor(parts) as pool:
        while True:
            advance = pool.map if together else map
            told = list(advance(SharedOrder.advance, runs, [limit.over(least)] * parts))
            for one in runs:
                one.collect()
            limit.looked_at(sum(looked for _, _, looked, _ in told))
            least = -math.inf if any(near for near, *_ in told) else min(far for _, far, *_ in told)
            if least == math.inf:
                break
    for one in runs:
        one.store()
    assert not any(len(part.frontier) for part in owners)
    return np.concatenate([part.state["distance"][part.first : part.last] for part in owners])


@pytest.mark.parametrize("together", [False, True], ids=["in turn", "together"])
@examples(15, deadline=None)
@given(data=st.data())
def test_shared_values_are_those_of_the_reference_engine(together, data):
    n = data.draw(st.integers(2, 30))
    ends = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(ends, ends, st.sampled_from([0, 0.25, 0.5, 1, 3, 1e5])), min_size=1))
    columns = np.array(edges)
    graph = dr.Graph.from_edges(
        columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2], num_vertices=n, threads=1
    )
    program = sssp_program(np.dtype(np.float64))(source=0)
    expected, _ = run(program, graph, "sync-push-dd")
    found = settle(program, graph, data.draw(st.integers(1, 4)), together=together)
    assert found.tolist() == expected["distance"].tolist()


def test_shared_values_of_a_skewed_graph():
    """Large enough that parts lower the same values at the same time."""
    edges = dr.generators.rmat(11, 8, seed=4).edges()
    weights = np.random.default_rng(4).random(len(edges.src))
    graph = dr.Graph.from_edges(edges.src, edges.dst, weights, threads=1)
    source = int(edges.src[0])
    program = sssp_program(np.dtype(np.float64))(source=source)
    expected = dr.sssp(graph, source, device="numpy").distance
    assert np.isfinite(expected).sum() > 500
    for _ in range(3):
        assert np.array_equal(settle(program, graph, 3, together=True), expected)
