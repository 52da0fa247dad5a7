"""Distances from many sources to all vertices, or to some.

Returns one row per source: ``distance``, the edges on a shortest path to each target, -1 where there is no path. The
whole matrix is in memory; :func:`dromos.all_pairs` writes one of any size to a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.many.searching import search
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.multi_source_bfs import sharing_values
from dromos.algorithms.verifying import matrix, nowhere
from dromos.dtypes import Array
from dromos.engines.native.joint_groups import Found
from dromos.graph import Graph
from dromos.runner import DeviceOptions, Result, Session

__all__ = ["DistancesResult", "distances", "verify"]

_CHECKED = 64


class DistancesResult(Result):
    """What :func:`distances` returns."""

    source: Array
    distance: Array
    sharing: float
    groups: list[float]


def distances(
    graph: Graph,
    sources: Iterable[Any],
    targets: Iterable[Any] | None = None,
    depth_limit: int | None = None,
    memory: int | None = None,
    **how: Unpack[DeviceOptions],
) -> DistancesResult:
    """Distances in edges from each source to each target.

    Args:
        graph: along its out-edges; an undirected graph both ways. Weights are not looked at.
        sources: vertices, by label (by id where the graph has no labels), each once.
        targets: the same; all vertices if not given, in the order of their ids.
        depth_limit: the greatest distance to look for.
        memory: bytes that a group of sources may take while it is searched from.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    >>> dr.distances(g, ["ada", "eve"]).distance.tolist()
    [[0, 1, 2], [-1, -1, 0]]
    >>> dr.distances(g, ["ada"], targets=["eve"]).distance.tolist()
    [[2]]
    """
    session = Session("distances", graph, **how)
    ids = vertex_ids(graph, sources, "sources")
    ends = None if targets is None else vertex_ids(graph, targets, "targets")
    limit = None if depth_limit is None else count_of(depth_limit, "depth_limit")
    rows: Array | None = None

    def keep(found: Found) -> None:
        nonlocal rows
        assert found.distance is not None
        if ends is None and np.array_equal(found.sources, np.arange(len(ids))):
            rows = found.distance  # one group has all: no other will overwrite them
            return
        if rows is None:
            rows = np.empty((len(ids), graph.num_vertices if ends is None else len(ends)), dtype=np.int32)
        rows[found.sources] = found.distance if ends is None else found.distance[:, ends]

    searched = search(session, graph, ids, keep, limit=limit, distance=np.int32, memory=memory)
    assert rows is not None, "there is at least one source, and so a group"
    return session.result(
        DistancesResult,
        {"source": ids, "distance": rows},
        values=sharing_values(searched),
        vertex_fields={"source"},
        index="source",
        verifier=lambda result: verify(graph, ids, ends, limit, result["distance"]),
    )


def verify(graph: Graph, sources: Array, targets: Array | None, limit: int | None, distance: Array) -> None:
    """The distances are SciPy's, from the first sources."""
    from scipy.sparse.csgraph import shortest_path

    some = sources[:_CHECKED]
    length = shortest_path(matrix(graph.with_weights(None)), unweighted=True, indices=some)
    length[~np.isfinite(length) | (length > (np.inf if limit is None else limit))] = -1
    expected = length if targets is None else length[:, targets]
    nowhere((distance[: len(some)] != expected).any(axis=1), "source number {} has other distances")
