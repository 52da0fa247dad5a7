"""CPUs and GPUs on one graph, each with a part of it. See ``docs/hybrid.md``."""

from dromos.graph.parting import SPLITS, Split
from dromos.places.hybrid.engine import HybridEngine
from dromos.places.hybrid.split import SplitGraph, split_graph

__all__ = ["SPLITS", "HybridEngine", "Split", "SplitGraph", "split_graph"]
