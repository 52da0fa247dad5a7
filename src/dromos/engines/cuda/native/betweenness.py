"""Dependencies of sources on vertices, the sums that betweenness is made of (Brandes, 2001).

Programs say it too, and run where a path is asked for. They cost more: sums by atomics, and a test for everyone whether
all behind it have sent. Here a search finds the levels; then every vertex gathers path counts from the level before it,
and dependencies from the level behind it, in an order that is the same in every run. Many sources on a small graph are
taken a block each (``brandes.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import Module
from dromos.engines.cuda.device_graph import CLASS_DEGREES, DeviceGraph
from dromos.engines.cuda.execution import CudaExecution
from dromos.engines.cuda.memory import addresses_of
from dromos.engines.cuda.native import brandes
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, module_of, text_of
from dromos.engines.cuda.native.searching import LevelsOnly
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.records import record_of
from dromos.engines.cuda.resident import ResidentGraph

__all__ = ["betweenness", "one_by_one", "sources"]

_NAME: Final = "native_sweep"
_LEVEL_NAMES: Final = {1: "unsigned char", 4: "unsigned"}
_BLOCK = 512
_CLASSES = len(CLASS_DEGREES) + 1
_LEVELS_A_LAUNCH = 4096
sweep_type: Final = record_of(_NAME, "Sweep")
"""The structure ``Sweep`` of the kernels."""


def betweenness(
    graph: DeviceGraph,
    *,
    sources: Sequence[int],
    endpoints: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> dict[str, Any]:
    """The sum of the dependencies of ``sources`` (given ids) on each vertex of a graph without parallel edges."""
    import cupy

    blocks = brandes.blocks_for(graph, len(sources))
    if blocks:
        total, left = brandes.by_blocks(graph, sources, blocks, endpoints, progress)
    else:
        total, left = cupy.zeros(graph.num_vertices, cupy.float64), list(sources)
    one_by_one(graph, left, total, endpoints, progress, before=len(sources) - len(left))
    return {"dependency": total}


def one_by_one(
    graph: DeviceGraph,
    sources: Sequence[int],
    total: Any,
    endpoints: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    *,
    before: int = 0,
    edges: bool = False,
    watch: Callable[[int], Any] | None = None,
) -> None:
    """Add the dependencies of ``sources`` (given ids) to ``total``, each with the whole device; ``before`` are done.

    ``total`` is by vertex, or with ``edges`` by arc in the device's order. ``watch`` is told the depth of each search
    before anything is added, and may end the run by raising.
    """
    if not len(sources):
        return
    levels, sweep = _Levels(graph), _Sweep(graph, total, endpoints, edges)
    for done, source in enumerate(sources, before + 1):
        level, deepest = levels.find(int(source))
        if watch is not None:
            watch(deepest)
        sweep.run(level, deepest)
        if progress is not None:
            progress(done, before + len(sources))


class _Levels:
    """Searches in the same memory, one after the other."""

    def __init__(self, graph: DeviceGraph) -> None:
        self.graph, self.share = ResidentGraph(graph), graph.residency.share
        self.search: CudaExecution | None = None

    def find(self, source: int) -> tuple[Any, int]:
        """The level of each vertex in the device's order, -1 where there is none; and the greatest."""
        if self.search is None:
            options = CudaOptions(share=self.share)  # of the copy that there is
            self.search = CudaExecution(LevelsOnly(source=source), self.graph, options)
        else:
            self.search.restart(source=source)
        found = self.search.step_switching()
        return self.search.memory.fields["level"], found.superstep - 1  # the last superstep finds nobody


class _Sweep:
    """From the levels of a source to its dependencies, added to ``total``."""

    def __init__(self, graph: DeviceGraph, total: Any, endpoints: bool, edges: bool) -> None:
        import cupy

        self.graph, self.total, self.edges = graph, total, edges
        self.begins = cupy.asarray(np.array([0, *graph.classes], np.int64))
        self.counters = cupy.zeros(2, cupy.uint32)  # overflow, arrivals
        self.tables = cupy.empty((2, graph.num_vertices), cupy.float64)
        self.record = np.zeros(1, sweep_type)
        self.record["through" if edges else "total"] = total.data.ptr
        self.record["on_path"] = float(endpoints)

    def run(self, level: Any, deepest: int) -> None:
        """Count forward, gather back; once more with wide counts where plain ones are not enough."""
        import cupy

        # An unreached vertex has the greatest number, so it is last. Ids are sorted by degree: a level's order by id is
        # one by class too.
        short = level.astype(cupy.uint8) if deepest < 255 else level.view(cupy.uint32)
        order = cupy.argsort(short, kind="stable").astype(self.graph.out.targets.dtype)
        level = level.view(cupy.uint32) if self.edges else short
        bounds = cupy.empty(_CLASSES * (deepest + 1) + 1, cupy.int64)
        record = self.record
        record["level"], record["order"], record["bounds"] = level.data.ptr, order.data.ptr, bounds.data.ptr
        record["deepest"] = deepest
        module = _module(self.graph, False, level.dtype, self.edges)
        module.launch(
            "bound_parts", grid_for(len(bounds), _BLOCK), _BLOCK,
            level, order, self.begins, np.int64(len(order)), np.int64(len(bounds) - 1), bounds,
        )  # fmt: skip
        self._sweep(module, self.tables, deepest)
        if int(self.counters[0]):
            wide = cupy.empty((2, self.graph.num_vertices, 2), cupy.float64)
            self._sweep(_module(self.graph, True, level.dtype, self.edges), wide, deepest)

    def _sweep(self, module: Module, tables: Any, deepest: int) -> None:
        record, graph = self.record, self.graph
        self.counters.fill(0)
        record["overflow"], record["arrivals"] = self.counters.data.ptr, self.counters.data.ptr + 4
        record["paths"], record["spread"] = addresses_of(tables)
        for first, last in _spans(1, max(deepest, 1)):
            self._launch(module, "count_paths", graph.into, first, min(last, deepest))
        for low, high in reversed(list(_spans(0, deepest))):
            self._launch(module, "spread_back", graph.out, high, low)

    def _launch(self, module: Module, name: str, rows: Any, first: int, last: int) -> None:
        record = self.record
        record["offsets"], record["targets"] = rows.offsets.data.ptr, rows.targets.data.ptr
        record["first"], record["last"] = first, last
        self.counters[1:].fill(0)
        module.launch(name, module.cooperative_grid(name, _BLOCK), _BLOCK, record, together=True)


def _spans(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Levels in portions of one launch each, so that the host can be asked to stop in between."""
    for low in range(first, last + 1, _LEVELS_A_LAUNCH):
        yield low, min(last, low + _LEVELS_A_LAUNCH - 1)


def _module(graph: DeviceGraph, wide: bool, level: np.dtype[Any], edges: bool) -> Module:
    return module_of(_NAME, graph, *_defines(wide, _LEVEL_NAMES[level.itemsize], edges))


def _defines(wide: bool, level: str, edges: bool) -> tuple[str, ...]:
    return f"WIDE={int(wide)}", f"LEVEL={level}", *(("EDGES=1",) if edges else ())


def sources(*, edges: bool = False) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions; sums by arc have levels of four bytes only."""
    return brandes.sources(edges=edges) + [
        (_NAME, text_of(_NAME), (*ids, *_defines(wide, level, edges)))
        for ids in ID_VARIANTS
        for wide in (False, True)
        for size, level in _LEVEL_NAMES.items()
        if size == 4 or not edges
    ]
