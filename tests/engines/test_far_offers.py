"""Offers that do not fit in a cache are prefetched; that changes no digit of a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.pagerank import pagerank_program
from dromos.engines.cpu import offers
from dromos.graph import Graph
from dromos.program import Program
from tests.program import programs
from tests.stream.sorting import PULL, Mixing

GRAPHS = {
    "empty": Graph.from_edges([], [], num_vertices=0),
    "no arcs": Graph.from_edges([], [], num_vertices=5),
    "one vertex": Graph.from_edges([0], [0], num_vertices=1),
    "star": dr.generators.star(100_000),
    "path": dr.generators.path(70),
    "rmat": dr.generators.rmat(11, 8, seed=4, symmetrize=False),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("how", [{}, {"slices": 3}, {"parts": 2}], ids=["whole", "slices", "parts"])
@pytest.mark.parametrize("kind", ["floats", "two numbers", "least"])
def test_far_offers_give_the_same_digits(
    kind: str, how: dict[str, Any], graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    program: Program = {
        "floats": pagerank_program()(alpha=0.85, tolerance=0.0),
        "two numbers": Mixing(),
        "least": programs.Components(),
    }[kind]
    found = []
    for least in (0, 1 << 60):
        monkeypatch.setattr(offers, "FAR_BYTES", least)
        result = dr.run(program, graph, device="cpu", threads=2, path=str(PULL), max_iter=5, **how)
        found.append({spec.name: result[spec.name] for spec in program.ir().fields})
    expected = dr.run(program, graph, device="numpy", max_iter=5)
    for name, far in found[0].items():
        assert far.tobytes() == found[1][name].tobytes(), name
        np.testing.assert_allclose(far, expected[name], rtol=1e-12, err_msg=name)
