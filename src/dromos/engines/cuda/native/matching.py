"""Maximal matchings: rounds that take every edge which comes before all others at both of its ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.edge_lists import LISTS, EdgeList, EdgeLists, edge_sources, table_of
from dromos.engines.cuda.native.launching import CYCLES, grid_for, launch, module_of
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.native.greedy import match_edges, match_rows
from dromos.graph import Graph

__all__ = ["WANTS", "matching", "sources"]

WANTS: Final = replace(LISTS, host_graph=True)
_NAME: Final = "native_matching"
_THREADS: Final = 256
_EDGES, _WORDS = 0, 5  # as in the kernel: the word of the state that says how many edges are left, and all of them
_ROUNDS: Final = 8  # between two looks of the host
_FEW: Final = 4096  # edges that are not worth the way to the host
_WORTH_A_ROUND: Final = 512
"""Edges that a round has to settle, and one of each 1,024 that it reads: the host is done with fewer sooner."""


def matching(graph: DeviceGraph, *, host: Graph) -> Mapping[str, Any]:
    """``mate``: the given id of each vertex's mate, or -1; where there are weights, ``weight`` of each pair.

    ``host`` is the graph there, which goes on where choices wait for each other in long chains. The answers are those
    of :func:`dromos.engines.native.greedy.matching`: without weights an edge counts by the turn of that end which
    chooses first, and by how that one likes the other.
    """
    import cupy

    n, dtype, weighted = graph.num_vertices, graph.out.targets.dtype, graph.out.weights is not None
    names, likes = (graph.ids, None) if weighted else _turns(graph)
    lists = EdgeLists(_NAME, graph, falling=weighted, names=names, likes=likes)
    fields = {"mate": cupy.empty(n, dtype)}
    if lists.weight_dtype is not None:
        fields["weight"] = cupy.zeros(n, lists.weight_dtype)
    if not n:
        return fields
    pairs, finished = _Pairs(lists), True
    for limit in lists.limits() if graph.num_arcs else ():
        finished = finished and pairs.add(lists.listed(limit, pairs.mate if pairs.grown else None))
    launch(
        lists.module, "name_mates", grid_for(n, _THREADS), _THREADS, lists.order, dtype.type(n), graph.ids, pairs.mate,
        pairs.rank, fields["mate"], fields.get("weight"),
    )  # fmt: skip
    if finished:
        return fields
    mate = to_host(graph.to_given_order(fields["mate"]))
    match_rows(host, mate)
    return {"mate": mate}


def _turns(graph: DeviceGraph) -> tuple[Any, Any]:
    """The place of each vertex among all by degrees, and of one degree by given ids; and how it is liked."""
    import cupy

    n, dtype = graph.num_vertices, graph.out.targets.dtype
    turn, keys, likes = cupy.empty(n, dtype), cupy.empty(n, cupy.uint64), cupy.empty(n, cupy.uint64)
    if n:
        module, vertices = module_of(_NAME, graph, "KEY=unsigned"), dtype.type(n)
        launch(
            module, "turn_keys", grid_for(n, _THREADS), _THREADS, graph.out.offsets, vertices, graph.ids, keys, likes
        )
        keys.sort()
        launch(module, "turns_of", grid_for(n, _THREADS), _THREADS, keys, vertices, graph.rank, turn)
    return turn, likes


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

    def add(self, edges: EdgeList) -> bool:
        """Take the edges of a list whose ends are free, in their order; False: some are left to the host."""
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
            if left > _FEW and before - left < _ROUNDS * (_WORTH_A_ROUND + left // 1024):
                if lists.weight_dtype is None:
                    return False
                self._finish(edges.second if rounds % 2 else edges.first, left)
                break
        return True

    def _finish(self, edges: Any, count: int) -> None:
        """Take what is left of a list on the host, one edge after the other."""
        import cupy

        lists, dtype = self._lists, self.mate.dtype
        source, target = cupy.empty(count, dtype), cupy.empty(count, dtype)
        rank, ties = cupy.empty(count, lists.key_dtype), cupy.empty(count, cupy.uint64)
        launch(
            lists.module, "write_columns", grid_for(count, _THREADS), _THREADS, lists.order, edges, np.uint64(count),
            source, target, rank, ties,
        )  # fmt: skip
        order = cupy.argsort(ties)
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
