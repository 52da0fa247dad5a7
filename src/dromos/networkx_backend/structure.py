"""Properties that follow from degrees and edges: trees, isolated and regular nodes, reciprocity, hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from dromos.dtypes import Array
from dromos.networkx_backend.components import labels
from dromos.networkx_backend.graph import BackendGraph
from dromos.networkx_backend.registry import Bound, Worth, implements

__all__: list[str] = []


@implements()
def isolates(G: BackendGraph) -> Iterator[Any]:
    return iter(G.names(np.flatnonzero(G.degree == 0)))


@implements()
def number_of_isolates(G: BackendGraph) -> int:
    return int(np.count_nonzero(G.degree == 0))


@implements()
def number_of_selfloops(G: BackendGraph) -> int:
    return G.num_loops


@implements()
def is_empty(G: BackendGraph) -> bool:
    return not len(G.targets)


@implements()
def is_regular(G: BackendGraph) -> bool:
    if not len(G):
        raise nx.NetworkXPointlessConcept("Graph has no nodes.")
    degrees = [G.in_degree, G.out_degree] if G.directed else [G.degree]
    return all(bool((degree == degree[0]).all()) for degree in degrees)


@implements()
def is_k_regular(G: BackendGraph, k: Any) -> bool:
    return set(G.degree.tolist()) <= {k}


@implements(worth=Worth.ITERATIVE)
def s_metric(G: BackendGraph) -> float:
    product = G.degree[G.sources] * G.degree[G.targets]
    if G.multiplicity is not None:
        product = product * G.multiplicity
    return float(int(product[np.ones(len(product), bool) if G.directed else G.sources <= G.targets].sum()))


def _require_nodes(graph: BackendGraph) -> None:
    if not len(graph):
        raise nx.NetworkXPointlessConcept("G has no nodes.")


@implements()
def is_tree(G: BackendGraph) -> bool:
    _require_nodes(G)
    return G.num_edges == len(G) - 1 and labels(G)[0] == 1


@implements()
def is_forest(G: BackendGraph) -> bool:
    _require_nodes(G)
    return G.num_edges == len(G) - labels(G)[0]


@implements()
def is_arborescence(G: BackendGraph) -> bool:
    return is_tree(G) and bool(G.in_degree.max() <= 1)


@implements()
def is_branching(G: BackendGraph) -> bool:
    return is_forest(G) and bool(G.in_degree.max() <= 1)


def _mutual(graph: BackendGraph) -> Array:
    """Whether each arc has an opposite one; a self-loop does."""
    key = graph.sources.astype(np.int64) * len(graph) + graph.targets
    return np.isin(graph.targets.astype(np.int64) * len(graph) + graph.sources, key)


def _no_plain_digraph(bound: Bound) -> str | None:
    """Refuse: NetworkX counts parallel edges by keys, and its result for undirected graphs depends on its copies."""
    graph = bound["G"]
    return None if graph.is_directed() and not graph.is_multigraph() else "undirected, or with parallel edges"


@implements(worth=Worth.ITERATIVE, refuse=_no_plain_digraph)
def overall_reciprocity(G: BackendGraph) -> float:
    if not G.num_edges:
        raise nx.NetworkXError("Not defined for empty graphs")
    mutual = int(np.count_nonzero(_mutual(G) & ~G.is_loop))
    return mutual / G.num_edges


@implements(worth=Worth.ITERATIVE, refuse=_no_plain_digraph)
def reciprocity(G: BackendGraph, nodes: Any = None) -> Any:
    if nodes is None:
        return overall_reciprocity(G)
    both = np.bincount(G.sources[_mutual(G)], minlength=len(G))
    found = {
        G.nodes[number]: 2 * int(both[number]) / int(G.degree[number]) if G.degree[number] else None
        for number in G.nbunch(nodes)
    }
    if nodes not in G:
        return found
    if found[nodes] is None:
        raise nx.NetworkXError("Not defined for isolated nodes.")
    return found[nodes]


def _by_weight(bound: Bound) -> str | None:
    return None if bound["weight"] is None else "by weight"


@implements(worth=Worth.ITERATIVE, refuse=_by_weight)
def flow_hierarchy(G: BackendGraph, weight: Any = None) -> float:
    if not len(G.targets):
        raise nx.NetworkXError("flow_hierarchy not applicable to empty graphs")
    if not G.directed:
        raise nx.NetworkXError("G must be a digraph in flow_hierarchy")
    component = labels(G, "strong")[1]
    inside = component[G.sources] == component[G.targets]
    count = np.count_nonzero(inside) if G.multiplicity is None else G.multiplicity[inside].sum()
    return 1 - int(count) / G.num_edges
