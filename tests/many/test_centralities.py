"""Closeness, harmonic centrality and eccentricities are NetworkX's."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from tests.algorithms.support import as_networkx, examples, graphs, on_every_device, row

DATA = Path(__file__).parent.parent / "data"


@on_every_device
@examples(20)
@given(graphs(high=12))
def test_closeness_is_networkx(device, graph):
    for improved in (True, False):
        ours = dr.closeness(graph, wf_improved=improved, device=device)
        theirs = nx.closeness_centrality(as_networkx(graph), wf_improved=improved)
        assert np.allclose(ours.centrality, row(theirs, graph.num_vertices, 0.0))
    ours.verify()


@on_every_device
@examples(20)
@given(graphs(low=1, high=12))
def test_harmonic_is_networkx(device, graph):
    n = graph.num_vertices
    ours = dr.harmonic(graph, device=device)
    assert np.allclose(ours.centrality, row(nx.harmonic_centrality(as_networkx(graph)), n, 0.0))
    ours.verify()
    some, few = list(range(0, n, 2)), list(range(0, n, 3))
    theirs = nx.harmonic_centrality(as_networkx(graph), nbunch=few, sources=some)
    ours = dr.harmonic(graph, nbunch=few, sources=some, device=device)
    assert np.allclose(ours.centrality, row(theirs, n, np.nan), equal_nan=True)
    ours.verify()
    only = dr.harmonic(graph, nbunch=few, device=device)
    assert np.allclose(only.centrality[few], dr.harmonic(graph).centrality[few])


@on_every_device
@examples(20)
@given(graphs(low=1, high=12))
def test_eccentricity_is_networkx_or_both_refuse(device, graph):
    other = as_networkx(graph)
    connected = nx.is_strongly_connected(other) if graph.directed else nx.is_connected(other)
    if not connected:
        for call in (dr.eccentricity, dr.diameter, dr.radius):
            with pytest.raises(dr.errors.AlgorithmError, match="connected"):
                call(graph, device=device)
        return
    theirs = row(nx.eccentricity(other), graph.num_vertices, -1)
    result = dr.eccentricity(graph, device=device)
    assert np.array_equal(result.eccentricity, theirs)
    assert (result.diameter, result.radius) == (theirs.max(), theirs.min())
    result.verify()
    for name, value in (("diameter", theirs.max()), ("radius", theirs.min())):
        result = getattr(dr, name)(graph, device=device)
        assert getattr(result, name) == value
        assert np.all((result.lower <= theirs) & (theirs <= result.upper))


def test_an_estimate_from_all_vertices_is_exact():
    graph = dr.read(DATA / "ego-Facebook.txt.gz").subgraph(np.arange(600))
    n = graph.num_vertices
    assert np.allclose(dr.closeness(graph, k=n, seed=1).centrality, dr.closeness(graph).centrality)
    assert np.allclose(dr.harmonic(graph, k=n, seed=1).centrality, dr.harmonic(graph).centrality)
    rough = dr.closeness(graph, k=n // 2, seed=1).centrality
    assert np.array_equal(rough, dr.closeness(graph, k=n // 2, seed=1).centrality)
    assert np.corrcoef(rough, dr.closeness(graph).centrality)[0, 1] > 0.9


def test_a_real_graph_directed_and_undirected():
    graph = dr.read(DATA / "wiki-Vote.txt.gz")
    some = graph.subgraph(graph.labels.to_numpy()[:500])
    assert some.directed
    other = as_networkx(some)
    assert np.allclose(dr.closeness(some).centrality, row(nx.closeness_centrality(other), 500, 0.0))
    assert np.allclose(dr.harmonic(some).centrality, row(nx.harmonic_centrality(other), 500, 0.0))
    whole = dr.read(DATA / "PGPgiantcompo.graph.gz")
    assert (dr.diameter(whole).diameter, dr.radius(whole).radius) == (24, 12)
    assert dr.diameter(whole).searches < whole.num_vertices / 4
