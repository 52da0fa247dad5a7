"""Betweenness: NetworkX's numbers for all sources, drawn ones and given ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.betweenness import Dependencies, Paths
from dromos.errors import InvalidArgumentError, UnknownVertexError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row


@on_every_device
@examples(10)
@given(graph=graphs(high=7), normalized=st.booleans(), endpoints=st.booleans(), data=st.data())
def test_centralities_are_those_of_networkx_on_every_path(device, graph, normalized, endpoints, data):
    n = graph.num_vertices
    k = data.draw(st.none() | st.integers(1, n)) if n else None
    options = {"k": k, "normalized": normalized, "endpoints": endpoints, "seed": 3}
    expected = row(nx.betweenness_centrality(as_networkx(graph), **options), n, 0)
    for path in legal_paths(graph, Paths, Dependencies):
        result = dr.betweenness(graph, **options, device=device, path=path)
        np.testing.assert_allclose(result.centrality, expected, rtol=1e-12, atol=1e-12)
        result.verify()


def test_given_sources_are_the_same_as_drawn_ones():
    graph = dr.Graph.from_edges(["a", "b", "c", "c"], ["b", "c", "d", "a"], directed=False)
    drawn = dr.betweenness(graph, k=4, device="reference")
    given_ = dr.betweenness(graph, sources=["a", "b", "c", "d"], normalized=False, endpoints=True, device="reference")
    every = dr.betweenness(graph, normalized=False, endpoints=True, device="reference")
    np.testing.assert_allclose(given_.centrality, every.centrality)
    assert drawn.top(1)[0][0] == "c"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"k": 9}, InvalidArgumentError, "k=9 sources cannot be drawn from 4"),
        ({"k": -1}, InvalidArgumentError, "k=-1"),
        ({"k": 2, "sources": [0]}, InvalidArgumentError, "k or sources, not both"),
        ({"sources": [0, 0]}, InvalidArgumentError, "twice"),
        ({"sources": [0, 4]}, UnknownVertexError, "no vertex 4"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        dr.betweenness(dr.generators.path(4), device="reference", **arguments)


def test_the_verifier_refuses_a_sum_that_is_not_that_of_the_paths():
    result = dr.betweenness(dr.generators.path(5), device="reference")
    result.verify()
    result["centrality"][2] += 0.1
    with pytest.raises(VerificationError, match="the dependencies sum to"):
        result.verify()
