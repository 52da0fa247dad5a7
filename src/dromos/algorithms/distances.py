"""Distances from many sources to all vertices, or to some.

Returns one row per source: ``distance``, the edges on a shortest path to each target, -1 where there is no path; by
weight the sum of its weights, infinite where there is none. The whole matrix is in memory; :func:`dromos.all_pairs`
writes one of any size to a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, lightest, weight_range
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.many.searching import search
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.multi_source_bfs import sharing_values
from dromos.algorithms.sssp import as_float, distance_type, sssp_program
from dromos.algorithms.verifying import matrix, nowhere
from dromos.dtypes import Array
from dromos.engines.native.joint_groups import Found
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.runner import DeviceOptions, Result, Session

__all__ = ["DistancesResult", "distances", "verify", "weighted_rows"]

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
    weight: str | None = None,
    **how: Unpack[DeviceOptions],
) -> DistancesResult:
    """Distances from each source to each target, in edges or by weight.

    Args:
        graph: along its out-edges; an undirected graph both ways. Weights are looked at if ``weight`` says so.
        sources: vertices, by label (by id where the graph has no labels), each once.
        targets: the same; all vertices if not given, in the order of their ids.
        depth_limit: the greatest distance to look for, in edges.
        memory: bytes that a group of sources may take while it is searched from.
        weight: ``"weight"`` adds up the graph's weights, which must not be below zero; one search after the other.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    >>> dr.distances(g, ["ada", "eve"]).distance.tolist()
    [[0, 1, 2], [-1, -1, 0]]
    >>> dr.distances(g, ["ada"], targets=["eve"]).distance.tolist()
    [[2]]
    >>> roads = dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.5, 9.0, 2.0])
    >>> dr.distances(roads, [0, 1], weight="weight").distance.tolist()
    [[0.0, 1.5, 3.5], [inf, 0.0, 2.0]]
    """
    session = Session("distances", graph, **how)
    ids = vertex_ids(graph, sources, "sources")
    ends = None if targets is None else vertex_ids(graph, targets, "targets")
    limit = None if depth_limit is None else count_of(depth_limit, "depth_limit")
    on = with_weight(graph, weight)
    if on.weights is not None:
        return _weighted(session, on, ids, ends, limit)
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


def _weighted(session: Session, graph: Graph, ids: Array, ends: Array | None, limit: int | None) -> DistancesResult:
    found = [row if ends is None else row[ends] for row in weighted_rows(session, graph, ids, limit)]
    width = graph.num_vertices if ends is None else len(ends)
    return session.result(
        DistancesResult,
        {"source": ids, "distance": np.array(found).reshape(len(ids), width)},
        vertex_fields={"source"},
        index="source",
        verifier=lambda result: verify(graph, ids, ends, None, result["distance"]),
    )


def weighted_rows(session: Session, graph: Graph, ids: Array, limit: int | None = None) -> Iterator[Array]:
    """The distances by weight from each source to all vertices, one source after the other."""
    if limit is not None:
        raise InvalidArgumentError("depth_limit counts edges; leave it out where distances are by weight")
    program = sssp_program(distance_type(graph, *weight_range(graph, negative=False)))
    for number, root in enumerate(ids.tolist()):
        yield as_float(session.run(program(source=root), graph).fields["distance"])
        if session.progress is not None:
            session.progress(number + 1, len(ids))


def verify(graph: Graph, sources: Array, targets: Array | None, limit: int | None, distance: Array) -> None:
    """The distances are SciPy's, from the first sources."""
    from scipy.sparse.csgraph import shortest_path

    some = sources[:_CHECKED]
    if graph.weights is not None and distance.dtype.kind == "f":
        length = shortest_path(matrix(lightest(graph)), indices=some)
        expected = length if targets is None else length[:, targets]
        nowhere(~np.all(np.isclose(distance[: len(some)], expected), axis=1), "source number {} has other distances")
        return
    length = shortest_path(matrix(graph.with_weights(None)), unweighted=True, indices=some)
    length[~np.isfinite(length) | (length > (np.inf if limit is None else limit))] = -1
    expected = length if targets is None else length[:, targets]
    nowhere((distance[: len(some)] != expected).any(axis=1), "source number {} has other distances")
