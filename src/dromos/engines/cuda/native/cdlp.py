"""Community detection by label propagation, as LDBC Graphalytics defines it (CDLP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import (
    ID_VARIANTS,
    allow_shared,
    grid_for,
    launch,
    module_of,
    multiprocessors,
    slices,
    text_of,
)
from dromos.engines.cuda.records import number_of

__all__ = ["cdlp", "sources"]

_NAME: Final = "native_cdlp"
_LANES: Final = ((1, 8, "relabel_8"), (9, 32, "relabel_32"))
_WARP: Final = (33, 512)
_WARP_SLOTS: Final = number_of(_NAME, "WARP_SLOTS")
_MIDDLE: Final = 4096
_MOST: Final = 1 << 22
_ITEMS_AT_ONCE: Final = 1 << 14


def cdlp(graph: DeviceGraph, *, max_iter: int, directed: bool) -> Mapping[str, Any]:
    """``label`` after ``max_iter`` rounds, ``previous``, a round before, and ``count``, of labels in use.

    ``directed`` counts in-neighbours too.
    """
    import cupy

    n, dtype = graph.num_vertices, graph.out.targets.dtype
    previous = cupy.arange(n, dtype=dtype) if graph.ids is None else graph.ids.copy()
    label = previous.copy()
    if n and max_iter and graph.num_arcs:
        propagation = _Propagation(graph, directed)
        for _ in range(max_iter):
            previous, label = label, previous
            propagation.round(previous, label)
            cupy.cuda.get_current_stream().synchronize()
    in_use = cupy.zeros(n, dtype=bool)
    in_use[label] = True
    return {"label": label, "previous": previous, "count": int(in_use.sum())}


class _Propagation:
    """Who is done how: lists of vertices by their number of neighbours, the same in all rounds."""

    def __init__(self, graph: DeviceGraph, directed: bool) -> None:
        import cupy

        self.module = module_of(_NAME, graph)
        self.sides = (graph.out, graph.into) if directed else (graph.out,)
        lists = [array for side in self.sides for array in (side.offsets, side.targets)]
        self.rows = tuple(lists) if directed else (*lists, None, None)
        degrees = sum(cupy.diff(side.offsets.astype(cupy.int64)) for side in self.sides)
        self.dtype = graph.out.targets.dtype
        self.narrow = [(self._between(degrees, low, high), kernel, high) for low, high, kernel in _LANES]
        self.middle = self._between(degrees, *_WARP)
        slot = 4 + self.dtype.itemsize
        self.blocks = [
            _Blocks(self._between(degrees, _WARP[1] + 1, _MIDDLE), degrees, 512, 65536 // slot),
            _Blocks(self._between(degrees, _MIDDLE + 1, _MOST), degrees, 1024, 131072 // slot),
        ]
        self.greatest = self._between(degrees, _MOST + 1, graph.num_arcs * 2).get().tolist()

    def _between(self, degrees: Any, low: int, high: int) -> Any:
        import cupy

        return cupy.flatnonzero((degrees >= low) & (degrees <= high)).astype(self.dtype)

    def round(self, previous: Any, label: Any) -> None:
        """``label`` from ``previous``; vertices without neighbours are left as they are."""
        for vertices, kernel, lanes in self.narrow:
            for begin, end in slices(len(vertices), 1 << 26):
                launch(
                    self.module, kernel, grid_for(lanes * (end - begin), 256), 256, *self.rows, vertices[begin:end],
                    np.int64(end - begin), previous, label,
                )  # fmt: skip
        shared = 8 * _WARP_SLOTS * (4 + self.dtype.itemsize)
        for begin, end in slices(len(self.middle), 1 << 21):
            launch(
                self.module, "relabel_warp", grid_for(32 * (end - begin), 256), 256, *self.rows, self.middle[begin:end],
                np.int64(end - begin), previous, label, shared=shared,
            )  # fmt: skip
        for blocks in self.blocks:
            blocks.round(self.module, self.rows, previous, label)
        for v in self.greatest:
            label[v] = self._by_sorting(v, previous)

    def _by_sorting(self, v: int, previous: Any) -> Any:
        """For a row of millions: the labels sorted, the first of the longest runs."""
        import cupy

        parts = []
        for side in self.sides:
            begin, end = (int(at) for at in side.offsets[v : v + 2].get())
            parts.append(previous[side.targets[begin:end]])
        names = cupy.sort(cupy.concatenate(parts))
        starts = cupy.flatnonzero(cupy.concatenate([cupy.ones(1, bool), names[1:] != names[:-1]]))
        lengths = cupy.diff(cupy.concatenate([starts, cupy.asarray([len(names)])]))
        return names[starts[cupy.argmax(lengths)]]


class _Blocks:
    """Vertices that blocks do, each in as many passes as its neighbours may need."""

    def __init__(self, vertices: Any, degrees: Any, threads: int, slots: int) -> None:
        import cupy

        self.vertices, self.threads = vertices, threads
        self.slots = 1 << (slots.bit_length() - 1)
        passes = -(-degrees[vertices] // (self.slots // 2)).get()
        place = np.repeat(np.arange(len(passes), dtype=np.uint32), passes)
        first = np.cumsum(passes) - passes
        turn = np.arange(len(place), dtype=np.uint32) - first[place].astype(np.uint32)
        self.place, self.turn = cupy.asarray(place), cupy.asarray(turn)
        self.best = cupy.zeros(len(vertices), cupy.uint64)

    def round(self, module: Any, rows: tuple[Any, ...], previous: Any, label: Any) -> None:
        """The new labels of these vertices."""
        if not len(self.vertices):
            return
        shared = self.slots * (4 + previous.dtype.itemsize)
        allow_shared(module, "relabel_block", shared)
        for begin, end in slices(len(self.place), _ITEMS_AT_ONCE):
            launch(
                module, "relabel_block", min(end - begin, 4 * multiprocessors()), self.threads, *rows, self.vertices,
                self.place[begin:end], self.turn[begin:end], np.int64(end - begin), np.uint32(self.slots), previous,
                self.best, shared=shared,
            )  # fmt: skip
        launch(
            module, "settle", grid_for(len(self.vertices), 256), 256, self.vertices, np.int64(len(self.vertices)),
            self.best, label,
        )  # fmt: skip


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), defines) for defines in ID_VARIANTS]
