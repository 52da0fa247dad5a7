"""Closeness centrality.

Returns ``centrality``: the inverse of the mean distance *to* each vertex from the vertices that have a path to it. With
``wf_improved`` it is multiplied by the share of the other vertices that have such a path. Distances are numbers of
edges, or sums of weights on request. The numbers equal NetworkX's ``closeness_centrality``; from a sample of sources
they are estimates: Eppstein and Wang, "Fast approximation of centrality", 2004. Parallel edges and self-loops change
nothing.

Many searches run at once, see :mod:`dromos.algorithms.multi_source_bfs`; with weights they run one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import weight_range
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.many.centrality import sampled, sums_from, sums_to
from dromos.algorithms.many.sources import chosen_sources
from dromos.algorithms.multi_source_bfs import sharing_values
from dromos.algorithms.sssp import as_float, distance_type, sssp_program
from dromos.algorithms.verifying import nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import DeviceOptions, Result, Session, array_module

__all__ = ["ClosenessResult", "closeness", "verify"]

_CHECKED = 64
_BYTES_PER_VERTEX = 48  # of sums by weight, and of adding a source's distances to them


class ClosenessResult(Result):
    """What :func:`closeness` returns."""

    centrality: Array
    sharing: float
    groups: list[float]


def closeness(
    graph: Graph,
    k: int | None = None,
    sources: Iterable[Any] | None = None,
    wf_improved: bool = True,
    seed: int | None = None,
    grouping: str = "auto",
    memory: int | str | None = None,
    weight: str | None = None,
    **how: Unpack[DeviceOptions],
) -> ClosenessResult:
    """How close each vertex is to all vertices that have a path to it.

    Args:
        graph: distances are measured towards each vertex, in edges unless ``weight`` is given.
        k: estimate from this many random sources; by default all vertices are sources and the answer is exact.
        sources: estimate from these vertices instead (labels, or ids if the graph has no labels).
        wf_improved: scale by the share of vertices that have a path, so that small components do not score highest.
        seed: the random seed; the same seed draws the same sources.
        grouping: how to choose the sources that run together: ``auto``, ``random`` or ``by-hubs``.
        memory: the limit for one group of sources, in bytes or as text such as ``"2G"``; groups shrink to fit it.
            For a graph on disk, the limit for the whole run.
        weight: ``"weight"`` adds up the graph's weights, which must not be negative.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.closeness(dr.generators.path(4)).centrality.tolist()
    [0.5, 0.75, 0.75, 0.5]
    """
    session = Session("closeness", graph, **how)
    chosen = chosen_sources(graph, k, sources, seed)
    on = with_weight(graph, weight)
    if on.weights is not None:
        weight_range(on, negative=False)
        session.stay_within(memory)
        session.hold_beside_programs(_BYTES_PER_VERTEX)
        reached, far, others = _weighted_sums(session, on, chosen)
        return session.result(
            ClosenessResult,
            {"centrality": _centrality(reached, far, others, wf_improved)},
            verifier=lambda result: verify(on, chosen, result["centrality"], wf_improved, weighted=True),
        )
    if chosen is None:
        sums = sums_to(session, graph, np.arange(graph.num_vertices), grouping, memory)
    else:
        sums = sums_from(session, graph, chosen, grouping, memory)
    return session.result(
        ClosenessResult,
        {"centrality": session.for_caller(_centrality(sums.reached, sums.distance_sum, sums.others, wf_improved))},
        values=sharing_values(sums.searched),
        verifier=lambda result: verify(graph, chosen, result["centrality"], wf_improved),
    )


def _weighted_sums(session: Session, graph: Graph, sources: Array | None) -> tuple[Array, Array, Array]:
    """Of each vertex: how many sources reach it, the sum of their distances, and how many sources are others."""
    n = graph.num_vertices
    reached, far, others = np.zeros(n, np.int64), np.zeros(n), np.full(n, n - 1 if sources is None else len(sources))
    back = graph.transpose
    dtype = distance_type(graph, *weight_range(graph))
    for number, root in enumerate(range(n) if sources is None else sources.tolist()):
        flow = back if sources is None else graph
        distance = as_float(session.run(sssp_program(dtype)(source=root), flow).fields["distance"])
        there = np.isfinite(distance)
        there[root] = False
        if sources is None:
            reached[root], far[root] = np.count_nonzero(there), distance[there].sum()
        else:
            reached += there
            far[there] += distance[there]
        if session.progress is not None:
            session.progress(number + 1, n if sources is None else len(sources))
    if sources is not None:
        others[sources] -= 1
    return reached, far, others


def _centrality(reached: Array, far: Array, others: Array, wf_improved: bool) -> Array:
    mean_inverse = _quotient(reached, far)
    return mean_inverse * _quotient(reached, others) if wf_improved else mean_inverse


def _quotient(above: Array, below: Array) -> Array:
    """0 where there is nothing to divide by."""
    module = array_module(above)
    found: Array = module.where(below > 0, above / module.where(below > 0, below, 1), 0.0)
    return found


def verify(
    graph: Graph, sources: Array | None, centrality: Array, wf_improved: bool, *, weighted: bool = False
) -> None:
    """The centralities of some vertices are those that SciPy's distances give."""
    n = graph.num_vertices
    some = np.unique(np.linspace(0, max(n - 1, 0), min(n, _CHECKED)).astype(np.int64)) if n else np.empty(0, np.int64)
    if not n:
        return
    length = sampled(graph, sources, some, weighted=weighted)
    others = np.full(len(some), n - 1) if sources is None else len(sources) - np.isin(some, sources)
    far = np.where(np.isfinite(length), length, 0).sum(axis=1)
    expected = _centrality(np.isfinite(length).sum(axis=1), far, others, wf_improved)
    nowhere(~np.isclose(centrality[some], expected), "checked vertex number {} has another closeness")
