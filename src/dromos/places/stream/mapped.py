"""Graphs on disk for engines that read a graph from the host's memory: the store is mapped."""

from __future__ import annotations

from typing import Any

from dromos.engines import Engine, Execution, GraphLike, NativeKernel
from dromos.graph.store.stored import StoredGraph
from dromos.program import Program

__all__ = ["MappedEngine"]


class MappedEngine:
    """Runs programs on a stored graph by mapping it for ``engine``."""

    streams = True

    def __init__(self, engine: Engine) -> None:
        self.engine, self.name = engine, engine.name

    def keeping_results(self) -> MappedEngine:
        """An engine that leaves results on the device, if there is one."""
        keep = getattr(self.engine, "keeping_results", None)
        return self if keep is None else MappedEngine(keep())

    def prepare(self, program: Program, graph: GraphLike) -> Execution:
        """Set up the program in its initial state."""
        return self.engine.prepare(program, _mapped(graph))

    def native(self, name: str) -> NativeKernel | None:
        """The engine's kernel called ``name``."""
        kernel = self.engine.native(name)
        if kernel is None:
            return None

        def on_mapped(graph: GraphLike, **options: Any) -> Any:
            return kernel(_mapped(graph), **options)

        return on_mapped


def _mapped(graph: GraphLike) -> GraphLike:
    return graph.loaded() if isinstance(graph, StoredGraph) else graph
