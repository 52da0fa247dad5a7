"""Trusses, bridges, biconnected components, betweenness of edges, levels and longest paths: NetworkX's numbers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.arguments import simple
from dromos.algorithms.biconnected_components import verify as verify_parts
from dromos.algorithms.biconnected_components import verify_bridges
from dromos.algorithms.longest_paths import verify as verify_longest
from dromos.algorithms.topological_levels import Levels
from dromos.algorithms.topological_levels import verify as verify_levels
from dromos.algorithms.truss_numbers import verify as verify_trusses
from dromos.dtypes import order_of, read_only
from dromos.engines.native import longest_paths_kernels, trusses
from dromos.engines.native.longest_paths import longest_paths
from dromos.errors import AlgorithmError, InvalidArgumentError, VerificationError
from dromos.parallel import run_team
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row

KITE = dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)


def plain(graph):
    other = as_networkx(graph)
    found = nx.DiGraph(other) if graph.directed else nx.Graph(other)
    found.remove_edges_from(list(nx.selfloop_edges(found)))
    return found


def pairs(result, chosen=slice(None)):
    return set(zip(result.source[chosen].tolist(), result.target[chosen].tolist(), strict=True))


@examples(25)
@given(seed=st.integers(0, 999), n=st.integers(0, 14), density=st.sampled_from((0.2, 0.5, 0.9)))
def test_trusses_are_those_of_networkx(seed, n, density):
    other = nx.fast_gnp_random_graph(n, density, seed=seed)
    ends = np.array(list(other.edges), dtype=np.int64).reshape(-1, 2)
    graph = dr.Graph.from_edges(ends[:, 0], ends[:, 1], num_vertices=n, directed=False)
    result = dr.truss_numbers(graph, threads=1)
    result.verify()
    assert len(result.truss) == graph.num_edges
    for k in range(2, int(result.max_truss) + 2):
        assert pairs(result, result.truss >= k) == {tuple(sorted(edge)) for edge in nx.k_truss(other, k).edges}


def test_many_threads_find_the_same_trusses(monkeypatch):
    monkeypatch.setattr(trusses, "_SMALL", 0)
    monkeypatch.setattr(trusses, "_FEW", 0)
    graph = dr.generators.rmat(10, 20, seed=5)
    found = [dr.truss_numbers(graph, threads=threads) for threads in (1, 3)]
    assert np.array_equal(found[0].truss, found[1].truss)
    assert found[0].max_truss > 6
    k = int(found[0].max_truss)
    expected = nx.k_truss(plain(graph), k)
    assert pairs(found[0], found[0].truss >= k) == {tuple(sorted(edge)) for edge in expected.edges}
    bare = simple(graph)  # first calls may have gone without a compiler
    compiled = trusses.trusses(bare, edges=bare.edges(), threads=3)["truss"]
    assert np.array_equal(compiled, found[0].truss)


@examples(40)
@given(graph=graphs(high=10, directed=False))
def test_bridges_and_biconnected_components_are_those_of_networkx(graph):
    multi, other = as_networkx(graph), plain(graph)
    multi.remove_edges_from(list(nx.selfloop_edges(multi, keys=True)))
    result = dr.bridges(graph)
    assert pairs(result) == {tuple(sorted(edge)) for edge in (nx.bridges(multi) if len(multi) else ())}
    result.verify()
    parts = dr.biconnected_components(graph)
    parts.verify()
    found = {frozenset(pairs(parts, parts.component == number)) for number in range(parts.count)}
    expected = {frozenset(tuple(sorted(e)) for e in part) for part in nx.biconnected_component_edges(other)}
    assert found == expected
    cuts = dr.articulation_points(graph)
    cuts.verify()
    assert set(np.flatnonzero(cuts.member)) == set(nx.articulation_points(other))


def test_a_long_path_needs_no_recursion():
    n = 50_000
    graph = dr.generators.path(n)
    assert dr.bridges(graph).count == n - 1
    assert dr.articulation_points(graph).count == n - 2


@examples(25)
@given(graph=graphs(high=9), normalized=st.booleans(), threads=st.sampled_from((1, 2)))
def test_edge_betweenness_is_that_of_networkx(graph, normalized, threads):
    result = dr.edge_betweenness(graph, normalized=normalized, threads=threads)
    result.verify()
    expected = nx.edge_betweenness_centrality(plain(graph), normalized=normalized)
    if not graph.directed:
        expected = {tuple(sorted(edge)): value for edge, value in expected.items()}
    found = dict(zip(zip(result.source.tolist(), result.target.tolist(), strict=True), result.centrality, strict=True))
    assert found == pytest.approx(expected)


def test_edge_betweenness_from_some_sources():
    graph = dr.generators.grid(5, 6)
    everything = dr.edge_betweenness(graph)
    some = dr.edge_betweenness(graph, sources=range(0, 30, 2))
    some.verify()
    assert np.corrcoef(everything.centrality, some.centrality)[0, 1] > 0.8
    assert dr.edge_betweenness(graph, k=7, seed=1).centrality.tolist() == pytest.approx(
        dr.edge_betweenness(graph, k=7, seed=1).centrality.tolist()
    )


@pytest.mark.parametrize("device", ["cpu", "numpy"])
def test_edge_betweenness_where_there_are_more_paths_than_a_float_can_count(device):
    links = 1200  # of a chain, each of which doubles the number of paths
    first = 3 * np.arange(links)
    ends = [(0, 1), (0, 2), (1, 3), (2, 3)]
    src, dst = (np.concatenate([first + end[side] for end in ends]) for side in (0, 1))
    graph = dr.Graph.from_edges(src, dst, directed=False)
    result = dr.edge_betweenness(graph, sources=[0, 3 * links], normalized=False, device=device)
    result.verify()
    # half of the paths to all behind a link lead over each of its sides, and one to its own middle
    behind = 3 * (links - 1 - np.arange(links))
    scale = graph.num_vertices / 2 / 2
    near, far = 1 + (behind + 1) / 2, (behind + 1) / 2
    before = near[::-1]
    expected = (np.stack([near + far[::-1], near + far[::-1], far + before, far + before], axis=1) * scale).ravel()
    np.testing.assert_allclose(result.centrality, expected, rtol=1e-9)


def downward(graph):
    """The same edges, each from the lesser end to the greater, without loops."""
    edges = graph.edges()
    real = edges.src != edges.dst
    weights = None if edges.weight is None else edges.weight[real]
    low, high = np.minimum(edges.src, edges.dst)[real], np.maximum(edges.src, edges.dst)[real]
    return dr.Graph.from_edges(low, high, weights, num_vertices=graph.num_vertices)


@on_every_device
@examples(20)
@given(drawn=graphs(high=9, weights=(-1.0, 0.0, 1.0, 2.5)))
def test_levels_and_longest_paths_are_those_of_networkx(device, drawn):
    graph = downward(drawn)
    other, n = as_networkx(graph), graph.num_vertices
    for path in legal_paths(graph, Levels):
        levels = dr.topological_levels(graph, device=device, path=path)
        expected = {v: level for level, part in enumerate(nx.topological_generations(other)) for v in part}
        assert levels.level.tolist() == row(expected, n, 0).tolist()
        levels.verify()
        longest = dr.longest_paths(graph, device=device, path=path)
        longest.verify()
        if n:
            assert longest.length == max(nx.dag_longest_path_length(other, default_weight=1), 0)
            route = longest.path_to(longest.end)
            assert nx.is_path(other, route)
    edges = graph.edges()
    assert np.all(levels.position[edges.src] < levels.position[edges.dst])


@examples(60)
@given(
    drawn=graphs(high=12, weights=(-1.0, -0.0, 0.5, 1.0, 2.0, np.inf)),
    kind=st.sampled_from((np.float32, np.float64, np.int32, None)),
)
def test_the_kernel_for_longest_paths_means_what_the_programs_do(drawn, kind):
    graph = downward(drawn)
    if kind is np.int32 and graph.weights is not None:
        graph = graph.with_weights(np.where(np.isinf(graph.weights), 3, 2 * graph.weights).astype(np.int32))
    elif graph.weights is not None:
        graph = graph.with_weights(None if kind is None else graph.weights.astype(kind))
    found = longest_paths(graph)
    assert not found["left"].any()
    for device, path in (("reference", "auto"), ("cpu", "sync-push-dd"), ("cpu", "sync-pull-td")):
        expected = dr.longest_paths(graph, device=device, path=path)
        assert found["distance"].tobytes() == expected.distance.tobytes()
        assert found["parent"].tobytes() == expected.parent.tobytes()


def test_of_ways_of_one_length_the_one_from_the_lesser_level_stays():
    graph = dr.Graph.from_edges([0, 0, 1, 2, 4], [4, 2, 4, 3, 3], [1.0, 1.0, 1.0, 3.0, 3.0])  # of a level: the greater
    for how in ({"device": "cpu"}, {"device": "cpu", "path": "sync-push-td"}):
        result = dr.longest_paths(graph, **how)
        assert (result.distance.tolist(), result.parent.tolist()) == ([0, 0, 1, 4, 1], [0, 1, 0, 4, 1])
    assert {row.phase for row in dr.longest_paths(graph, device="cpu").trace} == {"longest_paths"}
    late = dr.Graph.from_edges([0, 3, 1, 2], [3, 2, 2, 4], [1.0, 1.0, 2.0, 1.0])  # 3 is below 1
    for how in ({"device": "cpu"}, {"device": "reference"}):
        assert dr.longest_paths(late, **how).parent.tolist() == [0, 1, 1, 0, 2]


def test_a_set_stop_flag_ends_the_queue_of_longest_paths():
    chain = dr.generators.path(50, directed=True)
    for set_, expected in ((1, 0.0), (0, 49.0)):
        left, level, distance = chain.in_degree.astype(np.int64), np.zeros(50, np.int64), np.zeros(50)
        parent, queue = np.arange(50, dtype=chain.targets.dtype), np.empty(50, chain.targets.dtype)
        rows = read_only(chain.offsets), read_only(chain.targets), read_only(np.empty(0))
        run_team(
            longest_paths_kernels.relax, *rows, left, level, distance, parent, queue, np.array([set_]), threads=1
        )  # fmt: skip
        assert distance.max() == expected


def test_a_cycle_is_named():
    graph = dr.Graph.from_edges(["top", "a", "b", "c", "c"], ["a", "b", "c", "a", "end"])
    for find in (dr.topological_levels, dr.longest_paths):
        with pytest.raises(AlgorithmError, match="the cycle a -> b -> c -> a; remove an edge"):
            find(graph)
        with pytest.raises(AlgorithmError, match="the cycle a -> b -> c -> a; remove an edge"):
            find(graph, device="cpu")
    with pytest.raises(AlgorithmError, match="the cycle 1 -> 1"):
        dr.topological_levels(dr.Graph.from_edges([0, 1], [1, 1]))
    with pytest.raises(InvalidArgumentError, match="in an undirected one every edge is a cycle"):
        dr.topological_levels(KITE)


def test_the_verifiers_refuse_wrong_answers():
    verify_trusses(KITE, np.array([3, 3, 3, 2]))
    with pytest.raises(VerificationError, match="edge 3 has too few triangles in the 3-truss"):
        verify_trusses(KITE, np.array([3, 3, 3, 3]))
    with pytest.raises(VerificationError, match="edge 0 belongs to a denser truss"):
        verify_trusses(KITE, np.array([2, 2, 2, 2]))
    with pytest.raises(VerificationError, match="the edge 2-3 is a bridge that was left out"):
        verify_bridges(KITE, np.array([], dtype=int), np.array([], dtype=int))
    with pytest.raises(VerificationError, match="not every bridge"):
        verify_bridges(KITE, np.array([0]), np.array([1]))
    source, target = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3])
    verify_parts(KITE, source, target, np.array([1, 1, 1, 0]))
    with pytest.raises(VerificationError, match="a cycle goes through two components"):
        verify_parts(KITE, source, target, np.array([1, 1, 2, 0]))
    with pytest.raises(VerificationError, match="falls apart without vertex 2"):
        verify_parts(KITE, source, target, np.array([0, 0, 0, 0]))
    chain = dr.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(VerificationError, match="vertex 2 has no predecessor"):
        verify_levels(chain, np.array([0, 1, 3]))
    with pytest.raises(VerificationError, match="arc 1 makes a longer path"):
        verify_longest(chain, np.array([0.0, 1.0, 1.0]), np.array([0, 0, 1]))


@pytest.mark.parametrize("most", [1, 1 << 16, 1 << 17, 1 << 40])
def test_ids_are_ordered_by_16_bits_at_a_time(most):
    ids = np.random.default_rng(most).integers(0, most, 3000)
    np.testing.assert_array_equal(order_of(ids), np.argsort(ids, kind="stable"))
