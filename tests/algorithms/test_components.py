"""Components, weak and strong: against NetworkX on every path, by programs and by kernels."""

from __future__ import annotations

from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.connected_components import Components
from dromos.algorithms.connected_components import verify as verify_weak
from dromos.algorithms.strongly_connected_components import Color, Reach, Trim
from dromos.algorithms.strongly_connected_components import verify as verify_strong
from dromos.engines.native.strong import strong
from dromos.errors import VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device

strong_components = import_module("dromos.algorithms.strongly_connected_components")  # the function hides it


def least_ids(parts, n):
    label = np.full(n, -1)
    for part in parts:
        label[list(part)] = min(part)
    return label.tolist()


@on_every_device
@examples(40)
@given(graph=graphs(high=12))
def test_weak_components_are_those_of_networkx_on_every_path(device, graph):
    parts = list(nx.connected_components(as_networkx(graph).to_undirected()))
    for path in legal_paths(graph, Components):
        result = dr.connected_components(graph, device=device, path=path)
        assert result.label.tolist() == least_ids(parts, graph.num_vertices)
        assert result.count == len(parts)
        result.verify()


@on_every_device
@examples(25)
@given(graph=graphs(high=10))
def test_strong_components_are_those_of_networkx_on_every_path(device, graph):
    parts = list(nx.strongly_connected_components(as_networkx(graph).to_directed()))
    for path in legal_paths(graph, Trim, Color, Reach):
        result = dr.strongly_connected_components(graph, device=device, path=path)
        assert result.label.tolist() == least_ids(parts, graph.num_vertices)
        assert result.count == len(parts)
        result.verify()


@examples(60)
@given(seed=st.integers(0, 9999), n=st.integers(1, 60), degree=st.sampled_from((0.5, 1.0, 1.5, 3.0)))
def test_one_search_finds_strong_components_also_among_some(seed, n, degree):
    chance = np.random.default_rng(seed)
    ends = chance.integers(0, n, (2, int(degree * n)))
    graph = dr.Graph.from_edges(*ends, num_vertices=n)
    among = chance.random(n) < 0.8
    other = as_networkx(graph)
    parts = list(nx.strongly_connected_components(other))
    assert strong(graph)["label"].tolist() == least_ids(parts, n)
    inner = list(nx.strongly_connected_components(other.subgraph(np.flatnonzero(among).tolist())))
    expected = least_ids([*inner, *({v} for v in np.flatnonzero(~among).tolist())], n)
    assert strong(graph, among=among)["label"].tolist() == expected


@examples(60)
@given(
    seed=st.integers(0, 9999),
    n=st.integers(0, 60),
    degree=st.sampled_from((1.0, 2.0, 4.0)),
    most=st.sampled_from((1, 3, 64)),
)
def test_two_searches_and_one_of_the_rest_find_strong_components(seed, n, degree, most):
    chance = np.random.default_rng(seed)
    graph = dr.Graph.from_edges(*chance.integers(0, n or 1, (2, int(degree * n))), num_vertices=n)
    parts = list(nx.strongly_connected_components(as_networkx(graph)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strong_components, "_WORTH_TWO_SEARCHES", 1)
        patch.setattr(strong_components, "_MOST_LEVELS", most)
        result = dr.strongly_connected_components(graph, device="cpu")
    assert result.label.tolist() == least_ids(parts, n)
    result.verify()


def test_two_searches_are_left_where_they_find_no_large_component(monkeypatch):
    monkeypatch.setattr(strong_components, "_WORTH_TWO_SEARCHES", 1)

    def searches(graph):
        trace = dr.strongly_connected_components(graph, device="cpu").trace
        return sum(row.phase == "BFS" and row.superstep == 0 for row in trace)

    drawn = dr.generators.rmat(10, 16, seed=2, symmetrize=False)
    assert searches(drawn) == 2
    edges = drawn.edges()
    low, high = np.minimum(edges.src, edges.dst), np.maximum(edges.src, edges.dst)
    assert searches(dr.Graph.from_edges(low[low < high], high[low < high])) == 1  # no way leads back
    n = 3000
    far = np.arange(n)
    assert searches(dr.Graph.from_edges(np.tile(far, 2), np.concatenate([far + 1, far + 2]) % n)) == 1  # and given up
    assert searches(dr.Graph.from_edges(far, (far + 1) % n)) == 0


def test_a_deep_search_and_a_dense_graph_with_a_rest(monkeypatch):
    monkeypatch.setattr(strong_components, "_WORTH_TWO_SEARCHES", 1)
    n = 200_000
    ring = dr.Graph.from_edges(np.arange(n), np.roll(np.arange(n), -1))
    assert dr.strongly_connected_components(ring).count == 1
    assert dr.strongly_connected_components(dr.Graph.from_edges(np.arange(n - 1), np.arange(1, n))).count == n
    drawn = dr.generators.rmat(12, 16, seed=2, symmetrize=False).edges()
    pairs = 4096 + np.arange(2000)  # a chain of rings of two, which no trimming takes off
    links = np.concatenate([pairs, pairs[::2], pairs[1:-1:2]]), np.concatenate([pairs, pairs[1::2], pairs[2::2]])
    back = pairs[1::2], pairs[::2]
    graph = dr.Graph.from_edges(
        np.concatenate([drawn.src, links[0], back[0]]), np.concatenate([drawn.dst, links[1], back[1]])
    )
    parts = list(nx.strongly_connected_components(as_networkx(graph)))
    result = dr.strongly_connected_components(graph, device="cpu")
    assert result.label.tolist() == least_ids(parts, graph.num_vertices)
    assert {row.phase for row in result.trace} == {"BFS", "strong"}


def test_many_threads_hook_the_same_trees():
    graph = dr.generators.uniform(20_000, 24_000, seed=4)
    expected = dr.connected_components(graph, threads=1)
    for threads in (2, 3, 8):
        result = dr.connected_components(graph, threads=threads)
        assert result.label.tolist() == expected.label.tolist()
    expected.verify()
    directed = dr.Graph.from_edges(*graph.edges()[:2], num_vertices=graph.num_vertices)
    assert dr.connected_components(directed, threads=4).label.tolist() == expected.label.tolist()


@pytest.mark.parametrize(
    ("label", "count", "message"),
    [
        ([0, 0, 2, 3], 3, "arc . joins two components"),
        ([0, 0, 0, 0], 1, "has 2 parts, not 1"),
        ([0, 0, 0, 2], 1, "not in its own component"),
        ([0, 0, 0, 3], 3, "2 labels, not 3"),
        ([1, 1, 1, 3], 2, "label of vertex 0 is not among"),
    ],
)
def test_the_weak_verifier_refuses_wrong_answers(label, count, message):
    graph = dr.Graph.from_edges([0, 2], [1, 1], num_vertices=4)
    verify_weak(graph, np.array([0, 0, 0, 3]), 2)
    with pytest.raises(VerificationError, match=message):
        verify_weak(graph, np.array(label), count)


@pytest.mark.parametrize(
    ("label", "count", "message"),
    [
        ([0, 0, 0, 3], 2, "vertex 2 is not reached from|vertex 2 does not reach"),
        ([0, 1, 2, 3], 4, "two components reach each other"),
        ([0, 0, 2, 2], 2, "the root of its component"),
    ],
)
def test_the_strong_verifier_refuses_wrong_answers(label, count, message):
    graph = dr.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 3])
    verify_strong(graph, np.array([0, 0, 2, 3]), 3)
    with pytest.raises(VerificationError, match=message):
        verify_strong(graph, np.array(label), count)


def test_a_set_stop_flag_ends_the_kernel():
    from dromos.engines.native import components_kernels as kernels
    from dromos.jit import LINE, team_memory
    from dromos.parallel import run_team

    graph = dr.generators.path(50)
    label = np.empty(50, graph.targets.dtype)
    cursors, stop = np.zeros(kernels.PHASES * LINE, np.int64), np.ones(1, np.int64)
    arguments = (graph.offsets, graph.targets, graph.symmetric, label, cursors)
    run_team(kernels.afforest, *arguments, team_memory(2), stop, threads=2)
    assert label.tolist() == list(range(50))  # nothing was linked
    cursors[:], stop[0] = 0, 0
    run_team(kernels.afforest, *arguments, team_memory(2), stop, threads=2)
    assert not label.any()
