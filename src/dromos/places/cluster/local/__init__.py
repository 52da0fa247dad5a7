"""Ranks for a notebook or a script: ``with dr.cluster(ranks=4): …`` starts them, sends them calls, and ends them."""

from dromos.places.cluster.local.context import Cluster, active_engine, cluster

__all__ = ["Cluster", "active_engine", "cluster"]
