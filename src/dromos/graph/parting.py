"""Which vertices each part of a split graph gets: an order of all vertices, and where it is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np

from dromos.dtypes import Array
from dromos.graph.permute import degree_order
from dromos.parallel import in_blocks

__all__ = ["SPLITS", "Split", "bounds_of", "order_of", "scattered"]

Split: TypeAlias = Literal["high", "low", "random"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
_CLASSES_BITS: Final = 11  # log2 of the classes that a counting sort on the host distinguishes


def order_of(degree: Array, split: Split) -> Array:
    """All vertices, those of the first part first: those of the highest degrees, of the lowest, or any.

    >>> order_of(np.array([1, 9, 5]), "high").tolist(), order_of(np.array([1, 9, 5]), "low").tolist()
    ([1, 2, 0], [0, 2, 1])
    """
    if split != "random":
        return degree_order(degree, descending=split == "high")
    classes = np.empty(len(degree), np.int64)

    def scatter(begin: int, end: int) -> None:
        classes[begin:end] = scattered(np.arange(begin, end, dtype=np.uint64))

    in_blocks(scatter, len(classes))
    return degree_order(classes, descending=False)


def scattered(ids: Any) -> Any:
    """A pseudorandom class for each vertex, unrelated to its id and its degree, and the same on every processor.

    ``ids``: of type uint64, an array of NumPy or of CuPy.

    >>> scattered(np.arange(5, dtype=np.uint64)).tolist()
    [432, 315, 1561, 1185, 84]
    """
    mixed = (ids + np.uint64(0x632BE59BD9B4E019)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return mixed >> np.uint64(64 - _CLASSES_BITS)


def bounds_of(
    arcs_before: Any, shares: Sequence[float], search: Callable[[Any, Array], Any] = np.searchsorted
) -> tuple[int, ...]:
    """The bounds of parts with these shares of the arcs; the last bound is the number of vertices.

    ``arcs_before``: the number of arcs of the vertices before each vertex, and of all of them. ``search``: the position
    of values in it, as ``np.searchsorted`` finds it; on a device another function does it.

    >>> bounds_of(np.array([0, 4, 6, 7, 8]), (0.5, 0.5))
    (0, 1, 4)
    """
    n, arcs = len(arcs_before) - 1, int(arcs_before[-1])
    wanted = np.cumsum(shares)[:-1] / sum(shares) * arcs
    inner = search(arcs_before, np.round(wanted).astype(np.int64))
    return (0, *np.maximum.accumulate(np.minimum(inner, n)).tolist(), n)
