"""The order in which sources are assigned to tiles: by id, or those of many arcs first.

Arcs in tiles (:mod:`dromos.engines.cpu.arc_blocks`) are gathered quickly if a row has many of them in one tile. In a
graph with hubs whose ids carry no structure, every tile has a few of the hubs. With the hubs together in the first
tiles, most arcs of most rows lie there, and a gather along a kron graph takes little more than half of the time. A
graph whose ids reflect neighborhoods, such as pages ordered by address, is left as it is, and so is one that already
has this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.cpu.skeletons import constants
from dromos.parallel import run_team

__all__ = [
    "BY_ID",
    "LEAST_GAIN",
    "SEGMENT",
    "DegreeClasses",
    "SourceOrder",
    "better_order",
    "classes_of",
    "hubs_first",
    "may_gain",
    "tiles_of_sources",
]

SEGMENT: Final = 16
"""The least number of a row's arcs in a tile for a segment, which is summed in registers."""
LEAST_GAIN = 0.125
"""The least gain, as a share of all arcs in such segments, for another order than by id."""
_SAMPLES: Final = 1 << 10  # arcs that are sampled
_LONGEST: Final = 1 << 15  # arcs of a row that are examined around a sampled one
_CLASSES: Final = 256
_DENSE: Final = 8  # one in so many tiles, the densest, are considered
_SPAN, _NOWHERE = constants("block_tiles", "SPAN", "NOWHERE")


@dataclass(frozen=True, eq=False)
class SourceOrder:
    """The place of each source in the tiles."""

    places: Array
    """The place of each vertex, ``NOWHERE`` if it has no arcs. Empty: by id."""
    count: int
    """The number of vertices that have a place; 0 if the order is by id."""


BY_ID: Final = SourceOrder(read_only(np.empty(0, np.uint32)), 0)


class DegreeClasses(NamedTuple):
    """How many vertices and arcs there are in each class of degrees: one row per range of vertices."""

    counts: Array
    """Without vertices that have no arcs."""
    arcs: Array


def classes_of(out_offsets: Array, threads: int) -> DegreeClasses:
    """The classes of degrees, each a quarter of a power of two, in one range of vertices per thread.

    >>> found = classes_of(np.array([0, 1, 1, 9, 10], np.uint32), 1)
    >>> found.counts[found.counts > 0].tolist(), found.arcs[found.arcs > 0].tolist()
    ([2, 1], [2, 8])
    """
    from dromos.engines.cpu import source_order_kernels as kernels

    found = DegreeClasses(np.zeros((threads, _CLASSES), np.int64), np.zeros((threads, _CLASSES), np.int64))
    run_team(kernels.count_classes, out_offsets, *found, threads=threads)
    found.counts[:, 0] = 0
    return found


def hubs_first(out_offsets: Array, classes: DegreeClasses) -> SourceOrder:
    """Sources by their number of arcs, to a quarter of a power of two; within such a class by id.

    >>> offsets = np.array([0, 1, 1, 9, 10], np.uint32)
    >>> order = hubs_first(offsets, classes_of(offsets, 1))
    >>> order.places[[0, 2, 3]].tolist(), order.count
    ([1, 0, 2], 3)
    """
    from dromos.engines.cpu import source_order_kernels as kernels

    threads = len(classes.counts)
    descending = classes.counts.T[::-1].ravel()  # class by class, and range by range within a class
    starts = np.ascontiguousarray((np.cumsum(descending) - descending).reshape(_CLASSES, threads)[::-1].T)
    places = huge_zeros(len(out_offsets) - 1, np.uint32)
    run_team(kernels.place_by_class, out_offsets, starts, np.uint32(_NOWHERE), places, threads=threads)
    return SourceOrder(read_only(places), int(descending.sum()))


def may_gain(out_offsets: Array, classes: DegreeClasses) -> bool:
    """Whether hubs first may bring arcs together, by the degrees alone: an eighth of the tiles would have more of them.

    >>> offsets = np.arange(1 << 20, dtype=np.uint32)
    >>> may_gain(offsets, classes_of(offsets, 1))
    False
    """
    num_arcs, step = int(out_offsets[-1]), 1 << _SPAN
    if not num_arcs:
        return False
    by_id = np.sort(np.diff(np.append(out_offsets[:-1:step], out_offsets[-1]).astype(np.int64)))[::-1]
    counts, arcs = (column.sum(axis=0)[::-1].astype(np.float64) for column in classes)
    left = np.clip(counts.sum() / _DENSE - (np.cumsum(counts) - counts), 0, counts)  # in that eighth, by class
    by_arcs = (arcs * np.divide(left, counts, out=np.zeros(_CLASSES), where=counts > 0)).sum()
    dense = -(-tiles_of_sources(len(out_offsets) - 1) // _DENSE)
    return bool(by_arcs - by_id[:dense].sum() >= LEAST_GAIN * num_arcs)


def tiles_of_sources(num_sources: int) -> int:
    """The number of tiles for so many sources.

    >>> tiles_of_sources(1 << 20)
    32
    """
    return max(1, -(-num_sources >> _SPAN))


def better_order(out_offsets: Array, offsets: Array, sources: Array, threads: int) -> SourceOrder:
    """The order that puts more of a graph's arcs into long segments; examines some in-rows of it, or all.

    It depends on the graph alone, not on ``threads``, since the digits of sums depend on it.

    >>> import dromos as dr
    >>> ring = dr.generators.cycle(5)
    >>> offsets, targets = ring.offsets.astype(np.uint32), ring.targets.astype(np.uint32)
    >>> better_order(offsets, offsets, targets, 1) is BY_ID
    True
    """
    from dromos.engines.cpu import source_order_kernels as kernels

    if not len(sources):
        return BY_ID
    classes = classes_of(out_offsets, threads)
    if not may_gain(out_offsets, classes):
        return BY_ID
    order = hubs_first(out_offsets, classes)
    found, cursor = np.zeros((threads, 2), np.int64), np.zeros(1, np.int64)
    picked = np.arange(_SAMPLES) * len(sources) // _SAMPLES
    rows = np.searchsorted(offsets, (picked + int(offsets[0])).astype(offsets.dtype), side="right") - 1
    run_team(
        kernels.count_in_segments, read_only(offsets), read_only(sources), order.places, picked, rows,
        np.uint32(_SPAN), SEGMENT, _LONGEST, found, cursor, threads=threads,
    )  # fmt: skip
    by_id, by_arcs = (found.sum(axis=0) / _SAMPLES).tolist()
    return order if by_arcs - by_id >= LEAST_GAIN else BY_ID
