"""A rehearsal: the built-in algorithms on small graphs, in every way that kernels are compiled for.

A kernel is compiled for the types of its arguments when it is called, so the set of kernels to compile is found by
calling. ``dromos warm`` fills the cache folder of a machine this way, and wheels contain the machine code of the
kernels that the rehearsal requests.
"""

from dromos.rehearsal.files import rehearse_files, rehearse_making
from dromos.rehearsal.graphs import large_graphs, small_graphs
from dromos.rehearsal.networkx import rehearse_networkx
from dromos.rehearsal.runs import arguments_for, rehearse, rehearse_large

__all__ = [
    "arguments_for",
    "large_graphs",
    "rehearse",
    "rehearse_files",
    "rehearse_large",
    "rehearse_making",
    "rehearse_networkx",
    "small_graphs",
]
