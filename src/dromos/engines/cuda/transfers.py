"""Copies between the host and the device.

A device cannot directly read or write the memory that a program gets from the system. The driver copies through its own
small buffer, on one thread, which also waits for every new page. Here several threads do it, each with a buffer that
the device reads and writes directly.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cuda.arrivals import Arrival
from dromos.engines.cuda.idle import IdlePool
from dromos.identity_cache import IdentityCache
from dromos.parallel import num_threads, run_team

__all__ = [
    "fetch_later",
    "forget_shared",
    "pinned_empty",
    "send_later",
    "shared_copy",
    "to_device",
    "to_host",
]

_CHUNK: Final = 4 << 20
_LARGE: Final = 2 * _CHUNK
_WORTH_STAGING: Final = 4 << 20  # bytes that several threads copy to the device faster than the driver does
_WORTH_PINNING: Final = 1 << 18  # bytes of a result
_MOST_THREADS: Final = 8
_MOST_PINNED: Final = 64 << 20  # of one result
_ALL_PINNED: Final = 512 << 20  # of all results that are held


def to_host(values: Any, out: Array | None = None, threads: int | None = None) -> Array:
    """A copy of a device's array; in ``out`` if given, which has to be contiguous.

    ``threads``: the most threads that copy a large one.
    """
    import cupy

    contiguous = values.flags.c_contiguous
    if out is None and contiguous and values.nbytes >= _WORTH_PINNING:
        pinned = _pinned_array(values.shape, values.dtype)
        if pinned is not None:
            values.get(out=pinned)
            return pinned
    if values.nbytes < _LARGE or not contiguous:
        copied: Array = values.get(out=out)
        return copied
    whole = reused_empty(values.shape, values.dtype) if out is None else out  # its pages are allocated already, or huge
    cupy.cuda.get_current_stream().synchronize()  # the data to copy is written
    _in_lanes(int(values.data.ptr), whole.reshape(-1).view(np.uint8), threads or _MOST_THREADS)
    return whole


_held = 0  # bytes of results in pinned memory
_held_lock = threading.RLock()  # an array may be collected while this module runs


def _pinned_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array | None:
    """An array that the device writes directly; None if there are many of them, since they cannot be swapped out.

    The first one of a size takes as long as a copy without it; CuPy keeps the memory for the next ones.
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
    if given.nbytes < _WORTH_STAGING:
        return cupy.asarray(given)
    arrival = Arrival(given)
    arrival.bring()
    return arrival.array(len(given))


_shared = IdentityCache()  # copies by device


def shared_copy(values: Array) -> Any:
    """A copy on the current device of an array that never changes; kept there as long as ``values`` live."""
    import cupy

    return _shared.once(values, f"on device {cupy.cuda.Device().id}", lambda: to_device(values))


def forget_shared() -> None:
    """Release the shared copies."""
    global _shared
    _shared = IdentityCache()


def _in_lanes(address: int, data: Array, most: int) -> None:
    """Fetch ``data`` from an address on the current device, with several threads."""
    import cupy

    device, size, half = cupy.cuda.Device().id, data.nbytes, _CHUNK // 2

    def copy(thread: int, threads: int) -> None:
        with cupy.cuda.Device(device), _lanes.borrowed(device) as lane:
            begins = range(thread * half, size, threads * half)
            lane.fetch([(address + begin, data[begin : min(begin + half, size)]) for begin in begins])

    run_team(copy, threads=min(num_threads(), most, size // half))


def pinned_empty(rows: int, dtype: np.dtype[Any]) -> Array:
    """An array that the device reads and writes directly; ordinary memory if the system has no pinned memory left.

    CuPy keeps its memory for the next one of about the size: allocating the first takes long.
    """
    import cupy

    size = max(rows * dtype.itemsize, 1)
    try:
        memory = cupy.cuda.alloc_pinned_memory(size)
    except cupy.cuda.runtime.CUDARuntimeError:
        return np.empty(rows, dtype)
    return np.frombuffer(memory, dtype, rows)


def fetch_later(values: Any, out: Array, stream: Any) -> None:
    """Begin to copy a device's array to the host; both are contiguous, and ``out`` should be pinned."""
    import cupy

    if values.nbytes:
        kind = cupy.cuda.runtime.memcpyDeviceToHost
        cupy.cuda.runtime.memcpyAsync(out.ctypes.data, int(values.data.ptr), values.nbytes, kind, stream.ptr)


def send_later(values: Array, out: Any, stream: Any) -> None:
    """Begin to copy a host's array to the device; both are contiguous, and ``values`` should be pinned."""
    import cupy

    if values.nbytes:
        kind = cupy.cuda.runtime.memcpyHostToDevice
        cupy.cuda.runtime.memcpyAsync(int(out.data.ptr), values.ctypes.data, values.nbytes, kind, stream.ptr)


class _Lane:
    """A stream of the current device, and memory that the device reads and writes."""

    def __init__(self) -> None:
        import cupy

        self.runtime, self.stream = cupy.cuda.runtime, cupy.cuda.Stream(non_blocking=True)
        self.staged = np.frombuffer(cupy.cuda.alloc_pinned_memory(_CHUNK), np.uint8, _CHUNK)
        self.address = int(self.staged.ctypes.data)
        self.done = [cupy.cuda.Event(disable_timing=True) for _ in range(2)]

    def fetch(self, pieces: list[tuple[int, Array]]) -> None:
        """Copy from addresses on the device: into one half of the memory while the other is read."""
        half = _CHUNK // 2
        for number in range(len(pieces) + 1):
            if number < len(pieces):
                source, out = pieces[number]
                at, kind = number % 2, self.runtime.memcpyDeviceToHost
                self.runtime.memcpyAsync(self.address + at * half, source, out.nbytes, kind, self.stream.ptr)
                self.done[at].record(self.stream)
            if number:
                _, out = pieces[number - 1]
                at = (number - 1) % 2
                self.done[at].synchronize()
                out[:] = self.staged[at * half : at * half + out.nbytes]


_lanes = IdlePool(_Lane)
