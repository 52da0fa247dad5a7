"""Distances from many sources to all vertices, or to some.

Returns one row per source: ``distance``, the number of edges on a shortest path to each target, -1 where there is no
path. With weights it is the sum of the weights, infinite where there is no path. The whole matrix is held in memory;
:func:`dromos.all_pairs` writes a matrix of any size to a file. Numbers of edges use the narrowest type that holds them
and -1, mostly one byte, so writing the matrix takes only a part of the time of the searches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Unpack

import numpy as np
from numpy.typing import DTypeLike

from dromos.algorithms.arguments import count_of, lightest, weight_range
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.many.searching import search
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.multi_source_bfs import sharing_values
from dromos.algorithms.sssp import as_float, distance_type, sssp_program
from dromos.algorithms.verifying import matrix, nowhere
from dromos.dtypes import Array
from dromos.engines.joint_groups import Found
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.plan import Constants
from dromos.runner import DeviceOptions, Result, Session

__all__ = ["DistancesResult", "distances", "verify", "weighted_rows"]

_CHECKED = 64
_KINDS = (np.dtype(np.int8), np.dtype(np.int16), np.dtype(np.int32))


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
    memory: int | str | None = None,
    weight: str | None = None,
    dtype: DTypeLike | None = None,
    **how: Unpack[DeviceOptions],
) -> DistancesResult:
    """Distances from each source to each target, in edges or by weight.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights are ignored
            unless ``weight`` is given.
        sources: vertices without repeats, by label (by id if the graph has no labels).
        targets: vertices, given like ``sources``; by default all vertices in the order of their ids.
        depth_limit: the greatest distance to search, in edges.
        memory: the limit for one group of sources during its search, in bytes or as text such as ``"2G"``; for
            a graph on disk, the limit for the whole run.
        weight: ``"weight"`` adds up the graph's weights, which must not be negative; sources are searched one by one.
        dtype: ``int8``, ``int16`` or ``int32`` for numbers of edges; by default the narrowest that holds them.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    >>> dr.distances(g, ["ada", "eve"]).distance.tolist()
    [[0, 1, 2], [-1, -1, 0]]
    >>> dr.distances(dr.generators.path(300), [0]).distance.dtype, dr.distances(g, ["ada"], dtype="i4").distance.dtype
    (dtype('int16'), dtype('int32'))
    >>> dr.distances(g, ["ada"], targets=["eve"]).distance.tolist()
    [[2]]
    >>> roads = dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.5, 9.0, 2.0])
    >>> dr.distances(roads, [0, 1], weight="weight").distance.tolist()
    [[0.0, 1.5, 3.5], [inf, 0.0, 2.0]]
    """
    session = Session("distances", graph, **how)
    ids = vertex_ids(graph, sources, "sources")
    ends = None if targets is None else vertex_ids(graph, targets, "targets")
    limit = None if depth_limit is None else min(count_of(depth_limit, "depth_limit"), graph.num_vertices)
    on = with_weight(graph, weight)
    kind = None if dtype is None else _edge_count_type(dtype)
    if on.weights is not None:
        if kind is not None:
            raise InvalidArgumentError(f"dtype={kind}: distances by weight are float64; leave dtype out")
        session.stay_within(memory)
        width = graph.num_vertices if ends is None else len(ends)
        session.hold_beside_programs(-(-2 * 8 * len(ids) * width // max(graph.num_vertices, 1)))
        return _weighted(session, on, ids, ends, limit)
    for tried in _kinds(graph, limit) if kind is None else (kind,):
        found = _Matrix(tried, len(ids), graph.num_vertices, ends)
        try:
            held = len(ids) * (graph.num_vertices if ends is None else len(ends)) * tried.itemsize
            searched = search(session, graph, ids, found.take, limit=limit, distance=tried, memory=memory, answer=held)
            break
        except _TooDeepError as deep:
            if kind is not None:
                raise InvalidArgumentError(f"dtype={kind} cannot hold a distance of {deep}; leave dtype out") from None
    rows = found.rows
    assert rows is not None, "there is at least one source, and so a group"
    return session.result(
        DistancesResult,
        {"source": ids, "distance": rows},
        values=sharing_values(searched),
        vertex_fields={"source"},
        index="source",
        verifier=lambda result: verify(graph, ids, ends, limit, result["distance"]),
    )


class _TooDeepError(Exception):
    """A distance that does not fit the matrix."""


class _Matrix:
    """The distances of all groups, one row per source."""

    def __init__(self, kind: np.dtype[Any], sources: int, num_vertices: int, ends: Array | None) -> None:
        self.rows: Array | None = None
        self._kind, self._sources, self._ends = kind, sources, ends
        self._width = num_vertices if ends is None else len(ends)

    def take(self, found: Found) -> None:
        """Keep what a group has found."""
        assert found.distance is not None
        if found.levels > np.iinfo(self._kind).max:
            raise _TooDeepError(f"{found.levels:,}")
        if self._ends is None and np.array_equal(found.sources, np.arange(self._sources)):
            self.rows = found.distance  # one group has all: no other will overwrite them
            return
        if self.rows is None:
            self.rows = np.empty((self._sources, self._width), self._kind)
        self.rows[found.sources] = found.distance if self._ends is None else found.distance[:, self._ends]


def _edge_count_type(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in _KINDS:
        raise InvalidArgumentError(f"dtype={dtype if found is None else found} is not one of int8, int16, int32")
    return found


def _kinds(graph: Graph, limit: int | None) -> Iterator[np.dtype[Any]]:
    """The types to try, the narrowest first: the next one where a distance does not fit.

    A lattice is deep, so it is not tried with a byte, unless no path can be longer.
    """
    most = max(graph.num_vertices - 1, 0) if limit is None else min(limit, graph.num_vertices)
    likely_deep = graph.num_arcs < Constants().delta * graph.num_vertices
    for kind in _KINDS:
        fits = most <= np.iinfo(kind).max
        if fits or kind == _KINDS[-1] or not (likely_deep and kind.itemsize == 1):
            yield kind
        if fits:
            return


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
        raise InvalidArgumentError("depth_limit counts edges, and these distances are by weight; leave depth_limit out")
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
