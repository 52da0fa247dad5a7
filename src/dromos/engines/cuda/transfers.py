"""Between the host and the device.

Memory that a program gets from the system is not fit for the device to read or write: a driver copies through a small
buffer of its own, on one thread, which also waits for every new page. Here several threads do it, each with a buffer
that the device reads and writes directly.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.parallel import num_threads, run_team

__all__ = ["arriving", "fetch_later", "pinned_empty", "send_later", "to_device", "to_host"]

_CHUNK: Final = 2 << 20
_LARGE: Final = 4 * _CHUNK
_MOST_THREADS: Final = 8
_SLOTS: Final = 3  # of an array that arrives in pieces: one is used while two are under way
_MOST_PINNED: Final = 64 << 20  # of one result
_ALL_PINNED: Final = 512 << 20  # of all results that are held


def to_host(values: Any, out: Array | None = None) -> Array:
    """A copy of a device's array; in ``out`` if that is given, which has to be contiguous."""
    import cupy

    if values.nbytes < _LARGE or not values.flags.c_contiguous:
        copied: Array = values.get(out=out)
        return copied
    if out is None:
        pinned = _pinned_array(values.shape, values.dtype)
        if pinned is not None:
            values.get(out=pinned)
            return pinned
    whole = reused_empty(values.shape, values.dtype) if out is None else out  # whose pages are there, or huge
    cupy.cuda.get_current_stream().synchronize()  # what is to be copied is written
    _in_lanes(_Lane.fetch, int(values.data.ptr), whole.reshape(-1).view(np.uint8))
    return whole


_held = 0  # bytes of results in pinned memory
_held_lock = threading.RLock()  # an array may be collected in the middle of what is done here


def _pinned_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """An array that the device writes to directly; None where there are many of them, since they cannot be swapped out.

    The first of a size takes as long as a copy without it; CuPy keeps the memory for the next ones.
    """
    global _held
    import cupy

    size = int(np.prod(shape)) * dtype.itemsize
    with _held_lock:
        if size > _MOST_PINNED or _held + size > _ALL_PINNED:
            return None
        _held += size
    try:
        memory = cupy.cuda.alloc_pinned_memory(size)
    except cupy.cuda.runtime.CUDARuntimeError:  # the system has none left
        _give_back(size)
        return None
    array: Array = np.frombuffer(memory, dtype, size // dtype.itemsize).reshape(shape)
    weakref.finalize(array.base if isinstance(array.base, np.ndarray) else array, _give_back, size)
    return array


def _give_back(size: int) -> None:
    global _held
    with _held_lock:
        _held -= size


def to_device(values: Array) -> Any:
    """A copy of a host's array on the current device."""
    import cupy

    given = np.ascontiguousarray(values)
    if given.nbytes < _LARGE:
        return cupy.asarray(given)
    copied = cupy.empty(given.shape, given.dtype)
    cupy.cuda.get_current_stream().synchronize()  # nobody writes there any more
    _in_lanes(_Lane.send, int(copied.data.ptr), given.reshape(-1).view(np.uint8))
    return copied


def arriving(values: Array, bounds: Sequence[tuple[int, int]]) -> Iterator[Any]:
    """The ranges ``bounds`` of a host's array on the current device, one at a time.

    The next ones are under way while one is used. What reads a range has to be on the current stream before the next
    one is asked for; its memory is then written to again.
    """
    import cupy

    given = np.ascontiguousarray(values)
    stream, device = cupy.cuda.get_current_stream(), cupy.cuda.Device().id
    longest = max((end - begin for begin, end in bounds), default=0)
    slots = [cupy.empty(longest, given.dtype) for _ in range(min(_SLOTS, len(bounds)))]
    read = [cupy.cuda.Event(disable_timing=True) for _ in slots]
    stream.synchronize()  # nobody writes there any more

    def bring(number: int) -> Any:
        begin, end = bounds[number]
        slot = number % _SLOTS
        with cupy.cuda.Device(device):
            read[slot].synchronize()
            piece = slots[slot][: end - begin]
            _in_lanes(_Lane.send, int(piece.data.ptr), given[begin:end].reshape(-1).view(np.uint8))
        return piece

    with ThreadPoolExecutor(1) as pool:
        coming = deque(pool.submit(bring, number) for number in range(min(_SLOTS - 1, len(bounds))))
        for number in range(len(bounds)):
            piece = coming.popleft().result()
            if number + _SLOTS - 1 < len(bounds):
                coming.append(pool.submit(bring, number + _SLOTS - 1))
            yield piece
            read[number % _SLOTS].record(stream)


def _in_lanes(move: Callable[[_Lane, list[tuple[int, Array]]], None], address: int, data: Array) -> None:
    """Move ``data`` from or to an address on the current device, several threads at a time."""
    import cupy

    device, size = cupy.cuda.Device().id, data.nbytes

    def copy(thread: int, threads: int) -> None:
        with cupy.cuda.Device(device), _lane(device) as lane:
            begins = range(thread * _CHUNK, size, threads * _CHUNK)
            move(lane, [(address + begin, data[begin : min(begin + _CHUNK, size)]) for begin in begins])

    run_team(copy, threads=max(1, min(num_threads(), _MOST_THREADS, size // _CHUNK)))


def pinned_empty(rows: int, dtype: np.dtype[Any]) -> Array:
    """An array that the device reads and writes directly; ordinary memory where the system has no such left.

    CuPy keeps its memory for the next one of about the size: the first takes long.
    """
    import cupy

    size = max(rows * dtype.itemsize, 1)
    try:
        memory = cupy.cuda.alloc_pinned_memory(size)
    except cupy.cuda.runtime.CUDARuntimeError:
        return np.empty(rows, dtype)
    return np.frombuffer(memory, dtype, rows)


def fetch_later(values: Any, out: Array, stream: Any) -> None:
    """Begin to copy a device's array to the host; both are contiguous, and ``out`` is best pinned."""
    import cupy

    if values.nbytes:
        kind = cupy.cuda.runtime.memcpyDeviceToHost
        cupy.cuda.runtime.memcpyAsync(out.ctypes.data, int(values.data.ptr), values.nbytes, kind, stream.ptr)


def send_later(values: Array, out: Any, stream: Any) -> None:
    """Begin to copy a host's array to the device; both are contiguous, and ``values`` are best pinned."""
    import cupy

    if values.nbytes:
        kind = cupy.cuda.runtime.memcpyHostToDevice
        cupy.cuda.runtime.memcpyAsync(int(out.data.ptr), values.ctypes.data, values.nbytes, kind, stream.ptr)


class _Lane:
    """A stream of the current device, and two buffers that the device reads and writes: one while the other is used."""

    def __init__(self) -> None:
        import cupy

        self.runtime, self.stream = cupy.cuda.runtime, cupy.cuda.Stream(non_blocking=True)
        self.staged = [np.frombuffer(cupy.cuda.alloc_pinned_memory(_CHUNK), np.uint8, _CHUNK) for _ in range(2)]
        self.done = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]

    def fetch(self, pieces: list[tuple[int, Array]]) -> None:
        """Copy from addresses on the device."""
        for number in range(len(pieces) + 1):
            if number < len(pieces):
                source, out = pieces[number]
                self._copy(number % 2, self.staged[number % 2].ctypes.data, source, out.nbytes, to_host=True)
            if number:
                _, out = pieces[number - 1]
                self.done[(number - 1) % 2].synchronize()
                out[:] = self.staged[(number - 1) % 2][: out.nbytes]

    def send(self, pieces: list[tuple[int, Array]]) -> None:
        """Copy to addresses on the device."""
        for number, (target, values) in enumerate(pieces):
            if number > 1:
                self.done[number % 2].synchronize()
            staged = self.staged[number % 2]
            staged[: values.nbytes] = values
            self._copy(number % 2, target, staged.ctypes.data, values.nbytes, to_host=False)
        self.stream.synchronize()

    def _copy(self, buffer: int, target: int, source: int, size: int, *, to_host: bool) -> None:
        kind = self.runtime.memcpyDeviceToHost if to_host else self.runtime.memcpyHostToDevice
        self.runtime.memcpyAsync(target, source, size, kind, self.stream.ptr)
        self.done[buffer].record(self.stream)


_idle: dict[int, list[_Lane]] = {}  # by device; kept, since a lane takes longer to make than to use


@contextmanager
def _lane(device: int) -> Iterator[_Lane]:
    idle = _idle.setdefault(device, [])
    try:
        lane = idle.pop()
    except IndexError:
        lane = _Lane()
    yield lane
    idle.append(lane)
