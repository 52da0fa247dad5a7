"""Breadth-first search from many sources at once.

Returns one row per source: ``reached`` (vertices that it reaches, without itself), ``depth`` (distance of the last),
``distance_sum`` (the sum of all distances), ``inverse_sum`` (the sum of their inverses) and ``group`` (the sources that
were searched from together). ``sharing`` is the sharing degree over all groups, and ``groups`` has each one's.

Up to 512 searches run as one: a vertex has a bit for each, and an edge carries the bits of all. No more than the bits
is kept, so there is no matrix of distances: :func:`dromos.distances` gives one, and ``consume`` is told of each group
while its distances are at hand. Liu, Huang and Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD 2016; Then
and others, "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
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
    """Searches from many sources, run together.

    Args:
        graph: along its out-edges; an undirected graph both ways.
        sources: vertices, by label (by id where the graph has no labels), each once.
        depth_limit: the deepest level to go to.
        grouping: which sources run together: ``auto``, ``random`` or ``by-hubs``.
        q: the out-degree above which a vertex is a hub for ``by-hubs``.
        seed: of the random part of a grouping.
        memory: bytes, or text such as ``"2G"``, that a group may take; groups are made smaller to fit. Of a graph
            on disk, what all takes together.
        consume: told of each group: a record with ``sources`` (positions in the list), ``distance`` (a row each, -1
            where there is no path; to be copied if kept), ``reached``, ``distance_sum``, ``inverse_sum``,
            ``depth``, ``sharing``.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs a program, not a kernel.

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
