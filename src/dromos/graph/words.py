"""Parse vertices of a graph that a user typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dromos.errors import InvalidArgumentError

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["as_vertex", "as_vertices"]


def as_vertex(graph: Graph, text: str) -> Any:
    """A typed vertex in the graph's own type: a string if its labels are strings, else a whole number.

    >>> import dromos as dr
    >>> as_vertex(dr.Graph.from_edges(["7"], ["8"]), "7"), as_vertex(dr.generators.path(9), "7")
    ('7', 7)
    """
    if graph.labels is not None and graph.labels.kind == "str":
        return text
    try:
        return int(text)
    except ValueError:
        raise InvalidArgumentError(f"{text!r} is not a vertex: the vertices of this graph are whole numbers") from None


def as_vertices(graph: Graph, text: str) -> list[Any]:
    """Vertices, separated by commas."""
    return [as_vertex(graph, part.strip()) for part in text.split(",")]
