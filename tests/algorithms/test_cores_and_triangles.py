"""Cores, triangles and clustering: NetworkX's numbers on the graph without loops and parallel edges."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
import dromos.engines.native.triangles as triangle_kernels
import dromos.engines.native.triangles_oriented_kernels as oriented_kernels
from dromos.algorithms.core_numbers import Peel
from dromos.algorithms.core_numbers import verify as verify_cores
from dromos.algorithms.k_core import verify as verify_k_core
from dromos.errors import InvalidArgumentError, VerificationError
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row


def simple(graph):
    other = as_networkx(graph)
    plain = nx.DiGraph(other) if graph.directed else nx.Graph(other)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    return plain


@on_every_device
@examples(30)
@given(graph=graphs(high=10, weights=(1.0, 2.0)))
def test_core_numbers_are_those_of_networkx_on_every_path(device, graph):
    expected = row(nx.core_number(simple(graph)), graph.num_vertices, 0)
    for path in legal_paths(graph, Peel):
        result = dr.core_numbers(graph, device=device, path=path)
        assert result.core.tolist() == expected.tolist()
        assert result.degeneracy == max(expected, default=0)
        result.verify()


@pytest.mark.parametrize("directed", [False, True])
def test_many_threads_peel_the_same(directed):
    drawn = dr.generators.rmat(12, 12, seed=6).edges()
    graph = dr.Graph.from_edges(drawn.src, drawn.dst, num_vertices=5000, directed=directed)
    expected = row(nx.core_number(simple(graph)), graph.num_vertices, 0)
    for threads in (1, 2, 5):
        assert dr.core_numbers(graph, threads=threads).core.tolist() == expected.tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_cascade_longer_than_a_queue(threads):
    n = 60_000  # a ring with chords, all of degree 3; one chord is missing, and from there all fall
    chords = np.random.default_rng(0).permutation(n).reshape(2, -1)[:, 1:]
    ends = np.concatenate([np.arange(n), chords[0]]), np.concatenate([np.roll(np.arange(n), 1), chords[1]])
    result = dr.core_numbers(dr.Graph.from_edges(*ends, directed=False), threads=threads)
    assert set(result.core) == {2}


@on_every_device
@examples(30)
@given(graph=graphs(high=10), k=st.none() | st.integers(0, 4))
def test_k_cores_are_those_of_networkx_on_every_path(device, graph, k):
    other = simple(graph)
    core = nx.k_core(other, k) if graph.num_vertices else other
    for path in legal_paths(graph, Peel):
        result = dr.k_core(graph, k, device=device, path=path)
        assert set(np.flatnonzero(result.member)) == set(core)
        assert result.degree.tolist() == row(dict(core.degree()), graph.num_vertices, 0).tolist()
        assert result.count == len(core)
        result.verify()


@on_every_device
@examples(40)
@given(graph=graphs(high=10, directed=False, weights=(1.0, 2.0)))
def test_triangles_and_clustering_are_those_of_networkx(device, graph):
    other = simple(graph)
    counts = row(nx.triangles(other), graph.num_vertices, 0)
    result = dr.triangles(graph, device=device)
    assert result.triangles.tolist() == counts.tolist()
    assert result.total == counts.sum() // 3
    result.verify()
    shares = dr.clustering(graph, device=device)
    np.testing.assert_allclose(shares.clustering, row(nx.clustering(other), graph.num_vertices, 0), rtol=1e-15)
    if graph.num_vertices:
        assert shares.average == pytest.approx(nx.average_clustering(other))
    shares.verify()


def test_many_threads_count_the_same():
    graph = dr.generators.rmat(11, seed=2)
    expected = nx.triangles(graph.to_networkx())
    for threads in (1, 2, 5):
        result = dr.triangles(graph, threads=threads)
        assert result.triangles.tolist() == [expected[v] for v in range(graph.num_vertices)]
    result.verify()


@pytest.mark.parametrize("count", [triangle_kernels._in_order, triangle_kernels._oriented])
@examples(40)
@given(seed=st.integers(0, 999), n=st.integers(2, 150), density=st.sampled_from((0.02, 0.1, 0.5, 1.0)))
def test_both_ways_of_counting_agree_with_networkx(count, seed, n, density):
    other = nx.fast_gnp_random_graph(n, density, seed=seed)
    other.add_edges_from((seed % n, v) for v in range(0, n, 2) if v != seed % n)  # a hub, anywhere among the ids
    graph = dr.Graph.from_networkx(other)
    expected = row(nx.triangles(other), n, 0)
    for threads in (1, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(oriented_kernels, "HUBS", 64)  # so that there are hubs and others
            counts = np.zeros(n, dtype=np.int64)
            assert count(graph, counts, threads) == expected.sum() // 3
        assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("hub", [0, 9_000, 20_000])
def test_a_wheel_with_a_hub_of_any_id(hub):
    rim = np.delete(np.arange(20_001), hub)
    ends = np.concatenate([rim, rim]), np.concatenate([np.roll(rim, 1), np.full(len(rim), hub)])
    result = dr.triangles(dr.Graph.from_edges(*ends, directed=False), threads=2)
    assert result.triangles[hub] == result.total == 20_000
    assert np.all(result.triangles[rim] == 2)


def test_rows_need_not_be_sorted():
    n = 12
    targets = np.concatenate([np.roll(np.delete(np.arange(n), v), 5) for v in range(n)]).astype(np.int32)
    graph = dr.Graph.from_csr(np.arange(n + 1) * (n - 1), targets, directed=False)
    assert not graph.sorted
    assert dr.triangles(graph).triangles.tolist() == [55] * n


@pytest.mark.parametrize("algorithm", [dr.triangles, dr.transitivity])
def test_directed_graphs_and_paths_are_refused(algorithm):
    with pytest.raises(InvalidArgumentError, match="undirected graphs; call it on graph"):
        algorithm(dr.Graph.from_edges([0], [1]))
    with pytest.raises(InvalidArgumentError, match="it has no paths"):
        algorithm(dr.generators.path(3), path="sync-push-dd", device="reference")


def test_the_verifiers_refuse_wrong_answers():
    graph = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    verify_cores(graph, np.array([2, 2, 2, 1]))
    with pytest.raises(VerificationError, match="vertex 3 has fewer neighbors"):
        verify_cores(graph, np.array([2, 2, 2, 2]))
    with pytest.raises(VerificationError, match="vertex 0 belongs to a denser core"):
        verify_cores(graph, np.array([1, 1, 1, 1]))
    with pytest.raises(VerificationError, match="vertex 0 was left out"):
        verify_k_core(graph, 2, np.zeros(4, dtype=bool), np.zeros(4, dtype=int))
    with pytest.raises(VerificationError, match="vertex 3 has too few"):
        verify_k_core(graph, 2, np.ones(4, dtype=bool), graph.out_degree)
    result = dr.triangles(graph, device="reference")
    result["triangles"][3] = 3
    with pytest.raises(VerificationError, match="vertex 3 has another number of closed walks"):
        result.verify()


@pytest.mark.parametrize("k", [5, 2**31, 2**70])
def test_a_core_that_no_vertex_has_the_neighbours_for_is_empty(k):
    result = dr.k_core(dr.generators.complete(5), k)
    assert (result.count, result.k) == (0, k)
    result.verify()


def test_a_directed_graph_is_refused_with_what_to_do():
    with pytest.raises(InvalidArgumentError, match=r"call it on graph.symmetrized\(\), or convert the file first"):
        dr.bridges(dr.Graph.from_edges([0], [1]))
