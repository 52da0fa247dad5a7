"""Similar vertices, random walks and samples of neighbours: NetworkX's numbers, chances, and the same for a seed."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.node_similarity import verify as verify_similarity
from dromos.algorithms.random_walks import verify as verify_walks
from dromos.errors import InvalidArgumentError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs


@examples(25)
@given(
    graph=graphs(high=9, weights=(1.0,)), metric=st.sampled_from(("jaccard", "overlap", "cosine")), k=st.integers(1, 9)
)
def test_similarities_of_any_graph(graph, metric, k):
    result = dr.node_similarity(graph, k=k, metric=metric, threads=2)
    result.verify()
    near = [set(graph.neighbors(v).tolist()) for v in range(graph.num_vertices)]
    found = {
        (u, v): value
        for u, v, value in zip(result.source.tolist(), result.target.tolist(), result.similarity, strict=True)
    }
    for u, v in found:
        a, b = near[u], near[v]
        below = {"jaccard": len(a | b), "overlap": min(len(a), len(b)), "cosine": np.sqrt(len(a) * len(b))}
        assert found[u, v] == pytest.approx(len(a & b) / below[metric])
    counts = np.bincount(result.source, minlength=graph.num_vertices)
    for u in range(graph.num_vertices):
        assert counts[u] == min(k, sum(1 for v in range(graph.num_vertices) if v != u and near[u] & near[v]))


def test_jaccard_is_that_of_networkx():
    other = nx.karate_club_graph()
    result = dr.node_similarity(dr.Graph.from_networkx(other, weight=None), k=40)
    found = dict(zip(zip(result.source.tolist(), result.target.tolist(), strict=True), result.similarity, strict=True))
    for u, v, expected in nx.jaccard_coefficient(other, combinations(other, 2)):
        assert found.get((u, v), 0.0) == pytest.approx(expected)
        assert found.get((v, u), 0.0) == pytest.approx(expected)


@examples(20)
@given(
    graph=graphs(high=9, weights=(0.0, 1.0, 3.0)), length=st.integers(0, 6), p=st.sampled_from((0.25, 1.0, 4.0)),
    q=st.sampled_from((0.5, 1.0)), seed=st.integers(0, 5),
)  # fmt: skip
def test_walks_stay_on_edges_and_are_the_same_for_a_seed(graph, length, p, q, seed):
    result = dr.random_walks(graph, length, 3, p=p, q=q, seed=seed, threads=1)
    result.verify()
    assert result.walk.shape == (3 * graph.num_vertices, length + 1)
    again = dr.random_walks(graph, length, 3, p=p, q=q, seed=seed, threads=3)
    assert np.array_equal(result.walk, again.walk)


def test_steps_are_taken_in_proportion():
    spokes = dr.Graph.from_edges([0, 0, 0], [1, 2, 3], [1.0, 2.0, 5.0])
    ends = dr.random_walks(spokes, 1, 40_000, sources=[0], seed=1, threads=2).walk[:, 1]
    shares = np.bincount(ends, minlength=4)[1:] / len(ends)
    np.testing.assert_allclose(shares, [1 / 8, 2 / 8, 5 / 8], atol=0.012)
    even = dr.random_walks(spokes, 1, 40_000, sources=[0], weight=None).walk[:, 1]
    np.testing.assert_allclose(np.bincount(even, minlength=4)[1:] / len(even), [1 / 3] * 3, atol=0.012)


def test_node2vec_prefers_what_p_and_q_say():
    # from 0 over 1: back to 0 counts 1/p, on to the common neighbour 2 counts 1, further away to 3 counts 1/q
    kite = dr.Graph.from_edges([0, 0, 1, 1], [1, 2, 2, 3], directed=False)
    walk = dr.random_walks(kite, 2, 60_000, sources=[0], p=4.0, q=0.5, seed=2, threads=2).walk
    third = walk[walk[:, 1] == 1, 2]
    weights = np.array([1 / 4, 1.0, 1 / 0.5])
    shares = np.array([np.mean(third == v) for v in (0, 2, 3)])
    np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.012)


@pytest.mark.parametrize("device", ["numpy", "cpu"])
@pytest.mark.parametrize(("large", "small"), [(1e10, 1e-10), (1e16, 1.0), (1e308, 1.0), (1.0, 1e-300)])
def test_small_weights_are_not_lost_behind_large_ones(device, large, small):
    graph = dr.Graph.from_edges(
        [0, 0, 1, 1, 1, 2, 3], [1, 2, 2, 3, 0, 1, 1], [large, large, small, 3 * small, 0.0, small, large]
    )
    ends = dr.random_walks(graph, 1, 20_000, sources=[1], seed=1, device=device).walk[:, 1]
    assert abs(np.count_nonzero(ends == 3) / len(ends) - 0.75) < 0.02
    assert set(ends.tolist()) == {2, 3}
    biased = dr.random_walks(graph, 20, 5, p=0.5, q=2.0, seed=1, device=device)
    assert (biased.walk >= 0).all()
    biased.verify()


ALIKE = dr.generators.complete(6)
ONE_WAY = dr.Graph.from_edges([0, 0, 1, 1, 2, 2, 3], [1, 2, 2, 3, 3, 0, 0], [1.0, 3.0, 1.0, 2.0, 0.5, 0.0, 4.0])


@pytest.mark.parametrize(("graph", "bias"), [(ALIKE, {"q": 1e-9}), (ONE_WAY, {"p": 1e-9})])
def test_a_step_that_no_neighbour_is_likely_for_is_drawn_from_all(graph, bias):
    found = [dr.random_walks(graph, 4, 60, seed=3, device=device, **bias) for device in ("cpu", "numpy")]
    assert np.array_equal(found[0].walk, found[1].walk)
    found[0].verify()
    steps = found[0].walk[:, 2:].ravel()
    assert (steps >= 0).all()
    if graph is ALIKE:  # the neighbours of the third vertex on are all common ones, or the last: equally likely
        assert np.abs(np.bincount(steps, minlength=6) / len(steps) - 1 / 6).max() < 0.05


def test_a_sample_takes_any_seed_and_number_of_edges():
    whole = dr.sample_neighbors(ALIKE, [0], [2**70], seed=1)
    assert sorted(whole.vertices.tolist()) == list(range(6))
    whole.verify()
    found = [dr.sample_neighbors(ALIKE, [0], [2], seed=seed).vertices.tolist() for seed in (5, 5 + 2**64)]
    assert found[0] == found[1]


def test_walks_have_labels_and_refuse_nonsense():
    graph = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    table = dr.random_walks(graph, 2, 1, sources=["ada"]).to_pandas()
    assert [list(walk) for walk in table["walk"]] == [["ada", "bob", "eve"]]
    for bad in ({"p": 0}, {"q": -1}, {"length": -1}, {"walks": 0}, {"seed": 2**63}):
        with pytest.raises(InvalidArgumentError, match=next(iter(bad))):
            dr.random_walks(graph, **bad)
    with pytest.raises(VerificationError, match="step 0 is no edge"):
        verify_walks(graph, np.array([0]), 1, np.array([[0, 2]]))
    with pytest.raises(VerificationError, match="ends before step 0"):
        verify_walks(graph, np.array([0]), 1, np.array([[0, -1]]))
    with pytest.raises(InvalidArgumentError, match="metric='dice'"):
        dr.node_similarity(graph, metric="dice")
    path = dr.generators.path(4)
    with pytest.raises(VerificationError, match="vertex 0 have other"):
        verify_similarity(path, np.array([0]), 1, "jaccard", np.array([0]), np.array([2]), np.array([0.7]))


@examples(25)
@given(graph=graphs(low=1, high=9), seed=st.integers(0, 5), fanouts=st.lists(st.integers(1, 3), max_size=3))
def test_samples_are_edges_and_the_same_for_a_seed(graph, seed, fanouts):
    seeds = list(range(0, graph.num_vertices, 2))
    sample = dr.sample_neighbors(graph, seeds, fanouts, seed)
    sample.verify()
    assert sample.vertices[: len(seeds)].tolist() == seeds
    other = as_networkx(graph)
    for block in sample.blocks:
        ends = zip(sample.vertices[block.source], sample.vertices[block.target], strict=True)
        assert all(other.has_edge(u, v) for u, v in ends)
    again = dr.sample_neighbors(graph, seeds, fanouts, seed)
    assert np.array_equal(again.vertices, sample.vertices)
    if fanouts:
        assert np.array_equal(again.edge_index, sample.edge_index)


def test_neighbours_are_drawn_evenly():
    star = dr.generators.star(10)
    drawn = np.concatenate([dr.sample_neighbors(star, [0], [3], seed).vertices[1:] for seed in range(2000)])
    shares = np.bincount(drawn, minlength=11)[1:] / len(drawn)
    np.testing.assert_allclose(shares, 0.1, atol=0.02)
    with pytest.raises(InvalidArgumentError, match="lists a vertex twice"):
        dr.sample_neighbors(star, [1, 1], [2])
    with pytest.raises(InvalidArgumentError, match="fanouts"):
        dr.sample_neighbors(star, [1], [0])
