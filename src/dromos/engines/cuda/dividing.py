"""A host's graph divided among parts by a device: rows get new ids and a new order, and those of its own parts stay.

The arcs go to the device once, as they are on the host, which copies at the rate of the link and does nothing else. The
device renames and sorts each piece as it arrives. Rows of other processors' parts then return to the host, into memory
that other threads have prepared meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from dromos.dtypes import OFFSET, Array
from dromos.engines.cpu.memory import huge_zeros, sparse_zeros
from dromos.engines.cuda.parting import order_by_part
from dromos.engines.cuda.residency import free_bytes
from dromos.engines.cuda.rows import Rows, place_rows, rows_on_their_way
from dromos.engines.cuda.transfers import to_host
from dromos.graph import Graph
from dromos.graph.build import CsrArrays
from dromos.graph.parting import Split
from dromos.parallel import num_threads, run_team

__all__ = ["Divided", "can_divide", "divided"]

_BYTES_PER_VERTEX: Final = 64  # device memory: offsets, degrees, their order, new ids
_SMALL_PAGE: Final = 4 << 10
_NAMES_THREADS, _ROOM_THREADS = 3, 3  # other threads send the arcs meanwhile, and must not be slowed down


class Divided(NamedTuple):
    """A graph's rows in another order, of which each part has a range."""

    old_ids: Array
    new_ids: Array
    rows: CsrArrays
    """The rows on the host; there is room for all, and those of parts that did not stay on the device are filled."""
    bounds: tuple[int, ...]
    """Part ``i`` has the vertices ``bounds[i]..bounds[i + 1]``."""
    stayed: dict[int, Rows]
    """The rows of each part that stayed; their offsets are those of all rows."""


def can_divide(graph: Graph, memory: int | None = None) -> bool:
    """Whether the current device supports it, and has the memory: for a moment it holds all arcs, more than once.

    ``memory``: the most bytes that may be used; None: half of what is free.
    """
    weights = 0 if graph.weights is None else graph.weights.nbytes
    needed = _BYTES_PER_VERTEX * graph.num_vertices + 3 * (graph.targets.nbytes + weights)
    room = free_bytes() // 2
    return (
        graph.targets.dtype == np.int32
        and graph.num_arcs > 0
        and needed < (room if memory is None else min(room, memory))
    )


def divided(graph: Graph, shares: Sequence[float], split: Split, stay: Collection[int]) -> Divided:
    """The rows of a symmetric graph by part, and by descending degree in each; each row is sorted.

    Vertices of one degree and parallel arcs stay in their order. ``shares``: the share of the arcs that each part gets.
    ``split``: which vertices the first part gets. ``stay``: the parts whose rows are to stay on the current device.
    """
    import cupy

    ids = graph.targets.dtype
    (given,) = rows_on_their_way((graph,), free_bytes() // 2, early=True)
    old_ids, rank, bounds = order_by_part(given.offsets, ids, shares, split)
    offsets = cupy.zeros(graph.num_vertices + 1, OFFSET)
    cupy.cumsum(cupy.diff(given.offsets).take(old_ids), out=offsets[1:], dtype=OFFSET)
    spans = list(pairwise(offsets[cupy.asarray(bounds)].tolist()))
    leaving = [span for number, span in enumerate(spans) if number not in stay]
    device, names = cupy.cuda.Device(), (old_ids, rank, offsets)

    def fetch_names() -> list[Array]:
        with device, cupy.cuda.Stream(non_blocking=True):  # the data is there: no need to wait for the other stream
            return [to_host(values, huge_zeros(len(values), values.dtype), _NAMES_THREADS) for values in names]

    def make_room() -> list[Array | None]:
        arrays = (graph.targets, graph.weights)
        return [None if array is None else _room_for(array, leaving) for array in arrays]

    with ThreadPoolExecutor(2) as helpers:  # they work while arcs arrive
        names_there, room = helpers.submit(fetch_names), helpers.submit(make_room)
        placed = place_rows(
            given.offsets, given.targets, given.weights, (old_ids, rank), scratch=free_bytes() // 2,
            given_offsets=graph.offsets,
        )  # fmt: skip
        del given  # and the staging memory of the arcs
        host_arrays = room.result()
        for values, into in zip((placed.targets, placed.weights), host_arrays, strict=True):
            for begin, end in leaving:
                if into is not None and begin < end:
                    to_host(values[begin:end], into[begin:end])
        host_ids, new_ids, host_offsets = names_there.result()
    stayed = {number: _part_of(placed, *spans[number]) for number in stay}
    targets, weights = host_arrays
    assert targets is not None
    return Divided(host_ids, new_ids, CsrArrays(host_offsets, targets, weights), bounds, stayed)


def _part_of(rows: Rows, begin: int, end: int) -> Rows:
    """The arcs ``begin..end`` in separate arrays, so that the others can be released."""
    weights = None if rows.weights is None else rows.weights[begin:end].copy()
    return Rows(rows.offsets, rows.targets[begin:end].copy(), weights)


def _room_for(array: Array, filled: Sequence[tuple[int, int]]) -> Array:
    """Room for all arcs, with pages for those that will be filled."""
    found = sparse_zeros(len(array), array.dtype, filled)
    step = _SMALL_PAGE // array.itemsize
    for begin, end in filled:
        run_team(_touch, found[begin:end:step], threads=min(_ROOM_THREADS, num_threads()))
    return found


def _touch(thread: int, threads: int, pages: Array) -> None:
    pages[len(pages) * thread // threads : len(pages) * (thread + 1) // threads] = 0
