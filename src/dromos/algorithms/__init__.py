"""The algorithms, one file each: each states its result and method, and has a program and a verifier."""

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
from dromos.algorithms.spmv import spmv
from dromos.algorithms.sssp import sssp
from dromos.algorithms.strongly_connected_components import strongly_connected_components
from dromos.algorithms.topological_levels import topological_levels
from dromos.algorithms.transitivity import transitivity
from dromos.algorithms.triangles import triangles
from dromos.algorithms.truss_numbers import truss_numbers

__all__ = [
    "all_pairs",
    "articulation_points",
    "assortativity",
    "belief_propagation",
    "betweenness",
    "bfs",
    "biconnected_components",
    "bridges",
    "closeness",
    "clustering",
    "coloring",
    "connected_components",
    "core_numbers",
    "degree_centrality",
    "degree_distribution",
    "diameter",
    "distances",
    "eccentricity",
    "edge_betweenness",
    "eigenvector",
    "harmonic",
    "hits",
    "k_core",
    "katz",
    "label_propagation",
    "leiden",
    "longest_paths",
    "louvain",
    "maximal_independent_set",
    "maximal_matching",
    "minimum_spanning_forest",
    "modularity",
    "multi_source_bfs",
    "neighbourhood_function",
    "node_similarity",
    "pagerank",
    "personalized_pagerank",
    "radius",
    "random_walk_with_restart",
    "random_walks",
    "spmv",
    "sssp",
    "strongly_connected_components",
    "topological_levels",
    "transitivity",
    "triangles",
    "truss_numbers",
]
