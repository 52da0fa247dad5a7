"""Compressed sparse rows on the device: copied in pieces, renumbered on the way, and partly left on the host.

Memory beside the rows is bounded: a piece holds as many arcs as the scratch memory allows (but at least one row).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike
from dromos.engines.cuda.arrivals import Arrival
from dromos.engines.cuda.compiler import Module, load
from dromos.engines.cuda.row_pieces import pieces_of_rows
from dromos.engines.cuda.sorted_rows import RowSorter
from dromos.engines.cuda.spanning import resident_part, spanning_array
from dromos.engines.cuda.transfers import to_device

__all__ = [
    "RELABELLING", "Rows", "narrow_offsets", "narrow_weights", "on_its_way", "order_by_degree", "place_rows",
    "rows_on_their_way", "types_of",
]  # fmt: skip

RELABELLING: Final = '#include "relabel.cuh"'
_THREADS: Final = 256
_SCRATCH_BYTES_PER_ARC: Final = 80  # arriving targets and weights, a key, the order, the sorted key, a sort's own
_LEAST_PIECE, _MOST_PIECE = 1 << 20, 1 << 28
_ARRIVING: Final = 1 << 24  # arcs of a piece from the host: one is sorted while the next one arrives
_LAST_ARRIVING: Final = 1 << 22  # arcs of the last pieces, which nothing follows
_WORTH_A_THREAD: Final = 32 << 20  # bytes
_WORTH_A_SORTER: Final = 1 << 22  # arcs; fewer are sorted faster than its kernels are compiled or loaded
_WORTH_STAGING: Final = 4 << 20  # bytes of offsets
_NARROW: Final = {
    "uint8": "unsigned char", "int8": "signed char", "uint16": "unsigned short", "int16": "short", "uint32": "unsigned",
    "int32": "int",
}  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Compressed sparse rows that the device can read."""

    offsets: Any
    targets: Any
    weights: Any = None
    on_host: int = 0
    """How many bytes of them are in the host's memory."""
    targets_on_host: int = 0
    """How many of these are targets."""
    given_offsets: Array | None = None
    """The offsets on the host, for rows that come from there."""

    @property
    def nbytes(self) -> int:
        """Their size in device memory."""
        parts = (self.offsets, self.targets, self.weights)
        return sum(int(part.nbytes) for part in parts if part is not None) - self.on_host


def narrow_offsets(offsets: Any, arcs: int) -> Any:
    """Offsets of four bytes if they fit: a traversal then reads half as much of them."""
    return offsets.astype(np.uint32 if arcs < 2**32 - 2**20 else np.int64)


def narrow_weights(weights: Any) -> np.dtype[Any]:
    """The narrowest type that represents all weights exactly, if they are integers; otherwise their own.

    >>> [narrow_weights(np.array(some)).name for some in ([1, 255], [-1, 99], [-1, 200], [0.5])]
    ['uint8', 'int8', 'int16', 'float64']
    """
    own: np.dtype[Any] = weights.dtype
    if own.kind not in "iu" or not len(weights):
        return own
    low, high = int(weights.min()), int(weights.max())
    for name in _NARROW:
        limits = np.iinfo(name)
        if limits.dtype.itemsize < own.itemsize and limits.min <= low and high <= limits.max:
            return limits.dtype
    return own


def types_of(offsets: Any, targets: Any, weights: np.dtype[Any] | None = None) -> tuple[str, ...]:
    """The types of ids and arc positions, and of weights in a narrower one, for a kernel's compilation."""
    ids = "int" if targets.dtype == np.int32 else "long long"
    stored = () if weights is None else (f"STORED_WEIGHT={_NARROW[weights.name]}",)
    return f"VID={ids}", "EID=unsigned" if offsets.dtype == np.uint32 else "EID=long long", *stored


def place_rows(
    offsets: Any,
    targets: Any,
    weights: Any,
    names: tuple[Any, Any] | None,
    *,
    share: float = 1.0,
    weights_share: float = 1.0,
    weights_dtype: np.dtype[Any] | None = None,
    scratch: int,
    given_offsets: Array | None = None,
) -> Rows:
    """Rows for kernels from arrays of the host or the device.

    Args:
        offsets: on the device already.
        targets: on the host or the device; not changed.
        weights: likewise, or None.
        names: the given id of each new vertex, and the new id of each given one; None: ids stay as they are.
        share: the share of the targets that is to be on the device; the rest is in the host's memory.
        weights_share: likewise for the weights.
        weights_dtype: the type to keep the weights in; None: their own.
        scratch: the bytes of device memory that may be used temporarily.
        given_offsets: the offsets on the host, if they are there too.
    """
    if names is None and share >= 1 and weights_share >= 1:
        return Rows(offsets, _on_device(targets), None if weights is None else _on_device(weights))
    module = load(RELABELLING, "relabel", defines=types_of(offsets, targets))
    on_host, placed = list[int](), list[Any]()
    for values, part, dtype in ((targets, share, None), (weights, weights_share, weights_dtype)):
        if values is None:
            placed.append(None)
            continue
        kind = np.dtype(values.dtype if dtype is None else dtype)
        size = len(values) * kind.itemsize
        resident = resident_part(size, int(part * size))
        on_host.append(size - resident)
        placed.append(spanning_array(len(values), kind, resident))
    new_targets, new_weights = placed
    most = min(max(scratch // _SCRATCH_BYTES_PER_ARC, _LEAST_PIECE), _MOST_PIECE)
    if isinstance(targets, Arrival):
        most = min(most, _ARRIVING)
    if names is None:
        _copy(module, targets, new_targets, most)
        if weights is not None:
            _copy(module, weights, new_weights, most)
        return Rows(offsets, new_targets, new_weights, sum(on_host), on_host[0])
    new_offsets = _renumbered_offsets(offsets, names[0])
    least = _LAST_ARRIVING if isinstance(targets, Arrival) else most
    pieces = list(pieces_of_rows(offsets if given_offsets is None else given_offsets, len(targets), most, least))
    renumbered = Rows(new_offsets, new_targets, new_weights, sum(on_host), on_host[0])
    _renumber(module, offsets, targets, weights, names[1], renumbered, pieces)
    return renumbered


def rows_on_their_way(sides: Sequence[GraphLike], scratch: int, *, early: bool) -> list[Rows]:
    """The rows of graphs on the host, with offsets on the device; ``early``: the first one's arcs are sent next.

    They follow the offsets without a pause, so that they arrive while vertices are ordered.
    """
    offsets, last = list[Any](), None
    for side in sides:
        if side.offsets.nbytes < _WORTH_STAGING:
            offsets.append(to_device(side.offsets))
        else:
            last = Arrival.begun(side.offsets, last)
            offsets.append(last)
    arcs = [Rows(None, side.targets, side.weights) for side in sides]
    if early:
        arcs[0] = on_its_way(arcs[0], scratch, last)
    return [
        replace(rows, offsets=narrow_offsets(_on_device(begins), side.num_arcs), given_offsets=side.offsets)
        for rows, begins, side in zip(arcs, offsets, sides, strict=True)
    ]


def on_its_way(rows: Rows, scratch: int, after: Arrival | None = None) -> Rows:
    """The same rows, with large arrays of the host on their way to the device, if ``scratch`` bytes hold them there.

    Other work goes on meanwhile, and rows are sorted as they arrive. They are sent after ``after`` has arrived.
    """
    arrays = (rows.targets, rows.weights)
    size = sum(array.nbytes for array in arrays if array is not None)
    if not isinstance(rows.targets, np.ndarray) or rows.targets.nbytes < _WORTH_A_THREAD:
        return rows
    if size + _ARRIVING * _SCRATCH_BYTES_PER_ARC > scratch:
        return rows
    beside = sum(array is not None for array in arrays) - 1
    targets, weights = (None if array is None else Arrival.begun(array, after, beside=beside) for array in arrays)
    return replace(rows, targets=targets, weights=weights)


def _copy(module: Module, values: Any, placed: Any, most: int) -> None:
    bounds = [(begin, min(begin + most, len(values))) for begin in range(0, len(values), most)]
    for (begin, _), given in zip(bounds, _pieces_of(values, bounds), strict=True):
        piece = given.astype(placed.dtype, copy=False)
        blocks = _blocks(piece.nbytes // 4)
        module.launch("copy_words", blocks, _THREADS, piece, np.int64(piece.nbytes), placed[begin:])


def order_by_degree(offsets: Any, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The ids of vertices by descending degree, and the place of each; equal degrees keep their order.

    So they keep the locality of the given ids.
    """
    import cupy

    n = len(offsets) - 1
    ids, rank, keys = cupy.empty(n, dtype), cupy.empty(n, dtype), cupy.empty(n, cupy.uint64)
    module = load(RELABELLING, "relabel", defines=types_of(offsets, ids))
    module.launch("degree_keys", _blocks(n), _THREADS, offsets, np.int64(n), keys)
    keys.sort()
    module.launch("order_of_keys", _blocks(n), _THREADS, keys, np.int64(n), ids, rank)
    return ids, rank


def _renumbered_offsets(offsets: Any, ids: Any) -> Any:
    import cupy

    new = cupy.zeros(len(offsets), offsets.dtype)
    cupy.cumsum(cupy.diff(offsets).take(ids), out=new[1:], dtype=offsets.dtype)
    return new


def _renumber(
    module: Module,
    offsets: Any,
    targets: Any,
    weights: Any,
    rank: Any,
    placed: Rows,
    pieces: Sequence[tuple[int, int, int, int]],
) -> None:
    """Copy every row to its new place, with its targets renamed and sorted: the greatest hubs come first."""
    import cupy

    vertex = targets.dtype.type
    bounds = [(base, end) for _, _, base, end in pieces]
    most = max((end - base for base, end in bounds), default=0)
    named, weighing = _pieces_of(targets, bounds), _pieces_of(weights, bounds)
    if placed.on_host == 0 and offsets.dtype == np.uint32 and len(targets) >= _WORTH_A_SORTER:
        types = types_of(offsets, targets)
        sorter = RowSorter(types, offsets, placed.offsets, rank, weighted=weights is not None)
        if sorter.is_fit:
            sorter.place(zip(pieces, named, weighing, strict=True), most, placed.targets, placed.weights)
            return
    space = cupy.empty(most, cupy.uint64)
    for (first, last, base, end), piece, weight in zip(pieces, named, weighing, strict=True):
        arcs = end - base
        blocks, keys, order = _blocks(arcs), space[:arcs], None
        module.launch(
            "keys_of", blocks, _THREADS, offsets, piece, rank, vertex(first), vertex(last), np.int64(base),
            np.int64(arcs), keys,
        )  # fmt: skip
        if weight is None:
            keys.sort()
        else:
            order = cupy.argsort(keys, kind="stable")
            keys = keys[order]
        moved = (keys, offsets, placed.offsets, rank, np.int64(base), np.int64(arcs))
        module.launch("place_targets", blocks, _THREADS, *moved, placed.targets)
        if weight is not None:
            weight = weight.astype(placed.weights.dtype, copy=False)
            size = np.int32(weight.dtype.itemsize)
            module.launch("place_weights", blocks, _THREADS, *moved, order, weight, size, placed.weights)


def _pieces_of(values: Any, bounds: Sequence[tuple[int, int]]) -> Iterator[Any]:
    """The ranges of an array, on the device already or as they arrive there; None for each if there is no array."""
    if values is None:
        return repeat(None, len(bounds))
    if isinstance(values, Arrival):
        return (values.array(end)[begin:end] for begin, end in bounds)
    return (_on_device(values[begin:end]) for begin, end in bounds)


def _on_device(values: Any) -> Any:
    if isinstance(values, Arrival):
        return values.array(len(values))
    return to_device(values) if isinstance(values, np.ndarray) else values


def _blocks(items: int) -> int:
    return max(1, min(65535, -(-items // _THREADS)))
