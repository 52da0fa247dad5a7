"""Graphs from NetworkX's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, compress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError
from dromos.graph.vertex_data import VertexData, column_of

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["from_networkx"]


def from_networkx(cls: type[Graph], /, graph: Any, *, weight: str | None = "weight") -> Graph:
    """A graph from a NetworkX graph.

    Nodes that are the integers ``0..n-1``, in whatever order, are the ids; other integers and strings become labels.
    The edge attribute ``weight`` is taken where every edge has it; where some have it and some do not, that is an error
    (``weight=None`` leaves weights out), and so is a name other than ``"weight"`` that no edge has. Node attributes
    become :attr:`Graph.vertex_data`. Keys of a multigraph and other edge attributes are not kept.

    >>> import networkx as nx
    >>> from dromos import Graph
    >>> Graph.from_networkx(nx.path_graph(3))
    <Graph: 3 vertices, 2 edges, undirected>
    """
    if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise GraphDataError(f"expected a NetworkX graph, not {type(graph).__name__}")
    nodes = list(graph.nodes)
    kinds = set(map(type, nodes))
    whole = all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds)
    if not whole and not all(issubclass(kind, str) for kind in kinds):
        found = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise GraphDataError(
            f"the nodes are of the types: {found}; labels must be all integers or all strings. Rename the nodes with "
            "networkx.relabel_nodes(G, str), or networkx.convert_node_labels_to_integers(G, label_attribute='name')"
        )
    plain = whole and (not nodes or (min(nodes) == 0 and max(nodes) == len(nodes) - 1))
    src, dst, weights = _networkx_edges(graph, nodes, plain, weight)
    missing, edges = 0 if weights is None else weights.count(None), len(src)
    if 0 < missing < edges:
        raise GraphDataError(
            f"only {edges - missing} of {edges} edges have the attribute {weight!r}; set it on all, or weight=None"
        )
    if edges and weight not in (None, "weight") and (weights is None or missing):
        raise GraphDataError(f"no edge has the attribute {weight!r}; weight=None leaves weights out")
    result = cls.from_edges(
        src, dst, None if missing else weights,
        num_vertices=len(nodes), directed=graph.is_directed(), labels=None if plain else nodes,
    )  # fmt: skip
    result._vertex_data = _node_attributes(graph, nodes if plain else range(len(nodes)))
    return result


def _node_attributes(graph: Any, ids: Sequence[int]) -> VertexData:
    """The attributes of the nodes, whose ids are given in their order; the arrays are made when they are looked at."""
    rows = list(graph.nodes.values())
    if not any(rows):
        return VertexData()
    if len(set(map(len, rows))) == 1:  # most often all nodes have the same attributes, which spares a loop in Python
        with suppress(KeyError):
            held = {name: list(map(itemgetter(name), rows)) for name in rows[0]}
            numbers = np.array(ids)
            return VertexData({name: partial(column_of, values, len(rows), numbers) for name, values in held.items()})
    columns: dict[str, tuple[list[int], list[Any]]] = {}
    for at, row in zip(ids, rows, strict=True):
        for name, value in row.items():
            holders, values = columns.setdefault(name, ([], []))
            holders.append(at)
            values.append(value)
    return VertexData(
        {name: partial(column_of, values, len(rows), np.array(at)) for name, (at, values) in columns.items()}
    )


class _Edges(NamedTuple):
    """Columns of edges, each once; a weight is None where an edge has none."""

    src: Array
    dst: Array
    weight: list[Any] | None


def _networkx_edges(graph: Any, nodes: list[Any], plain: bool, weight: str | None) -> _Edges:
    """The adjacency of a NetworkX graph as columns, row by row and without a loop in Python where that can be."""
    rows = [row if type(row) is dict else dict(row.items()) for _, row in graph.adjacency()]  # views may miscount
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    neighbours: Iterator[Any] = chain.from_iterable(rows)
    if not plain:
        neighbours = map({node: number for number, node in enumerate(nodes)}.__getitem__, neighbours)
    dst = np.fromiter(neighbours, np.int64, int(lengths.sum()))
    src = np.repeat(np.array(nodes, np.int64) if plain else np.arange(len(nodes)), lengths)
    attributes: Iterator[Any] = chain.from_iterable(map(dict.values, rows))
    if not graph.is_directed():  # both directions of an edge are listed; from_edges mirrors one
        once = src <= dst
        src, dst, attributes = src[once], dst[once], compress(attributes, once.tolist())
    if graph.is_multigraph():
        keyed = list(attributes)
        parallel = np.fromiter(map(len, keyed), np.int64, len(keyed))
        src, dst = np.repeat(src, parallel), np.repeat(dst, parallel)
        attributes = chain.from_iterable(edges.values() for edges in keyed)
    listed = [] if weight is None else list(attributes)
    if not any(listed):  # no edge has any attribute
        return _Edges(src, dst, None)
    try:
        return _Edges(src, dst, list(map(itemgetter(weight), listed)))  # twice as quick, where every edge has it
    except KeyError:
        return _Edges(src, dst, [data.get(weight) for data in listed])
