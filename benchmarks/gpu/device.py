"""The measured device: the benchmark's own kernels, its clock, and its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["compile_less", "describe", "launch", "launch_loop", "milliseconds", "module"]

_KERNELS = Path(__file__).parent / "kernels"
_BLOCK = 256
_MOST_THREADS = 132 * 2048 * 8
"""A few times what an H200 holds at once."""


def compile_less() -> None:
    """Make CuPy use its plain sums: CUB takes it five seconds to compile for each new kind of sum."""
    from cupy._core import set_reduction_accelerators

    set_reduction_accelerators([])


@cache
def module(name: str) -> Any:
    """The kernels of ``kernels/NAME.cuh``, compiled."""
    import cupy as cp

    return cp.RawModule(code=(_KERNELS / f"{name}.cuh").read_text(), options=("-std=c++17",))


def launch(name: str, kernel: str, threads: int, *arguments: Any) -> None:
    """Run ``kernel`` of ``kernels/NAME.cuh`` with ``threads`` threads."""
    module(name).get_function(kernel)((max(1, -(-threads // _BLOCK)),), (_BLOCK,), arguments)


def launch_loop(name: str, kernel: str, threads: int, *arguments: Any) -> None:
    """Like :func:`launch`, for a kernel whose threads take several shares if there are fewer than ``threads``."""
    launch(name, kernel, min(threads, _MOST_THREADS), *arguments)


def milliseconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """The time of ``work`` on the device, by CUDA events around it, and its result.

    The clock starts when the device has finished all earlier work, so it also counts the gaps in which the device waits
    for the host.
    """
    import cupy as cp

    begin, end = cp.cuda.Event(), cp.cuda.Event()
    cp.cuda.Device().synchronize()
    begin.record()
    given = work()
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end)), given


def describe() -> dict[str, Any]:
    """The device and the software that drives it."""
    import cupy as cp

    about = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    return {
        "device": about["name"].decode(),
        "multiprocessors": about["multiProcessorCount"],
        "device_memory_gib": round(about["totalGlobalMem"] / 2**30, 1),
        "driver": cp.cuda.runtime.driverGetVersion(),
        "cuda": cp.cuda.runtime.runtimeGetVersion(),
        "cupy": cp.__version__,
    }
