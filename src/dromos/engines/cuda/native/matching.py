"""Maximal matchings: rounds that take every edge which comes before all others at both of its ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.edge_lists import EdgeList, EdgeLists, edge_sources, table_of
from dromos.engines.cuda.native.launching import CYCLES, grid_for, launch, module_of
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.native.greedy import match_edges

__all__ = ["matching", "sources"]

_NAME: Final = "native_matching"
_THREADS: Final = 256
_EDGES, _WORDS = 0, 5  # as in the kernel: the word of the state that says how many edges are left, and all of them
_ROUNDS: Final = 64  # between two looks of the host
_WORTH_A_ROUND: Final = 256
"""Edges that a round has to settle: one core of the host is done with fewer sooner."""


def matching(graph: DeviceGraph) -> Mapping[str, Any]:
    """``mate``: the given id of each vertex's mate, or -1; ``weight`` of their edge, where there are weights.

    Edges are taken from the heaviest on, of equal ones the first by its ends. Without weights vertices of a symmetric
    graph choose, from those of the fewest neighbours on, and take the free neighbour whose own turn comes first: so
    an edge counts by the turns of its ends.
    """
    import cupy

    n, dtype, weighted = graph.num_vertices, graph.out.targets.dtype, graph.out.weights is not None
    lists = EdgeLists(_NAME, graph, falling=weighted, names=graph.ids if weighted else _turns(graph))
    named = cupy.empty(n, dtype)
    weight = None if lists.weight_dtype is None else cupy.zeros(n, lists.weight_dtype)
    if n:
        pairs = _Pairs(lists)
        if graph.num_arcs:
            for limit in lists.limits():
                pairs.add(lists.listed(limit, pairs.mate if pairs.grown else None))
        launch(
            lists.module, "name_mates", grid_for(n, _THREADS), _THREADS, lists.order, dtype.type(n), graph.ids,
            pairs.mate, pairs.rank, named, weight,
        )  # fmt: skip
    return {"mate": named} if weight is None else {"mate": named, "weight": weight}


def _turns(graph: DeviceGraph) -> Any:
    """The place of each vertex among all by their degrees, and of one degree by their given ids."""
    import cupy

    n, dtype = graph.num_vertices, graph.out.targets.dtype
    turn, keys = cupy.empty(n, dtype), cupy.empty(n, cupy.uint64)
    if n:
        module, vertices = module_of(_NAME, graph, "KEY=unsigned"), dtype.type(n)
        launch(module, "turn_keys", grid_for(n, _THREADS), _THREADS, graph.out.offsets, vertices, graph.ids, keys)
        keys.sort()
        launch(module, "turns_of", grid_for(n, _THREADS), _THREADS, keys, vertices, graph.rank, turn)
    return turn


class _Pairs:
    """A matching that grows by lists of edges, each behind those before it in the order."""

    def __init__(self, lists: EdgeLists) -> None:
        import cupy

        n, dtype = lists.graph.num_vertices, lists.graph.out.targets.dtype
        self._lists, self.grown = lists, False
        self.mate, self.rank = cupy.empty(n, dtype), cupy.empty(n, lists.key_dtype)
        self._best = tuple(cupy.empty(n, lists.key_dtype) for _ in range(2))
        self._tie = tuple(cupy.empty(n, cupy.uint64) for _ in range(2))
        self._table = table_of(_NAME, "Ends", mate=self.mate, pair=self.rank, best=self._best, tie=self._tie)
        self._clear()

    def _clear(self) -> None:
        n, dtype = self._lists.graph.num_vertices, self._lists.graph.out.targets.dtype
        launch(
            self._lists.module, "clear_tables", grid_for(n, _THREADS), _THREADS, dtype.type(n), self._table,
            np.int32(not self.grown),
        )  # fmt: skip

    def add(self, edges: EdgeList) -> None:
        """Take the edges of a list whose ends are free, in their order."""
        import cupy

        lists, state = self._lists, np.zeros(_WORDS, np.uint64)
        if self.grown:
            self._clear()
        self.grown = True
        state[_EDGES] = left = edges.size
        words = cupy.asarray(state)
        grid = lists.module.cooperative_grid("match", lists.threads)
        while left:
            before = left
            launch(
                lists.module, "match", grid, lists.threads, lists.order, self._table, edges.first, edges.second, words,
                cupy.zeros(1, cupy.uint32), np.uint64(_ROUNDS), np.int64(CYCLES), together=True,
            )  # fmt: skip
            left, rounds = (int(word) for word in words.get()[:2])
            if left and before - left < _ROUNDS * _WORTH_A_ROUND:
                self._finish(edges.second if rounds % 2 else edges.first, left)
                return

    def _finish(self, edges: Any, count: int) -> None:
        """Take what is left of a list on the host: long chains, where each choice waits for the one before."""
        import cupy

        lists, dtype = self._lists, self.mate.dtype
        source, target = cupy.empty(count, dtype), cupy.empty(count, dtype)
        rank, ties = cupy.empty(count, lists.key_dtype), cupy.empty(count, cupy.uint64)
        launch(
            lists.module, "write_columns", grid_for(count, _THREADS), _THREADS, lists.order, edges, np.uint64(count),
            source, target, rank, ties,
        )  # fmt: skip
        order = cupy.argsort(ties)
        if lists.weight_dtype is not None:
            order = order.take(cupy.argsort(rank.take(order), kind="stable"))
        src, dst, keys = (to_host(column.take(order)) for column in (source, target, rank))
        mate, of_pair = to_host(self.mate), to_host(self.rank)
        taken = match_edges(src, dst, np.arange(count), mate)
        for ends in (src, dst):
            of_pair[ends[taken]] = keys[taken]
        self.mate, self.rank = to_device(mate), to_device(of_pair)
        self._table = table_of(_NAME, "Ends", mate=self.mate, pair=self.rank, best=self._best, tie=self._tie)


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return edge_sources(_NAME)
