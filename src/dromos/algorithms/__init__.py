"""The algorithms, one file each: what it returns, the method, the program, and a verifier."""

from dromos.algorithms.all_pairs import all_pairs
from dromos.algorithms.assortativity import assortativity
from dromos.algorithms.belief_propagation import belief_propagation
from dromos.algorithms.betweenness import betweenness
from dromos.algorithms.bfs import bfs
from dromos.algorithms.closeness import closeness
from dromos.algorithms.clustering import clustering
from dromos.algorithms.connected_components import connected_components
from dromos.algorithms.core_numbers import core_numbers
from dromos.algorithms.degree_centrality import degree_centrality
from dromos.algorithms.degree_distribution import degree_distribution
from dromos.algorithms.distances import distances
from dromos.algorithms.eccentricity import diameter, eccentricity, radius
from dromos.algorithms.harmonic import harmonic
from dromos.algorithms.k_core import k_core
from dromos.algorithms.label_propagation import label_propagation
from dromos.algorithms.leiden import leiden
from dromos.algorithms.louvain import louvain
from dromos.algorithms.modularity import modularity
from dromos.algorithms.multi_source_bfs import multi_source_bfs
from dromos.algorithms.neighbourhood_function import neighbourhood_function
from dromos.algorithms.pagerank import pagerank, random_walk_with_restart
from dromos.algorithms.spmv import spmv
from dromos.algorithms.sssp import sssp
from dromos.algorithms.strongly_connected_components import strongly_connected_components
from dromos.algorithms.transitivity import transitivity
from dromos.algorithms.triangles import triangles

__all__ = [
    "all_pairs",
    "assortativity",
    "belief_propagation",
    "betweenness",
    "bfs",
    "closeness",
    "clustering",
    "connected_components",
    "core_numbers",
    "degree_centrality",
    "degree_distribution",
    "diameter",
    "distances",
    "eccentricity",
    "harmonic",
    "k_core",
    "label_propagation",
    "leiden",
    "louvain",
    "modularity",
    "multi_source_bfs",
    "neighbourhood_function",
    "pagerank",
    "radius",
    "random_walk_with_restart",
    "spmv",
    "sssp",
    "strongly_connected_components",
    "transitivity",
    "triangles",
]
