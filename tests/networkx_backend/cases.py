"""Every function of the backend, the kinds of graphs that NetworkX defines it on, and arguments to call it with."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

UNDIRECTED, DIRECTED, MULTI, MULTI_DIRECTED = "graph", "digraph", "multigraph", "multidigraph"
ALL = (UNDIRECTED, DIRECTED, MULTI, MULTI_DIRECTED)
BOTH = (UNDIRECTED, DIRECTED)
NO_DIRECTION = (UNDIRECTED, MULTI)
ONE_WAY = (DIRECTED, MULTI_DIRECTED)
SIMPLE = (UNDIRECTED,)

Arguments = Callable[[list[Any], random.Random], "list[tuple[tuple[Any, ...], dict[str, Any]]]"]


def none(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {})]


def _pick(nodes: list[Any], draw: random.Random) -> Any:
    return draw.choice(nodes) if nodes and draw.random() < 0.9 else "not there"


def source(nodes: list[Any], draw: random.Random) -> Any:
    return [((_pick(nodes, draw),), {}), ((_pick(nodes, draw),), {})]


def source_cutoff(nodes: list[Any], draw: random.Random) -> Any:
    return [*source(nodes, draw), ((_pick(nodes, draw),), {"cutoff": draw.choice([0, 1, 2, 1.5])})]


def cutoff(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"cutoff": draw.choice([0, 1, 2, 1.5])})]


def source_depth(nodes: list[Any], draw: random.Random) -> Any:
    return [*source(nodes, draw), ((_pick(nodes, draw),), {"depth_limit": draw.choice([0, 1, 2])})]


def maybe_source_depth(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"depth_limit": draw.choice([1, 2])}), *source_depth(nodes, draw)]


def pair(nodes: list[Any], draw: random.Random) -> Any:
    return [((_pick(nodes, draw), _pick(nodes, draw)), {}) for _ in range(3)]


def some_sources(nodes: list[Any], draw: random.Random) -> Any:
    some = draw.sample(nodes, min(len(nodes), 2))
    return [((some,), {}), (([*some, _pick(nodes, draw)],), {}), (([],), {})]


def loads(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((_pick(nodes, draw),), {"normalized": False}), ((), {"cutoff": draw.choice([1, 2])})]


def some_nodes(nodes: list[Any], draw: random.Random) -> Any:
    some = draw.sample(nodes, min(len(nodes), 3))
    no_node_and_no_list = ((10**6,), {})
    return [((), {}), ((some,), {}), no_node_and_no_list, ((_pick(nodes, draw),), {}) if nodes else ((), {})]


def some_nodes_by_weight(nodes: list[Any], draw: random.Random) -> Any:
    return [*some_nodes(nodes, draw), ((), {"weight": "weight"})]


def pairs(nodes: list[Any], draw: random.Random) -> Any:
    given = [tuple(draw.choice(nodes) for _ in range(2)) for _ in range(4)] if nodes else []
    return [((), {}), ((given,), {}), (([(_pick(nodes, draw), _pick(nodes, draw))],), {})]


def pairs_by_count(nodes: list[Any], draw: random.Random) -> Any:
    return [(args, {"alpha": 1}) for args, _ in pairs(nodes, draw)]


def start(nodes: list[Any], draw: random.Random) -> Any:
    """Without values to start from, the last digits depend on random numbers."""
    return [((), {"nstart": {node: 1.0 + number for number, node in enumerate(nodes)}})]


def weight(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"weight": "weight"})]


def no_weight(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"weight": None})]


def generic(nodes: list[Any], draw: random.Random) -> Any:
    calls = []
    for method in ("dijkstra", "bellman-ford"):
        for key in (None, "weight"):
            options = {"method": method, "weight": key}
            calls += [
                ((), dict(options)),
                ((), {"source": _pick(nodes, draw), **options}),
                ((), {"target": _pick(nodes, draw), **options}),
                ((), {"source": _pick(nodes, draw), "target": _pick(nodes, draw), **options}),
            ]
    return calls


def sampled(nodes: list[Any], draw: random.Random) -> Any:
    calls: list[Any] = [((), {}), ((), {"normalized": False})]
    if nodes:
        calls.append(((), {"k": draw.randint(1, len(nodes)), "seed": random.Random(draw.randint(0, 99))}))
    return calls


def sampled_endpoints(nodes: list[Any], draw: random.Random) -> Any:
    by_weight = [((), {"weight": "weight"}), ((), {"weight": "weight", "endpoints": True, "normalized": False})]
    ends = [((), {"endpoints": True}), ((), {"endpoints": True, "normalized": False})]
    return [*sampled(nodes, draw), *ends, *by_weight]


def closeness(nodes: list[Any], draw: random.Random) -> Any:
    calls: list[Any] = [((), {}), ((), {"wf_improved": False}), ((), {"distance": "weight"})]
    return [*calls, ((), {"u": draw.choice(nodes)})] if nodes else calls


def ranks(nodes: list[Any], draw: random.Random) -> Any:
    calls: list[Any] = [((), {}), ((), {"weight": None, "alpha": 0.5}), ((), {"max_iter": 1})]
    if nodes:
        values = {node: draw.random() + 0.01 for node in draw.sample(nodes, 1 + len(nodes) // 2)}
        calls += [((), {"personalization": values}), ((), {"nstart": values, "dangling": values})]
    return calls


def k_value(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {"k": k}) for k in (0, 1, 2, 3)]


def maybe_k(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), *k_value(nodes, draw)] if nodes else k_value(nodes, draw)


def distance(nodes: list[Any], draw: random.Random) -> Any:
    return [((_pick(nodes, draw), d), {}) for d in (0, 1, 2)]


def kinds_of_degree(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"source": "in", "target": "out"}), ((), {"source": "in+out", "target": "in+out"})]


def ends(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"x": "in", "y": "out"}), ((), {"x": "in", "y": "in"})]


def communities(nodes: list[Any], draw: random.Random) -> Any:
    label = {node: draw.randint(0, 2) for node in nodes}
    parts = [{node for node in nodes if label[node] == one} for one in range(3)]
    return [((parts,), {}), ((parts,), {"weight": None, "resolution": 0.7}), ((parts[1:],), {})]


def levels(nodes: list[Any], draw: random.Random) -> Any:
    options = [{}, {"weight": None, "resolution": 0.7}, {"resolution": 2, "threshold": 0.01}]
    return [((), {**more, "seed": random.Random(draw.random())}) for more in options]


def one_level(nodes: list[Any], draw: random.Random) -> Any:
    limited = [((), {"max_level": most, "seed": random.Random(draw.random())}) for most in (0, 1)]
    return [*levels(nodes, draw), *limited]


def nodelist(nodes: list[Any], draw: random.Random) -> Any:
    some = draw.sample(nodes, len(nodes) // 2)
    return [((), {}), ((), {"weight": None}), ((some,), {}), (([*nodes, "not there"],), {}), (([*nodes, *nodes],), {})]


def strategies(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {}), ((), {"strategy": "DSATUR"})]


def seeded(nodes: list[Any], draw: random.Random) -> Any:
    return [((), {**more, "seed": random.Random(draw.random())}) for more in ({}, {"weight": "weight"})]


def some(nodes: list[Any], draw: random.Random) -> Any:
    """Some nodes, and perhaps one that is not there."""
    chosen = draw.sample(nodes, len(nodes) // 2)
    return [((chosen,), {}), (([*chosen, "not there"],), {}), ((nodes,), {})]


CASES: dict[str, tuple[tuple[str, ...], Arguments]] = {
    # shortest paths
    "all_pairs_bellman_ford_path": (ALL, weight),
    "all_pairs_bellman_ford_path_length": (ALL, weight),
    "all_pairs_dijkstra": (ALL, cutoff),
    "all_pairs_dijkstra_path": (ALL, cutoff),
    "all_pairs_dijkstra_path_length": (ALL, cutoff),
    "all_pairs_shortest_path": (ALL, cutoff),
    "all_pairs_shortest_path_length": (ALL, cutoff),
    "average_shortest_path_length": (ALL, weight),
    "bellman_ford_path": (ALL, pair),
    "bellman_ford_path_length": (ALL, pair),
    "bellman_ford_predecessor_and_distance": (ALL, source),
    "dijkstra_path": (ALL, pair),
    "dijkstra_path_length": (ALL, pair),
    "dijkstra_predecessor_and_distance": (ALL, source_cutoff),
    "has_path": (ALL, pair),
    "multi_source_dijkstra": (ALL, some_sources),
    "multi_source_dijkstra_path": (ALL, some_sources),
    "multi_source_dijkstra_path_length": (ALL, some_sources),
    "predecessor": (ALL, source_cutoff),
    "shortest_path": (ALL, generic),
    "shortest_path_length": (ALL, generic),
    "single_source_bellman_ford": (ALL, source),
    "single_source_bellman_ford_path": (ALL, source),
    "single_source_bellman_ford_path_length": (ALL, source),
    "single_source_dijkstra": (ALL, source_cutoff),
    "single_source_dijkstra_path": (ALL, source_cutoff),
    "single_source_dijkstra_path_length": (ALL, source_cutoff),
    "single_source_shortest_path": (ALL, source_cutoff),
    "single_source_shortest_path_length": (ALL, source_cutoff),
    "single_target_shortest_path": (ALL, source_cutoff),
    "single_target_shortest_path_length": (ALL, source_cutoff),
    # components
    "attracting_components": (ONE_WAY, none),
    "connected_components": (NO_DIRECTION, none),
    "is_attracting_component": (ONE_WAY, none),
    "is_connected": (NO_DIRECTION, none),
    "is_strongly_connected": (ONE_WAY, none),
    "is_weakly_connected": (ONE_WAY, none),
    "node_connected_component": (NO_DIRECTION, source),
    "number_attracting_components": (ONE_WAY, none),
    "number_connected_components": (NO_DIRECTION, none),
    "number_strongly_connected_components": (ONE_WAY, none),
    "number_weakly_connected_components": (ONE_WAY, none),
    "strongly_connected_components": (ONE_WAY, none),
    "weakly_connected_components": (ONE_WAY, none),
    # centralities
    "betweenness_centrality": (ALL, sampled_endpoints),
    "closeness_centrality": (ALL, closeness),
    "degree_centrality": (ALL, none),
    "edge_betweenness_centrality": (ALL, sampled),
    "eigenvector_centrality": (BOTH, weight),
    "harmonic_centrality": (ALL, some_nodes),
    "hits": (ALL, start),
    "in_degree_centrality": (ONE_WAY, none),
    "katz_centrality": (BOTH, weight),
    "newman_betweenness_centrality": (ALL, loads),
    "out_degree_centrality": (ONE_WAY, none),
    "pagerank": (ALL, ranks),
    # cores and triangles
    "average_clustering": (ALL, some_nodes_by_weight),
    "clustering": (ALL, some_nodes_by_weight),
    "core_number": (BOTH, none),
    "generalized_degree": (NO_DIRECTION, some_nodes),
    "k_core": (BOTH, maybe_k),
    "k_corona": (BOTH, k_value),
    "k_crust": (BOTH, maybe_k),
    "k_shell": (BOTH, maybe_k),
    "k_truss": (SIMPLE, k_value),
    "onion_layers": (SIMPLE, none),
    "square_clustering": (ALL, some_nodes),
    "transitivity": (ALL, none),
    "triangles": (NO_DIRECTION, some_nodes),
    # pairs
    "adamic_adar_index": (SIMPLE, pairs),
    "common_neighbor_centrality": (SIMPLE, pairs_by_count),
    "jaccard_coefficient": (SIMPLE, pairs),
    "preferential_attachment": (SIMPLE, pairs),
    "resource_allocation_index": (SIMPLE, pairs),
    # searches
    "ancestors": (ALL, source),
    "bfs_edges": (ALL, source_depth),
    "bfs_layers": (ALL, some_sources),
    "bfs_predecessors": (ALL, source_depth),
    "bfs_successors": (ALL, source_depth),
    "bfs_tree": (ALL, source_depth),
    "descendants": (ALL, source),
    "descendants_at_distance": (ALL, distance),
    "dfs_edges": (ALL, maybe_source_depth),
    "dfs_postorder_nodes": (ALL, maybe_source_depth),
    "dfs_predecessors": (ALL, maybe_source_depth),
    "dfs_preorder_nodes": (ALL, maybe_source_depth),
    "dfs_successors": (ALL, maybe_source_depth),
    "dfs_tree": (ALL, maybe_source_depth),
    # directed acyclic graphs
    "dag_longest_path": (ONE_WAY, weight),
    "dag_longest_path_length": (ONE_WAY, weight),
    "has_cycle": (ALL, none),
    "is_directed_acyclic_graph": (ALL, none),
    "topological_generations": (ALL, none),
    "topological_sort": (ALL, none),
    # colors
    "greedy_color": (ALL, strategies),
    "is_dominating_set": (ALL, some),
    "color": (ALL, none),
    "is_bipartite": (ALL, none),
    "sets": (ALL, none),
    # distances
    "barycenter": (ALL, none),
    "center": (ALL, weight),
    "diameter": (ALL, weight),
    "eccentricity": (ALL, some_nodes_by_weight),
    "global_efficiency": (NO_DIRECTION, none),
    "local_efficiency": (NO_DIRECTION, none),
    "periphery": (ALL, weight),
    "radius": (ALL, weight),
    "wiener_index": (ALL, none),
    # degrees and structure
    "average_degree_connectivity": (ALL, kinds_of_degree),
    "average_neighbor_degree": (ALL, kinds_of_degree),
    "degree_assortativity_coefficient": (ALL, ends),
    "degree_pearson_correlation_coefficient": (ALL, ends),
    "flow_hierarchy": (ALL, none),
    "is_arborescence": (ONE_WAY, none),
    "is_branching": (ONE_WAY, none),
    "is_empty": (ALL, none),
    "is_forest": (ALL, none),
    "is_k_regular": (NO_DIRECTION, k_value),
    "is_regular": (ALL, none),
    "is_tree": (ALL, none),
    "isolates": (ALL, none),
    "asyn_lpa_communities": (ALL, seeded),
    "fast_label_propagation_communities": (ALL, seeded),
    "label_propagation_communities": (NO_DIRECTION, none),
    "louvain_communities": (NO_DIRECTION, one_level),
    "louvain_partitions": (NO_DIRECTION, levels),
    "modularity": (ALL, communities),
    "number_of_isolates": (ALL, none),
    "number_of_selfloops": (ALL, none),
    "overall_reciprocity": (ALL, none),
    "reciprocity": (ALL, some_nodes),
    "s_metric": (ALL, none),
    # matrices, trees, matchings
    "adjacency_matrix": (ALL, nodelist),
    "laplacian_matrix": (ALL, nodelist),
    "maximal_matching": (NO_DIRECTION, none),
    "maximum_spanning_edges": (NO_DIRECTION, weight),
    "maximum_spanning_tree": (ALL, weight),
    "minimum_spanning_edges": (NO_DIRECTION, weight),
    "minimum_spanning_tree": (ALL, weight),
    "normalized_laplacian_matrix": (ALL, nodelist),
    "to_scipy_sparse_array": (ALL, nodelist),
}
BACKEND_ONLY = {"leiden_communities", "leiden_partitions"}
"""What NetworkX declares and leaves to backends: there is no answer of its own to compare with."""
