"""Kernels for what no program can express, or only at a price: each file says why.

An engine offers them by name through ``engine.native(name)``; an algorithm asks for a name and never for a device. A
kernel takes the graph, its options and ``threads``, and returns fields by name.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Final

from dromos import disk_cache
from dromos.engines import NativeKernel

__all__ = ["COMPILED_AT_ONCE", "CPU_KERNELS", "cpu_kernel", "is_compiled"]

_MODULES: Final = {"coloring": "greedy", "forest": "greedy", "matching": "greedy"}
CPU_KERNELS: Final = (
    "betweenness", "biconnected", "cdlp", "closed_walks", "coloring", "communities", "components", "cores",
    "edge_betweenness", "forest", "independent_set", "joint", "katz", "lanczos", "longest_paths", "matching", "product",
    "sampling", "similarity", "strong", "topological", "triangles", "trusses", "walks", "weighted_betweenness",
)  # fmt: skip
"""Each is a function in the module of the same name, or in the one given in ``_MODULES``."""
COMPILED_AT_ONCE: Final = frozenset({"communities"})
"""Kernels that even a first call compiles: plain Python takes longer than compiling, also on small graphs."""


def cpu_kernel(name: str, threads: int | None = None) -> NativeKernel | None:
    """The compiled kernel called ``name`` for a team of ``threads``; None if there is none.

    >>> import dromos as dr
    >>> cpu_kernel("components")(dr.Graph.from_edges([1, 2], [2, 1], num_vertices=3))["label"].tolist()
    [0, 1, 1]
    """
    if name not in CPU_KERNELS:
        return None
    kernel: NativeKernel = getattr(import_module(f"dromos.engines.native.{_MODULES.get(name, name)}"), name)
    return partial(kernel, threads=threads)


def is_compiled(name: str) -> bool:
    """Whether code of the kernel called ``name`` is probably in the cache folder: any version of it counts."""
    module = _MODULES.get(name, name)
    return any((disk_cache.cache_folder() / "kernels").glob(f"{module}_kernels.*"))
