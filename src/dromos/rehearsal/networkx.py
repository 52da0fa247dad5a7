"""Calls of the NetworkX backend that request all its kernels."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from contextlib import redirect_stdout, suppress
from inspect import Parameter, signature
from io import StringIO
from typing import Any

__all__ = ["rehearse_networkx"]


def rehearse_networkx() -> None:
    """Call every function of the backend on small graphs; calls that are refused are skipped."""
    import networkx as nx
    from networkx.utils.backends import _registered_algorithms as dispatched

    from dromos.networkx_backend.backend import interface

    ring = nx.circulant_graph(12, [1, 2])
    forward = nx.DiGraph(sorted(ring.edges()))
    halves, tree = nx.complete_bipartite_graph(3, 4), nx.balanced_tree(2, 3)
    graphs = (ring, forward, halves, tree, nx.MultiGraph([*ring.edges(), (0, 1)]), nx.DiGraph(ring))
    for graph in graphs:
        for number, (*_, data) in enumerate(graph.edges(data=True)):
            data["weight"] = 1 + number % 3
        given = _arguments_for(graph)
        for name in dir(interface):
            if name in dispatched:
                _call(dispatched[name], graph, given)


def _call(function: Any, graph: Any, given: Mapping[str, Any]) -> None:
    """Call a function with its required arguments, and then with one optional argument in turn.

    Errors are ignored: a graph is directed, or has no order, or a function requires something else.
    """
    parameters = list(signature(function.orig_func).parameters.values())[1:]
    wanted = {p.name: given[p.name] for p in parameters if p.default is Parameter.empty and p.name in given}
    more = [{p.name: given[p.name]} for p in parameters if p.name in given and p.name not in wanted]
    for arguments in ({}, *more):
        with suppress(Exception), redirect_stdout(StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(graph, **wanted, **arguments, backend="dromos")
            if hasattr(found, "__next__"):
                list(found)


def _arguments_for(graph: Any) -> Mapping[str, Any]:
    """A value for each argument that functions of NetworkX require."""
    nodes = list(graph)
    half = len(nodes) // 2
    return {
        "source": nodes[0],
        "target": nodes[-1],
        "sources": {nodes[0], nodes[1]},
        "n": nodes[0],
        "nbunch": nodes[:half],
        "communities": [set(nodes[:half]), set(nodes[half:])],
        "distance": "weight",
        "k": 2,
        "seed": random.Random(1),
        "strategy": "saturation_largest_first",
        "weight": "weight",
    }
