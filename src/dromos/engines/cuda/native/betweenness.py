"""Dependencies of sources on vertices, the sums that betweenness is made of (Brandes, 2001).

Programs say it too, and run where a path is asked for. They cost more: sums by atomics, and a test for everyone whether
all behind it have sent. Here a search finds the levels; then every vertex gathers path counts from the level before it,
and dependencies from the level behind it, in an order that is the same in every run. Many sources on a small graph are
taken a block each (``brandes.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dromos.engines.cuda.compiler import Module, load
from dromos.engines.cuda.device_graph import CLASS_DEGREES, DeviceGraph, type_defines
from dromos.engines.cuda.execution import CudaExecution
from dromos.engines.cuda.native import brandes
from dromos.engines.cuda.native.searching import Levels
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.cuda.resident import ResidentGraph

__all__ = ["betweenness", "one_by_one", "sources"]

_BLOCK = 512
_CLASSES = len(CLASS_DEGREES) + 1
_LEVELS_A_LAUNCH = 4096
_ROWS = np.dtype([("offsets", np.uint64), ("targets", np.uint64)])


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
    endpoints: bool,
    progress: Callable[[int, int], Any] | None,
    *,
    before: int = 0,
) -> None:
    """Add the dependencies of ``sources`` (given ids) to ``total``, each with the whole device; ``before`` are done."""
    stand_in = ResidentGraph(graph)
    for done, source in enumerate(sources, before + 1):
        _Sweep(graph, _levels(stand_in, int(source)), total, endpoints).run(wide=False)
        if progress is not None:
            progress(done, before + len(sources))


def _levels(graph: ResidentGraph, source: int) -> Any:
    """The level of each vertex, in the device's order."""
    search = CudaExecution(Levels(source=source), graph, CudaOptions())
    if not search.stats.finished:
        search.roam()
    return search.memory.fields["level"]


class _Sweep:
    """From the levels of one source to its dependencies, added to ``total``."""

    def __init__(self, graph: DeviceGraph, level: Any, total: Any, endpoints: bool) -> None:
        import cupy

        self.graph, self.total, self.endpoints = graph, total, endpoints
        n = graph.num_vertices
        self.deepest = int(level.max())
        # by level, then by class; an unreached vertex comes last
        ends = cupy.asarray(graph.classes)
        kind = cupy.searchsorted(ends, cupy.arange(n), side="right").astype(cupy.int32)
        key = cupy.where(level < 0, self.deepest + 1, level) * _CLASSES + kind
        self.order = cupy.argsort(key, kind="stable").astype(graph.out.targets.dtype)
        marks = cupy.arange((self.deepest + 1) * _CLASSES + 1, dtype=key.dtype)
        self.bounds = cupy.searchsorted(key[self.order], marks).astype(cupy.int64)
        self.bytewise = self.deepest < 254
        self.level = level.astype(cupy.uint8) if self.bytewise else level
        self.arrivals = cupy.zeros(1, cupy.uint32)

    def run(self, *, wide: bool) -> None:
        """Count forward, gather back; once more with wide counts where plain ones are not enough."""
        import cupy

        n = self.graph.num_vertices
        module = _module(self.graph, wide, self.bytewise)
        unit = 16 if wide else 8
        paths, spread = cupy.zeros(n * unit, cupy.uint8), cupy.empty(n * unit, cupy.uint8)
        source = self.order[:1]
        one = np.array([0.5, 0.0]).view(np.uint8) if wide else np.array([1.0]).view(np.uint8)
        if wide:
            one[8:12] = np.array([1], np.int32).view(np.uint8)  # 0.5 * 2
        root = int(source[0])
        paths[root * unit : (root + 1) * unit] = cupy.asarray(one)
        overflow = cupy.zeros(1, cupy.uint32)
        for first, last in _spans(1, self.deepest):
            self._launch(module, "count_paths", self.graph.into, first, last, paths, overflow)
        if not wide and int(overflow[0]):
            return self.run(wide=True)
        on_path = 1.0 if self.endpoints else 0.0
        for low, high in reversed(list(_spans(0, self.deepest))):
            extra = (np.int32(self.deepest), np.float64(on_path), source.dtype.type(root))
            self._launch(module, "spread_back", self.graph.out, high, low, *extra, paths, spread, self.total)
        if self.endpoints:
            self.total[root] += int(self.bounds[-1]) - 1
        return None

    def _launch(self, module: Module, name: str, rows: Any, first: int, last: int, *rest: Any) -> None:
        record = np.zeros(1, _ROWS)
        record["offsets"], record["targets"] = rows.offsets.data.ptr, rows.targets.data.ptr
        self.arrivals.fill(0)
        grid = module.cooperative_grid(name, _BLOCK)
        module.launch(
            name, grid, _BLOCK, record, self.order, self.bounds, self.level, np.int32(first), np.int32(last), *rest,
            self.arrivals, together=True,
        )  # fmt: skip


def _spans(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Levels in portions of one launch each, so that the host can be asked to stop in between."""
    for low in range(first, last + 1, _LEVELS_A_LAUNCH):
        yield low, min(last, low + _LEVELS_A_LAUNCH - 1)


def _text() -> str:
    return '#include "native_sweep.cuh"'


def _module(graph: DeviceGraph, wide: bool, bytewise: bool) -> Module:
    level = "unsigned char" if bytewise else "int"
    return load(_text(), "sweep", defines=(*type_defines(graph), f"WIDE={int(wide)}", f"LEVEL={level}"))


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return brandes.sources() + [
        ("sweep", _text(), (f"VID={vid}", f"EID={eid}", f"WIDE={wide}", f"LEVEL={level}"))
        for vid, eid in (("int", "unsigned"), ("int", "long long"), ("long long", "long long"))
        for wide in (0, 1)
        for level in ("unsigned char", "int")
    ]
