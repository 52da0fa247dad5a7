"""The files of graphs in memory, for runs that read these instead."""

from __future__ import annotations

from dromos.engines import GraphLike
from dromos.errors import FileError, InvalidArgumentError
from dromos.graph.store.origin import Origin, rows_of
from dromos.graph.store.stored import StoredGraph, open_store

__all__ = ["StoredForms"]


class StoredForms:
    """The graphs on disk that the graphs of one call are, or were mapped from.

    A mapped graph, its transpose, and the same without weights are views of one opened graph: a call reads it once.
    """

    def __init__(self) -> None:
        self._opened: list[tuple[Origin, StoredGraph]] = []

    def of(self, graph: GraphLike) -> StoredGraph | None:
        """The graph on disk that ``graph`` is, or was mapped from; None for one that is only in memory."""
        if isinstance(graph, StoredGraph):
            return graph
        rows = rows_of(graph)  # type: ignore[arg-type]
        return None if rows is None else self._open(rows.origin).view(prefix=rows.prefix, weighted=rows.weighted)

    def required(self, graph: GraphLike) -> StoredGraph:
        """As :meth:`of`; a graph without a file raises an error."""
        stored = self.of(graph)
        if stored is None:
            raise InvalidArgumentError(
                "memory= is for graphs that stay on disk: use dr.open(path) in place of dr.read(path); a graph without "
                "a file first has to be written to a .drm file"
            )
        return stored

    def _open(self, origin: Origin) -> StoredGraph:
        for known, stored in self._opened:
            if known == origin:
                return stored
        stored = open_store(origin.path)
        if stored.origin != origin:
            raise FileError(
                "the file was changed, replaced or removed after the graph was opened; read it again", path=origin.path
            )
        self._opened.append((origin, stored))
        return stored
