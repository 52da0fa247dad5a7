"""Samples of neighborhoods of a graph on disk.

Arcs are drawn by their positions, so the row offsets are enough to draw them. Only the pages that hold drawn arcs are
read, and no others of a long row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.sampling import sampled_layers
from dromos.errors import ResourceError
from dromos.graph.store.stored import StoredGraph
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.places.stream.budget import WORK_SHARE
from dromos.places.stream.row_reader import RowReader

__all__ = ["sampling"]

_EDGE_BYTES: Final = 96
"""Bytes per drawn edge: its position, sorted twice, its two ends, and the data that finds new vertices."""


def sampling(
    reader: RowReader, graph: StoredGraph, *, seeds: Array, limits: Sequence[int], seed: int, strict: bool, **_: Any
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.sampling.sampling`. ``strict``: no layer takes more than the reader allows."""

    def targets_at(arcs: Array) -> Array:
        needed = len(arcs) * _EDGE_BYTES
        if strict and needed > reader.work:
            whole = reader.memory + WORK_SHARE * needed
            raise ResourceError(
                f"memory={human_bytes(reader.memory)} is too little: a layer of {len(arcs):,} edges takes "
                f"{human_bytes(needed)} while it is drawn, but the budget has only {human_bytes(reader.work)} for "
                f"that; give {enough_bytes(whole)}, or use fewer seeds at a time",
                needed=whole,
            )
        return reader.targets_at(graph.out_prefix, arcs)

    return sampled_layers(
        reader.offsets[graph.out_prefix], targets_at, _SortedPlaces(), seeds=seeds, limits=limits, seed=seed
    )


class _SortedPlaces:
    """See :class:`dromos.engines.native.sampling.Places`; sorted, so that a call does no work for all vertices."""

    def __init__(self) -> None:
        self._vertices, self._places = np.empty(0, np.int64), np.empty(0, np.int64)

    def enter(self, vertices: Array) -> tuple[Array, Array]:
        """See :class:`dromos.engines.native.sampling.Places`."""
        unique, first, inverse = np.unique(vertices, return_index=True, return_inverse=True)
        at = np.searchsorted(self._vertices, unique)
        there = np.zeros(len(unique), dtype=bool)
        inside = np.flatnonzero(at < len(self._vertices))
        there[inside] = self._vertices[at[inside]] == unique[inside]
        places = np.empty(len(unique), np.int64)
        places[there] = self._places[at[there]]
        fresh = np.flatnonzero(~there)
        fresh = fresh[np.argsort(first[fresh], kind="stable")]
        places[fresh] = len(self._vertices) + np.arange(len(fresh))
        known = np.concatenate([self._vertices, unique[fresh]])
        order = np.argsort(known, kind="stable")
        self._vertices, self._places = known[order], np.concatenate([self._places, places[fresh]])[order]
        return places[inverse], unique[fresh]
