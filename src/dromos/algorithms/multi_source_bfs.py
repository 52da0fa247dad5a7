"""Breadth-first search from many sources at once.

Returns one row per source: ``reached`` (the number of other vertices that it reaches), ``depth`` (the distance of the
farthest), ``distance_sum`` (the sum of all distances), ``inverse_sum`` (the sum of their inverses) and ``group`` (the
group in which the source was searched). ``sharing`` is the sharing degree over all groups, and ``groups`` lists it for
each group.

Up to 512 searches run as one: a vertex has one bit for each, and an edge carries the bits of all. Only the bits are
kept, so there is no matrix of distances. :func:`dromos.distances` returns such a matrix, and ``consume`` is called with
each group while its distances are available. Liu, Huang and Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD
2016; Then and others, "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.many.searching import Searched, search
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.verifying import matrix, nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import DeviceOptions, Result, Session

__all__ = ["MultiSourceBFSResult", "multi_source_bfs", "verify"]

_CHECKED = 64  # sources that a verifier looks at


class MultiSourceBFSResult(Result):
    """What :func:`multi_source_bfs` returns."""

    source: Array
    reached: Array
    depth: Array
    distance_sum: Array
    inverse_sum: Array
    group: Array
    sharing: float
    groups: list[float]


def multi_source_bfs(
    graph: Graph,
    sources: Iterable[Any],
    depth_limit: int | None = None,
    grouping: str = "auto",
    q: int = 128,
    seed: int | None = None,
    memory: int | str | None = None,
    consume: Callable[[Any], Any] | None = None,
    **how: Unpack[DeviceOptions],
) -> MultiSourceBFSResult:
    """Breadth-first searches from many sources, run together.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        sources: vertices without repeats, by label (by id if the graph has no labels).
        depth_limit: the deepest level to search.
        grouping: how to choose the sources that run together: ``auto``, ``random`` or ``by-hubs``.
        q: the out-degree above which a vertex is a hub for ``by-hubs``.
        seed: the seed for the random part of a grouping.
        memory: the limit for one group, in bytes or as text such as ``"2G"``; groups shrink to fit it.
            For a graph on disk, the limit for the whole run.
        consume: a function called with a record for each group: ``sources`` (positions in the list), ``distance`` (one
            row per source, -1 where there is no path; copy it to keep it), ``reached``, ``distance_sum``,
            ``inverse_sum``, ``depth``, ``sharing``.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs a program instead of the kernel.

    >>> import dromos as dr
    >>> result = dr.multi_source_bfs(dr.generators.path(5), [0, 2])
    >>> result.depth.tolist(), result.distance_sum.tolist(), result.source.tolist()
    ([4, 2], [10, 6], [0, 2])
    """
    session = Session("multi_source_bfs", graph, **how)
    ids = vertex_ids(graph, sources, "sources")
    limit = None if depth_limit is None else min(count_of(depth_limit, "depth_limit"), graph.num_vertices)
    found = search(
        session, graph, ids, consume,
        limit=limit, distance=None if consume is None else np.int32, grouping=grouping, q=q, seed=seed, memory=memory,
    )  # fmt: skip
    columns = ("reached", "depth", "distance_sum", "inverse_sum", "group")
    return session.result(
        MultiSourceBFSResult,
        {"source": ids, **{name: getattr(found, name) for name in columns}},
        values=sharing_values(found),
        vertex_fields={"source"},
        index="source",
        verifier=lambda result: verify(graph, ids, limit, *(result[name] for name in columns[:4])),
    )


def sharing_values(found: Searched) -> dict[str, Any]:
    """What a result says of its groups."""
    return {"sharing": found.sharing, "groups": [facts.sharing for facts in found.groups]}


def verify(
    graph: Graph,
    sources: Array,
    limit: int | None,
    reached: Array,
    depth: Array,
    distance_sum: Array,
    inverse_sum: Array,
) -> None:
    """The sums are those of SciPy's searches, from the first sources."""
    from scipy.sparse.csgraph import shortest_path

    some = sources[:_CHECKED]
    length = shortest_path(matrix(graph.with_weights(None)), unweighted=True, indices=some)
    length[~((length > 0) & (length <= (np.inf if limit is None else limit)) & np.isfinite(length))] = 0
    count = len(some)
    nowhere(np.count_nonzero(length, axis=1) != reached[:count], "source number {} reaches another number of vertices")
    nowhere(length.max(axis=1, initial=0) != depth[:count], "source number {} has another depth")
    nowhere(length.sum(axis=1) != distance_sum[:count], "source number {} has another sum of distances")
    inverse = np.divide(1.0, length, out=np.zeros(length.shape), where=length > 0).sum(axis=1)
    nowhere(~np.isclose(inverse, inverse_sum[:count]), "source number {} has another sum of inverse distances")
