"""The least and the greatest weight of a graph, found once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dromos.dtypes import Array
from dromos.graph.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache

__all__ = ["range_of_weights"]

_kept: Final = IdentityCache()  # computing it takes a pass over all weights


def range_of_weights(graph: Graph, slices: Iterable[GraphSlice] | None = None) -> tuple[float, float]:
    """The least and the greatest weight; 1 and 1 without weights.

    ``slices``: all arcs of a graph on disk, to scan if the range is not known yet; else they are read outside of a
    budget.

    >>> range_of_weights(Graph.from_edges([0, 1], [1, 2], [3, 7]))
    (3, 7)
    """
    if graph.weights is None or not len(graph.weights):
        return 1, 1
    return _kept.once(graph, "range of weights", lambda: _look(graph.arc_slices() if slices is None else slices))


def _look(slices: Iterable[GraphSlice]) -> tuple[float, float]:
    ends = [_ends(piece.weights) for piece in slices if piece.weights is not None and len(piece.weights)]
    return min(low for low, _ in ends), max(high for _, high in ends)


def _ends(weights: Array) -> tuple[float, float]:
    return weights.min().item(), weights.max().item()
