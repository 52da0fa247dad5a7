"""The file of a graph, if it has one."""

from __future__ import annotations

from dromos.engines import GraphLike
from dromos.errors import InvalidArgumentError
from dromos.graph.store.origin import origin_of
from dromos.graph.store.stored import StoredGraph, open_store

__all__ = ["required_store", "stored_form"]


def stored_form(graph: GraphLike) -> StoredGraph | None:
    """The graph on disk that ``graph`` is, or was mapped from; None for one that is only in memory."""
    if isinstance(graph, StoredGraph):
        return graph
    origin = origin_of(graph)  # type: ignore[arg-type]
    return None if origin is None else open_store(origin.path)


def required_store(graph: GraphLike) -> StoredGraph:
    """As :func:`stored_form`; a graph without a file raises an error."""
    stored = stored_form(graph)
    if stored is None:
        raise InvalidArgumentError(
            "memory= is for graphs that stay on disk; write the graph to a .drm file and use dr.open(path)"
        )
    return stored
