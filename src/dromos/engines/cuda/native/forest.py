"""Minimum spanning forests by Boruvka's rounds, the lightest edges first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.edge_lists import LISTS, EdgeList, EdgeLists, edge_sources, table_of
from dromos.engines.cuda.native.fields import AsItIs
from dromos.engines.cuda.native.launching import CYCLES, grid_for, launch

__all__ = ["WANTS", "forest", "sources"]

WANTS: Final = LISTS
_NAME: Final = "native_forest"
_THREADS: Final = 256
_EDGES, _WORDS = 0, 8  # as in the kernel: the word of the state that says how many edges are left, and all of them


def forest(graph: DeviceGraph, *, maximum: bool = False) -> Mapping[str, Any]:
    """The edges of a spanning forest of a symmetric graph, as columns of given ids; those of the least weight.

    ``source``, ``target`` and, where there are weights, ``weight``, by source and target. Of equal edges the first of
    those is taken. ``maximum``: the greatest weight instead.
    """
    import cupy

    lists = EdgeLists(_NAME, graph, falling=maximum, names=graph.ids)
    dtype, trees, num_taken = graph.out.targets.dtype, _Trees(lists), 0
    if graph.num_arcs:
        for limit in lists.limits():
            trees.join(lists.listed(limit, trees.parent if trees.grown else None))
            num_taken = graph.num_vertices - trees.num_roots
    columns = {"source": cupy.empty(num_taken, dtype), "target": cupy.empty(num_taken, dtype)}
    if lists.weight_dtype is not None:
        columns["weight"] = cupy.empty(num_taken, lists.weight_dtype)
    if num_taken:
        trees.write(columns)
    return {name: AsItIs(column) for name, column in columns.items()}


class _Trees:
    """A forest that grows by lists of edges, each behind those before it in the order."""

    def __init__(self, lists: EdgeLists) -> None:
        import cupy

        n, dtype = lists.graph.num_vertices, lists.graph.out.targets.dtype
        self._lists, self._vertices, self.grown = lists, dtype.type(n), False
        self.parent, self._chosen = cupy.empty(n, dtype), cupy.empty(n, np.uint64)
        self._rank = cupy.empty(n, lists.key_dtype)
        self._scratch = [cupy.empty(n, dtype), cupy.empty(n, lists.key_dtype), cupy.empty(n, np.uint64)]
        hook, best, tie = self._scratch
        self._table = table_of(
            _NAME, "Trees", parent=self.parent, hook=hook, best=best, tie=tie, chosen=self._chosen, rank=self._rank
        )
        self._roots, self.num_roots = [cupy.empty(n, dtype) for _ in range(2)], n
        launch(lists.module, "plant", grid_for(n, _THREADS), _THREADS, self._vertices, self._table, self._roots[0])

    def join(self, edges: EdgeList) -> None:
        """Take the edges of a list that join two trees."""
        import cupy

        lists, state = self._lists, np.zeros(_WORDS, np.uint64)
        module, threads = lists.module, lists.threads
        state[:2] = edges.size, self.num_roots
        words, left = cupy.asarray(state), edges.size
        grid = module.cooperative_grid("span", threads)
        while left:
            launch(
                module, "span", grid, threads, lists.order, lists.graph.rank, self._table, edges.first, edges.second,
                *self._roots, words, cupy.zeros(1, cupy.uint32), np.int64(CYCLES), together=True,
            )  # fmt: skip
            left = int(words.get()[_EDGES])
        count = cupy.zeros(1, cupy.uint32)
        n = lists.graph.num_vertices
        launch(
            module, "gather_roots", grid_for(n, _THREADS), _THREADS, self._vertices, self.parent, self._roots[0], count
        )
        self.num_roots, self.grown = int(count.get()[0]), True

    def write(self, columns: Mapping[str, Any]) -> None:
        """The edges that were taken, by their ends; after this nothing can be joined."""
        import cupy

        self._scratch.clear()
        self._roots.clear()
        count, weight, sequence = len(columns["source"]), columns.get("weight"), None
        if weight is None:
            self._chosen.sort()  # vertices that are roots still have none, which is behind all
        else:
            sequence = cupy.argsort(self._chosen)
        launch(
            self._lists.module, "write_rows", grid_for(count, _THREADS), _THREADS, self._lists.order, np.uint64(count),
            sequence, self._chosen, self._rank, columns["source"], columns["target"], weight,
        )  # fmt: skip


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return edge_sources(_NAME)
