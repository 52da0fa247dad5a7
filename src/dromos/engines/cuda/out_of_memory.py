"""The error for a device that runs out of memory during a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dromos.errors import DeviceError

__all__ = ["told_when_full"]


@contextmanager
def told_when_full(what: str) -> Iterator[None]:
    """Replace CuPy's out-of-memory error by one of this library; releases unused memory to the device."""
    import cupy

    try:
        yield
    except cupy.cuda.memory.OutOfMemoryError as error:
        cupy.get_default_memory_pool().free_all_blocks()
        free, total = cupy.cuda.runtime.memGetInfo()
        raise DeviceError(
            f"the GPU's memory is full: {what} found no room ({error}); {free / 2**30:.2f} GiB are free of "
            f"{total / 2**30:.2f} GiB; give memory= for what the graph and the run may take, or use device='cpu'"
        ) from error
