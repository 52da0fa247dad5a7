"""Dromos: graph processing that finds the shortest execution path by itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dromos._version import __version__
from dromos.errors import DromosError, DromosWarning
from dromos.graph import Graph, Labels

if TYPE_CHECKING:
    from dromos.graph import generators
    from dromos.graph.formats import read, write

__all__ = ["DromosError", "DromosWarning", "Graph", "Labels", "__version__", "generators", "read", "write"]

# Imported when first used, so that `import dromos` stays quick.
_LAZY = {
    "generators": "dromos.graph.generators",
    "read": "dromos.graph.formats",
    "write": "dromos.graph.formats",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'dromos' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    value = module if _LAZY[name].rpartition(".")[2] == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
