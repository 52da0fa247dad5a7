"""What NetworkX reads at import time: the backend's name, settings and functions; nothing heavy is imported."""

from __future__ import annotations

from typing import Any

__all__ = ["FUNCTIONS", "MODULES", "get_info"]

FUNCTIONS_BY_MODULE: dict[str, str] = {
    "assortativity": (
        "average_degree_connectivity average_neighbor_degree degree_assortativity_coefficient "
        "degree_pearson_correlation_coefficient"
    ),
    "bellman_ford": (
        "all_pairs_bellman_ford_path all_pairs_bellman_ford_path_length bellman_ford_path bellman_ford_path_length "
        "bellman_ford_predecessor_and_distance single_source_bellman_ford single_source_bellman_ford_path "
        "single_source_bellman_ford_path_length"
    ),
    "bipartite": "color is_bipartite sets",
    "centrality": (
        "betweenness_centrality closeness_centrality degree_centrality edge_betweenness_centrality "
        "harmonic_centrality in_degree_centrality newman_betweenness_centrality out_degree_centrality"
    ),
    "cluster": "average_clustering clustering generalized_degree square_clustering transitivity triangles",
    "coloring": "greedy_color",
    "community": "modularity",
    "dominating": "is_dominating_set",
    "label_propagation": ("asyn_lpa_communities fast_label_propagation_communities label_propagation_communities"),
    "louvain": "leiden_communities leiden_partitions louvain_communities louvain_partitions",
    "components": (
        "attracting_components connected_components is_attracting_component is_connected is_strongly_connected "
        "is_weakly_connected node_connected_component number_attracting_components number_connected_components "
        "number_strongly_connected_components number_weakly_connected_components strongly_connected_components "
        "weakly_connected_components"
    ),
    "cores": "core_number k_core k_corona k_crust k_shell k_truss onion_layers",
    "dag": (
        "dag_longest_path dag_longest_path_length has_cycle is_directed_acyclic_graph topological_generations "
        "topological_sort"
    ),
    "distance_measures": (
        "barycenter center diameter eccentricity global_efficiency local_efficiency periphery radius wiener_index"
    ),
    "generic": "average_shortest_path_length has_path shortest_path shortest_path_length",
    "link_analysis": "eigenvector_centrality hits katz_centrality pagerank",
    "link_prediction": (
        "adamic_adar_index common_neighbor_centrality jaccard_coefficient preferential_attachment "
        "resource_allocation_index"
    ),
    "matrices": "adjacency_matrix laplacian_matrix normalized_laplacian_matrix to_scipy_sparse_array",
    "structure": (
        "flow_hierarchy is_arborescence is_branching is_empty is_forest is_k_regular is_regular is_tree isolates "
        "number_of_isolates number_of_selfloops overall_reciprocity reciprocity s_metric"
    ),
    "traversal": (
        "ancestors bfs_edges bfs_layers bfs_predecessors bfs_successors bfs_tree descendants descendants_at_distance "
        "dfs_edges dfs_postorder_nodes dfs_predecessors dfs_preorder_nodes dfs_successors dfs_tree"
    ),
    "tree": (
        "maximal_matching maximum_spanning_edges maximum_spanning_tree minimum_spanning_edges minimum_spanning_tree"
    ),
    "unweighted": (
        "all_pairs_shortest_path all_pairs_shortest_path_length predecessor single_source_shortest_path "
        "single_source_shortest_path_length single_target_shortest_path single_target_shortest_path_length"
    ),
    "weighted": (
        "all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length dijkstra_path dijkstra_path_length "
        "dijkstra_predecessor_and_distance multi_source_dijkstra multi_source_dijkstra_path "
        "multi_source_dijkstra_path_length single_source_dijkstra single_source_dijkstra_path "
        "single_source_dijkstra_path_length"
    ),
}
"""The functions, by the module of this package that holds them."""

MODULES = tuple(FUNCTIONS_BY_MODULE)
FUNCTIONS = tuple(name for names in FUNCTIONS_BY_MODULE.values() for name in names.split())


def get_info() -> dict[str, Any]:
    """The description that NetworkX shows, and the default of ``nx.config.backends.dromos``.

    >>> get_info()["backend_name"]
    'dromos'
    """
    return {
        "backend_name": "dromos",
        "project": "dromos",
        "package": "dromos",
        "short_summary": "Compiled and vectorised, on all cores; the answers are NetworkX's.",
        "description": "Graphs are converted to arrays once and kept in NetworkX's cache.",
        "default_config": {"min_nodes": None},
        "functions": {name: {} for name in FUNCTIONS},
    }
