"""Degree assortativity: whether vertices of high degree are joined to others of high degree.

Returns one number for the graph, ``assortativity``, in -1..1 (NaN if all edge ends have equal degree), and the
``degree`` of each vertex. It is the correlation of the degrees at the two ends of an edge, over all edges; an
undirected edge counts in both directions. The numbers equal NetworkX's ``degree_assortativity_coefficient``.

Newman, "Assortative mixing in networks", 2002.
"""

from __future__ import annotations

from contextlib import closing
from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import sources_of_arcs, weighted
from dromos.algorithms.degree_distribution import degrees
from dromos.algorithms.verifying import require
from dromos.dtypes import Array
from dromos.engines.native.product import sums_over_slices
from dromos.graph import Graph, build_small
from dromos.runner import NumberResult, Options, Session
from dromos.vectors import dot

__all__ = ["AssortativityResult", "assortativity", "verify"]


_BYTES_PER_VERTEX = 56
"""Three degrees, two of them as numbers around their mean, sums, and temporary arrays; in-degrees and their offsets."""


class AssortativityResult(NumberResult):
    """What :func:`assortativity` returns."""

    degree: Array
    assortativity: float


def assortativity(graph: Graph, **how: Unpack[Options]) -> AssortativityResult:
    """The correlation of the degrees at the two ends of edges; of out- and in-degree in a directed graph.

    Args:
        graph: any; parallel edges and self-loops are counted.
        how: all run options are accepted; the degrees are always counted on the host. A graph on disk is read once
            within ``memory``, and twice if it has self-loops; a directed one needs its transpose in the store.

    >>> import dromos as dr
    >>> dr.assortativity(dr.generators.star(5)).assortativity
    -1.0
    """
    session = Session("assortativity", graph, **how)
    total = degrees(graph, "total").astype(np.int64, copy=False)
    head, tail = _ends(graph, total)
    # each vertex stands in the sums once for each of its arcs, so no array of all arcs is needed but one
    out, into = graph.out_degree, graph.in_degree
    means = dot(head, out) / max(graph.num_arcs, 1), dot(tail, into) / max(graph.num_arcs, 1)
    head -= means[0]
    if tail is not head:
        tail -= means[1]
    spread = dot(head**2, out) * dot(tail**2, into)
    del out, into  # while arcs are read, a graph on disk needs the memory for pages
    around = _together(session, graph, head, tail)
    value = float(around / np.sqrt(spread)) if spread > 0 else float("nan")
    return session.result(
        AssortativityResult,
        {"degree": total},
        values={"assortativity": value},
        verifier=lambda result: verify(graph, value),
    )


def _together(session: Session, graph: Graph, at_source: Array, at_target: Array) -> float:
    """The sum over all arcs of a number of the source times one of the target."""
    with closing(session.arc_slices(weighted(graph, None), _BYTES_PER_VERTEX)) as slices:
        if build_small.is_preferred(graph.num_arcs):
            ends = [at_target[piece.targets] for piece in slices]
            return dot(np.repeat(at_source, graph.out_degree), np.concatenate([np.empty(0), *ends]))
        return dot(at_source, sums_over_slices(slices, graph.num_vertices, x=at_target, threads=session.threads))


def _ends(graph: Graph, total: Array) -> tuple[Array, Array]:
    """The degree that counts at an arc's source, and the one that counts at its target, by vertex."""
    if not graph.directed:
        both = total.astype(np.float64)
        return both, both
    return graph.out_degree.astype(np.float64), graph.in_degree.astype(np.float64)


def verify(graph: Graph, value: float) -> None:
    """The number is the one that NumPy's correlation matrix over all arcs has."""
    head, tail = _ends(graph, degrees(graph, "total"))
    ends = np.stack([head[sources_of_arcs(graph)], tail[graph.targets]])
    if graph.num_arcs == 0 or np.any(ends.min(axis=1) == ends.max(axis=1)):
        require(np.isnan(value), f"all degrees are equal, but the assortativity is {value:g}")
        return
    expected = np.corrcoef(ends)[0, 1]
    require(abs(value - expected) <= 1e-6, f"the correlation over edges is {expected:g}, not {value:g}")
