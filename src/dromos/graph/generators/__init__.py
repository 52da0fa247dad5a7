"""Generated graphs: the random graphs of benchmarks, lattices, classic shapes, and random weights.

Every generator is deterministic: the same arguments and seed give the same graph on any machine, with any number of
threads (see :mod:`dromos.graph.generators.rng`).
"""

from typing import TYPE_CHECKING

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

_ELSEWHERE = {  # what NetworkX and igraph call the same
    "erdos_renyi": "uniform",
    "gnm": "uniform",
    "gnp": "uniform",
    "gnm_random_graph": "uniform",
    "gnp_random_graph": "uniform",
    "random": "uniform",
    "barabasi_albert_graph": "barabasi_albert",
    "watts_strogatz_graph": "watts_strogatz",
    "complete_graph": "complete",
    "cycle_graph": "cycle",
    "grid_2d_graph": "grid",
    "path_graph": "path",
    "star_graph": "star",
}


if not TYPE_CHECKING:  # a type checker knows what there is

    def __getattr__(name: str) -> object:
        meant = f"; use dromos.generators.{_ELSEWHERE[name]}" if name in _ELSEWHERE else ""
        raise AttributeError(f"there is no generator {name!r}{meant}")
