"""Local moving on one level of Louvain and Leiden: passes of batches of vertices, each in a few launches."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import as_bytes
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.community_levels import PIECE, DeviceLevel, LevelMaker, mass_define
from dromos.engines.cuda.native.launching import grid_for, launch, module_of, multiprocessors
from dromos.engines.cuda.records import number_of, record_of

__all__ = ["NAME", "Moves"]

NAME: Final = "native_communities"
BATCHES: Final = 16
"""Into how many batches the vertices of a level are divided; fewer in a pass that takes fewer of them."""
_LEAST_BATCHES: Final = 4
"""Two vertices that would only change places are in one batch once in so many passes."""
_ONE_IN: Final = 1024
"""A pass that would take fewer than one in so many vertices is left to the next level."""
_MOST_PASSES: Final = 256
_CLASSES, _MOST_BINS, _SLOTS, _THREADS = (
    number_of(NAME, name) for name in ("CLASSES", "MOST_BINS", "BLOCK_SLOTS", "THREADS")
)
_BEST_BYTES: Final = 40
_MOST_PARTS: Final = 64


class Moves:
    """The communities of a level's vertices, which move from those given, or from single ones on."""

    def __init__(
        self, graph: DeviceGraph, maker: LevelMaker, level: DeviceLevel, scale: float, community: Any = None
    ) -> None:
        import cupy

        n, mass, ids = level.size, maker.mass, maker.ids
        self.level = level
        self.community, self.total, self.size = maker.begun(level, community)
        self._module = module_of(NAME, graph, mass_define(mass))
        self._counts = cupy.zeros(2 + 2 * _MOST_BINS, cupy.uint32)
        self._list = cupy.empty(n, ids)
        self._shared = _SLOTS * (mass.itemsize + ids.itemsize)
        self._blocks = 8 * multiprocessors()
        self._arrays: dict[str, Any] = {
            "offsets": level.offsets, "targets": level.targets, "weights": level.weights, "strength": level.strength,
            "community": self.community, "total": self.total, "size": self.size,
            "joining": cupy.zeros(2 * n, mass), "leaving": cupy.zeros(2 * n, mass), "leavers": cupy.zeros(2 * n, ids),
            "changed": cupy.zeros(n, cupy.int32), "visited": cupy.zeros(n, cupy.int32),
            "choice": cupy.empty(n, ids), "more": cupy.empty(n, cupy.int64), "verdict": cupy.zeros(n, cupy.uint8),
            "list": self._list, "counts": self._counts, **self._hubs(mass, ids),
        }  # fmt: skip
        record = np.zeros(1, record_of(NAME, "Level"))
        for name, array in self._arrays.items():
            record[name] = address(array)
        record["n"], record["hub_count"], record["scale"] = n, len(level.hubs[0]), scale
        self._record = as_bytes(record)

    def _hubs(self, mass: np.dtype[Any], ids: np.dtype[Any]) -> dict[str, Any]:
        """The vertices whose rows are cut into pieces, and tables for them."""
        import cupy

        hubs, lengths = self.level.hubs
        begin = np.zeros(len(hubs) + 1, np.int64)
        np.cumsum(lengths, out=begin[1:])
        arcs, longest = int(begin[-1]), int(lengths.max(initial=0))
        self._parts = max(1, min(_MOST_PARTS, -(-longest // PIECE)))
        self._found = cupy.empty(max(1, len(hubs)) * self._parts * _BEST_BYTES, cupy.uint8)
        slots = arcs + arcs // 2 + 1
        keys = cupy.empty(slots, ids)
        keys.data.memset(0xFF, keys.nbytes)
        return {
            "hubs": cupy.asarray(hubs.astype(ids)), "hub_begin": cupy.asarray(begin), "hub_keys": keys,
            "hub_sums": cupy.zeros(slots, mass), "hub_slots": cupy.empty(max(arcs, 1), cupy.uint32),
            "hub_found": cupy.zeros(len(hubs) + 1, cupy.uint32), "hub_done": cupy.zeros(len(hubs) + 1, cupy.uint32),
        }  # fmt: skip

    def run(self, random: np.random.Generator) -> int:
        """Move vertices until next to none wants to; how many moves there were."""
        time, moved = 0, 0
        for _ in range(_MOST_PASSES):
            seed = np.uint64(random.integers(1 << 62))
            moved, due, sizes = self._list_due(seed)
            if due <= self.level.size // _ONE_IN:
                break
            begin = 0
            for counts in sizes:
                if sum(counts):
                    time += 1
                    self._move_batch(begin, counts, seed, time)
                    begin += sum(counts)
        return moved

    def _list_due(self, seed: np.uint64) -> tuple[int, int, list[list[int]]]:
        """How many moves there have been, how many vertices are due, and how many of each batch and class."""
        n, least = self.level.size, np.uint32(_LEAST_BATCHES)
        blocks, most = grid_for(n, _THREADS, each=16), np.uint32(BATCHES)
        self._counts[1:].data.memset_async(0, 4 * (1 + 2 * _MOST_BINS))
        launch(self._module, "count_due", blocks, _THREADS, self._record)
        launch(self._module, "count_bins", blocks, _THREADS, self._record, seed, most, least)
        launch(self._module, "list_due", blocks, _THREADS, self._record, seed, most, least)
        counts = self._counts[: 2 + _MOST_BINS].get()
        due = int(counts[1])
        batches = min(BATCHES, max(_LEAST_BATCHES, -(-due * BATCHES // max(n, 1))))
        sizes = counts[2 : 2 + batches * _CLASSES].reshape(batches, _CLASSES).tolist()
        return int(counts[0]), due, sizes

    def _move_batch(self, begin: int, counts: list[int], seed: np.uint64, time: int) -> None:
        """The vertices of a list from ``begin`` on look for a community, and those that gain go there."""
        few, some, middling, many, hubs = counts
        first, each, now = address(self._list), self._list.itemsize, np.int32(time)

        def at(place: int) -> np.uint64:
            return np.uint64(first + (begin + place) * each)

        def start(kernel: str, blocks: int, *arguments: Any, shared: int = 0) -> None:
            launch(self._module, kernel, blocks, _THREADS, self._record, *arguments, shared=shared)

        if few + some:
            start(
                "choose_lanes", min(self._blocks, grid_for(8 * few + 32 * some, _THREADS)), at(0), np.int64(few),
                np.int64(some), seed, now,
            )  # fmt: skip
        if middling + many:
            start(
                "choose_tables", min(self._blocks, many + -(-middling // 8)), at(few + some), np.int64(middling),
                np.int64(many), seed, now, shared=self._shared,
            )  # fmt: skip
        if hubs:
            place, parts = at(few + some + middling + many), np.uint32(self._parts)
            start("add_hubs", hubs * self._parts, place, parts, shared=self._shared)
            start("choose_hubs", hubs * self._parts, place, parts, self._found, seed, now)
        count = sum(counts)
        blocks = min(self._blocks, grid_for(count, _THREADS))
        start("judge", blocks, at(0), np.int64(count), seed, now)
        start("make_moves", blocks, at(0), np.int64(count))
        blocks = max(grid_for(8 * (few + some) + 32 * middling, _THREADS), many + hubs * self._parts)
        start(
            "mark", min(self._blocks, blocks), at(0), np.int64(few + some), np.int64(middling), np.int64(many),
            np.int64(hubs), np.uint32(self._parts), now,
        )  # fmt: skip
