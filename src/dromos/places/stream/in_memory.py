"""Runs of a stream on graphs that the budget holds whole: programs and kernels, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from dromos.engines import GraphLike, LeftToProgramsError, NativeKernel, graph_types
from dromos.engines.parts import Leaf
from dromos.graph.store.stored import StoredGraph
from dromos.places.stream.stored_form import StoredForms
from dromos.places.stream.whole import Mover, Reading, WholeGraphs, run_bytes
from dromos.places.stream.whole_kernels import (
    KERNELS,
    PRODUCT_BYTES,
    PRODUCTS,
    WEIGHTED,
    derived_by,
    kernel_bytes,
    options_within,
)
from dromos.program import Program

__all__ = ["InMemoryRuns"]


class InMemoryRuns:
    """The part of :class:`dromos.places.stream.engine.StreamEngine` for these runs; it sets the attributes."""

    memory: int | None
    _host: Leaf
    _beside: int
    _answer: int
    _whole: WholeGraphs | None
    """None: all runs are over pages."""
    _forms: StoredForms
    _graph: StoredGraph | None
    """The graph of the call, if it has a file."""
    _in_memory: bool
    """Whether something was computed in memory."""

    @property
    def _threads(self) -> int | None:
        return getattr(self._host, "threads", None)

    def take_readings(self) -> list[Reading]:
        """The graphs that were read whole since the last call."""
        if self._whole is None:
            return []
        readings, self._whole.readings = self._whole.readings, []
        return readings

    def _mover(self, program: Program, stored: StoredGraph, *, weights: bool) -> Mover | None:
        """How to run a program in memory; None if the budget has no room for that."""
        held = run_bytes(program, graph_types(stored), stored.num_vertices, stored.num_arcs)
        spare = self._spare(stored, held, weights=weights)
        return None if spare is None or self._whole is None else Mover(self._whole, program, stored, spare, weights)

    def _spare(self, stored: StoredGraph, held: int, *, weights: bool) -> int | None:
        """The bytes left beside the graph, what a run holds, and what is reserved; None if there is no room."""
        if self._whole is None:
            return None
        return self._whole.spare(stored, self.memory, held + self._beside + self._answer, weights=weights)

    def _in_memory_result(self, name: str, graph: StoredGraph, **options: Any) -> Mapping[str, Any] | None:
        """What the kernel of this name finds in the graph in memory; None if the budget has no room for that."""
        whole = self._whole
        kernel = None if whole is None or name not in KERNELS else whole.engine.native(name)
        if whole is None or kernel is None:
            return None
        weights = name in WEIGHTED
        spare = self._spare(graph, kernel_bytes(name, graph, self._threads, options), weights=weights)
        if spare is None:
            return None
        self._in_memory = True
        derived = derived_by(name, graph, options, spare)
        on = whole.graph(graph, spare, weights=weights, derived=derived)
        return kernel(on, **options_within(name, options, spare))

    def _native_in_memory(self, name: str) -> NativeKernel | None:
        """The kernel of this name for graphs in memory; None if there is none, or no room for a method that needs it.

        A kernel that programs can replace tells at its call that there is no room.
        """
        if name in PRODUCTS:
            graph = self._graph
            held = 0 if graph is None else PRODUCT_BYTES * graph.num_vertices
            has_room = graph is not None and self._spare(graph, held, weights=True) is not None
            return partial(self._product, name) if has_room else None
        return partial(self._or_programs, name) if self._whole is not None and name in KERNELS else None

    def _product(self, name: str, graph: GraphLike, **options: Any) -> Mapping[str, Any]:
        """One of the kernels of a method that was told that there is room for all of them."""
        assert self._whole is not None
        self._in_memory = True
        if "back" in options:
            options["back"] = self._in_memory_form(options["back"])
        kernel = self._whole.engine.native(name)
        assert kernel is not None, name
        return kernel(self._in_memory_form(graph), **options)

    def _in_memory_form(self, graph: GraphLike) -> GraphLike:
        """The graph as it was read; as it is, if it has no file: a transpose may have been made of a mapped graph."""
        stored = self._forms.of(graph)
        return graph if stored is None or self._whole is None else self._whole.graph(stored, 0, weights=True)

    def _or_programs(self, name: str, graph: GraphLike, **options: Any) -> Mapping[str, Any]:
        """As :meth:`_in_memory_result`, for a kernel that programs replace if the budget has no room for it."""
        stored = self._forms.of(graph)
        found = None if stored is None else self._in_memory_result(name, stored, **options)
        if found is None:
            raise LeftToProgramsError
        return found
