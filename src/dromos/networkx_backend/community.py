"""The quality of communities: ``networkx.algorithms.community.quality``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Worth, implements
from dromos.networkx_backend.values import plain

__all__: list[str] = []


def _labels(graph: BackendGraph, communities: list[Any]) -> Array | None:
    """The community of each node; ``None`` if these are not a partition."""
    label = np.full(len(graph), -1, np.int64)
    for number, community in enumerate(communities):
        label[[graph.index[node] for node in community if node in graph]] = number
    size = sum(len(community) for community in communities)
    return label if size == len(graph) and (label >= 0).all() else None


@implements(worth=Worth.ITERATIVE)
def modularity(G: BackendGraph, communities: Any, weight: Any = "weight", resolution: float = 1) -> float:
    from networkx.algorithms.community.quality import NotAPartition

    parts = communities if isinstance(communities, list) else list(communities)
    label = _labels(G, parts)
    if label is None:
        raise NotAPartition(G, parts)
    whole, each = True, np.ones(len(G.targets)) if G.multiplicity is None else G.multiplicity.astype(float)
    if weight is not None:
        values = G.values(weight)
        whole, each = values.whole, values.total
    counted = each * np.where(G.is_loop & (not G.directed), 2, 1)  # a loop has both its ends at one node
    count = len(parts)
    out = plain(np.bincount(label[G.sources], weights=counted, minlength=count), whole)
    into = plain(np.bincount(label[G.targets], weights=counted, minlength=count), whole)
    inside = label[G.sources] == label[G.targets]
    within = plain(np.bincount(label[G.sources[inside]], weights=counted[inside], minlength=count), whole)
    total = sum(out)
    m = total if G.directed else total / 2
    norm = 1 / total**2
    halves = within if G.directed else [one / 2 for one in within]
    return sum(
        inner / m - resolution * leaving * reaching * norm
        for inner, leaving, reaching in zip(halves, out, into, strict=True)
    )
