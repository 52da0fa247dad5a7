"""The native kernels that need no compiler, by name; each module is imported on first use.

Kernels whose choices depend on earlier ones are plain Python on lists; the others work on whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from dromos.engines import NativeKernel

__all__ = ["KERNELS"]

_PLACES: Final = {
    "biconnected": "native.plain_biconnected",
    "cdlp": "vectorised.kernels",
    "coloring": "native.plain_greedy",
    "communities": "native.plain_communities",
    "edge_betweenness": "vectorised.edge_betweenness",
    "forest": "native.plain_greedy",
    "joint": "vectorised.joint",
    "matching": "native.plain_greedy",
    "similarity": "vectorised.similarity",
    "triangles": "vectorised.kernels",
    "trusses": "vectorised.trusses",
    "walks": "vectorised.walks",
}


class _Kernels(Mapping[str, NativeKernel]):
    """Looks up a kernel in its module."""

    def __getitem__(self, name: str) -> NativeKernel:
        kernel: NativeKernel = getattr(import_module(f"dromos.engines.{_PLACES[name]}"), name)
        return kernel

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


KERNELS: Final[Mapping[str, NativeKernel]] = _Kernels()
"""Each takes ``tell`` (see :data:`dromos.engines.Tell`) beside the options of the compiled kernel of its name, except
those in :data:`dromos.engines.native.COMPILED_AT_ONCE`, which are compiled at once."""
