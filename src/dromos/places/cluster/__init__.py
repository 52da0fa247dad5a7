"""A graph over several processes: one part per MPI rank. See ``docs/cluster.md``."""

from dromos.places.cluster.engine import ClusterEngine
from dromos.places.cluster.graph import RankGraph
from dromos.places.cluster.world import launched, world

__all__ = ["ClusterEngine", "RankGraph", "launched", "world"]
