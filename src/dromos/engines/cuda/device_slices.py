"""Slices of a graph in the memory of a GPU: copied on first use, and kept while there is room."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.cuda.device_graph import CLASS_DEGREES
from dromos.engines.cuda.rows import Rows, place_rows
from dromos.engines.cuda.transfers import to_device
from dromos.errors import DeviceError
from dromos.graph.slices import GraphSlice
from dromos.identity_cache import IdentityCache
from dromos.plan.path import Direction

__all__ = [
    "DeviceSlice", "classes_of", "clipped_offsets", "device_offsets", "device_slice", "keep_slice", "no_room",
    "offsets_dtype",
]  # fmt: skip

_SPARED: Final = 4  # a slice stays if the free memory is so many times its size: fields and boxes need room too
_SCRATCH: Final = 64 << 20  # bytes of the device that may be used while arcs are copied to the host's memory
_kept = IdentityCache()


@dataclass(frozen=True)
class DeviceSlice:
    """Rows on the device, and the virtual starts of the whole arrays of which they are a piece."""

    rows: Rows
    offsets: int
    targets: int
    weights: int
    max_degree: int
    classes: tuple[int, ...]
    """The ends of the classes of :data:`~dromos.engines.cuda.device_graph.CLASS_DEGREES`, as vertices."""
    room: int | None = None
    """The device memory granted to the arcs in bytes; None: all that they take."""

    def suits(self, room: int | None) -> bool:
        """Whether the placement would be the same if the arcs were granted ``room``."""
        if self.room == room:
            return True
        arcs = (self.rows.targets, self.rows.weights)
        size = sum(int(array.nbytes) for array in arcs if array is not None)
        return not self.rows.on_host and (room is None or size <= room)


def offsets_dtype(num_arcs: int) -> np.dtype[Any]:
    """The type of positions among a graph's arcs: four bytes if they fit.

    >>> offsets_dtype(10), offsets_dtype(2**32)
    (dtype('uint32'), dtype('int64'))
    """
    return np.dtype(np.uint32) if num_arcs < 2**32 - 2**20 else np.dtype(np.int64)


def no_room(what: str) -> DeviceError:
    """The error for a lack of memory on the current device; releases unused memory."""
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    free, total = cupy.cuda.runtime.memGetInfo()
    return DeviceError(
        f"{what} do not fit on the GPU, where {free / 2**30:.2f} GiB of {total / 2**30:.2f} GiB are free; "
        "give the GPU a smaller part of the graph, or use device='cpu'"
    )


def device_offsets(shape: GraphShape, direction: Direction) -> Any:
    """The offsets of all rows on the current device; those of the in-rows are computed from the degrees."""
    import cupy

    known, key = _kept.of(shape), (int(cupy.cuda.Device().id), direction)
    if key not in known:
        dtype = offsets_dtype(shape.num_arcs)
        if direction == "push":
            known[key] = cupy.asarray(shape.offsets.astype(dtype))
        else:
            found = np.zeros(shape.num_vertices + 1, dtype)
            np.cumsum(shape.in_degree, out=found[1:])
            known[key] = cupy.asarray(found)
    return known[key]


def clipped_offsets(shape: GraphShape, piece: GraphSlice, direction: Direction) -> Any:
    """As :func:`device_offsets`, with all rows outside ``piece`` empty; kept with the graph."""
    import cupy

    known = _kept.of(shape)
    if _is_symmetric(shape):
        direction = "push"
    key = (int(cupy.cuda.Device().id), direction, piece.start, piece.stop)
    if key not in known:
        begin = int(piece.offsets[0])
        known[key] = cupy.clip(device_offsets(shape, direction), begin, begin + piece.num_arcs)
    return known[key]


def _is_symmetric(shape: GraphShape) -> bool:
    return bool(getattr(getattr(shape, "known_flags", None), "symmetric", False))


def device_slice(
    shape: GraphShape, piece: GraphSlice, direction: Direction, room: int | None = None, block: Hashable = None
) -> DeviceSlice:
    """``piece`` on the current device: the same arcs of the same graph are copied once, while there is room.

    ``room``: the most device memory for the arcs of a part, both ways, in bytes; the last ones are in the host's
    memory, where kernels read them in place. ``block``: the block of a grid that the piece is.
    """
    import cupy

    known = _kept.of(shape)
    shared = block is None and _is_symmetric(shape)
    if shared:
        direction = "push"  # in-rows are out-rows, and are stored once
    key = _key(piece, direction, block)
    if room is not None and not shared:
        room //= 2
    found: DeviceSlice | None = known.get(key)
    if found is None or not found.suits(room):
        known.pop(key, None)
        try:
            found = _uploaded(shape, piece, room)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise no_room(f"the rows of the vertices {piece.start}..{piece.stop}") from error
        free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
        if found.rows.nbytes * _SPARED < free:
            known[key] = found
    return found


def keep_slice(shape: GraphShape, piece: GraphSlice, rows: Rows) -> None:
    """Use ``rows``, which are on the current device, as those of ``piece`` of a symmetric graph.

    Their offsets are those of all rows of the graph.
    """
    import cupy

    known, begin, offsets = _kept.of(shape), int(piece.offsets[0]), rows.offsets
    known[int(cupy.cuda.Device().id), "push"] = offsets
    degrees = cupy.diff(offsets[piece.start : piece.stop + 1].astype(cupy.int64))
    rising = bool((degrees[1:] > degrees[:-1]).any())
    known[_key(piece, "push", None)] = DeviceSlice(
        rows,
        _begins(offsets, 0),
        _begins(rows.targets, begin),
        0 if rows.weights is None else _begins(rows.weights, begin),
        int(degrees.max()),
        _one_class(piece.start, piece.stop)
        if rising
        else tuple((cupy.searchsorted(-degrees, -cupy.asarray(CLASS_DEGREES), side="right") + piece.start).tolist()),
    )


def _key(piece: GraphSlice, direction: Direction, block: Hashable) -> tuple[Hashable, ...]:
    import cupy

    arcs = (piece.start, int(piece.offsets[0]), piece.num_arcs, piece.weighted)
    return (int(cupy.cuda.Device().id), direction, block, *arcs)


def _uploaded(shape: GraphShape, piece: GraphSlice, room: int | None) -> DeviceSlice:
    offsets = to_device(piece.offsets.astype(offsets_dtype(shape.num_arcs)))
    size = piece.targets.nbytes + (0 if piece.weights is None else piece.weights.nbytes)
    share = 1.0 if room is None else min(1.0, room / max(size, 1))
    rows = place_rows(offsets, piece.targets, piece.weights, None, share=share, weights_share=share, scratch=_SCRATCH)
    targets, weights = rows.targets, rows.weights
    begin, degrees = int(piece.offsets[0]), np.diff(piece.offsets)
    return DeviceSlice(
        rows,
        _begins(offsets, piece.start),
        _begins(targets, begin),
        0 if weights is None else _begins(weights, begin),
        int(degrees.max()) if len(degrees) else 0,
        classes_of(degrees.astype(np.int64), piece.start, piece.stop),
        room,
    )


def _begins(array: Any, first: int) -> int:
    """The virtual start of the array of which ``array`` is the piece from ``first`` on, modulo the address range."""
    return (int(array.data.ptr) - first * int(array.itemsize)) % 2**64


def classes_of(degrees: Array | None, start: int, stop: int) -> tuple[int, ...]:
    """The classes as ranges, if rows are in descending order of their lengths; otherwise all rows are a warp's.

    ``degrees``: None if the order is not known.

    >>> classes_of(np.array([3000, 40, 1, 0]), 5, 9), classes_of(np.array([1, 2]), 5, 7)
    ((6, 6, 7, 7, 7, 7, 7, 8), (5, 7, 7, 7, 7, 7, 7, 7))
    """
    if degrees is None or (len(degrees) and (degrees[1:] > degrees[:-1]).any()):
        return _one_class(start, stop)
    ends = np.searchsorted(-degrees, -np.array(CLASS_DEGREES), side="right")
    return tuple(int(end) + start for end in ends)


def _one_class(start: int, stop: int) -> tuple[int, ...]:
    return (start, *(stop,) * (len(CLASS_DEGREES) - 1))
