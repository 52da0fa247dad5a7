"""Kernels on the GPU for what no program can say, or says at a price; the same names as on the CPU.

Each takes a graph on the device and its options, and gives fields by name, in the device's order of vertices.
``label`` holds given ids, whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

__all__ = ["CUDA_KERNELS", "NativeSource", "cuda_kernel", "sources"]

NativeSource = tuple[str, str, tuple[str, ...]]
"""A kernel source to compile: name, text, definitions."""

CUDA_KERNELS: Final = ("components", "cores", "cdlp", "triangles")
"""Each is a module here with a function of the same name."""


def cuda_kernel(name: str) -> Callable[..., Mapping[str, Any]] | None:
    """The function called ``name``; None if there is none.

    >>> cuda_kernel("components").__name__, cuda_kernel("weather")
    ('components', None)
    """
    if name not in CUDA_KERNELS:
        return None
    kernel: Callable[..., Mapping[str, Any]] = getattr(import_module(f"{__name__}.{name}"), name)
    return kernel


def sources() -> list[NativeSource]:
    """Every variant of every kernel here, for a check that they compile.

    >>> sorted({name for name, _, _ in sources()})
    ['native_cdlp', 'native_components', 'native_cores', 'native_triangles']
    """
    found: list[NativeSource] = []
    for name in CUDA_KERNELS:
        found += import_module(f"{__name__}.{name}").sources()
    return found
