"""From the device to the host.

Memory that a program gets from the system is not fit for the device to write to: a driver copies through a small
buffer of its own, on one thread, which also waits for every new page. Here several threads do it, each with a buffer
that the device writes to directly.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import num_threads, run_team

__all__ = ["to_host"]

_CHUNK: Final = 2 << 20
_LARGE: Final = 4 * _CHUNK
_MOST_THREADS: Final = 8


def to_host(values: Any, out: Array | None = None) -> Array:
    """A copy of a device's array; in ``out`` if that is given, which has to be contiguous."""
    import cupy

    if values.nbytes < _LARGE or not values.flags.c_contiguous:
        copied: Array = values.get(out=out)
        return copied
    whole = np.empty(values.shape, values.dtype) if out is None else out
    data, size, device = whole.reshape(-1).view(np.uint8), int(values.nbytes), cupy.cuda.Device().id
    cupy.cuda.get_current_stream().synchronize()  # what is to be copied is written

    def copy(thread: int, threads: int) -> None:
        with cupy.cuda.Device(device), _lane(device) as lane:
            for begin in range(thread * _CHUNK, size, threads * _CHUNK):
                length = min(_CHUNK, size - begin)
                lane.fetch(int(values.data.ptr) + begin, data[begin : begin + length])

    run_team(copy, threads=min(num_threads(), _MOST_THREADS, size // _CHUNK))
    return whole


class _Lane:
    """A stream of the current device, and memory that the device writes to."""

    def __init__(self) -> None:
        import cupy

        self.runtime, self.stream = cupy.cuda.runtime, cupy.cuda.Stream(non_blocking=True)
        self.staged = np.frombuffer(cupy.cuda.alloc_pinned_memory(_CHUNK), np.uint8, _CHUNK)

    def fetch(self, source: int, out: Array) -> None:
        """Copy from an address on the device."""
        kind = self.runtime.memcpyDeviceToHost
        self.runtime.memcpyAsync(self.staged.ctypes.data, source, out.nbytes, kind, self.stream.ptr)
        self.stream.synchronize()
        out[:] = self.staged[: out.nbytes]


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
