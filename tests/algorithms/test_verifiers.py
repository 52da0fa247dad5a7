"""No verifier refuses a right answer: every algorithm on small shapes whose answers other tests hold to NetworkX."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos import algorithms
from dromos.errors import AlgorithmError, DromosError, InvalidArgumentError, UnknownVertexError, VerificationError

_NONE = np.empty(0, dtype=np.int64)
SHAPES = {
    "path": dr.generators.path(10),
    "grid": dr.generators.grid(7, 8),
    "star": dr.generators.star(9),
    "cycle": dr.generators.cycle(9),
    "complete": dr.generators.complete(7),
    "tree": dr.generators.binary_tree(4),
    "disconnected": dr.Graph.from_edges([0, 1, 3, 5, 5], [1, 2, 4, 5, 5], num_vertices=8, directed=False),
    "edgeless": dr.Graph.from_edges(_NONE, _NONE, num_vertices=5, directed=False),
    "single vertex": dr.Graph.from_edges(_NONE, _NONE, num_vertices=1, directed=False),
    "self-loop": dr.Graph.from_edges([0], [0], directed=False),
    "empty": dr.Graph.from_edges(_NONE, _NONE, num_vertices=0, directed=False),
    "directed path": dr.Graph.from_edges(np.arange(9), np.arange(1, 10)),
    "directed cycle": dr.Graph.from_edges(np.arange(9), (np.arange(9) + 1) % 9),
    "directed star": dr.Graph.from_edges(np.arange(1, 9), np.zeros(8, np.int64)),
    "parallel edges": dr.Graph.from_edges([0, 0, 1, 2, 2, 2], [1, 1, 2, 0, 3, 2]),
    "weights": dr.Graph.from_edges([0, 0, 1, 3], [1, 2, 3, 0], [0.0, 2.5, 1.0, 7.0], directed=False),
}


def _half(graph: dr.Graph) -> list[int]:
    return list(range(0, graph.num_vertices, 2))


CALLS = {
    "all_pairs": lambda g, to: dr.all_pairs(g, to / "pairs.parquet"),
    "articulation_points": lambda g, to: dr.articulation_points(g),
    "assortativity": lambda g, to: dr.assortativity(g),
    "belief_propagation": lambda g, to: dr.belief_propagation(
        g, np.linspace(-1, 1, 2 * g.num_vertices).reshape(-1, 2), [[0.01, -0.01], [-0.01, 0.01]]
    ),
    "betweenness": lambda g, to: dr.betweenness(g),
    "betweenness of a sample": lambda g, to: dr.betweenness(g, sources=_half(g), endpoints=True),
    "biconnected_components": lambda g, to: dr.biconnected_components(g),
    "bfs": lambda g, to: dr.bfs(g, 0),
    "bfs to a depth": lambda g, to: dr.bfs(g, 0, depth_limit=2),
    "bridges": lambda g, to: dr.bridges(g),
    "closeness": lambda g, to: dr.closeness(g),
    "closeness of a sample": lambda g, to: dr.closeness(g, sources=_half(g)),
    "clustering": lambda g, to: dr.clustering(g),
    "coloring": lambda g, to: dr.coloring(g),
    "connected_components": lambda g, to: dr.connected_components(g),
    "core_numbers": lambda g, to: dr.core_numbers(g),
    "degree_centrality": lambda g, to: dr.degree_centrality(g),
    "degree_distribution": lambda g, to: dr.degree_distribution(g),
    "diameter": lambda g, to: dr.diameter(g),
    "distances": lambda g, to: dr.distances(g, _half(g)),
    "edge_betweenness": lambda g, to: dr.edge_betweenness(g),
    "eccentricity": lambda g, to: dr.eccentricity(g),
    "eigenvector": lambda g, to: dr.eigenvector(g),
    "harmonic": lambda g, to: dr.harmonic(g),
    "harmonic of a sample": lambda g, to: dr.harmonic(g, sources=_half(g)),
    "hits": lambda g, to: dr.hits(g),
    "katz": lambda g, to: dr.katz(g, 0.05),
    "k_core": lambda g, to: dr.k_core(g),
    "label_propagation": lambda g, to: dr.label_propagation(g),
    "leiden": lambda g, to: dr.leiden(g),
    "louvain": lambda g, to: dr.louvain(g),
    "longest_paths": lambda g, to: dr.longest_paths(g),
    "maximal_independent_set": lambda g, to: dr.maximal_independent_set(g),
    "maximal_matching": lambda g, to: dr.maximal_matching(g),
    "minimum_spanning_forest": lambda g, to: dr.minimum_spanning_forest(g),
    "modularity": lambda g, to: dr.modularity(g, np.arange(g.num_vertices) % 3),
    "multi_source_bfs": lambda g, to: dr.multi_source_bfs(g, _half(g)),
    "neighbourhood_function": lambda g, to: dr.neighbourhood_function(g),
    "node_similarity": lambda g, to: dr.node_similarity(g, k=3),
    "pagerank": lambda g, to: dr.pagerank(g),
    "pagerank in float32": lambda g, to: dr.pagerank(g, dtype=np.float32, tol=1e-4),
    "personalized_pagerank": lambda g, to: dr.personalized_pagerank(g, _half(g)),
    "radius": lambda g, to: dr.radius(g),
    "random_walk_with_restart": lambda g, to: dr.random_walk_with_restart(g, 0),
    "random_walks": lambda g, to: dr.random_walks(g, 5, 2, p=0.5),
    "spmv": lambda g, to: dr.spmv(g, np.linspace(-1, 1, g.num_vertices)),
    "sssp": lambda g, to: dr.sssp(g, 0),
    "strongly_connected_components": lambda g, to: dr.strongly_connected_components(g),
    "topological_levels": lambda g, to: dr.topological_levels(g),
    "transitivity": lambda g, to: dr.transitivity(g),
    "triangles": lambda g, to: dr.triangles(g),
    "truss_numbers": lambda g, to: dr.truss_numbers(g),
}
REFUSED = (AlgorithmError, InvalidArgumentError, UnknownVertexError)  # there is no answer that could be verified


def test_every_algorithm_is_called():
    assert {name.split(" ")[0] for name in CALLS} == set(algorithms.__all__)


@pytest.mark.parametrize("name", CALLS)
def test_right_answers_are_accepted(name, tmp_path):
    accepted, found = [], set()
    for shape, graph in SHAPES.items():
        try:
            result = CALLS[name](graph, tmp_path)
        except REFUSED:
            continue
        try:
            result.verify()
        except DromosError as error:
            pytest.fail(f"{name} of {shape}: {error}")
        accepted.append(shape)
        found |= {*result, *result.values_of_graph}
    assert found == set(type(result).__annotations__)  # what editors and type checkers are told
    acyclic = name in ("longest_paths", "topological_levels")
    assert ({"directed star"} if acyclic else {"star", "grid"}) <= set(accepted)  # where there is an answer


@pytest.mark.parametrize(("call", "field", "change"), [(dr.diameter, "lower", -1), (dr.radius, "upper", 1)])
def test_bounds_that_leave_the_answer_open_are_refused(call, field, change):
    result = call(dr.generators.cycle(9))
    result.verify()
    result[field][:] += change
    with pytest.raises(VerificationError):
        result.verify()


INFINITE = [np.inf, 1.0, np.inf, 2.0, 3.0]
CIRCLES = dr.Graph.from_edges([0, 1, 2, 0, 3], [1, 2, 0, 3, 4], INFINITE, directed=False)
ONE_WAY = dr.Graph.from_edges([0, 1, 0, 2, 3], [1, 2, 2, 3, 4], INFINITE)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dr.minimum_spanning_forest(CIRCLES, device="numpy"),
        lambda: dr.minimum_spanning_forest(CIRCLES, maximum=True, device="numpy"),
        lambda: dr.maximal_matching(CIRCLES, device="numpy"),
        lambda: dr.longest_paths(ONE_WAY, device="numpy"),
        lambda: dr.spmv(ONE_WAY, np.ones(5), device="numpy"),
        lambda: dr.sssp(ONE_WAY, 0, device="numpy"),
    ],
)
def test_answers_by_infinite_weights_are_not_refused(call):
    call().verify()
