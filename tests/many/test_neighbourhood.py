"""Estimates of the neighbourhood function: near the exact one, the same for the same seed, on every path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.algorithms.neighbourhood_function import Registers
from tests.algorithms.support import examples, graphs, legal_paths

DATA = Path(__file__).parent.parent / "data"


def exact(graph):
    rows = dr.distances(graph, range(graph.num_vertices)).distance
    return np.array([np.count_nonzero((rows >= 0) & (rows <= distance)) for distance in range(rows.max() + 1)])


@pytest.mark.parametrize("directed", [True, False])
def test_the_estimate_is_near(directed):
    whole = dr.read(DATA / "wiki-Vote.txt.gz")
    graph = dr.Graph.from_edges(*whole.edges()[:2], directed=directed).subgraph(np.arange(1200))
    graph = dr.Graph.from_csr(graph.offsets, graph.targets, directed=directed)
    result = dr.neighbourhood_function(graph, seed=3)
    result.verify()
    counts = exact(graph)
    common = min(len(counts), len(result.pairs))
    assert abs(len(counts) - len(result.pairs)) <= 2
    assert np.all(np.abs(result.pairs[:common] / counts[:common] - 1) < 0.4)
    steps = np.diff(counts)
    mean = (steps * np.arange(1, len(counts))).sum() / steps.sum()
    assert result.average_distance == pytest.approx(mean, rel=0.1)
    assert 0 < result.effective_diameter <= len(counts)
    again = dr.neighbourhood_function(graph, seed=3)
    assert np.array_equal(again.pairs, result.pairs)


@examples(4)
@given(graphs(low=1, high=6))
def test_every_legal_path_gives_the_same(graph):
    expected = dr.neighbourhood_function(graph, registers=16, device="reference").pairs
    for path in legal_paths(graph, Registers):
        result = dr.neighbourhood_function(graph, registers=16, device="reference", path=path)
        assert np.array_equal(result.pairs, expected)


def test_limits_and_trouble():
    graph = dr.generators.path(9)
    assert dr.neighbourhood_function(graph, registers=16, max_distance=2).distance.tolist() == [0, 1, 2]
    assert dr.neighbourhood_function(dr.Graph.from_edges([], []), registers=16).pairs.tolist() == [0.0]
    with pytest.raises(dr.errors.InvalidArgumentError, match="16, 32, 64"):
        dr.neighbourhood_function(graph, registers=20)
