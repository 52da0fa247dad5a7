"""Graphs of all kinds that kernels are compiled for."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from dromos.dtypes import WEIGHT_DTYPES
from dromos.graph import Graph, generators

__all__ = ["large_graphs", "small_graphs"]

_VERTICES: Final = 64
_AROUND_A_HUB: Final = 160
_CYCLES: Final = 4
_TAIL: Final = 70  # searches along it have more levels than some algorithms take one by one
_SCALE: Final = 17  # with fewer vertices some algorithms use their methods for small graphs
_DENSE_SCALE: Final = 14
_SIDE: Final = 300


@cache
def small_graphs() -> tuple[Graph, ...]:
    """Graphs of all kinds that kernels are compiled for.

    Undirected and directed ones (the latter acyclic), without weights and with weights of each type; one with a hub and
    a long tail, which some algorithms treat differently; and one of several components.

    >>> len(small_graphs()), sorted({graph.num_vertices for graph in small_graphs()})
    (10, [64, 231])
    """
    draw = np.random.default_rng(1)
    ends = np.sort(draw.integers(0, _VERTICES, (2, 4 * _VERTICES)), axis=0)
    ends = ends[:, ends[0] != ends[1]]
    whole = draw.integers(1, 9, size=ends[0].shape)
    made = [
        Graph.from_edges(ends[0], ends[1], weights, num_vertices=_VERTICES, directed=directed)
        for directed in (False, True)
        for weights in (None, *(whole.astype(dtype) for dtype in WEIGHT_DTYPES))
    ]
    ends = np.arange(1, _AROUND_A_HUB + _TAIL + 1)
    star = Graph.from_edges(np.where(ends <= _AROUND_A_HUB, 0, ends - 1), ends, directed=False)
    every = np.arange(_VERTICES)
    length = _VERTICES // _CYCLES
    cycles = Graph.from_edges(every, every // length * length + (every + 1) % length, directed=False)
    return (*made, star, cycles)


@cache
def large_graphs() -> tuple[Graph, ...]:
    """Graphs that algorithms treat as large, but finish in tenths of a second; some are dense."""
    hubs = generators.rmat(_SCALE, 4, seed=1, dedupe=True, drop_self_loops=True)
    forward = generators.rmat(_SCALE, 4, seed=1, symmetrize=False)
    whole = generators.with_random_weights(hubs, 1, 9)
    dense = generators.rmat(_DENSE_SCALE, 16, seed=1, dedupe=True, drop_self_loops=True)
    weights = generators.with_random_weights(dense, 1, 9).weights
    return (
        hubs,
        forward,
        whole,
        hubs.with_weights(np.asarray(whole.weights, dtype=np.float64)),
        generators.with_random_weights(forward, 1, 2, dtype=np.float32),
        generators.grid(_SIDE, _SIDE),
        dense,
        *(dense.with_weights(np.asarray(weights, dtype=dtype)) for dtype in WEIGHT_DTYPES),
        generators.rmat(_DENSE_SCALE, 16, seed=1, symmetrize=False),
        generators.rmat(_DENSE_SCALE + 1, 8, seed=1),
    )
