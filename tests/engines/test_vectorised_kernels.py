"""The native kernels on whole arrays mean what plain Python says."""

from __future__ import annotations

import numpy as np
from hypothesis import given

import dromos as dr
from dromos.algorithms.arguments import simple
from dromos.engines.native import plain
from dromos.engines.vectorised import kernels
from tests.algorithms.support import examples, graphs


@examples(60)
@given(graph=graphs(low=0, high=9))
def test_labels_of_communities(graph):
    for rounds in (0, 1, 3):
        expected = plain.cdlp(graph, max_iter=rounds, directed=graph.directed)
        found = kernels.cdlp(graph, max_iter=rounds, directed=graph.directed)
        for name, values in expected.items():
            assert found[name].dtype == values.dtype
            assert found[name].tolist() == values.tolist()


@examples(60)
@given(graph=graphs(low=0, high=9, directed=False))
def test_triangles(graph):
    without_parallels = simple(graph)
    expected, found = plain.triangles(without_parallels), kernels.triangles(without_parallels)
    assert found["triangles"].tolist() == expected["triangles"].tolist()
    assert found["total"] == expected["total"]


def test_triangles_in_several_pieces(monkeypatch):
    graph = dr.generators.rmat(8, 16, dedupe=True, drop_self_loops=True, seed=1)
    expected = plain.triangles(graph)
    for at_once in (1, 7, 1000):
        monkeypatch.setattr(kernels, "_AT_ONCE", at_once)
        found = kernels.triangles(graph)
        assert np.array_equal(found["triangles"], expected["triangles"])
        assert found["total"] == expected["total"]
