"""Rows of a graph on disk, on their way through a device: copied slice by slice, the first ones kept there.

The pages of a slice are in the host's memory until the next slice is fetched. Their arcs are copied to a buffer on the
device, one run of pages behind the other, and kernels get offsets that lead there; so what was not read takes no room
and no copy. Buffers alternate: one is filled while kernels read another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.engines import GraphShape
from dromos.engines.cuda.compiler import load
from dromos.engines.cuda.device_slices import classes_of, device_offsets, no_room
from dromos.engines.cuda.row_buffers import RowBuffers
from dromos.errors import ResourceError
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.slices import PagedSlice
from dromos.graph.summary import human_bytes
from dromos.parallel import num_threads, run_team
from dromos.plan.path import Direction

__all__ = ["STREAMED", "KeptSlice", "RowsOnDevice", "StreamedRows", "turns_of"]

STREAMED: Final = '#include "streamed.cuh"'
_MOST_BUFFERS: Final = 96 << 20
_BUFFERS_SHARE: Final = 4  # a divisor of the room for arcs, used if that gives less
_LEAST_BUFFERS: Final = 48 << 10
_ALIGNED: Final = 64  # arcs, so that weights are aligned behind targets
_STRETCH: Final = 1 << 16  # arcs of a run that are copied as one row
_WORTH_A_TEAM: Final = 1 << 17  # arcs
_MANY_ROWS: Final = 1 << 20  # rows that are not sorted by length on the host
_THREADS: Final = 256
_MOST_BLOCKS: Final = 1 << 12


class RowsOnDevice(NamedTuple):
    """Some rows on the device, as virtual starts of the whole arrays that they are a piece of."""

    offsets: int
    targets: int
    weights: int
    start: int
    stop: int
    max_degree: int
    classes: tuple[int, ...]


class KeptSlice(GraphSlice):
    """The rows whose arcs stay on the device; ``targets`` is empty, since the host does not have them."""


class _Kept:
    """The first arcs of one direction, on the device."""

    def __init__(self, capacity: int, targets: np.dtype[Any], weights: np.dtype[Any] | None) -> None:
        import cupy

        self.targets = cupy.empty(capacity, targets)
        self.weights = None if weights is None else cupy.empty(capacity, weights)
        self.arcs = 0


class StreamedRows:
    """The buffers of a part for the rows of a graph on disk, and the arcs that stay on the device."""

    def __init__(
        self,
        shape: GraphShape,
        offsets: Mapping[Direction, Array],
        types: tuple[np.dtype[Any], np.dtype[Any] | None],
        room: int,
        defines: tuple[str, ...],
        *,
        in_order: bool,
    ) -> None:
        """``offsets``: those of the whole graph on the host, the same array for both directions if these are the same.

        ``types``: of targets and weights. ``room``: the device memory for arcs, in bytes. ``in_order``: arcs have their
        numbers in the whole graph, since programs have values by arc; so every run is sent alone.
        """
        import cupy

        self._shape, self._offsets, self._types, self._in_order = shape, offsets, types, in_order
        self._width = sum(dtype.itemsize for dtype in types if dtype is not None)
        buffers = min(_MOST_BUFFERS, room // _BUFFERS_SHARE)
        if buffers < _LEAST_BUFFERS:
            raise ResourceError(
                f"memory= is too little: the fields of the vertices leave {human_bytes(room)} of it for arcs on the "
                f"GPU, and {human_bytes(_LEAST_BUFFERS * _BUFFERS_SHARE)} are needed to copy pages there"
            )
        self._buffers = RowBuffers(buffers)
        self._most = self._buffers.size // self._width // _ALIGNED * _ALIGNED
        sides = len({id(array) for array in offsets.values()})
        self.capacity = (room - buffers) // sides // self._width
        """How many arcs of each direction stay on the device, at most."""
        self._module = load(STREAMED, "streamed", defines=defines)
        self._kept: dict[Direction, _Kept] = {}
        self._longest: dict[Direction, int] = {}
        try:
            self._places = cupy.empty_like(device_offsets(shape, "push"))
            self._buffers.prepare(staged=True)
        except cupy.cuda.memory.OutOfMemoryError as error:
            raise no_room(f"buffers of {human_bytes(buffers)}") from error

    def offsets_of(self, direction: Direction) -> Any:
        """The offsets of the whole graph on the device."""
        return device_offsets(self._shape, self._side(direction))

    def keep(self, piece: PagedSlice, direction: Direction) -> None:
        """Copy all arcs of ``piece`` behind those that stay on the device."""
        import cupy

        side = self._side(direction)
        if side not in self._kept:
            try:
                self._kept[side] = _Kept(min(self.capacity, self._shape.num_arcs), *self._types)
            except cupy.cuda.memory.OutOfMemoryError as error:
                raise no_room(f"{self.capacity:,} arcs") from error
        kept = self._kept[side]
        for runs in turns_of(piece.runs(), self._most):
            places = [int(kept.targets.data.ptr), 0 if kept.weights is None else int(kept.weights.data.ptr)]
            self._buffers.send(partial(self._fill, piece, runs, kept.arcs, places), lambda place: None)
            kept.arcs += int((runs[:, 1] - runs[:, 0]).sum())

    def kept(self, direction: Direction) -> KeptSlice:
        """The rows of the arcs that stay; the last one may be cut."""
        side = self._side(direction)
        offsets, arcs = self._offsets[direction], self._kept[side].arcs
        stop = int(np.searchsorted(offsets, offsets.dtype.type(arcs), side="left"))
        return KeptSlice(0, stop, offsets[: stop + 1], np.empty(0, self._types[0]), None)

    def send(self, piece: GraphSlice, direction: Direction, launch: Callable[[RowsOnDevice], None]) -> None:
        """Call ``launch`` for all rows of ``piece``, in as many turns as the buffers need."""
        if isinstance(piece, KeptSlice):
            kept = self._kept[self._side(direction)]
            runs = np.array([[0, kept.arcs]], np.int64)
            weights = 0 if kept.weights is None else int(kept.weights.data.ptr)
            launch(self._placed(runs, direction, int(kept.targets.data.ptr), weights))
            return
        assert isinstance(piece, PagedSlice)
        for runs in turns_of(piece.runs(), self._most, alone=self._in_order):
            self._buffers.send(
                partial(self._fill, piece, runs, 0, None), partial(self._launch, runs, direction, launch)
            )

    def wait(self) -> None:
        """Wait until nothing reads or writes the buffers any more: their memory is about to be freed."""
        import cupy

        self._buffers.wait()
        cupy.cuda.get_current_stream().synchronize()

    def _launch(self, runs: Array, direction: Direction, launch: Callable[[RowsOnDevice], None], place: int) -> None:
        weights = 0 if self._types[1] is None else place + self._most * self._types[0].itemsize
        launch(self._placed(runs, direction, place, weights))

    def _side(self, direction: Direction) -> Direction:
        """One name for a direction and its reverse, if both have the same rows."""
        push = self._offsets.get("push")
        return "push" if push is self._offsets[direction] else direction

    def _fill(
        self, piece: PagedSlice, runs: Array, at: int, places: list[int] | None, place: int, turn: int, stream: Any
    ) -> None:
        """Begin to copy runs of arcs to the device: to ``place``, or from the arc ``at`` on to ``places``."""
        import cupy

        from dromos.engines.cpu.copy_kernels import gather_rows

        begins, starts = _stretches(runs, int(piece.offsets[0]))
        arcs, staged, runtime = int(starts[-1]), self._buffers.staged(turn), cupy.cuda.runtime
        threads = num_threads() if arcs >= _WORTH_A_TEAM else 1
        begin = 0
        for number, values in enumerate((piece.targets, piece.weights)):
            dtype = self._types[number]
            if dtype is None or values is None:
                continue
            words = read_only(as_words(values))
            into = staged[begin : begin + arcs * dtype.itemsize].view(words.dtype)
            run_team(gather_rows, begins, starts, words, into, threads=threads)
            target = place + begin if places is None else places[number] + at * dtype.itemsize
            runtime.memcpyAsync(target, into.ctypes.data, into.nbytes, runtime.memcpyHostToDevice, stream.ptr)
            begin += self._most * dtype.itemsize

    def _placed(self, runs: Array, direction: Direction, targets: int, weights: int) -> RowsOnDevice:
        """The rows of the arcs in ``runs``, which lie contiguously at the addresses ``targets`` and ``weights``."""
        import cupy

        offsets, (begin, end) = self._offsets[direction], (int(runs[0, 0]), int(runs[-1, 1]))
        kind = offsets.dtype.type
        start = int(np.searchsorted(offsets, kind(begin), side="right")) - 1
        stop = int(np.searchsorted(offsets, kind(end), side="left"))
        lengths = runs[:, 1] - runs[:, 0]
        table = np.stack([runs[:, 0], runs[:, 1], np.cumsum(lengths) - lengths])
        begins, ends, starts = cupy.asarray(table)
        grid = min(_MOST_BLOCKS, -(-(stop - start + 1) // _THREADS))
        self._module.launch(
            "place_rows", grid, _THREADS, self.offsets_of(direction), np.int64(start), np.int64(stop),
            begins, ends, starts, np.int64(len(runs)), np.int64(begin), self._places,
        )  # fmt: skip
        rows = np.diff(offsets[start : stop + 1]).astype(np.int64) if stop - start <= _MANY_ROWS else None
        width = [0 if dtype is None else dtype.itemsize for dtype in self._types]
        return RowsOnDevice(
            int(self._places.data.ptr),
            (targets - begin * width[0]) % 2**64,
            (weights - begin * width[1]) % 2**64 if weights else 0,
            start,
            stop,
            self._longest_row(direction) if rows is None else int(rows.max(initial=0)),
            classes_of(rows, start, stop),
        )

    def _longest_row(self, direction: Direction) -> int:
        if direction not in self._longest:
            offsets = self.offsets_of(direction)
            self._longest[direction] = int((offsets[1:] - offsets[:-1]).max()) if len(offsets) > 1 else 0
        return self._longest[direction]


def turns_of(runs: Array, most: int, *, alone: bool = False) -> Iterator[Array]:
    """Cut runs of arcs into groups of at most ``most`` arcs; ``alone``: one run in each group.

    >>> [group.tolist() for group in turns_of(np.array([[0, 5], [8, 10], [20, 21]]), 4)]
    [[[0, 4]], [[4, 5], [8, 10], [20, 21]]]
    >>> [group.tolist() for group in turns_of(np.array([[0, 5], [8, 10]]), 4, alone=True)]
    [[[0, 4]], [[4, 5]], [[8, 10]]]
    """
    group: list[tuple[int, int]] = []
    left = most
    for begin, end in runs.tolist():
        while begin < end:
            stop = min(end, begin + left)
            group.append((begin, stop))
            left, begin = left - (stop - begin), stop
            if alone or not left:
                yield np.array(group, np.int64)
                group, left = [], most
    if group:
        yield np.array(group, np.int64)


def _stretches(runs: Array, base: int) -> tuple[Array, Array]:
    """Runs of arcs as short rows, which threads share: where each begins behind ``base``, and where it goes.

    >>> begins, starts = _stretches(np.array([[10, 10 + (1 << 16) + 5], [100_000, 100_003]]), 10)
    >>> begins.tolist(), starts.tolist()
    ([0, 65536, 99990], [0, 65536, 65541, 65544])
    """
    pieces = -(-(runs[:, 1] - runs[:, 0]) // _STRETCH)
    run = np.repeat(np.arange(len(runs)), pieces)
    number = np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begins = runs[run, 0] + _STRETCH * number
    starts = np.zeros(len(run) + 1, np.int64)
    np.cumsum(np.minimum(begins + _STRETCH, runs[run, 1]) - begins, out=starts[1:])
    return begins - base, starts
