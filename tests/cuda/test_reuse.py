"""Runs that take the memory of earlier ones: the answers of fresh memory, and nothing kept alive by it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import dromos as dr

pytestmark = pytest.mark.gpu

GRAPH = dr.generators.with_random_weights(dr.generators.rmat(9, 8, seed=2, symmetrize=True), 1, 9, seed=1)
LINE = dr.generators.path(300)


class Hops(dr.Program):
    """Levels by a minimum, from the vertices that a given array marks."""

    marked = dr.vertex_param(bool)
    level = dr.field(np.int32)
    combine = dr.MIN

    def init(self, v):
        return dr.where(v.marked, 0, np.iinfo(np.int32).max - 1)

    def start(self, v):
        return v.marked

    def compute(self, u, edge, v):
        return u.level + 1

    def update(self, v, message):
        return dr.minimum(v.level, message)


def marks(*vertices):
    marked = np.zeros(GRAPH.num_vertices, bool)
    marked[list(vertices)] = True
    return marked


CALLS = {
    "bfs": lambda v, **how: dr.bfs(GRAPH, v, **how).level,
    "bfs with a limit": lambda v, **how: dr.bfs(GRAPH, v, depth_limit=2, **how).level,
    "bfs on a path": lambda v, **how: dr.bfs(LINE, v, **how).level,
    "sssp": lambda v, **how: dr.sssp(GRAPH, v, **how).distance,
    "pagerank": lambda v, **how: dr.pagerank(GRAPH, alpha=0.5 + v / 100, **how).rank,
    "a program": lambda v, **how: dr.run(Hops(marked=marks(v, v + 1)), GRAPH, **how).level,
}


@pytest.mark.parametrize("name", CALLS)
def test_the_second_run_answers_as_the_first(name):
    call = CALLS[name]
    for vertex in (1, 5, 9, 1):
        expected = call(vertex, device="numpy")
        assert np.allclose(call(vertex, device="cuda"), expected, rtol=1e-5), vertex


def test_results_that_stay_on_the_device_are_not_written_to():
    first = dr.bfs(GRAPH, 1, device="cuda", keep_on_device=True)
    before = first.level.get()
    dr.bfs(GRAPH, 7, device="cuda", keep_on_device=True)
    assert np.array_equal(first.level.get(), before)


def test_a_graph_goes_although_runs_on_it_wait():
    graph = dr.generators.rmat(8, 8, seed=4)
    dr.bfs(graph, 0, device="cuda")
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    assert gone() is None


def test_an_overflow_leaves_nothing_behind():
    class Doubling(dr.Program):
        first = dr.param(int)
        value = dr.field(np.int32)
        combine = dr.MAX

        def init(self, v):
            return dr.where(v.id == self.first, 1, 0)

        def start(self, v):
            return v.id == self.first

        def compute(self, u, edge, v):
            return dr.cast(u.value, np.int64) * 2

        def update(self, v, message):
            return dr.maximum(v.value, message)

    line = dr.generators.path(6)
    assert dr.run(Doubling(first=0), line, device="cuda", max_iter=3).value.tolist()[:4] == [
        *dr.run(Doubling(first=0), line, device="numpy", max_iter=3).value.tolist()[:4]
    ]
    with pytest.raises(dr.DromosError):
        dr.run(Doubling(first=0), line, device="cuda")
    expected = dr.run(Doubling(first=2), line, device="numpy", max_iter=3).value
    assert np.array_equal(dr.run(Doubling(first=2), line, device="cuda", max_iter=3).value, expected)
