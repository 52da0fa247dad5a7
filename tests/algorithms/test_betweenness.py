"""Betweenness: NetworkX's numbers for all sources, drawn ones and given ones."""

from __future__ import annotations

import importlib
import os
import signal
import threading
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.betweenness import Dependencies, LevelDependencies, Paths
from dromos.engines.native.betweenness import betweenness as betweenness_kernel
from dromos.errors import FieldOverflowError, InvalidArgumentError, UnknownVertexError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row


@on_every_device
@examples(10)
@given(graph=graphs(high=7), normalized=st.booleans(), endpoints=st.booleans(), data=st.data())
def test_centralities_are_those_of_networkx_on_every_path(device, graph, normalized, endpoints, data):
    n = graph.num_vertices
    k = data.draw(st.none() | st.integers(1, n)) if n else None
    options = {"k": k, "normalized": normalized, "endpoints": endpoints, "seed": 3}
    expected = row(nx.betweenness_centrality(as_networkx(graph), **options), n, 0)
    for path in legal_paths(graph, Paths, Dependencies, LevelDependencies):
        for few in (64, 1, -1):  # with the last two, most or all searches have too many levels to go by them
            with patch.object(importlib.import_module("dromos.algorithms.betweenness"), "_FEW_LEVELS", few):
                result = dr.betweenness(graph, **options, device=device, path=path)
            np.testing.assert_allclose(result.centrality, expected, rtol=1e-12, atol=1e-12)
        result.verify()


def exact(graph, source):
    """Brandes with whole numbers of any size; a quotient of two is a float rounded once."""
    offsets, targets = graph.offsets.tolist(), graph.targets.tolist()
    level, paths, before, order = {source: 0}, {source: 1}, {source: []}, [source]
    for u in order:
        for v in targets[offsets[u] : offsets[u + 1]]:
            if v not in level:
                level[v], paths[v], before[v] = level[u] + 1, 0, []
                order.append(v)
            if level[v] == level[u] + 1:
                paths[v] += paths[u]
                before[v].append(u)
    dependency = np.zeros(graph.num_vertices)
    for v in reversed(order[1:]):
        for u in before[v]:
            dependency[u] += paths[u] / paths[v] * (1 + dependency[v])
    dependency[source] = 0
    return dependency


def diamonds(count, width=2):
    """A chain: each link is two ends with ``width`` vertices between them; the ids of the ends are a step apart."""
    ends = np.arange(count + 1) * (width + 1)
    inner = (ends[:-1, None] + np.arange(1, width + 1)).ravel()
    left, right = np.repeat(ends[:-1], width), np.repeat(ends[1:], width)
    return np.concatenate([left, inner]), np.concatenate([inner, right])


@pytest.mark.parametrize(("count", "width"), [(150, 2), (1200, 2), (700, 5)])
@pytest.mark.parametrize("directed", [False, True])
def test_more_paths_than_a_float_can_count(count, width, directed):
    graph = dr.Graph.from_edges(*diamonds(count, width), directed=directed)
    for source in (0, (width + 1) * (count // 2), 1):
        result = dr.betweenness(graph, sources=[source], normalized=False, endpoints=True)
        expected = exact(graph, source)
        reached = dr.bfs(graph, source).level > 0
        expected[reached] += 1
        expected[source] = np.count_nonzero(reached)
        np.testing.assert_allclose(result.centrality / result.centrality.max(), expected / expected.max(), rtol=1e-12)


def test_a_lattice_with_counts_of_every_size_in_one_level():
    graph = dr.generators.grid(530, 530)
    dependency = betweenness_kernel(graph, sources=[0], threads=2)["dependency"]
    np.testing.assert_allclose(dependency, exact(graph, 0), rtol=1e-11)


@examples(25)
@given(graph=graphs(low=1, high=12, directed=False), data=st.data())
def test_any_graph_behind_a_long_chain(graph, data):
    chain, width = 250, 2
    src, dst = diamonds(chain, width)
    first, edges = chain * (width + 1), graph.edges()
    joins = [(first - 3 * data.draw(st.integers(0, 40)), first + data.draw(st.integers(0, graph.num_vertices - 1)))
             for _ in range(data.draw(st.integers(0, 3)))]  # fmt: skip
    ends = np.array(joins, dtype=np.int64).reshape(-1, 2)
    whole = dr.Graph.from_edges(
        np.concatenate([src, first + edges.src, ends[:, 0]]), np.concatenate([dst, first + edges.dst, ends[:, 1]]),
        directed=False, dedupe=True, drop_self_loops=True,
    )  # fmt: skip
    dependency = betweenness_kernel(whole, sources=[0], threads=1)["dependency"]
    np.testing.assert_allclose(dependency, exact(whole, 0), rtol=1e-11, atol=1e-300)


def test_programs_say_that_they_cannot_count_so_far():
    graph = dr.Graph.from_edges(*diamonds(1200), directed=False)
    with pytest.raises(FieldOverflowError, match="from vertex 0 there are more shortest paths than"):
        dr.betweenness(graph, sources=[0, 1], path="sync-push-dd")


@pytest.mark.parametrize("directed", [False, True])
def test_large_levels_and_many_threads(directed):
    drawn = dr.generators.rmat(12, 16, seed=5, dedupe=True, drop_self_loops=True).edges()
    graph = dr.Graph.from_edges(drawn.src, drawn.dst, num_vertices=4096, directed=directed)
    sources = [3, 9, 77]
    expected = sum(exact(graph, source) for source in sources)
    for threads in (1, 2, 5):
        dependency = betweenness_kernel(graph, sources=sources, threads=threads)["dependency"]
        np.testing.assert_allclose(dependency, expected, rtol=1e-10, atol=1e-12)


def test_threads_with_sources_of_their_own_and_progress():
    graph = dr.generators.uniform(400, 1600, seed=8, dedupe=True, drop_self_loops=True)
    told = []
    expected = dr.betweenness(graph, threads=1)
    result = dr.betweenness(graph, threads=3, progress=lambda done, total: told.append((done, total)))
    np.testing.assert_allclose(result.centrality, expected.centrality, rtol=1e-12)
    assert told == sorted(told)
    assert told[-1] == (400, 400)
    again = dr.betweenness(graph, threads=3)
    assert again.centrality.tobytes() == result.centrality.tobytes()


def test_ctrl_c_stops_a_sweep():
    graph = dr.generators.rmat(16, 16, seed=1)
    dr.betweenness(graph, k=2)  # compiled, and the transpose is known
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        dr.betweenness(graph)


@on_every_device
def test_an_edge_of_infinite_weight_is_no_way(device):
    src, dst = np.array([0, 0, 1, 1, 2, 3, 4]), np.array([1, 2, 2, 3, 4, 4, 5])
    weights = np.array([1.0, np.inf, 1.0, np.inf, 2.0, 1.0, np.inf])
    usable = np.isfinite(weights)
    for directed in (False, True):
        with_all = dr.Graph.from_edges(src, dst, weights, directed=directed)
        kept = src[usable], dst[usable], weights[usable]
        expected = dr.betweenness(
            dr.Graph.from_edges(*kept, num_vertices=6, directed=directed), weight="weight", device="reference"
        )
        result = dr.betweenness(with_all, weight="weight", device=device)
        np.testing.assert_allclose(result.centrality, expected.centrality, rtol=1e-12)
        result.verify()


def test_the_weight_of_a_loop_is_not_looked_at():
    graph = dr.Graph.from_edges([0, 1, 1], [1, 2, 1], [1.0, 2.0, 0.0], directed=False)
    assert dr.betweenness(graph, weight="weight", device="numpy").centrality.tolist() == [0, 1, 0]


@on_every_device
def test_a_path_longer_than_all_floats_is_none(device):
    graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 3], [1e308, 1e308, 1e308], directed=False)
    found = dr.betweenness(graph, weight="weight", normalized=False, device=device).centrality
    assert found.tolist() == [0, 0, 0, 0]


def test_a_seed_may_be_a_number_of_numpy():
    graph = dr.generators.cycle(9)
    drawn = dr.betweenness(graph, k=3, seed=5, device="numpy").centrality
    assert np.array_equal(dr.betweenness(graph, k=np.int64(3), seed=np.uint8(5), device="numpy").centrality, drawn)


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
        ({"k": 9}, InvalidArgumentError, "k=9 is more than the 4 vertices"),
        ({"k": -1}, InvalidArgumentError, "k=-1"),
        ({"k": 2, "sources": [0]}, InvalidArgumentError, "k and sources exclude each other"),
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
