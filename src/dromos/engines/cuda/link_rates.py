"""The rates of the link between the host's memory and a GPU: measured once per machine, and cached."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from typing import Final

import numpy as np

from dromos import disk_cache
from dromos.engines.cuda.spanning import spanning_array
from dromos.parallel import num_threads
from dromos.plan.ways import LinkRates

__all__ = ["link_rates"]

_BYTES: Final = 64 << 20
_REPEATS: Final = 4
_ROW: Final = 32  # arcs of a row that the host gathers


def link_rates() -> LinkRates:
    """The rates of the current device: from this process, from the disk, or measured in a tenth of a second."""
    import cupy

    return _rates_of(int(cupy.cuda.Device().id))


@cache
def _rates_of(device: int) -> LinkRates:
    import cupy

    model = cupy.cuda.runtime.getDeviceProperties(device)["name"].decode().replace(" ", "-").replace("/", "-")
    name = f"rates/link-{model}-{device}-{platform.node()}-{os.cpu_count()}.json"
    kept = disk_cache.read(name)
    if kept is not None:
        return LinkRates(**json.loads(kept))
    found = _measure()
    disk_cache.save(name, json.dumps(asdict(found)).encode())
    return found


def _measure() -> LinkRates:
    import cupy

    on_host, on_device = spanning_array(_BYTES // 4, np.int32, 0), cupy.zeros(_BYTES // 4, np.int32)
    cupy.add(on_device, 1, out=on_host)
    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()

    def copy() -> None:
        runtime.memcpyAsync(on_device.data.ptr, on_host.data.ptr, _BYTES, runtime.memcpyDefault, stream.ptr)
        stream.synchronize()

    def read() -> None:
        cupy.add(on_host, 1, out=on_device)
        stream.synchronize()

    copied = _rate(copy)
    return LinkRates(_rate(read), copied, min(copied, _gather_rate()))


def _gather_rate() -> float:
    """What all threads could gather at the rate of a single one: a bound, which the first superstep corrects."""
    rows = np.ones((_BYTES // 4 // _ROW, _ROW), np.int32)
    chosen = np.random.default_rng(1).permutation(len(rows))[: len(rows) // 4]
    out = np.empty((len(chosen), _ROW), np.int32)
    return num_threads() * _rate(lambda: np.take(rows, chosen, axis=0, out=out, mode="clip")) / 4


def _rate(call: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return _BYTES / min(times)
