"""What the host's side of the native kernels has in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dromos.engines.cuda.compiler import Module, load
from dromos.engines.cuda.device_graph import DeviceGraph, type_defines

__all__ = [
    "CYCLES",
    "ID_VARIANTS",
    "allow_shared",
    "grid_for",
    "launch",
    "module_of",
    "multiprocessors",
    "slices",
    "text_of",
]

ID_VARIANTS: Final = tuple(
    (f"VID={vid}", f"EID={eid}") for vid in ("int", "long long") for eid in ("unsigned", "long long")
)
"""Every pair of types that a graph on the device can have."""

CYCLES: Final = 80_000_000
"""After so many clock cycles, about 50 ms, a long kernel hands back to the host, which starts it again."""

_DEFAULT_SHARED: Final = 40 << 10  # of 48 KiB, which a kernel's own variables are part of
_MAX_DYNAMIC_SHARED: Final = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def text_of(name: str) -> str:
    """The source that makes a module of one of the kernel files.

    >>> text_of("native_cores")
    '#include "native_cores.cuh"'
    """
    return f'#include "{name}.cuh"'


def module_of(name: str, graph: DeviceGraph, *defines: str) -> Module:
    """The compiled kernels of file ``name`` for the types of ``graph``."""
    return load(text_of(name), name, defines=(*type_defines(graph), *defines))


def multiprocessors() -> int:
    """How many the current device has."""
    import cupy

    runtime = cupy.cuda.runtime
    return int(runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, cupy.cuda.Device().id))


def grid_for(items: int, block: int, *, each: int = 1) -> int:
    """Blocks for ``items`` at ``each`` a thread, and no more than keep a device busy: kernels loop.

    >>> grid_for(1000, 256), grid_for(0, 256), grid_for(10**9, 256)
    (4, 1, 8192)
    """
    return max(1, min(8192, -(-items // (block * each))))


def slices(count: int, step: int) -> Iterator[tuple[int, int]]:
    """``range(count)`` cut so that no launch takes long.

    >>> list(slices(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for begin in range(0, count, step):
        yield begin, min(begin + step, count)


def launch(
    module: Module, kernel: str, blocks: int, threads: int, *arguments: Any, shared: int = 0, together: bool = False
) -> None:
    """Start a kernel with ``shared`` bytes of dynamic shared memory; ``together``: its blocks wait for each other."""
    allow_shared(module, kernel, shared)
    module[kernel]((blocks,), (threads,), arguments, shared, enable_cooperative_groups=together)


def allow_shared(module: Module, kernel: str, shared: int) -> None:
    """Let ``kernel`` have more shared memory than the default."""
    if shared > _DEFAULT_SHARED:
        import cupy

        cupy.cuda.driver.funcSetAttribute(module[kernel].ptr, _MAX_DYNAMIC_SHARED, shared)
