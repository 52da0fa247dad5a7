"""The algorithms that the page can run, with the arguments that a user can type in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from dromos import algorithms
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.words import as_vertex, as_vertices

__all__ = ["arguments_of", "menu"]

_VERTICES: Mapping[str, Callable[[Graph, str], Any]] = {
    "source": as_vertex,
    "sources": as_vertices,
    "targets": as_vertices,
    "nbunch": as_vertices,
}
_FLAGS = {"true": True, "false": False}


@cache
def menu() -> dict[str, dict[str, Any]]:
    """By algorithm: a description, and its arguments with their kinds and defaults.

    >>> menu()["bfs"]["arguments"][0]
    {'name': 'source', 'kind': 'vertex', 'default': None, 'required': True}
    >>> "all_pairs" in menu()  # it writes a file
    False
    """
    found = {}
    for name in algorithms.__all__:
        function = getattr(algorithms, name)
        arguments = [_argument(p) for p in _parameters(function)]
        if not any(argument["kind"] is None and argument["required"] for argument in arguments):
            about = (inspect.getdoc(function) or "").split("\n")[0].replace("``", "")
            typed = [argument for argument in arguments if argument["kind"] is not None]
            found[name] = {"about": about, "arguments": typed}
    return found


def arguments_of(graph: Graph, name: str, words: Mapping[str, str]) -> dict[str, Any]:
    """The typed words as the algorithm's arguments; empty ones keep their default.

    >>> import dromos as dr
    >>> arguments_of(dr.generators.path(4), "bfs", {"source": "3", "depth_limit": ""})
    {'source': 3}
    """
    if name not in menu():
        raise InvalidArgumentError(f"there is no algorithm {name!r} to run here; there are {', '.join(menu())}")
    known = {argument["name"]: argument for argument in menu()[name]["arguments"]}
    given = {}
    for key, word in words.items():
        if key not in known:
            raise InvalidArgumentError(f"{name} takes no {key!r} here; it takes {', '.join(known) or 'nothing'}")
        if str(word).strip():
            given[key] = _value(graph, key, known[key]["kind"], str(word).strip())
    for argument in known.values():
        if argument["required"] and argument["name"] not in given:
            raise InvalidArgumentError(f"{name} needs {argument['name']}; type in a vertex")
    for key, value in given.items():
        if key in _VERTICES:  # an unknown vertex is reported at once, rather than by a failed run
            for one in value if isinstance(value, list) else [value]:
                graph.vertex_id(one)
    return given


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [p for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != "graph"]


def _argument(parameter: inspect.Parameter) -> dict[str, Any]:
    default = None if parameter.default is parameter.empty else parameter.default
    return {
        "name": parameter.name,
        "kind": _kind(parameter),
        "default": default if isinstance(default, bool | int | float | str) else None,
        "required": parameter.default is parameter.empty,
    }


def _kind(parameter: inspect.Parameter) -> str | None:
    """How the argument is typed in; None if it is an array, a mapping or a function."""
    if parameter.name in _VERTICES:
        return "vertex" if _VERTICES[parameter.name] is as_vertex else "vertices"
    if parameter.name in ("weight", "dtype"):
        return None
    for kind in (bool, int, float, str):
        if parameter.annotation in (kind, kind | None):
            return kind.__name__
    return None


def _value(graph: Graph, name: str, kind: str, word: str) -> Any:
    if name in _VERTICES:
        return _VERTICES[name](graph, word)
    try:
        if kind == "bool":
            return _FLAGS[word.lower()]
        number = int(word) if kind == "int" else float(word) if kind == "float" else None
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"{name}={word!r} is not a value of kind {kind}") from None
    return word if number is None else number if np.isfinite(number) else float(number)
