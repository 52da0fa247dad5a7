"""Dromos: graph processing that finds the shortest execution path by itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dromos._version import __version__
from dromos.errors import DromosError, DromosWarning
from dromos.graph import Graph, Labels

if TYPE_CHECKING:
    from dromos.algorithms import bfs
    from dromos.graph import generators
    from dromos.graph.formats import read, write
    from dromos.program import (
        AND,
        ANY,
        ARGMAX,
        ARGMIN,
        ID,
        MAX,
        MIN,
        OR,
        SUM,
        Program,
        absolute,
        arctan,
        cast,
        ceil,
        cos,
        edge_field,
        exp,
        expm1,
        field,
        floor,
        isfinite,
        isnan,
        log,
        log1p,
        maximum,
        minimum,
        param,
        reduction,
        sin,
        sqrt,
        tan,
        tanh,
        vertex_param,
        where,
    )
    from dromos.runner import Result, Runner, Trace, compile, run

__all__ = [
    "AND",
    "ANY",
    "ARGMAX",
    "ARGMIN",
    "ID",
    "MAX",
    "MIN",
    "OR",
    "SUM",
    "DromosError",
    "DromosWarning",
    "Graph",
    "Labels",
    "Program",
    "Result",
    "Runner",
    "Trace",
    "__version__",
    "absolute",
    "arctan",
    "bfs",
    "cast",
    "ceil",
    "compile",
    "cos",
    "edge_field",
    "exp",
    "expm1",
    "field",
    "floor",
    "generators",
    "isfinite",
    "isnan",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "param",
    "read",
    "reduction",
    "run",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "vertex_param",
    "where",
    "write",
]

# The other names are imported when first used, so that `import dromos` stays quick; the first module that has one wins.
_LAZY = ("dromos.graph.formats", "dromos.program", "dromos.runner", "dromos.algorithms")


def __getattr__(name: str) -> Any:
    if name == "generators":
        return import_module("dromos.graph.generators")
    if name in __all__:
        for module in map(import_module, _LAZY):
            if name in module.__all__:
                value = globals()[name] = getattr(module, name)
                return value
    raise AttributeError(f"module 'dromos' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
