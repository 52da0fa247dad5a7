"""Graphs made on the spot: the benchmarks' random graphs, lattices, classic shapes, and random weights.

Every generator is deterministic: the same arguments and seed give the same graph on any machine, whatever the number of
threads (see :mod:`dromos.graph.generators.rng`).
"""

from dromos.graph.generators.classic import binary_tree, complete, cycle, path, star
from dromos.graph.generators.grid import grid
from dromos.graph.generators.models import barabasi_albert, watts_strogatz
from dromos.graph.generators.rmat import kronecker, rmat, rmat_edges
from dromos.graph.generators.uniform import uniform, uniform_edges
from dromos.graph.generators.weights import with_random_weights

__all__ = [
    "barabasi_albert",
    "binary_tree",
    "complete",
    "cycle",
    "grid",
    "kronecker",
    "path",
    "rmat",
    "rmat_edges",
    "star",
    "uniform",
    "uniform_edges",
    "watts_strogatz",
    "with_random_weights",
]
