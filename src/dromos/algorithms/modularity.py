"""Modularity of a division into communities.

Returns one number for the graph, ``modularity``: the share of the edge weight that lies inside communities, less the
share expected by chance for the same degrees, times the ``resolution``. It also returns for each community its
``size``, the weight ``inside`` and the sum of the ``degree`` of its vertices (in a directed graph the out-degrees). The
numbers equal NetworkX's ``modularity``: a self-loop of an undirected graph counts twice in a degree and once inside.

Newman, "Modularity and community structure in networks", 2006; Reichardt and Bornholdt, 2006 (resolution).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import finite, vertex_values, weight_range, weighted
from dromos.algorithms.verifying import matrix, require
from dromos.dtypes import Array
from dromos.engines.native.within import row_weights
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.runner import NumberResult, Options, Result, Session
from dromos.vectors import dot

__all__ = ["ModularityResult", "modularity", "modularity_by_sums", "modularity_of", "verify"]


_BYTES_PER_VERTEX = 72
"""Communities as they are given, by name and by number, four sums, and temporary ones."""


class ModularityResult(NumberResult):
    """What :func:`modularity` returns."""

    community: Array
    size: Array
    inside: Array
    degree: Array
    modularity: float


def modularity(
    graph: Graph,
    community: Mapping[Any, int] | Array | Result,
    resolution: float = 1.0,
    weight: str | None = "weight",
    **how: Unpack[Options],
) -> ModularityResult:
    """How much denser communities are inside than expected by chance.

    Args:
        graph: any graph with at least one edge.
        community: a whole number for each vertex: an array, a mapping from all vertices, or the result of an
            algorithm that finds communities, such as ``louvain`` and ``leiden``.
        resolution: values above 1 favor small communities, values below 1 large ones.
        weight: ``None`` ignores the graph's weights.
        how: all run options are accepted; the sums are always computed on the host. A graph on disk is read once
            within ``memory``; the first call that uses its weights reads it once more.

    >>> import dromos as dr
    >>> two = dr.Graph.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3], directed=False)
    >>> round(dr.modularity(two, [0, 0, 0, 1, 1, 1]).modularity, 4)
    0.3571
    """
    session = Session("modularity", graph, **how)
    on = weighted(graph, weight)
    weight_range(on, negative=False, infinite=False)
    gamma = finite(resolution, "resolution", 0, np.finfo(np.float64).max)
    if isinstance(community, Result):  # the answer of louvain and others as it is
        community = community["community"]
    if isinstance(community, Mapping) and len(community) != graph.num_vertices:
        raise InvalidArgumentError(
            f"community covers {len(community):,} of {graph.num_vertices:,} vertices; give one for each"
        )
    values = vertex_values(graph, community, "community")
    if np.any(values != np.rint(values)):
        raise InvalidArgumentError("community holds a number that is not whole; give whole numbers")
    names, number = _numbered(values.astype(np.int64))
    with closing(session.arc_slices(on, _BYTES_PER_VERTEX)) as slices:
        found, inside, degree = _sums(
            on, number, len(names), gamma, session.threads, slices if graph.on_disk else None
        )  # fmt: skip
    size = np.bincount(number, minlength=len(names))
    return session.result(
        ModularityResult,
        {"community": names, "size": size, "inside": inside, "degree": degree},
        values={"modularity": found},
        index="community",
        verifier=lambda result: verify(on, number, gamma, found),
    )


def modularity_of(graph: Graph, number: Array, resolution: float = 1.0, threads: int | None = None) -> float:
    """The modularity of communities ``0..k - 1``; NaN without an edge.

    >>> import dromos as dr
    >>> modularity_of(dr.generators.path(2), np.array([0, 1]))
    -0.5
    """
    return _sums(graph, number, int(number.max(initial=-1)) + 1, resolution, threads)[0]


def _numbered(values: Array) -> tuple[Array, Array]:
    """The names of communities in order, and for each vertex the number of its own among them."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 2 * len(values):  # names from far apart are sorted
        names, number = np.unique(values, return_inverse=True)
        return names, number
    there = np.zeros(high - low + 1, dtype=bool)
    there[values - low] = True
    return np.flatnonzero(there) + low, (np.cumsum(there) - 1)[values - low]


def _weights_into(graph: Graph) -> Array:
    """The weight of the arcs that reach each vertex."""
    if graph.weights is None:
        return graph.in_degree
    into: Array = np.bincount(graph.targets, weights=graph.weights, minlength=graph.num_vertices)
    return into


def _adding_into(slices: Iterable[GraphSlice], into: Array) -> Iterator[GraphSlice]:
    """The slices, while the weight of the arcs that reach each vertex is added up, in the order of the arcs."""
    for piece in slices:
        np.add.at(into, piece.targets, 1.0 if piece.weights is None else piece.weights.astype(np.float64))
        yield piece


def _sums(
    graph: Graph,
    number: Array,
    count: int,
    resolution: float,
    threads: int | None = None,
    slices: Iterable[GraphSlice] | None = None,
) -> tuple[float, Array, Array]:
    """The modularity, and for each community the weight inside and the sum of degrees.

    ``slices``: all arcs of a graph that is not in memory.
    """
    reached = None if slices is None or not graph.directed else np.zeros(graph.num_vertices)
    if slices is not None and reached is not None:
        slices = _adding_into(slices, reached)
    rows = row_weights(graph, number, threads, slices)
    inside: Array = np.bincount(number, weights=rows.inside, minlength=count)
    degree: Array = np.bincount(number, weights=rows.total, minlength=count)
    if graph.directed:
        reached = _weights_into(graph) if reached is None else reached
        into: Array = np.bincount(number, weights=reached, minlength=count)
        total = degree.sum()
        if total == 0:
            return float("nan"), inside, degree
        chance = dot(degree / total, into / total)  # a square of tiny weights would be 0
        return float(inside.sum() / total - resolution * chance), inside, degree
    extra = np.bincount(number, weights=rows.loops, minlength=count)  # a loop is one arc, any other edge two
    inside, degree = (inside + extra) / 2, degree + extra
    return modularity_by_sums(float(inside.sum()), degree, resolution), inside, degree


def modularity_by_sums(inside: float, degree: Array, resolution: float = 1.0) -> float:
    """The modularity in an undirected graph: by the weight of edges within communities, and the degree of each.

    >>> modularity_by_sums(1.0, np.array([3.0, 1.0]))
    -0.125
    """
    total = degree.sum() / 2
    if total == 0:
        return float("nan")
    return float(inside / total - resolution * (dot(degree / total, degree / total) / 4))


def verify(graph: Graph, number: Array, resolution: float, value: float) -> None:
    """The trace and the sums of the matrix of weights between communities give the same number."""
    import scipy.sparse as sp

    n = graph.num_vertices
    own = sp.csr_array((np.ones(n), (np.arange(n), number)), shape=(n, int(number.max(initial=-1)) + 1))
    whole = matrix(graph)
    if not graph.directed:
        whole = whole + sp.diags_array(whole.diagonal())  # a loop has two ends at its vertex
    between = own.T @ whole @ own
    total = between.sum()
    if total == 0:
        require(np.isnan(value), f"there is no edge, but the modularity is {value:g}")
        return
    chance = (between.sum(axis=1) / total) @ (between.sum(axis=0) / total)
    expected = between.trace() / total - resolution * chance
    require(abs(value - expected) <= 1e-9, f"the modularity is {expected:g}, not {value:g}")
