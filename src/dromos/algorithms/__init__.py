"""The algorithms, one file each: what it returns, the method, the program, and a verifier."""

from dromos.algorithms.belief_propagation import belief_propagation
from dromos.algorithms.betweenness import betweenness
from dromos.algorithms.bfs import bfs
from dromos.algorithms.clustering import clustering
from dromos.algorithms.connected_components import connected_components
from dromos.algorithms.core_numbers import core_numbers
from dromos.algorithms.degree_distribution import degree_distribution
from dromos.algorithms.k_core import k_core
from dromos.algorithms.label_propagation import label_propagation
from dromos.algorithms.pagerank import pagerank, random_walk_with_restart
from dromos.algorithms.spmv import spmv
from dromos.algorithms.sssp import sssp
from dromos.algorithms.strongly_connected_components import strongly_connected_components
from dromos.algorithms.triangles import triangles

__all__ = [
    "belief_propagation",
    "betweenness",
    "bfs",
    "clustering",
    "connected_components",
    "core_numbers",
    "degree_distribution",
    "k_core",
    "label_propagation",
    "pagerank",
    "random_walk_with_restart",
    "spmv",
    "sssp",
    "strongly_connected_components",
    "triangles",
]
