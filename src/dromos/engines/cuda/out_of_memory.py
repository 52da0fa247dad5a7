"""The error of a device that has no memory left in the middle of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dromos.errors import DeviceError

__all__ = ["told_when_full"]


@contextmanager
def told_when_full(what: str) -> Iterator[None]:
    """Give an error of this library for CuPy's; what nobody uses any more is given back to the device."""
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
