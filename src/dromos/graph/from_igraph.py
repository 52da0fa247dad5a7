"""Graphs from igraph's."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import GraphDataError
from dromos.graph.vertex_data import VertexData, column_of

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["from_igraph"]


def from_igraph(
    cls: type[Graph], /, graph: Any, *, weight: str | None = "weight", labels: str | None = "name"
) -> Graph:
    """A graph from an igraph graph; vertices keep their numbers.

    The edge attribute ``weight`` and the vertex attribute ``labels`` are taken where the graph has them; None leaves
    them out. Labels are strings or whole numbers, each once. The other vertex attributes become
    :attr:`Graph.vertex_data`; other edge attributes are not kept.

    >>> import igraph
    >>> from dromos import Graph
    >>> Graph.from_igraph(igraph.Graph.TupleList([("dam", "mill", 5.0)], weights=True))
    <Graph: 2 vertices, 1 edge, undirected, float64 weights, str labels>
    """
    if not all(hasattr(graph, name) for name in ("vs", "es", "get_edgelist", "is_directed")):
        raise GraphDataError(f"expected an igraph graph, not {type(graph).__name__}")
    edges = graph.get_edgelist()
    ends = np.array(edges, dtype=np.int64).reshape(len(edges), 2)
    weights = _attribute(graph.es, weight, "weight", "edges")
    names = _attribute(graph.vs, labels, "name", "vertices")
    if names is not None and len({isinstance(name, str) for name in names}) > 1:
        raise GraphDataError(
            f"the vertex attribute {labels!r} holds strings and numbers; labels are all of one kind, or labels=None"
        )
    result = cls.from_edges(
        ends[:, 0], ends[:, 1], weights, num_vertices=graph.vcount(), directed=graph.is_directed(), labels=names
    )
    others = [name for name in graph.vs.attribute_names() if names is None or name != labels]
    result._vertex_data = VertexData({name: partial(column_of, graph.vs[name], graph.vcount()) for name in others})
    return result


def _attribute(sequence: Any, wanted: str | None, usual: str, of: str) -> Sequence[Any] | None:
    """The values of an attribute; None where it is not wanted, or is the usual one and is not there."""
    if wanted is None:
        return None
    known = sequence.attribute_names()
    if wanted not in known:
        if wanted == usual:
            return None
        raise GraphDataError(f"the {of} have no attribute {wanted!r}; they have {', '.join(known) or 'none'}")
    values: list[Any] = sequence[wanted]
    missing = sum(value is None for value in values)
    if missing:
        raise GraphDataError(
            f"{missing} of {len(values)} {of} have no {wanted!r}; set it on all, or leave it out with None"
        )
    return values
