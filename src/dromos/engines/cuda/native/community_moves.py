"""Local moving and refinement on one level of Louvain and Leiden: all passes in one cooperative kernel."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import as_bytes
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.community_levels import PIECE, DeviceLevel, LevelMaker, mass_define
from dromos.engines.cuda.native.launching import CYCLES, allow_shared, launch, module_of, multiprocessors
from dromos.engines.cuda.records import number_of, record_of

__all__ = ["NAME", "Moves"]

NAME: Final = "native_communities"
_KERNEL: Final = "move_vertices"
BATCHES: Final = 16
"""Into how many batches the vertices of a level are divided; fewer in a pass that takes fewer of them."""
_LEAST_BATCHES: Final = 4
"""Two vertices that would only change places are in one batch once in so many passes."""
_ONE_IN: Final = 1024
"""A pass that would take fewer than one in so many vertices is left to the next level."""
_MOST_PASSES: Final = 256
_ARCS_A_BLOCK: Final = 1 << 10
"""Of a level: with fewer, more blocks only make the barriers longer."""
_THREADS, _STATE, _FINISHED, _ARRIVALS = (
    number_of(NAME, name) for name in ("THREADS", "STATE", "FINISHED", "ARRIVALS")
)
_MOST_BINS: Final = number_of("community_batches", "MOST_BINS")
_SLOTS: Final = number_of("community_rows", "BLOCK_SLOTS")
_BEST_BYTES: Final = 40
_MOST_PARTS: Final = 64


class Moves:
    """The communities of a level's vertices, which move from those given, or from single ones on.

    ``within``: communities and their strengths, which are refined: vertices join parts of them, and none leaves a part
    that it has joined.
    """

    def __init__(
        self,
        graph: DeviceGraph,
        maker: LevelMaker,
        level: DeviceLevel,
        scale: float,
        community: Any = None,
        within: tuple[Any, Any] | None = None,
    ) -> None:
        import cupy

        n, mass, ids = level.size, maker.mass, maker.ids
        self.level = level
        self.community, self.total, self.size = maker.begun(level, community)
        self._module = module_of(NAME, graph, mass_define(mass))
        self._words = cupy.zeros(_STATE + 2 + 2 * _MOST_BINS, cupy.uint32)
        self._shared = _SLOTS * (mass.itemsize + ids.itemsize)
        self._arrays: dict[str, Any] = {
            "offsets": level.offsets, "targets": level.targets, "weights": level.weights, "strength": level.strength,
            "community": self.community, "total": self.total, "size": self.size,
            "joining": cupy.zeros(2 * n, mass), "leaving": cupy.zeros(2 * n, mass), "leavers": cupy.zeros(2 * n, ids),
            "changed": cupy.zeros(n, cupy.int32), "visited": cupy.zeros(n, cupy.int32),
            "choice": cupy.empty(n, ids), "more": cupy.empty(n, cupy.int64), "verdict": cupy.zeros(n, cupy.uint8),
            "list": cupy.empty(n, ids), "state": self._words, "counts": self._words[_STATE:], **self._hubs(mass, ids),
        }  # fmt: skip
        if within is not None:
            home, around = within
            self._arrays |= {"within": home, "around": around, "outside": maker.inside(level, home)}
        record = np.zeros(1, record_of("community_records", "Level"))
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
        allow_shared(self._module, _KERNEL, self._shared)
        blocks = min(
            self._module.cooperative_grid(_KERNEL, _THREADS, self._shared),
            max(multiprocessors(), self.level.arcs // _ARCS_A_BLOCK),
        )
        seed, enough = np.uint64(random.integers(1 << 62)), np.uint32(self.level.size // _ONE_IN)
        while True:
            launch(
                self._module, _KERNEL, blocks, _THREADS, self._record, seed, np.uint32(BATCHES),
                np.uint32(_LEAST_BATCHES), enough, np.uint32(_MOST_PASSES), np.uint32(self._parts), self._found,
                np.int64(CYCLES), shared=self._shared, together=True,
            )  # fmt: skip
            words = self._words[: _STATE + 1].get()
            if words[_FINISHED]:
                return int(words[_STATE])
            self._words[_ARRIVALS : _ARRIVALS + 1].data.memset_async(0, 4)
