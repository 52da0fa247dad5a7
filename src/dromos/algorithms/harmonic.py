"""Harmonic centrality.

Returns ``centrality``: the sum of the inverses of the distances *to* each vertex, in edges; vertices without a path add
nothing. The numbers equal NetworkX's ``harmonic_centrality``, including ``nbunch`` and ``sources``; ``k`` estimates
them from a sample. Boldi and Vigna, "Axioms for centrality", 2014. Parallel edges and self-loops change nothing.

Many searches run at once, see :mod:`dromos.algorithms.multi_source_bfs`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.many.centrality import sampled, searched_from, sums_from
from dromos.algorithms.many.sources import chosen_sources, vertex_ids
from dromos.algorithms.multi_source_bfs import sharing_values
from dromos.algorithms.verifying import nowhere
from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.graph import Graph
from dromos.runner import DeviceOptions, Result, Session, array_module, on_host

__all__ = ["HarmonicResult", "harmonic", "verify"]

_CHECKED = 64


class HarmonicResult(Result):
    """What :func:`harmonic` returns."""

    centrality: Array
    sharing: float
    groups: list[float]


def harmonic(
    graph: Graph,
    nbunch: Iterable[Any] | None = None,
    sources: Iterable[Any] | None = None,
    k: int | None = None,
    seed: int | None = None,
    grouping: str = "auto",
    memory: int | str | None = None,
    **how: Unpack[DeviceOptions],
) -> HarmonicResult:
    """The sum of the inverses of the distances to each vertex.

    Args:
        graph: distances are measured towards each vertex, in edges; weights are ignored.
        nbunch: only for these vertices; NaN for the others.
        sources: count only distances from these vertices (labels, or ids if the graph has no labels).
        k: estimate from this many random sources, scaled up to all vertices.
        seed: the random seed; the same seed draws the same sources.
        grouping: how to choose the sources that run together: ``auto``, ``random`` or ``by-hubs``.
        memory: the limit for one group of sources, in bytes or as text such as ``"2G"``; groups shrink to fit it.
            For a graph on disk, the limit for the whole run.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> dr.harmonic(dr.generators.path(3)).centrality.tolist()
    [1.5, 2.0, 1.5]
    >>> dr.harmonic(dr.generators.path(3), sources=[0]).centrality.tolist()
    [0.0, 1.0, 0.5]
    """
    session = Session("harmonic", graph, **how)
    n = graph.num_vertices
    wanted = None if nbunch is None else vertex_ids(graph, nbunch, "nbunch")
    chosen = chosen_sources(graph, k, sources, seed)
    scale: Array = np.broadcast_to(np.float64(1), n)
    if chosen is None:
        searched = searched_from(session, graph, np.arange(n) if wanted is None else wanted, grouping, memory)
        centrality = few = searched.inverse_sum
    else:
        sums = sums_from(session, graph, chosen, grouping, memory)
        searched, centrality = sums.searched, sums.inverse_sum
        module = array_module(centrality)
        if k is not None:
            scale = module.where(sums.others > 0, (n - 1) / module.maximum(sums.others, 1), 0.0)
            centrality = centrality * scale
        few = centrality if wanted is None else on_host(centrality[module.asarray(wanted)])
    if wanted is not None:
        module = session.results_module
        centrality = reused_empty(n, np.float64) if module is np else module.empty(n)
        centrality.fill(np.nan)
        centrality.put(module.asarray(wanted), module.asarray(few))  # in CuPy quicker than by an index
    return session.result(
        HarmonicResult,
        {"centrality": session.for_caller(centrality)},
        values=sharing_values(searched),
        verifier=lambda result: verify(graph, chosen, result["centrality"], on_host(scale)),
    )


def verify(graph: Graph, sources: Array | None, centrality: Array, scale: Array) -> None:
    """The centralities of some vertices are those that SciPy's distances give."""
    known = np.flatnonzero(~np.isnan(centrality))
    if not len(known):
        return
    some = np.unique(known[np.linspace(0, len(known) - 1, min(len(known), _CHECKED)).astype(np.int64)])
    length = sampled(graph, sources, some)
    inverse = np.divide(1.0, length, out=np.zeros(length.shape), where=length > 0)
    expected = inverse.sum(axis=1) * scale[some]
    nowhere(~np.isclose(centrality[some], expected), "checked vertex number {} has another harmonic centrality")
