"""Edge attributes as numbers."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dromos.dtypes import Array

if TYPE_CHECKING:
    from dromos.networkx_backend.graph import BackendGraph

__all__ = ["EdgeValues", "edge_values", "plain"]

_EXACT = 2.0**53  # whole numbers up to here are exact as 64-bit floats


class EdgeValues(NamedTuple):
    """One float per edge, and whether NetworkX would compute with integers: all of them are ``int``."""

    each: Array
    """One value per edge: aligned with the arcs, or in a multigraph with the arcs repeated by their multiplicity."""
    whole: bool
    starts: Array | None
    """In a multigraph: where the parallel edges of each arc begin in ``each``."""

    @property
    def total(self) -> Array:
        """The sum over parallel edges, one per arc."""
        return self._reduced(np.add)

    @property
    def least(self) -> Array:
        """The least of parallel edges, one per arc."""
        return self._reduced(np.minimum)

    @property
    def greatest(self) -> Array:
        """The greatest of parallel edges, one per arc."""
        return self._reduced(np.maximum)

    def _reduced(self, ufunc: np.ufunc) -> Array:
        if self.starts is None or not len(self.each):
            return self.each
        reduced: Array = ufunc.reduceat(self.each, self.starts)
        return reduced


def edge_values(graph: BackendGraph, key: Hashable, default: Any) -> EdgeValues:
    """The attribute ``key`` of every edge as a number; values that are not plain numbers are refused.

    Raises:
        NotImplementedError: some values are neither ``int`` nor ``float``, not finite, or whole numbers that 64-bit
            floats cannot add up exactly. NetworkX then runs its own code.
    """
    column = graph.edge_columns.get((key, default))
    if column is None:
        if graph.edge_data is None:
            raise NotImplementedError(f"the graph was converted without the edge attribute {key!r}")
        column = attribute_column(graph.edge_data, key, default, multigraph=graph.multiplicity is not None)
    kinds = set(map(type, column))
    if not kinds <= {int, float}:
        found = ", ".join(sorted(kind.__name__ for kind in kinds - {int, float}))
        raise NotImplementedError(f"values of the edge attribute {key!r} are of the type {found}, not int or float")
    try:
        each = np.array(column, dtype=np.float64)
    except OverflowError:
        raise NotImplementedError(f"some values of the edge attribute {key!r} are too large") from None
    if not np.isfinite(each).all():
        raise NotImplementedError(f"some values of the edge attribute {key!r} are not finite")
    if kinds - {float} and np.abs(each).sum() >= _EXACT:
        raise NotImplementedError(f"the edge attribute {key!r} has whole numbers too large to add up exactly")
    starts = None
    if graph.multiplicity is not None:
        starts = np.cumsum(graph.multiplicity) - graph.multiplicity
    return EdgeValues(each, float not in kinds, starts)


def attribute_column(edge_data: list[Any], key: Hashable, default: Any, *, multigraph: bool) -> list[Any]:
    """The attribute of every edge, or ``default``.

    >>> attribute_column([{"w": 2}, {}], "w", 1, multigraph=False)
    [2, 1]
    """
    dicts = list(chain.from_iterable(map(dict.values, edge_data))) if multigraph else edge_data
    try:
        return list(map(itemgetter(key), dicts))  # twice as fast, if every edge has the attribute
    except KeyError:
        return [data.get(key, default) for data in dicts]


def plain(values: Array, whole: bool) -> list[int] | list[float]:
    """Floats as Python numbers: as ``int`` where NetworkX would have computed with integers.

    >>> plain(np.array([1.0, 2.0]), True)
    [1, 2]
    """
    listed: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return listed
