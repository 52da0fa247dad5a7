"""Public algorithms over slices and parts, and on NumPy alone, against the reference engine and their verifiers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.graph import Graph, generators

PLACES: dict[str, dict[str, Any]] = {
    "numpy": {"device": "numpy"},
    "slices and parts": {"device": "numpy", "slices": 3, "parts": 2},
}


def directed() -> Graph:
    graph = generators.with_random_weights(generators.uniform(30, 110, seed=5), 1, 9, seed=6)
    return graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]


def undirected() -> Graph:
    graph = generators.with_random_weights(generators.uniform(25, 45, seed=7, directed=False), 1, 9, seed=8)
    return graph.with_weights(graph.weights.astype(np.float32))  # type: ignore[union-attr]


ALGORITHMS: dict[str, Callable[..., Any]] = {
    "bfs": lambda g, **how: dr.bfs(g, 0, **how),
    "sssp": lambda g, **how: dr.sssp(g, 0, **how),
    "pagerank": lambda g, **how: dr.pagerank(g, **how),
    "connected_components": lambda g, **how: dr.connected_components(g, **how),
    "strongly_connected_components": lambda g, **how: dr.strongly_connected_components(g, **how),
    "betweenness": lambda g, **how: dr.betweenness(g, **how),
    "edge_betweenness": lambda g, **how: dr.edge_betweenness(g, **how),
    "core_numbers": lambda g, **how: dr.core_numbers(g, **how),
    "k_core": lambda g, **how: dr.k_core(g, 2, **how),
    "spmv": lambda g, **how: dr.spmv(g, np.arange(g.num_vertices) / 8, **how),
    "closeness": lambda g, **how: dr.closeness(g, **how),
    "harmonic": lambda g, **how: dr.harmonic(g, **how),
    "eccentricity": lambda g, **how: dr.eccentricity(g, **how),
    "multi_source_bfs": lambda g, **how: dr.multi_source_bfs(g, [0, 3, 7], **how),
    "neighbourhood_function": lambda g, **how: dr.neighbourhood_function(g, registers=16, **how),
    "random_walk_with_restart": lambda g, **how: dr.random_walk_with_restart(g, 0, **how),
    "coloring": lambda g, **how: dr.coloring(g, **how),
    "maximal_matching": lambda g, **how: dr.maximal_matching(g, **how),
    "minimum_spanning_forest": lambda g, **how: dr.minimum_spanning_forest(g, **how),
    "biconnected_components": lambda g, **how: dr.biconnected_components(g, **how),
}
"""The others either need no program, or are listed below."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("make", [directed, undirected])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm(name: str, make: Callable[[], Graph], place: str) -> None:
    graph = make()
    if name in ("core_numbers", "k_core", "minimum_spanning_forest", "biconnected_components") and graph.directed:
        graph = undirected()
    found, expected = (ALGORITHMS[name](graph, **how) for how in (PLACES[place], {"device": "reference"}))
    found.verify()
    for field in expected._columns:
        if field not in ("parent", "predecessor"):  # a choice among equals
            np.testing.assert_allclose(found[field], expected[field], rtol=1e-5, atol=1e-7, err_msg=field)


def test_what_is_no_program_runs_in_plain_python_on_numpy_alone() -> None:
    assert dr.triangles(generators.complete(5), device="numpy").triangles.tolist() == [6] * 5
    dr.label_propagation(undirected(), device="numpy").verify()


def test_numpy_needs_no_compiler() -> None:
    text = """
import sys
sys.modules["llvmlite"] = None
import numpy as np
import dromos as dr
graph = dr.Graph.from_edges(np.arange(100), np.append(np.arange(1, 100), 0))
assert dr.bfs(graph, 0, device="numpy").level[-1] == 99
assert abs(dr.pagerank(graph, device="numpy", path="sync-pull-td").rank.sum() - 1) < 1e-6
assert dr.connected_components(graph, device="numpy").count == 1
assert dr.core_numbers(graph, device="numpy").degeneracy == 2
assert dr.closeness(graph, device="numpy") is not None
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=600)
