"""Degrees of neighbors: ``networkx.algorithms.assortativity``."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements, refuse_any

__all__: list[str] = []


def _by_weight(bound: Bound) -> str | None:
    return None if bound["weight"] is None else "degrees are by weight"


def _some_nodes(bound: Bound) -> str | None:
    return None if bound["nodes"] is None else "for some nodes only"


_REFUSE = refuse_any(_by_weight, _some_nodes)


def _degrees(graph: BackendGraph, kind: str) -> Array:
    if not graph.directed:
        return graph.degree
    found: dict[str, Array] = {"in": graph.in_degree, "out": graph.out_degree, "in+out": graph.degree}
    return found[kind]


def _pairs(graph: BackendGraph, x: str, y: str) -> tuple[Array, Array]:
    """The degrees at both ends of every arc, with parallel edges counted individually."""
    left, right = _degrees(graph, x)[graph.sources], _degrees(graph, y)[graph.targets]
    if graph.multiplicity is None:
        return left, right
    return np.repeat(left, graph.multiplicity), np.repeat(right, graph.multiplicity)


def _odd_kinds(bound: Bound) -> str | None:
    return None if {bound["x"], bound["y"]} <= {"in", "out"} else "x and y are neither 'in' nor 'out'"


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_REFUSE, _odd_kinds))
def degree_assortativity_coefficient(
    G: BackendGraph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    left, right = _pairs(G, x, y)
    if not len(left):
        raise NotImplementedError("the graph has no edges")
    kinds = [_degrees(G, kind) for kind in {x, y}]
    degrees = np.unique(np.concatenate(kinds))
    cell = np.searchsorted(degrees, left) * len(degrees) + np.searchsorted(degrees, right)
    share = np.bincount(cell, minlength=len(degrees) ** 2).reshape(len(degrees), -1) / len(left)
    a, b = share.sum(axis=0), share.sum(axis=1)
    variance_a = (a * degrees**2).sum() - (a * degrees).sum() ** 2
    variance_b = (b * degrees**2).sum() - (b * degrees).sum() ** 2
    difference = np.outer(degrees, degrees) * (share - np.outer(a, b))
    return float(difference.sum() / np.sqrt(variance_a * variance_b))


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_REFUSE, _odd_kinds))
def degree_pearson_correlation_coefficient(
    G: BackendGraph, x: str = "out", y: str = "in", weight: Any = None, nodes: Any = None
) -> float:
    from scipy.stats import pearsonr

    left, right = _pairs(G, x, y)
    if not len(left):
        raise NotImplementedError("the graph has no edges")
    return float(pearsonr(left, right)[0])


def _one_node(bound: Bound) -> str | None:
    return "for one node" if bound["nodes"] in bound["G"] else None


@implements(worth=Worth.ITERATIVE, refuse=refuse_any(_by_weight, _one_node))
def average_neighbor_degree(
    G: BackendGraph, source: str = "out", target: str = "out", nodes: Any = None, weight: Any = None
) -> dict[Any, float]:
    for name, kind in (("source", source), ("target", target)):
        if G.directed and kind not in ("in", "out", "in+out"):
            raise nx.NetworkXError(f"{name} argument {kind} must be 'in', 'out' or 'in+out'")
    if not G.directed and (source != "out" or target != "out"):
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    degree, of_target = _degrees(G, source), _degrees(G, target)
    total = np.zeros(len(G), np.int64)
    if not G.directed or "out" in source:
        np.add.at(total, G.sources, of_target[G.targets])
    if G.directed and "in" in source:
        np.add.at(total, G.targets, of_target[G.sources])
    mean = np.divide(total, degree, out=np.zeros(len(G)), where=degree > 0).tolist()
    return {G.nodes[number]: mean[number] for number in G.nbunch(nodes)}


@implements(worth=Worth.ITERATIVE, refuse=_REFUSE)
def average_degree_connectivity(
    G: BackendGraph, source: str = "in+out", target: str = "in+out", nodes: Any = None, weight: Any = None
) -> dict[int, Any]:
    if G.directed:
        for name, kind in (("source", source), ("target", target)):
            if kind not in ("in", "out", "in+out"):
                raise nx.NetworkXError(f'{name} must be one of "in", "out", or "in+out"')
    elif source != "in+out" or target != "in+out":
        raise nx.NetworkXError("source and target arguments are only supported for directed graphs")
    degree, of_target = _degrees(G, source), _degrees(G, target)
    total = np.zeros(len(G), np.int64)
    if G.directed and source == "in":
        np.add.at(total, G.targets, of_target[G.sources])
    else:
        np.add.at(total, G.sources, of_target[G.targets])
    sums: dict[int, list[int]] = {}
    for k, part in zip(degree.tolist(), total.tolist(), strict=True):
        entry = sums.setdefault(k, [0, 0])
        entry[0] += part
        entry[1] += k
    return {k: part / norm if norm else part for k, (part, norm) in sums.items()}
