"""Whether there is a GPU to run on, and if not, why."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib.util import find_spec
from typing import Final

from dromos.engines import GraphLike
from dromos.errors import DeviceError, MissingDependencyError, ResourceError
from dromos.graph.summary import human_bytes
from dromos.sizes import available_memory

__all__ = [
    "arcs_beside",
    "fits",
    "fits_part",
    "is_available",
    "num_devices",
    "require_device",
    "room_for_arcs",
    "why_unavailable",
]

_BYTES_A_VERTEX: Final = 100  # offsets both ways, queues, and the fields of a common program with copies
_LEAST: Final = (7, 0)  # independent threads of a warp: without them a lock held by a lane can block its neighbors


@cache
def why_unavailable() -> str:
    """The reason why CUDA cannot be used here; empty if it can."""
    if find_spec("cupy") is None:
        return "CuPy is not installed: pip install 'dromos[cuda13]' (or 'dromos[cuda12]' for an older driver)"
    if sys.platform == "linux" and not _has_driver():
        return "there is no NVIDIA driver on this machine"
    try:
        import cupy

        count = cupy.cuda.runtime.getDeviceCount()
        if count == 0:
            return "there is no CUDA device on this machine"
        capability = cupy.cuda.Device().compute_capability
        if (int(capability[:-1]), int(capability[-1])) < _LEAST:
            return f"the GPU has compute capability {capability[:-1]}.{capability[-1]}; 7.0 is the least"
        from cupy_backends.cuda.libs import nvrtc

        nvrtc.getVersion()
    except ImportError as error:
        return f"CuPy cannot be loaded ({error}); install the CuPy and the CUDA wheels that fit the driver"
    except Exception as error:
        return f"CUDA does not answer ({error}); is a driver installed, and new enough?"
    return ""


def _has_driver() -> bool:
    """Whether there is a driver; checked before CuPy is imported, which takes half a second."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def is_available() -> bool:
    """Whether programs can run on a GPU here."""
    return not why_unavailable()


def num_devices() -> int:
    """How many GPUs this process sees, at least 1: a request for a missing one then raises an error."""
    if why_unavailable():
        return 1
    import cupy

    return int(cupy.cuda.runtime.getDeviceCount())


def fits(graph: GraphLike) -> bool:
    """Whether the memory of a common run fits on the device, and the arcs there or in the free memory of the host.

    Requires a device. Arcs on the host are read over the link, which is slower than the device's memory but still
    faster than a CPU processes them.
    """
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    left = free - _BYTES_A_VERTEX * graph.num_vertices
    arc = graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    arcs = 2 * arc * graph.num_arcs
    return bool(left > 0 and (arcs < left or arcs - left < available_memory() // 2))


def fits_part(arc_bytes: int, num_vertices: int) -> bool:
    """Whether rows of so many bytes and the fields of so many vertices fit on the device; requires one."""
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    return bool(arc_bytes + _BYTES_A_VERTEX * num_vertices < free)


def arcs_beside(graph: GraphLike, memory: int | None) -> int:
    """The bytes of a graph's arcs that have no room in ``memory`` bytes of the device (None: what is free there)."""
    import cupy

    if memory is None:
        memory = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    sides = 1 if getattr(graph, "symmetric", False) else 2
    arc = graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    return int(max(0, sides * arc * graph.num_arcs - max(0, memory - _BYTES_A_VERTEX * graph.num_vertices)))


def room_for_arcs(memory: int | None, num_vertices: int) -> int | None:
    """What a part with fields of so many vertices leaves of ``memory`` bytes of a device; None: not limited."""
    if memory is None:
        return None
    fixed = _BYTES_A_VERTEX * num_vertices
    if fixed > memory:
        raise ResourceError(
            f"{human_bytes(memory)} of the GPU's memory is too little: the fields of {num_vertices:,} vertices take "
            f"about {human_bytes(fixed)} there; give it more, or use device='cpu'",
            needed=fixed,
        )
    return memory - fixed


def require_device(number: int = 0) -> None:
    """Raise an error that says why there is no GPU to run on, or none of this number."""
    if reason := why_unavailable():
        error = MissingDependencyError if "not installed" in reason else DeviceError
        raise error(f"device='cuda': {reason}. Fix that, or use device='cpu'")
    if number:
        import cupy

        count = int(cupy.cuda.runtime.getDeviceCount())
        if number >= count:
            raise DeviceError(f"device='cuda:{number}': there are {count} CUDA devices, numbered from 0")
