"""The edges of a store, read in pages: for conversions of stores that are larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from dromos.dtypes import Array
from dromos.errors import ResourceError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Progress
from dromos.graph.formats.both_directions import one_direction
from dromos.graph.labels import Labels
from dromos.graph.store.budget import LEAST_MEMORY, Budget
from dromos.graph.store.paged.offsets import offset_bytes
from dromos.graph.store.stored import StoredGraph, open_store
from dromos.graph.summary import enough_bytes, human_bytes

__all__ = ["stored_edges"]


class _StoredEdges(EdgeSource):
    """Edges whose ends are vertices 0..n-1, also where the vertices have labels."""

    def vertices_named(self, labels: Labels, names: Array) -> Array:
        return names


def stored_edges(path: str | os.PathLike[str], memory: int, *, both_directions: bool, progress: Progress) -> EdgeSource:
    """The edges of a store, in the order of its rows.

    An edge of an undirected graph comes once, unless ``both_directions`` makes two directed edges of it. The row
    offsets stay in memory, and may take a quarter of ``memory``.
    """
    graph = open_store(path)
    held = offset_bytes(graph.header)
    if 4 * held > max(memory, LEAST_MEMORY):
        raise ResourceError(
            f"memory={human_bytes(memory)} is too little: the row offsets of {path} take {human_bytes(held)}, "
            f"and may take a quarter; give at least {enough_bytes(4 * held)}"
        )
    once = not (graph.directed or both_directions)
    return _StoredEdges(
        _blocks(graph, memory, once, progress),
        directed=not once, num_vertices=graph.num_vertices, labels=graph.labels,
    )  # fmt: skip


def _blocks(graph: StoredGraph, memory: int, once: bool, progress: Progress) -> Iterator[EdgeBlock]:
    budget, done = Budget(memory), 0
    if not graph.num_arcs and graph.weights is not None:  # no block below tells the type of the weights
        ids = np.empty(0, np.int32)
        yield EdgeBlock(ids, ids, np.empty(0, graph.weights.dtype))
    for block in graph.arc_blocks(budget.frame_edges, budget.memory):
        yield EdgeBlock(*(one_direction(*block) if once else block))
        done += len(block[0])
        progress(done, graph.num_arcs)
