"""Dromos: graph processing that picks the fastest execution strategy automatically."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dromos._version import __version__
from dromos.errors import DromosError, DromosWarning

if TYPE_CHECKING:
    from dromos.algorithms.all_pairs import all_pairs
    from dromos.algorithms.assortativity import assortativity
    from dromos.algorithms.belief_propagation import belief_propagation
    from dromos.algorithms.betweenness import betweenness
    from dromos.algorithms.bfs import bfs
    from dromos.algorithms.biconnected_components import articulation_points, biconnected_components, bridges
    from dromos.algorithms.closeness import closeness
    from dromos.algorithms.clustering import clustering
    from dromos.algorithms.coloring import coloring
    from dromos.algorithms.connected_components import connected_components
    from dromos.algorithms.core_numbers import core_numbers
    from dromos.algorithms.degree_centrality import degree_centrality
    from dromos.algorithms.degree_distribution import degree_distribution
    from dromos.algorithms.distances import distances
    from dromos.algorithms.eccentricity import diameter, eccentricity, radius
    from dromos.algorithms.edge_betweenness import edge_betweenness
    from dromos.algorithms.eigenvector import eigenvector
    from dromos.algorithms.harmonic import harmonic
    from dromos.algorithms.hits import hits
    from dromos.algorithms.k_core import k_core
    from dromos.algorithms.katz import katz
    from dromos.algorithms.label_propagation import label_propagation
    from dromos.algorithms.leiden import leiden
    from dromos.algorithms.longest_paths import longest_paths
    from dromos.algorithms.louvain import louvain
    from dromos.algorithms.maximal_independent_set import maximal_independent_set
    from dromos.algorithms.maximal_matching import maximal_matching
    from dromos.algorithms.minimum_spanning_forest import minimum_spanning_forest
    from dromos.algorithms.modularity import modularity
    from dromos.algorithms.multi_source_bfs import multi_source_bfs
    from dromos.algorithms.neighbourhood_function import neighbourhood_function
    from dromos.algorithms.node_similarity import node_similarity
    from dromos.algorithms.pagerank import pagerank, random_walk_with_restart
    from dromos.algorithms.personalized_pagerank import personalized_pagerank
    from dromos.algorithms.random_walks import random_walks
    from dromos.algorithms.reachability import ReachabilityIndex, reachability_index
    from dromos.algorithms.sample_neighbors import sample_neighbors
    from dromos.algorithms.shortcuts import has_path, largest_component
    from dromos.algorithms.spmv import spmv
    from dromos.algorithms.sssp import sssp
    from dromos.algorithms.strongly_connected_components import strongly_connected_components
    from dromos.algorithms.topological_levels import topological_levels
    from dromos.algorithms.transitivity import transitivity
    from dromos.algorithms.triangles import triangles
    from dromos.algorithms.truss_numbers import truss_numbers
    from dromos.graph import Graph, Labels, generators
    from dromos.graph.formats import read, write
    from dromos.graph.store.stored import StoredGraph
    from dromos.graph.store.stored import open_store as open
    from dromos.places.cluster.local import cluster
    from dromos.program import (
        AND,
        ANY,
        ARGMAX,
        ARGMIN,
        ID,
        MAX,
        MIN,
        OR,
        SUM,
        Program,
        absolute,
        arctan,
        cast,
        ceil,
        cos,
        edge_field,
        edge_param,
        exp,
        expm1,
        field,
        floor,
        isfinite,
        isnan,
        log,
        log1p,
        maximum,
        minimum,
        param,
        random,
        reduction,
        sin,
        sqrt,
        tan,
        tanh,
        vertex_param,
        where,
    )
    from dromos.runner import Result, Runner, Trace, compile, run

__all__ = [
    "AND",
    "ANY",
    "ARGMAX",
    "ARGMIN",
    "ID",
    "MAX",
    "MIN",
    "OR",
    "SUM",
    "DromosError",
    "DromosWarning",
    "Graph",
    "Labels",
    "Program",
    "ReachabilityIndex",
    "Result",
    "Runner",
    "StoredGraph",
    "Trace",
    "__version__",
    "absolute",
    "all_pairs",
    "arctan",
    "articulation_points",
    "assortativity",
    "belief_propagation",
    "betweenness",
    "bfs",
    "biconnected_components",
    "bridges",
    "cast",
    "ceil",
    "closeness",
    "cluster",
    "clustering",
    "coloring",
    "compile",
    "connected_components",
    "core_numbers",
    "cos",
    "degree_centrality",
    "degree_distribution",
    "diameter",
    "distances",
    "eccentricity",
    "edge_betweenness",
    "edge_field",
    "edge_param",
    "eigenvector",
    "exp",
    "expm1",
    "field",
    "floor",
    "generators",
    "harmonic",
    "has_path",
    "hits",
    "isfinite",
    "isnan",
    "k_core",
    "katz",
    "label_propagation",
    "largest_component",
    "leiden",
    "log",
    "log1p",
    "longest_paths",
    "louvain",
    "maximal_independent_set",
    "maximal_matching",
    "maximum",
    "minimum",
    "minimum_spanning_forest",
    "modularity",
    "multi_source_bfs",
    "neighbourhood_function",
    "node_similarity",
    "open",
    "pagerank",
    "param",
    "personalized_pagerank",
    "radius",
    "random",
    "random_walk_with_restart",
    "random_walks",
    "reachability_index",
    "read",
    "reduction",
    "run",
    "sample_neighbors",
    "sin",
    "spmv",
    "sqrt",
    "sssp",
    "strongly_connected_components",
    "tan",
    "tanh",
    "topological_levels",
    "transitivity",
    "triangles",
    "truss_numbers",
    "vertex_param",
    "where",
    "write",
]

logging.getLogger("dromos").addHandler(logging.NullHandler())  # a library is quiet until somebody asks it to talk

# The other names are imported when first used, so that `import dromos` stays quick; the first module that has one wins.
_LAZY = (
    "dromos.graph",
    "dromos.graph.formats",
    "dromos.program",
    "dromos.runner",
    "dromos.algorithms",
    "dromos.algorithms.reachability",
    "dromos.algorithms.sample_neighbors",
    "dromos.graph.store.stored",
    "dromos.algorithms.shortcuts",
    "dromos.places.cluster.local",
)
_OTHER_NAMES = {"open": "open_store"}  # what would hide one of Python's own functions where it is defined


def __getattr__(name: str) -> Any:
    if name == "generators":
        return import_module("dromos.graph.generators")
    if name in __all__:
        defined = _OTHER_NAMES.get(name, name)
        for module in map(import_module, _LAZY):
            if defined in module.__all__:
                value = globals()[name] = getattr(module, defined)
                return value
    raise AttributeError(f"module 'dromos' has no attribute {name!r}{_instead_of(name)}")


# What NetworkX, igraph and others call what we have; the same word with another ending is found by its spelling.
_ELSEWHERE = {
    "all_pairs_shortest_path_length": "distances",
    "average_clustering": "clustering",
    "bfs_edges": "bfs",
    "bfs_tree": "bfs",
    "betweenness_centrality": "betweenness",
    "breadth_first_search": "bfs",
    "closeness_centrality": "closeness",
    "cc": "connected_components",
    "components": "connected_components",
    "core_number": "core_numbers",
    "dijkstra": "sssp",
    "bellman_ford": "sssp",
    "eigenvector_centrality": "eigenvector",
    "from_arrow": "Graph.from_arrow",
    "from_edges": "Graph.from_edges",
    "from_igraph": "Graph.from_igraph",
    "from_networkx": "Graph.from_networkx",
    "from_pandas": "Graph.from_pandas",
    "from_pandas_edgelist": "Graph.from_edges",
    "from_polars": "Graph.from_polars",
    "from_scipy": "Graph.from_scipy",
    "harmonic_centrality": "harmonic",
    "jaccard_coefficient": "node_similarity",
    "katz_centrality": "katz",
    "label_propagation_communities": "label_propagation",
    "load": "read",
    "louvain_communities": "louvain",
    "node2vec": "random_walks",
    "page_rank": "pagerank",
    "read_csv": "read",
    "read_edgelist": "read",
    "read_graph": "read",
    "scc": "strongly_connected_components",
    "shortest_path": "sssp",
    "shortest_path_length": "sssp",
    "single_source_dijkstra": "sssp",
    "single_source_shortest_path_length": "bfs",
    "weakly_connected_components": "connected_components",
    "write_edgelist": "write",
}


def _instead_of(name: str) -> str:
    """A suggestion for a name that is not here: ours for that of another library, or one spelled alike."""
    if name.startswith("_"):  # asked for by tools that look at any module, such as inspect and pytest
        return ""
    import difflib

    meant = _ELSEWHERE.get(name) or next(iter(difflib.get_close_matches(name, __all__, n=1, cutoff=0.75)), None)
    return f"; did you mean dromos.{meant}?" if meant else ""


def __dir__() -> list[str]:
    return sorted(__all__)
