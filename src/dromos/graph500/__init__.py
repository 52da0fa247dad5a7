"""The Graph 500 benchmark over the ranks of an MPI job: generation, construction, searches and their validation."""

from dromos.graph500.benchmark import Outcome, Searches, run
from dromos.graph500.validation import find_fault, tree_levels

__all__ = ["Outcome", "Searches", "find_fault", "run", "tree_levels"]
