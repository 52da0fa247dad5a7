"""Sums over distances: of each vertex to all others exactly, or of all vertices to some sources.

The distance of a centrality is the one *to* the vertex, as in NetworkX. Exactly, every vertex is a source on the
transpose, and its sums are ready when its search is. From a sample, searches go forward and every vertex gathers.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dromos.algorithms.many.searching import Searched, search
from dromos.algorithms.verifying import matrix
from dromos.dtypes import Array
from dromos.engines.joint_groups import Found
from dromos.graph import Graph
from dromos.parallel import in_blocks
from dromos.runner import Session, array_module

__all__ = ["Sums", "sampled", "searched_from", "sums_from", "sums_to"]

_BLOCK: Final = 1 << 13  # vertices whose distances are added up at once


class Sums(NamedTuple):
    """Of each vertex: how many sources have a path to it, the sum of the distances, and that of their inverses."""

    reached: Array
    distance_sum: Array
    inverse_sum: Array
    others: Array
    """How many sources there are beside the vertex itself."""
    searched: Searched


def searched_from(session: Session, graph: Graph, vertices: Array, grouping: str, memory: int | str | None) -> Searched:
    """Searches against the edges, whose sums are those of ``vertices`` over all others."""
    back = graph if graph.symmetric else graph.transpose
    return search(session, back, vertices, grouping=grouping, memory=memory)


def sums_to(session: Session, graph: Graph, vertices: Array, grouping: str, memory: int | str | None) -> Sums:
    """The sums of ``vertices`` over all others, exactly; zeros for vertices that are not asked for."""
    n = graph.num_vertices
    found = searched_from(session, graph, vertices, grouping, memory)

    def column(values: Array) -> Array:
        out = np.zeros(n, values.dtype)
        out[vertices] = values
        return out

    others = np.broadcast_to(max(n - 1, 0), n)
    return Sums(column(found.reached), column(found.distance_sum), column(found.inverse_sum), others, found)


def sums_from(session: Session, graph: Graph, sources: Array, grouping: str, memory: int | str | None) -> Sums:
    """The sums of all vertices over ``sources``; on a device, where the engine adds up and leaves them there."""
    n = graph.num_vertices
    if session.path == "auto" and getattr(session.engine, "adds_up_distances", False):
        return _sums_on_device(session, graph, sources, grouping, memory)
    reached, distance_sum, inverse_sum = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n)

    def gather(found: Found) -> None:
        rows = found.distance
        assert rows is not None

        def part(begin: int, end: int) -> None:
            block = rows[:, begin:end]
            there = block > 0
            reached[begin:end] += np.count_nonzero(there, axis=0)
            distance_sum[begin:end] += np.where(there, block, 0).sum(axis=0, dtype=np.int64)
            inverses = np.divide(1.0, block, out=np.zeros(block.shape), where=there)
            for row in inverses:  # one source after the other: the same digits however vertices are blocked
                inverse_sum[begin:end] += row

        in_blocks(part, n, block=_BLOCK)

    held = 3 * 8 * n
    found = search(session, graph, sources, gather, distance=np.int32, grouping=grouping, memory=memory, answer=held)
    others = np.full(n, len(sources))
    others[sources] -= 1
    return Sums(reached, distance_sum, inverse_sum, others, found)


def _sums_on_device(session: Session, graph: Graph, sources: Array, grouping: str, memory: int | str | None) -> Sums:
    session.keep_between_runs()
    found = search(session, graph, sources, distance=np.int32, grouping=grouping, memory=memory, add_up=True)
    assert found.sums is not None
    reached = found.sums["reached"]
    module = array_module(reached)
    others = module.full(graph.num_vertices, len(sources))
    others[module.asarray(sources)] -= 1
    return Sums(reached, found.sums["distance_sum"], found.sums["inverse_sum"], others, found)


def sampled(graph: Graph, sources: Array | None, vertices: Array, *, weighted: bool = False) -> Any:
    """SciPy's distances to ``vertices`` from ``sources``, or from all; infinite without a path, and from itself."""
    from scipy.sparse.csgraph import shortest_path

    back = (graph if weighted else graph.with_weights(None)).transpose
    length = shortest_path(matrix(back), method="D", unweighted=not weighted, indices=vertices)
    length[np.arange(len(vertices)), vertices] = np.inf
    return length if sources is None else length[:, sources]
