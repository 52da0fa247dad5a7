"""The interface for NetworkX's dispatcher: conversion, ``can_run``, ``should_run``, and the functions as attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from dromos.networkx_backend.convert import convert_from_nx, convert_to_nx
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.info import MODULES
from dromos.networkx_backend.registry import REGISTRY, Worth

__all__ = ["Interface", "interface"]


class Interface:
    """The backend as NetworkX sees it."""

    convert_from_nx = staticmethod(convert_from_nx)
    convert_to_nx = staticmethod(convert_to_nx)

    def __init__(self) -> None:
        for module in MODULES:
            import_module(f"dromos.networkx_backend.{module}")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in REGISTRY:
            return REGISTRY[name].run
        raise AttributeError(f"the Dromos backend has no {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *REGISTRY]

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Whether the result would equal NetworkX's for these arguments, or the reason why they are refused."""
        if name not in REGISTRY:
            return f"{name} is not implemented"
        graph = args[0] if args else kwargs.get("G")
        kind: Any = type(graph)
        if kind is not BackendGraph and (changed := _overridden(kind)):
            return f"{kind.__name__} is no plain NetworkX graph: it has its own {changed}"
        return REGISTRY[name].why_not(args, kwargs) or True

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
        """Whether the call is worth converting the graph for, or the reason why it is not."""
        found = REGISTRY[name].signature.bind(*args, **kwargs).arguments
        graph = next(iter(found.values()), None)
        if isinstance(graph, BackendGraph) or _is_converted(graph):
            return True
        least = _configured_least()
        worth = REGISTRY[name].worth if least is None else least
        if len(graph) >= worth:  # type: ignore[arg-type]
            return True
        if worth == Worth.CONVERTED:
            return "the graph is not converted yet, and converting it takes as long as NetworkX does"
        return f"the graph has {len(graph)} nodes, and converting it pays from {worth} on"  # type: ignore[arg-type]


_READING = (
    "__contains__", "__getitem__", "__iter__", "__len__", "adj", "adjacency", "degree", "edges", "get_edge_data",
    "has_edge", "has_node", "in_degree", "in_edges", "is_directed", "is_multigraph", "nbunch_iter", "neighbors",
    "nodes", "number_of_edges", "number_of_nodes", "order", "out_degree", "out_edges", "pred", "predecessors", "size",
    "subgraph", "succ", "successors",
)  # fmt: skip


@cache
def _overridden(kind: Any) -> str | None:
    """What a class reads from a graph differently from NetworkX's own classes, if anything."""
    import networkx as nx

    plain = next((one for one in kind.__mro__ if one in (nx.MultiDiGraph, nx.MultiGraph, nx.DiGraph, nx.Graph)), None)
    if plain is None:
        return "everything"
    return next((name for name in _READING if getattr(kind, name, None) is not getattr(plain, name, None)), None)


def _is_converted(graph: Any) -> bool:
    cache = getattr(graph, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("dromos"))


def _configured_least() -> int | None:
    import networkx as nx

    least: int | None = getattr(nx.config.backends.get("dromos"), "min_nodes", None)  # missing if not registered
    return least


interface = Interface()
