"""Arcs numbered along out-rows and along in-rows: arc values are given in the first order, and pulled in the second."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike

__all__ = ["in_order", "matching_arcs", "sorted_arcs"]

_known: dict[tuple[int, int], tuple[weakref.ref[Any], weakref.ref[Any], Array]] = {}


def in_order(graph: GraphLike, into: GraphLike) -> Array:
    """As :func:`matching_arcs`, for a graph and its transpose (or a symmetric graph twice); computed once per graph."""
    key = (id(graph), id(into))
    known = _known.get(key)
    if known is not None and known[0]() is graph and known[1]() is into:
        return known[2]
    sides = [(side.offsets, side.targets, side.weights) for side in (graph, into)]
    found = matching_arcs(*sides)
    one, other = (weakref.ref(side, lambda _: _known.pop(key, None)) for side in (graph, into))
    _known[key] = (one, other, found)
    return found


def matching_arcs(
    rows: tuple[Array, Array, Array | None], in_rows: tuple[Array, Array, Array | None]
) -> Array:  # fmt: skip
    """For each arc of ``in_rows`` (offsets, sources, weights) the index of the same arc in ``rows``.

    Parallel arcs are distinguished by their weights. Those with equal weights are interchangeable, since their messages
    are merged.

    >>> from dromos.graph import Graph
    >>> graph = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 0])
    >>> into = graph.transpose
    >>> matching_arcs((graph.offsets, graph.targets, None), (into.offsets, into.targets, None)).tolist()
    [3, 0, 1, 2]
    """
    offsets, targets, weights = rows
    in_offsets, sources, in_weights = in_rows
    found: Array = np.empty(len(targets), dtype=np.int64)
    found[sorted_arcs(_owners(in_offsets), sources, in_weights)] = sorted_arcs(targets, _owners(offsets), weights)
    return found


def _owners(offsets: Array) -> Array:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def sorted_arcs(targets: Array, sources: Array, weights: Array | None) -> Array:
    """The order of arcs by target, then by source, then by weight."""
    order: Array = np.lexsort((sources, targets) if weights is None else (weights, sources, targets))
    return order
