"""Rows in the host's memory, copied to the device piece by piece while kernels process earlier pieces.

Buffers alternate: a piece is copied into one on a separate stream as soon as the kernel that last read it has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.engines.cuda.rows import Rows
from dromos.engines.cuda.spanning import host_view
from dromos.engines.cuda.transfers import pinned_empty, to_host
from dromos.errors import DeviceError
from dromos.parallel import num_threads, run_team
from dromos.plan.ways import Way

__all__ = ["Piece", "RowBuffers", "RowPieces", "pieces_of"]

_BUFFERS: Final = 3
_ALIGNED: Final = 256  # arcs, and bytes
_WORTH_A_TEAM: Final = 1 << 17  # arcs


class Piece(NamedTuple):
    """The rows ``first..last`` with the arcs ``begin..end``."""

    first: int
    last: int
    begin: int
    end: int
    fits: bool = True
    """Whether a buffer holds it; otherwise it is read in place."""


Launch: TypeAlias = Callable[[Piece, dict[str, int]], None]


def pieces_of(offsets: Array, first: int, most: int) -> Iterator[Piece]:
    """All rows from ``first`` on, in pieces of at most ``most`` arcs; longer rows are pieces that do not fit.

    >>> offsets = np.array([0, 2, 5, 25, 45, 46])
    >>> [tuple(piece) for piece in pieces_of(offsets, 1, 6)]
    [(1, 2, 2, 5, True), (2, 4, 5, 45, False), (4, 5, 45, 46, True)]
    """
    rows, arcs = len(offsets) - 1, int(offsets[-1])
    while first < rows:
        begin = int(offsets[first])
        limit = offsets.dtype.type(min(begin + most, arcs))  # of their type; otherwise NumPy would convert all of them
        last = int(np.searchsorted(offsets, limit, side="right")) - 1
        fits = last > first
        if not fits:
            last = first + 1
            while last < rows and int(offsets[last + 1]) - int(offsets[last]) > most:
                last += 1
        if (end := int(offsets[last])) > begin:
            yield Piece(first, last, begin, end, fits)
        first = last


class RowBuffers:
    """Device memory that is reused for one piece of rows after another, and the stream that copies them."""

    def __init__(self, room: int) -> None:
        """``room``: bytes of all buffers together."""
        self.size = room // _BUFFERS // _ALIGNED * _ALIGNED
        """Bytes of one buffer."""
        self.lock = threading.Lock()
        """Held while the pieces of a superstep are sent."""
        self._turn = 0

    @cached_property
    def _device(self) -> list[Any]:
        import cupy

        made = [cupy.empty(self.size, cupy.uint8) for _ in range(_BUFFERS)]
        cupy.cuda.get_current_stream().synchronize()  # their memory is no longer in use
        return made

    @cached_property
    def _staged(self) -> list[Array]:
        return [pinned_empty(self.size, np.dtype(np.uint8)) for _ in range(_BUFFERS)]

    @cached_property
    def _stream(self) -> Any:
        import cupy

        return cupy.cuda.Stream(non_blocking=True)

    @cached_property
    def _events(self) -> list[tuple[Any, Any]]:
        """For each buffer: it is filled, and it is free."""
        import cupy

        return [tuple(cupy.cuda.Event(disable_timing=True) for _ in range(2)) for _ in range(_BUFFERS)]

    @property
    def nbytes(self) -> int:
        """Their current size in device memory: nothing before they are needed."""
        return _BUFFERS * self.size if "_device" in self.__dict__ else 0

    def prepare(self, staged: bool) -> None:
        """Allocate the memory, so that no superstep has to."""
        _ = self._device, self._events, self._stream
        if staged:
            _ = self._staged

    def wait(self) -> None:
        """Wait until no copy is in flight."""
        self._stream.synchronize()

    def send(self, fill: Callable[[int, int, Any], None], launch: Callable[[int], None]) -> None:
        """Have ``fill(address, turn, stream)`` copy a piece and ``launch(address)`` start the kernel that reads it."""
        import cupy

        turn, kernels = self._turn, cupy.cuda.get_current_stream()
        self._turn = (turn + 1) % _BUFFERS
        filled, free = self._events[turn]
        place = int(self._device[turn].data.ptr)
        self._stream.wait_event(free)
        fill(place, turn, self._stream)
        filled.record(self._stream)
        kernels.wait_event(filled)
        launch(place)
        free.record(kernels)

    def staged(self, turn: int) -> Array:
        """Pinned host memory, as large as a buffer, once its previous contents have been copied."""
        self._events[turn][0].synchronize()
        return self._staged[turn]


class RowPieces:
    """The rows of one direction, some of which are on the host, in pieces that fit a buffer."""

    def __init__(self, rows: Rows, weights: bool, buffers: RowBuffers) -> None:
        """``weights``: whether they are read."""
        given = {"targets": (rows.targets, rows.targets_on_host)}
        if weights and rows.weights is not None:
            given["weights"] = (rows.weights, rows.on_host - rows.targets_on_host)
        self.rows, self.buffers = rows, buffers
        self.arrays = {name: array for name, (array, on_host) in given.items() if on_host}
        """The arrays that are partly on the host, by name."""
        self.on_host = sum(on_host for _, on_host in given.values())
        """Bytes on the host."""
        resident = [(array.nbytes - on_host) // array.itemsize for array, on_host in given.values() if on_host]
        self._resident = max(resident, default=0)
        width = sum(array.itemsize for array in self.arrays.values())
        self._capacity = buffers.size // max(width, 1) // _ALIGNED * _ALIGNED
        self.most = max(self._capacity - _ALIGNED, 0)
        """Arcs of a piece: copies begin at a multiple of :data:`_ALIGNED`, so some earlier arcs are included."""

    @cached_property
    def offsets(self) -> Array:
        """Where rows begin, on the host."""
        return to_host(self.rows.offsets)

    @cached_property
    def first(self) -> int:
        """The first row that is completely on the host: one that begins on the device is read in place."""
        begin = self.offsets.dtype.type(self._resident)
        return min(int(np.searchsorted(self.offsets, begin)), len(self.offsets) - 1)

    @cached_property
    def whole(self) -> list[Piece]:
        """The pieces of all rows on the host."""
        return list(pieces_of(self.offsets, self.first, self.most))

    @cached_property
    def _on_host(self) -> dict[str, Array] | None:
        """The arrays that the host's threads gather from; None if they cannot read them."""
        views = {name: host_view(array) for name, array in self.arrays.items()}
        found = {name: view for name, view in views.items() if view is not None}
        return found if len(found) == len(views) else None

    @property
    def can_gather(self) -> bool:
        """Whether the host can read the rows in its memory."""
        return self._on_host is not None

    def prepare(self, way: Way) -> None:
        """Allocate what a way needs, so that no superstep has to."""
        if way != "in place":
            _ = self.whole
            self.buffers.prepare(staged=way == "gathered")

    def send_pages(self, pieces: list[Piece], launch: Launch) -> None:
        """Copy each piece and call ``launch`` with it and its arrays, given by the virtual address of arc 0."""
        for piece in pieces:
            if piece.fits:
                begin = piece.begin // _ALIGNED * _ALIGNED
                self.buffers.send(partial(self._copy, begin, piece.end), partial(self._launch, launch, piece, begin))
            else:
                launch(piece, {})

    def send_gathered(self, ids: Array, launch: Launch) -> None:
        """Gather the rows ``ids`` (ascending), and call ``launch`` as above; arcs are numbered as they are gathered.

        Rows that are too long are passed in place.
        """
        if self._on_host is None:
            raise DeviceError("the host cannot read the rows that it holds for the GPU, so it cannot gather them; "
                              'use way="in place" or way="pages"')  # fmt: skip
        begins = self.offsets[ids].astype(np.int64)
        starts = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(self.offsets[ids + 1] - begins, out=starts[1:])
        for found in pieces_of(starts, 0, self.most):
            piece = found._replace(first=int(ids[found.first]), last=int(ids[found.last - 1]) + 1)
            if found.fits:
                local = starts[found.first : found.last + 1] - found.begin
                gather = partial(self._gather, begins[found.first : found.last], local)
                self.buffers.send(gather, partial(self._launch, launch, piece, found.begin))
            else:
                launch(piece, {})

    def _places(self, start: int) -> Iterator[tuple[str, int, int]]:
        """The arrays in a buffer at ``start``: name, address, bytes per arc."""
        for name, array in self.arrays.items():
            yield name, start, array.itemsize
            start += self._capacity * array.itemsize

    def _launch(self, launch: Launch, piece: Piece, begin: int, start: int) -> None:
        launch(piece, {name: (at - begin * width) % 2**64 for name, at, width in self._places(start)})

    def _copy(self, begin: int, end: int, start: int, turn: int, stream: Any) -> None:
        import cupy

        runtime = cupy.cuda.runtime
        for name, at, width in self._places(start):
            source = int(self.arrays[name].data.ptr) + begin * width
            runtime.memcpyAsync(at, source, (end - begin) * width, runtime.memcpyDefault, stream.ptr)

    def _gather(self, begins: Array, starts: Array, start: int, turn: int, stream: Any) -> None:
        import cupy

        from dromos.engines.cpu.copy_kernels import gather_rows

        assert self._on_host is not None
        arcs, staged, runtime = int(starts[-1]), self.buffers.staged(turn), cupy.cuda.runtime
        threads = num_threads() if arcs >= _WORTH_A_TEAM else 1
        for name, at, width in self._places(start):
            values = read_only(as_words(self._on_host[name]))
            into = staged[at - start : at - start + arcs * width].view(values.dtype)
            run_team(gather_rows, begins, starts, values, into, threads=threads)
            runtime.memcpyAsync(at, into.ctypes.data, into.nbytes, runtime.memcpyHostToDevice, stream.ptr)
