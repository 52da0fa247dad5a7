"""Eigenvector, Katz, HITS and personalized PageRank: NetworkX's numbers, or those of NumPy's dense matrices."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.eigenvector import Eigenvector
from dromos.algorithms.hits import verify as verify_hits
from dromos.algorithms.katz import Katz
from dromos.algorithms.verifying import matrix
from dromos.engines.native import product
from dromos.engines.native.katz import katz
from dromos.engines.native.lanczos import lanczos
from dromos.errors import ConvergenceError, InvalidArgumentError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device


@on_every_device
@examples(12)
@given(graph=graphs(low=1, high=8, weights=(0.5, 1.0, 2.0)))
def test_eigenvectors_settle_where_powers_of_the_matrix_do(device, graph):
    whole = matrix(graph).toarray().T + np.eye(graph.num_vertices)
    start = np.ones(graph.num_vertices)
    for path in legal_paths(graph, Eigenvector) if device == "reference" else ("auto",):
        result = dr.eigenvector(graph, max_iter=60, tol=1e-10, on_limit="return", device=device, path=path)
        result.verify()
        if {row.phase for row in result.trace} <= {"product", "lanczos"}:  # of all the products: where powers lead
            assert result.finished == "converged"
            powers = whole
            for _ in range(40):
                powers = powers @ powers
                powers /= np.linalg.norm(powers)
            expected = powers @ start
        else:
            expected = start
            for _ in range(result.iterations - 1):
                expected = whole @ expected
                expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(result.centrality, expected / np.linalg.norm(expected), atol=1e-9)


def test_eigenvectors_are_those_of_networkx():
    other = nx.karate_club_graph()
    result = dr.eigenvector(dr.Graph.from_networkx(other, weight="weight"), tol=1e-10)
    expected = nx.eigenvector_centrality(other, tol=1e-12, max_iter=2000, weight="weight")
    np.testing.assert_allclose(result.centrality, list(expected.values()), atol=1e-8)
    assert result.finished == "converged"
    with pytest.raises(ConvergenceError, match=r"eigenvector.*after 3 iterations") as caught:
        dr.eigenvector(dr.generators.path(9), max_iter=3)
    assert len(caught.value.result.centrality) == 9
    result["centrality"][0] += 0.1
    with pytest.raises(VerificationError, match="the length is"):
        result.verify()


@pytest.mark.parametrize("name", ["eigenvector", "hits"])
@pytest.mark.parametrize("weights", [None, (0.5, 1.0, 2.0)])
def test_lanczos_method_gives_what_power_iteration_gives(name, weights):
    """With restarts, components that share the greatest eigenvalue, and a bipartite graph."""
    ring, grid = dr.generators.cycle(9).edges(), dr.generators.grid(30, 20).edges()
    many = dr.generators.rmat(9, edge_factor=4, seed=3).symmetrized().edges()
    twice = [(src + shift, dst + shift) for src, dst in ((ring.src, ring.dst),) for shift in (0, 9)]
    for pairs in (twice, [(grid.src, grid.dst)], [(many.src, many.dst)]):
        src, dst = (np.concatenate(side) for side in zip(*pairs, strict=True))
        weight = None if weights is None else np.resize(weights, len(src) // len(pairs)).tolist() * len(pairs)
        graph = dr.Graph.from_edges(src, dst, weight, directed=False)
        ours = getattr(dr, name)(graph, tol=1e-9, device="cpu")
        other = getattr(dr, name)(graph, tol=1e-9, max_iter=20_000, device="cpu", path="sync-pull-td")
        ours.verify()
        for field in ours:
            np.testing.assert_allclose(ours[field], other[field], atol=2e-6)
        assert {"product"} <= {row.phase for row in ours.trace} <= {"product", "lanczos"}
        assert ours.iterations <= other.iterations + 4


@examples(25)
@given(graph=graphs(low=1, high=12, weights=(0.5, 1.0, 2.0)), most=st.integers(1, 6), seed=st.integers(0, 9))
def test_no_vector_of_the_space_is_better_than_that_of_lanczos_method(graph, most, seed):
    """By QR of the products themselves; of a graph that is not symmetric, for the matrix times its transpose."""
    whole = matrix(graph).toarray()
    if not graph.symmetric:
        whole = whole @ whole.T
    start = np.random.default_rng(seed).uniform(0.1, 1.0, graph.num_vertices)
    back = None if graph.symmetric else graph.transpose
    found = lanczos(graph, start=start, most=most, tolerance=0.0, back=back)
    best, (products, *_) = found["vector"], found["steps"][0]
    assert best.min() >= 0
    assert np.linalg.norm(best) == pytest.approx(1)
    powers = [start]
    for _ in range(products // (1 if back is None else 2) - 1):
        powers.append(whole @ powers[-1] / max(np.linalg.norm(whole @ powers[-1]), 1e-300))
    basis, _ = np.linalg.qr(np.array(powers).T)
    expected = np.linalg.eigvalsh(basis.T @ whole @ basis)[-1]
    assert best @ whole @ best >= expected - 1e-9 * max(expected, 1)


def test_lanczos_method_gives_the_same_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(product, "_ALONE", 0)
    graph = dr.generators.rmat(10, 8, seed=3).symmetrized()
    start = np.random.default_rng(1).uniform(0.1, 1.0, graph.num_vertices)
    for back in (None, graph):
        one, *others = (lanczos(graph, start=start, most=12, tolerance=1e-9, back=back, threads=t) for t in (1, 2, 5))
        for other in others:
            assert np.array_equal(one["vector"], other["vector"])
            assert one["steps"][0][0] == other["steps"][0][0]


@on_every_device
@examples(12)
@given(graph=graphs(low=1, high=8, weights=(0.5, 1.0)), normalized=st.booleans())
def test_katz_solves_its_equations(device, graph, normalized):
    whole = matrix(graph).toarray().T
    assume(np.abs(np.linalg.eigvals(whole)).max() < 9)
    expected = np.linalg.solve(np.eye(graph.num_vertices) - 0.1 * whole, np.ones(graph.num_vertices))
    if normalized:
        expected /= np.linalg.norm(expected)
    for path in legal_paths(graph, Katz) if device == "reference" else ("auto",):
        result = dr.katz(graph, tol=1e-11, normalized=normalized, device=device, path=path)
        result.verify()
        np.testing.assert_allclose(result.centrality, expected, rtol=1e-7)


def test_katz_is_that_of_networkx_and_may_have_no_answer():
    other = nx.karate_club_graph()
    graph = dr.Graph.from_networkx(other, weight=None)
    expected = nx.katz_centrality(other, alpha=0.05, tol=1e-12)
    np.testing.assert_allclose(dr.katz(graph, 0.05, tol=1e-10).centrality, list(expected.values()), atol=1e-9)
    with pytest.raises(ConvergenceError, match="lower alpha"):
        dr.katz(graph, 0.5, max_iter=30)
    assert dr.katz(graph, 0.5, max_iter=30, on_limit="return").finished == ""


@on_every_device
def test_katz_ends_when_the_centralities_grow_without_end(device):
    """In a symmetric graph at once; in others where doubles end."""
    clique = dr.Graph.from_edges(*np.triu_indices(6, 1), directed=False)
    with pytest.raises(
        ConvergenceError, match=r"grow without end .*lower alpha= \(below 0.2, .* 1 / the greatest degree"
    ):
        dr.katz(clique, 0.5, device=device)
    assert dr.katz(clique, 0.5, on_limit="return", device=device).iterations == 2
    cycle = dr.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 0], [3.0, 3.0, 3.0, 1.0])
    with pytest.raises(ConvergenceError, match=r"grow without end .*greatest total weight of the out-edges") as caught:
        dr.katz(cycle, 1000.0, device=device)
    assert 80 < caught.value.iterations < 100  # 3000 to the power of 88 is the last double
    assert caught.value.result.finished == ""
    assert not np.isfinite(caught.value.result.centrality).all()


@on_every_device
def test_katz_does_not_end_while_the_centralities_may_still_settle(device):
    heavy_path = dr.Graph.from_edges(
        range(30), range(1, 31), [1e9] * 30
    )  # changes grow to 1e261, and then there is none
    result = dr.katz(heavy_path, 0.5, normalized=False, device=device)
    assert result.finished == "converged"
    assert result.centrality[-1] == pytest.approx(5e8**30)
    star = dr.generators.star(100)
    for weight, tol in ((0.9999, 1e-3), (1.0, 1e-6)):  # of the greatest eigenvalue, 10
        how = {"tol": tol, "max_iter": 300, "on_limit": "return", "device": device, "path": "sync-pull-td"}
        result = dr.katz(star, weight / 10, **how)
        assert result.iterations == 300
    assert dr.katz(star, 0.5, beta=1e-9, tol=1.0, device=device).finished == "converged"


@examples(30)
@given(graph=graphs(low=2, high=12, weights=(0.25, 1.0, 3.0), directed=False), share=st.floats(0.5, 0.999))
def test_no_symmetric_graph_with_an_answer_is_given_up(graph, share):
    greatest = np.abs(np.linalg.eigvalsh(matrix(graph).toarray())).max()
    assume(greatest > 0)
    how = {"tol": 1e-8, "max_iter": 100_000, "path": "sync-pull-td", "device": "numpy"}
    assert dr.katz(graph, share / greatest, **how).finished == "converged"


@pytest.mark.parametrize("weights", [None, (0.5, 1.0, 2.0)])
@pytest.mark.parametrize("tol", [1e-3, 1e-9, 1e-11])
def test_gradients_give_what_steps_give(weights, tol):
    """Also to the last digits, where only steps tell whether the centralities still change."""
    for shape in (dr.generators.rmat(9, edge_factor=4, seed=3).symmetrized(), dr.generators.grid(30, 20)):
        src, dst, _ = shape.edges()
        weight = None if weights is None else np.resize(weights, len(src))
        graph = dr.Graph.from_edges(src, dst, weight, directed=False)
        greatest = float(np.abs(np.linalg.eigvalsh(matrix(graph).toarray())).max())
        for share in (0.1, 0.9):
            ours = dr.katz(graph, share / greatest, 3.0, tol=tol, normalized=False, device="cpu")
            steps = dr.katz(graph, share / greatest, 3.0, tol=tol, normalized=False, device="cpu", path="sync-pull-td")
            assert [row.phase for row in ours.trace] == ["katz"]
            assert ours.iterations < steps.iterations
            ours.verify()
            # of a change below tol all that follow sum to less than it, over 1 - share
            assert np.abs(ours.centrality - steps.centrality).sum() <= 2 * tol / (1 - share)


def test_gradients_give_the_same_with_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(product, "_ALONE", 0)
    graph = dr.generators.rmat(10, 8, seed=3).symmetrized()
    how = {"alpha": 0.003, "beta": 1.0, "tolerance": 1e-9}
    for limit in (3, 1000):
        one, *others = (katz(graph, limit=limit, threads=t, **how) for t in (1, 2, 5))
        assert one["finished"] == ("converged" if limit == 1000 else "")
        for other in others:
            assert np.array_equal(one["centrality"], other["centrality"])
            assert one["steps"][0][0] == other["steps"][0][0]


@pytest.mark.parametrize(
    ("alpha", "beta", "tol"), [(0.4, 1.0, 1e-6), (1 / 3, 1.0, 1e-6), (0.1, 1e-9, 1e-6), (0.1, 0.0, 1.0)]
)
def test_what_gradients_cannot_tell_is_left_to_the_program(alpha, beta, tol):
    """An eigenvalue of the equations that is below zero, or zero, and a tolerance that any vector meets."""
    graph = dr.Graph.from_edges(*zip(*[(a, b) for a in range(4) for b in range(a)], strict=True), directed=False)
    for device in ("cpu", "reference"):
        result = dr.katz(graph, alpha, beta, max_iter=40, tol=tol, on_limit="return", device=device)
        assert {row.phase for row in result.trace} == {"Katz"}
        assert result.finished == ("converged" if tol > beta else "")


@on_every_device
def test_hubs_and_authorities_are_those_of_networkx(device):
    other = nx.gnp_random_graph(25, 0.2, seed=7, directed=True)
    graph = dr.Graph.from_networkx(other)
    hubs, authorities = nx.hits(other, tol=1e-12)
    result = dr.hits(graph, tol=1e-12, device=device)
    np.testing.assert_allclose(result.hub, list(hubs.values()), atol=1e-9)
    np.testing.assert_allclose(result.authority, list(authorities.values()), atol=1e-9)
    result.verify()
    assert result.finished == "converged"


@examples(12)
@given(graph=graphs(high=8, weights=(0.0, 1.0, 2.0)))
def test_hubs_and_authorities_of_any_graph(graph):
    result = dr.hits(graph, tol=1e-7, max_iter=100, on_limit="return", device="reference")
    result.verify()
    if not graph.directed:
        again = dr.hits(graph, tol=1e-7, max_iter=101, on_limit="return", device="reference")
        assert result.hub == pytest.approx(again.hub, abs=0.3)


@on_every_device
@examples(8)
@given(graph=graphs(low=1, high=8, weights=(0.0, 1.0, 3.0)), alpha=st.sampled_from((0.0, 0.5, 0.85)))
def test_a_row_for_each_seed_is_its_pagerank(device, graph, alpha):
    seeds = range(graph.num_vertices)
    result = dr.personalized_pagerank(graph, seeds, alpha, tol=1e-10, device=device)
    result.verify()
    for seed, row in zip(seeds, result.rank, strict=True):
        expected = nx.pagerank(
            as_networkx(graph), alpha, personalization={seed: 1}, dangling={seed: 1}, tol=1e-14, max_iter=5000
        )
        np.testing.assert_allclose(row, [expected[v] for v in seeds], atol=1e-8)


def test_more_seeds_than_run_together_and_labels():
    graph = dr.Graph.from_edges(list("abcdefghijk"), list("bcdefghijka"))
    names = list("kjihgfedcba")
    result = dr.personalized_pagerank(graph, names)
    assert result.to_pandas()["source"].tolist() == names
    ids = [graph.vertex_id(name) for name in names]
    assert result.rank.argmax(axis=1).tolist() == ids
    result.verify()
    with pytest.raises(ConvergenceError, match="personalized_pagerank"):
        dr.personalized_pagerank(graph, ["a"], max_iter=2)
    with pytest.raises(InvalidArgumentError, match="alpha"):
        dr.personalized_pagerank(graph, ["a"], alpha=1)


def test_the_verifier_of_hits_refuses_wrong_shares():
    graph = dr.Graph.from_edges([0, 0, 1], [1, 2, 2])
    with pytest.raises(VerificationError, match="the hubs sum to"):
        verify_hits(graph, np.ones(3), np.ones(3) / 3, tolerance=1e-8)
    with pytest.raises(VerificationError, match="one more step changes the hubs"):
        verify_hits(graph, np.ones(3) / 3, np.ones(3) / 3, tolerance=1e-8)
