"""Large arrays of the host on their way to a device.

A device cannot directly read the memory that a program gets from the system. The driver copies it through its own small
buffer, on one thread. Here several threads do it, each with buffers that the device reads directly. They run compiled
code (``staging_kernels.py``) if kernels are loaded already; loading the first one takes longer than a copy.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import numpy as np

from dromos.compiling import kernels_are_loaded
from dromos.dtypes import Array
from dromos.engines.cuda.driver import address_of
from dromos.engines.cuda.idle import IdlePool
from dromos.errors import DeviceError
from dromos.parallel import NO_MORE_WORK, num_threads, run_team

__all__ = ["Arrival"]

_CHUNK: Final = 1 << 20  # bytes of a buffer of compiled threads; copying fewer takes the device nearly as long
_LEAST_CHUNK: Final = 256 << 10
_SLOTS: Final = 4
_STREAMS: Final = 8
_LARGE_CHUNK: Final = 4 << 20  # bytes for Python's threads, which wait for each other at every call
_MOST_THREADS: Final = 8  # they saturate the link; more would delay the thread that starts kernels
_WORTH_STOPPING: Final = 1 << 30  # bytes
_LOOK_AGAIN: Final = 2e-5  # seconds


class Arrival:
    """A large array of the host on its way to the current device, chunk by chunk from its beginning."""

    def __init__(self, values: Array, beside: int = 0) -> None:
        import cupy

        self._given, self._most_threads = np.ascontiguousarray(values), _MOST_THREADS // (1 + beside)
        self._copied = cupy.empty(self._given.shape, self._given.dtype)
        cupy.cuda.get_current_stream().synchronize()  # no earlier write to it is pending
        self._device, self._context = int(cupy.cuda.Device().id), int(cupy.cuda.driver.ctxGetCurrent())
        self._compiled = _is_compiler_loaded()
        most, least, parts = (_CHUNK, _LEAST_CHUNK, self._most_threads) if self._compiled else (_LARGE_CHUNK, _CHUNK, 4)
        self._chunk = min(most, max(least, self._given.nbytes // parts // least * least))
        self._arrived, self._in_a_row = np.zeros(-(-self._given.nbytes // self._chunk), np.int64), 0
        self._error: BaseException | None = None
        self._is_over = threading.Event()
        self.nbytes, self.dtype = self._given.nbytes, self._given.dtype

    def __len__(self) -> int:
        return len(self._given)

    @classmethod
    def begun(cls, values: Array, after: Arrival | None = None, *, beside: int = 0) -> Arrival:
        """Start an arrival on other threads; after ``after`` has arrived, if that is given.

        ``beside``: how many others are sent at the same time, with which it shares the threads.
        """
        arrival = cls(values, beside)
        threading.Thread(target=arrival._bring_or_tell, args=(after,), daemon=True).start()
        return arrival

    def bring(self) -> None:
        """Copy all of it, with several threads."""
        threads = max(1, min(num_threads(), self._most_threads, len(self._arrived)))
        if self._compiled:
            self._bring_compiled(threads)
        else:
            numbers = count()
            run_team(lambda thread, threads: self._carry(numbers), threads=threads)

    def array(self, end: int) -> Any:
        """The array on the device, once its first ``end`` entries have arrived."""
        needed = -(-end * (self.nbytes // max(len(self), 1)) // self._chunk)
        while self._in_a_row < needed:
            if self._error is not None:
                raise self._error
            is_missing = self._arrived[self._in_a_row : needed] == 0  # as of now: other threads write there
            if is_missing.any():
                self._in_a_row += int(is_missing.argmax())
                time.sleep(_LOOK_AGAIN)
            else:
                self._in_a_row = needed
        return self._copied

    def _bring_or_tell(self, after: Arrival | None) -> None:
        try:
            if after is not None:
                after._is_over.wait()
            self.bring()
        except BaseException as error:
            self._error = error
        finally:
            self._is_over.set()

    def _bring_compiled(self, threads: int) -> None:
        import cupy

        from dromos.engines.cuda import staging_kernels as kernels

        progress = np.zeros(2, np.int64)
        with cupy.cuda.Device(self._device), _stage(self._device, threads) as stage:
            plan = np.zeros(kernels.PLAN_WORDS, np.int64)
            plan[kernels.CONTEXT], plan[kernels.SET_CONTEXT] = self._context, address_of("cuCtxSetCurrent")
            plan[kernels.COPY], plan[kernels.RECORD] = address_of("cuMemcpyHtoDAsync_v2"), address_of("cuEventRecord")
            plan[kernels.WAIT] = address_of("cuEventSynchronize")
            plan[kernels.SOURCE], plan[kernels.TARGET] = self._given.ctypes.data, int(self._copied.data.ptr)
            plan[kernels.STAGED], plan[kernels.SIZE] = stage.address, self.nbytes
            plan[kernels.CHUNK], plan[kernels.SLOTS] = self._chunk, _SLOTS
            arguments = (plan, stage.lanes, progress, self._arrived)
            stop = progress if self.nbytes >= _WORTH_STOPPING else None  # without one, this thread is part of the team
            run_team(kernels.send_chunks, *arguments, threads=threads, stop=stop, stop_value=NO_MORE_WORK)
            if progress[1]:  # the device may still read the buffers: they must not be reused
                _failed.append((stage, self))
                raise DeviceError(
                    f"a copy to the GPU failed with the driver's error {progress[1]}; free memory there, or use "
                    "device='cpu'"
                )

    def _carry(self, numbers: count[int]) -> None:
        """Copy chunks on one Python thread."""
        import cupy

        address, data = int(self._copied.data.ptr), self._given.reshape(-1).view(np.uint8)
        with cupy.cuda.Device(self._device), _lanes.borrowed(self._device) as lane:
            while (number := next(numbers)) < len(self._arrived):
                begin = number * self._chunk
                lane.send(address + begin, data[begin : begin + self._chunk])
                self._arrived[number] = 1


def _is_compiler_loaded() -> bool:
    return sys.platform == "linux" and kernels_are_loaded()  # elsewhere the driver has another name


class _Stage:
    """The resources of compiled threads: pinned buffers, streams, an event for each buffer."""

    def __init__(self, threads: int) -> None:
        import cupy

        from dromos.engines.cuda.staging_kernels import lane_words

        self.threads = threads
        self.memory = cupy.cuda.alloc_pinned_memory(threads * _SLOTS * _CHUNK)
        self.address = int(self.memory.ptr)
        self._streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(min(threads, _STREAMS))]
        self._events = [[cupy.cuda.Event(disable_timing=True) for _ in range(_SLOTS)] for _ in range(threads)]
        self.lanes = np.zeros(threads * lane_words(_SLOTS), np.int64)
        rows = self.lanes.reshape(threads, -1)
        rows[:, 0] = [self._streams[thread % len(self._streams)].ptr for thread in range(threads)]
        rows[:, 1 : 1 + _SLOTS] = [[event.ptr for event in events] for events in self._events]


class _Lane:
    """A stream of the current device, and memory that the device reads, for one Python thread."""

    def __init__(self) -> None:
        import cupy

        self.runtime, self.stream = cupy.cuda.runtime, cupy.cuda.Stream(non_blocking=True)
        self.staged = np.frombuffer(cupy.cuda.alloc_pinned_memory(_LARGE_CHUNK), np.uint8, _LARGE_CHUNK)
        self.address = int(self.staged.ctypes.data)

    def send(self, target: int, values: Array) -> None:
        """Copy one chunk to an address on the device; other lanes use the link while this one fills its memory."""
        self.staged[: values.nbytes] = values
        self.runtime.memcpyAsync(target, self.address, values.nbytes, self.runtime.memcpyHostToDevice, self.stream.ptr)
        self.stream.synchronize()


_stages: dict[int, list[_Stage]] = {}  # by device; kept, since making them takes longer than using them
_lanes = IdlePool(_Lane)
_failed: list[tuple[_Stage, Arrival]] = []  # kept from being freed


@contextmanager
def _stage(device: int, threads: int) -> Iterator[_Stage]:
    idle = _stages.setdefault(device, [])
    try:
        stage = idle.pop()
    except IndexError:
        stage = _Stage(threads)
    if stage.threads < threads:
        stage = _Stage(threads)
    yield stage
    idle.append(stage)
