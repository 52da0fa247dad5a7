"""Similar vertices by common neighbours: the same pairs as on the CPU, in the same order.

Sources with few walks of two steps are warps' work, others blocks', those with the most first. The rows of a portion of
the sources are packed on the device before they are copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.compiler import as_bytes
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.fields import AsItIs
from dromos.engines.cuda.native.launching import CYCLES, ID_VARIANTS, grid_for, launch, module_of, slices, text_of
from dromos.engines.cuda.records import number_of, record_of
from dromos.engines.cuda.residency import free_bytes
from dromos.engines.cuda.transfers import to_device, to_host

__all__ = ["similarity", "sources"]

_NAME: Final = "native_similarity"
_BLOCK: Final = number_of(_NAME, "BLOCK")
_METRICS: Final = {"jaccard": number_of(_NAME, "JACCARD"), "overlap": number_of(_NAME, "OVERLAP"), "cosine": 2}
_WALKS: Final = (32, 256)
"""Walks of two steps up to which a warp counts them, in a table of twice as many slots."""
_THREADS: Final = 256
_PORTION: Final = 1 << 28  # bytes of pairs
_SOURCES_A_LAUNCH: Final = 1 << 22
pairs_type: Final = record_of(_NAME, "Pairs")
"""The structure ``Pairs`` of the kernels."""


def similarity(graph: DeviceGraph, *, sources: Array, metric: str, k: int) -> Mapping[str, Any]:
    """Up to ``k`` vertices most similar to each source, ``count`` of them: ``best``, source by source, and ``score``.

    The graph has no parallel edges.
    """
    ids = graph.out.targets.dtype
    search = _Search(graph, _METRICS[metric], k)
    most = max(1, _PORTION // ((8 + ids.itemsize) * k))
    found = [search.of(sources[begin:end]) for begin, end in slices(len(sources), most)]
    empty = {"count": np.empty(0, np.int64), "best": np.empty(0, ids), "score": np.empty(0)}
    if len(found) == 1:
        return {name: AsItIs(values) for name, values in found[0].items()}
    return {name: AsItIs(np.concatenate([none, *(part[name] for part in found)])) for name, none in empty.items()}


class _Search:
    """Looks for the best of some sources at a time."""

    def __init__(self, graph: DeviceGraph, metric: int, k: int) -> None:
        self.graph, self.k = graph, k
        self.module, self.ids = module_of(_NAME, graph), graph.out.targets.dtype
        record = self.record = np.zeros(1, pairs_type)
        record["offsets"], record["targets"] = address(graph.out.offsets), address(graph.out.targets)
        record["back_offsets"], record["back_targets"] = address(graph.into.offsets), address(graph.into.targets)
        record["ids"], record["n"], record["k"] = address(graph.ids), graph.num_vertices, k
        record["metric"], record["cycles"] = metric, CYCLES
        self.kept: list[Any] = []  # arrays of the blocks, zero where that is asked for

    def of(self, sources: Array) -> dict[str, Array]:
        """The fields of these sources, on the host."""
        import cupy

        rows, record = len(sources), self.record
        chosen = to_device(sources.astype(np.int64, copy=False))
        starts = (chosen if self.graph.rank is None else self.graph.rank[chosen]).astype(self.ids)
        best, score = cupy.empty(rows * self.k, self.ids), cupy.empty(rows * self.k)
        count, walks = cupy.empty(rows, cupy.int64), cupy.empty(rows, cupy.int64)
        record["sources"], record["count"] = address(starts), address(count)
        record["best"], record["score"] = address(best), address(score)
        self.module.launch("count_walks", grid_for(32 * rows, _THREADS), _THREADS, record, np.int64(rows), walks)
        least = -1
        for most in _WALKS:
            self._by_warps(cupy.flatnonzero((walks > least) & (walks <= most)), 2 * most)
            least = most
        far = cupy.flatnonzero(walks > least)
        if len(far):
            self._by_blocks(far[cupy.argsort(-walks[far])])
        ends = cupy.cumsum(count)
        total = int(ends[-1])
        packed = cupy.empty(total, self.ids), cupy.empty(total)
        if total:
            self.module.launch(
                "pack_pairs", grid_for(rows * self.k, _THREADS), _THREADS, best, score, np.int64(self.k),
                np.int64(rows), ends, *packed,
            )  # fmt: skip
        return {"count": to_host(count), "best": to_host(packed[0]), "score": to_host(packed[1])}

    def _by_warps(self, places: Any, slots: int) -> None:
        import cupy

        shared = _THREADS // 32 * slots * (8 + self.ids.itemsize)
        record = self.record
        record["slots"] = slots
        for begin, end in slices(len(places), _SOURCES_A_LAUNCH):
            record["list"], record["size"] = address(places[begin:end]), end - begin
            blocks = grid_for(32 * (end - begin), _THREADS)
            launch(self.module, "similar_by_warps", blocks, _THREADS, as_bytes(record), shared=shared)
            cupy.cuda.get_current_stream().synchronize()  # where Ctrl-C is heard

    def _by_blocks(self, places: Any) -> None:
        import cupy

        n, record = self.graph.num_vertices, self.record
        if not self.kept:
            most = self.module.cooperative_grid("similar_by_blocks", _BLOCK)
            blocks = max(1, min(most, free_bytes() // 4 // (n * (12 + self.ids.itemsize))))
            self.kept = [
                cupy.zeros((blocks, n), cupy.uint32), cupy.empty((blocks, n), self.ids),
                cupy.empty((blocks, n), cupy.uint64), cupy.empty(1, cupy.uint64),
            ]  # fmt: skip
            for name, array in zip(("common", "seen", "standing", "cursor"), self.kept, strict=True):
                record[name] = address(array)
        cursor, blocks = self.kept[-1], min(len(self.kept[0]), len(places))
        cursor.fill(0)
        record["list"], record["size"] = address(places), len(places)
        while int(cursor[0]) < len(places):
            self.module.launch("similar_by_blocks", blocks, _BLOCK, record)


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), variant) for variant in ID_VARIANTS]
