"""From the device to the host.

Memory that a program gets from the system is not fit for the device to write to: a driver copies through a small
buffer of its own, on one thread, which also waits for every new page. Here several threads do it, each with a buffer
that the device writes to directly.
"""

from __future__ import annotations

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
        runtime = cupy.cuda.runtime
        with cupy.cuda.Device(device):
            stream, buffer = cupy.cuda.Stream(non_blocking=True), cupy.cuda.alloc_pinned_memory(_CHUNK)
            staged = np.frombuffer(buffer, np.uint8, _CHUNK)
            for begin in range(thread * _CHUNK, size, threads * _CHUNK):
                length = min(_CHUNK, size - begin)
                source = int(values.data.ptr) + begin
                runtime.memcpyAsync(staged.ctypes.data, source, length, runtime.memcpyDeviceToHost, stream.ptr)
                stream.synchronize()
                data[begin : begin + length] = staged[:length]

    run_team(copy, threads=min(num_threads(), _MOST_THREADS))
    return whole
