"""Lattices, classic shapes, growth models and random weights: against NetworkX, and their flags against the truth."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse.csgraph import connected_components

import dromos as dr
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph.generators import (
    barabasi_albert,
    binary_tree,
    complete,
    cycle,
    grid,
    path,
    star,
    uniform,
    watts_strogatz,
    with_random_weights,
)


def assert_same_edges(g, expected):
    """The same graph as NetworkX's, whose nodes are numbered in their order."""
    number = {node: i for i, node in enumerate(expected)}
    directed = expected.is_directed()
    edges = [(number[u], number[v]) for u, v in expected.edges()]
    assert g.directed == directed
    assert g.num_vertices == len(number)
    found = zip(g.edges().src.tolist(), g.edges().dst.tolist(), strict=True)
    assert sorted(found) == sorted(edges if directed else [tuple(sorted(edge)) for edge in edges])
    assert_flags_are_true(g)


def assert_flags_are_true(g):
    """The flags that the generator claims, against those found out from the rows."""
    found = dr.Graph.from_csr(g.offsets, g.targets, g.weights, directed=g.directed).flags
    for name, claim in vars(g.known_flags).items():
        assert claim in (None, getattr(found, name)), name
    assert g.sorted


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9])
def test_paths_cycles_stars_and_complete_graphs_are_networkx_ones(n):
    assert_same_edges(path(n), nx.path_graph(n))
    assert_same_edges(path(n, directed=True), nx.path_graph(n, create_using=nx.DiGraph))
    assert_same_edges(cycle(n), nx.cycle_graph(n))
    assert_same_edges(cycle(n, directed=True), nx.cycle_graph(n, create_using=nx.DiGraph))
    assert_same_edges(star(n), nx.star_graph(n))
    assert_same_edges(complete(n), nx.complete_graph(n))
    assert_same_edges(complete(n, directed=True), nx.complete_graph(n, create_using=nx.DiGraph))
    assert star(n, directed=True).neighbors(0).tolist() == list(range(1, n + 1))
    assert star(n, directed=True).num_arcs == n


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_binary_trees_are_networkx_ones(depth):
    expected = nx.balanced_tree(2, depth)
    assert_same_edges(binary_tree(depth), expected)
    directed = binary_tree(depth, directed=True)
    assert_flags_are_true(directed)
    assert sorted(zip(directed.edges().src.tolist(), directed.edges().dst.tolist(), strict=True)) == sorted(
        expected.edges()
    )


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("shape", list(itertools.product([0, 1, 2, 3, 5], [1, 2, 4])))
def test_2d_grids_are_networkx_ones(shape, periodic):
    assert_same_edges(grid(*shape, periodic=periodic), nx.grid_2d_graph(*shape, periodic=periodic))


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 3, 4), (3, 3, 3), (4, 2, 1)])
def test_3d_grids_join_each_vertex_to_the_next_along_each_axis(shape, periodic):
    expected = nx.Graph()
    expected.add_nodes_from(itertools.product(*map(range, shape)))
    for node in list(expected):
        for axis, size in enumerate(shape):
            at = list(node)
            at[axis] = (at[axis] + 1) % size if periodic and size > 2 else at[axis] + 1
            if at[axis] < size:
                expected.add_edge(node, tuple(at))
    assert_same_edges(grid(*shape, periodic=periodic), expected)


def test_deleted_grid_edges():
    whole, part = grid(300, 200), grid(300, 200, delete=0.25, seed=3)
    assert_flags_are_true(part)
    expected = 0.75 * whole.num_edges
    assert abs(part.num_edges - expected) < 5 * np.sqrt(0.25 * expected)
    kept = part.edges()
    assert whole.to_scipy()[kept.src, kept.dst].all()
    for threads in (1, 3):
        assert grid(300, 200, delete=0.25, seed=3, threads=threads) == part
    assert grid(300, 200, delete=0.25, seed=4) != part
    assert grid(30, 20, delete=1.0).num_edges == 0


def test_one_way_streets():
    streets = grid(100, 100, delete=0.5, directed=True, seed=1)
    assert_flags_are_true(streets)
    assert streets.directed
    both = streets.to_scipy().multiply(streets.to_scipy().T).nnz / 2
    edges = grid(100, 100).num_edges
    assert both / edges == pytest.approx(0.25, abs=0.03)
    assert grid(4, 4, directed=True).symmetric


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: grid(-1, 2), "rows=-1"),
        (lambda: grid(2, 2.0), "cols=2.0"),
        (lambda: grid(2, 2, delete=1.5), "delete=1.5"),
        (lambda: grid(2, 2, delete=float("nan")), "delete=nan"),
        (lambda: grid(2**30, 2**30), "more than 2\\^48"),
        (lambda: path(-1), "n=-1"),
        (lambda: star("3"), "n='3'"),
        (lambda: complete(1.0), "n=1.0"),
        (lambda: binary_tree(60), "depth=60"),
        (lambda: barabasi_albert(5, 5), "m=5 is not below n=5"),
        (lambda: barabasi_albert(5, 0), "m=0"),
        (lambda: watts_strogatz(5, 6, 0.1), "k=6 exceeds n=5"),
        (lambda: watts_strogatz(5, 2, -0.1), "p=-0.1"),
        (lambda: with_random_weights(path(3), 5, 1), "low=5"),
        (lambda: with_random_weights(path(3), 0.0, float("inf")), "finite"),
        (lambda: with_random_weights(path(3), "a", 1), "not two numbers"),
        (lambda: with_random_weights(path(3), 0, 2**31), "int32"),
        (lambda: with_random_weights(path(3), 0, 1, dtype=np.int8), "int32, float32 or float64"),
        (lambda: with_random_weights(path(3), 0.5, 1.5, dtype=np.int32), "whole numbers"),
        (lambda: with_random_weights(path(3), 0, 1, -2), "seed=-2"),
    ],
)
def test_bad_arguments(make, told):
    with pytest.raises(InvalidArgumentError, match=told):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: grid(2**20, 2**20),
        lambda: path(2**45),
        lambda: complete(2**22),
        lambda: barabasi_albert(2**36, 8),
        lambda: watts_strogatz(2**36, 8, 0.1),
    ],
)
def test_shapes_beyond_memory_are_refused(make):
    with pytest.raises(ResourceError, match="needs about"):
        make()


def test_barabasi_albert():
    n, m = 3_000, 4
    g = barabasi_albert(n, m, seed=1)
    expected = nx.barabasi_albert_graph(n, m, seed=1)
    assert_flags_are_true(g)
    assert g.num_edges == expected.number_of_edges()
    assert g.out_degree[m + 1 :].min() >= m
    assert connected_components(g.to_scipy())[0] == 1
    assert barabasi_albert(n, m, seed=1) == g
    assert barabasi_albert(n, m, seed=2) != g
    # a few hubs, and the share of degree m that the model's limit 2m(m+1)/(d(d+1)(d+2)) gives: 2/(m+2)
    assert g.out_degree.max() > 10 * m
    assert np.mean(g.out_degree == m) == pytest.approx(2 / (m + 2), abs=0.03)
    assert barabasi_albert(2, 1).num_edges == 1
    assert barabasi_albert(6, 5) == star(5)


@given(st.integers(0, 12), st.data())
def test_small_watts_strogatz_graphs_are_simple_and_keep_their_edges(n, data):
    k = data.draw(st.integers(0, n))
    p = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    g = watts_strogatz(n, k, p, seed=data.draw(st.integers(0, 5)))
    assert_flags_are_true(g)
    assert g.num_edges == nx.watts_strogatz_graph(n, k, p, seed=1).number_of_edges()
    if p == 0.0:
        assert_same_edges(g, nx.watts_strogatz_graph(n, k, 0.0))


def test_watts_strogatz_moves_the_share_it_is_told():
    n, k, p = 5_000, 6, 0.2
    g = watts_strogatz(n, k, p, seed=3)
    assert g.num_edges == n * k // 2
    kept = g.to_scipy().multiply(watts_strogatz(n, k, 0.0).to_scipy()).nnz / (n * k)
    assert kept == pytest.approx(1 - p, abs=0.02)
    assert g.out_degree.min() >= k // 2  # a vertex keeps the edges that it owns
    assert watts_strogatz(n, k, p, seed=3) == g
    assert watts_strogatz(n, k, p, seed=4) != g


@pytest.mark.parametrize("directed", [False, True])
def test_whole_weights(directed):
    g = uniform(500, 20_000, seed=1, directed=directed)
    w = with_random_weights(g, 1, 10, 7)
    assert w.weights.dtype == np.int32
    assert_flags_are_true(w)
    assert w.symmetric != directed
    assert w.with_weights(None) == g
    assert stats.chisquare(np.bincount(w.edges().weight, minlength=11)[1:]).pvalue > 1e-4
    for threads in (1, 3):
        assert with_random_weights(g, 1, 10, 7, threads=threads) == w
    assert with_random_weights(g, 1, 10, 8) != w
    assert set(with_random_weights(g, 3, 3).weights.tolist()) == {3}
    assert with_random_weights(g, -(2**31), 2**31 - 1).weights.min() < -(2**30)


@pytest.mark.parametrize("dtype", [None, np.float32, np.float64])
def test_real_weights(dtype):
    g = uniform(300, 30_000, seed=1)
    w = with_random_weights(g, -1.0, 1.0, 7, dtype=dtype)
    assert w.weights.dtype == (dtype or np.float32)
    assert w.weights.min() >= -1
    assert w.weights.max() < 1
    assert stats.kstest(w.edges().weight, stats.uniform(-1, 2).cdf).pvalue > 1e-4
    narrow = with_random_weights(g, 1.0, np.nextafter(np.float32(1), np.float32(2)), dtype=dtype or np.float32)
    assert set(np.unique(narrow.weights < 1.0000002)) == {True}
    assert with_random_weights(path(4), 1, 5, dtype=np.float64).weights.dtype == np.float64
    assert with_random_weights(path(3), 2.5, 2.5).weights.tolist() == [2.5] * 4


def test_parallel_edges_have_each_their_weight_and_unsorted_rows_stay_symmetric():
    g = dr.Graph.from_edges([0, 0, 0, 1], [1, 1, 1, 1], directed=False)
    w = with_random_weights(g, 0.0, 1.0)
    assert len(set(w.weights[:3].tolist())) == 3
    assert w.weights[:3].tolist() == w.weights[3:6].tolist()
    tangled = dr.Graph.from_csr(np.array([0, 3, 5, 6]), np.array([1, 2, 1, 0, 0, 0]), directed=False)
    assert not tangled.sorted
    weighted = with_random_weights(tangled, 0.0, 1.0)
    assert dr.Graph.from_csr(tangled.offsets, tangled.targets, weighted.weights, directed=False).symmetric


def test_labels_stay():
    g = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"], directed=False)
    assert with_random_weights(g).labels == g.labels
