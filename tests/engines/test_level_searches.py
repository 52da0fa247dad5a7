"""A search by levels said as a minimum runs as one that claims vertices, and means what the reference engine means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr


class Hops(dr.Program):
    """Levels from a source, up to the fourth edge."""

    source = dr.param(int)
    hops = dr.field(np.int32)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return dr.where(v.id == self.source, 0, 4)

    def start(self, v: Any) -> Any:
        return v.id == self.source

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.hops + 1

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.hops, message)


def directed(n: int, arcs: int) -> dr.Graph:
    rng = np.random.default_rng(5)
    return dr.Graph.from_edges(rng.integers(0, n, arcs) ** 2 // n, rng.integers(0, n, arcs), num_vertices=n)


GRAPHS = {
    "further than the field": dr.generators.path(30),
    "thin and wide": dr.generators.rmat(9, 8, seed=3),
    "a star": dr.generators.star(300),
    "directed": directed(400, 4000),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_levels_agree_with_the_reference(name: str) -> None:
    graph = GRAPHS[name]
    source = int(np.argmax(graph.out_degree))
    expected = dr.run(Hops(source=source), graph, device="reference", path="sync-push-dd")
    for how in ({"threads": 1}, {"threads": 3}, {"path": "sync-pull-dd"}, {"path": "sync-push-dd"}, {"max_iter": 2}):
        found = dr.run(Hops(source=source), graph, device="cpu", **how)  # type: ignore[arg-type]
        if "max_iter" in how:
            cut = dr.run(Hops(source=source), graph, device="reference", path="sync-push-dd", max_iter=2)
            assert np.array_equal(found.hops, cut.hops)
            continue
        assert np.array_equal(found.hops, expected.hops)
        assert [row.frontier for row in found.trace] == [row.frontier for row in expected.trace]
        assert {row.path for row in found.trace} <= {"sync-push-dd", "sync-pull-dd"}
