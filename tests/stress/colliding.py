"""Graphs on which threads come to the same vertex at the same time, and a program that shows what they did there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dromos.program as dr
from dromos.dtypes import Array
from dromos.graph import Graph, generators

__all__ = ["SHAPES", "Pairs", "acyclic", "everyone_wants_everyone", "graph_of"]

SHAPES = ("hubs", "chain", "equal", "uniform")


class Pairs(dr.Program):
    """A claim with a message of two parts, which belong together: ``second`` is ``2 * first + 1``."""

    first = dr.field(dr.ID)
    second = dr.field(np.int64)
    sources = dr.param(int)
    combine = dr.ANY

    def init(self, v: Any) -> Any:
        return {
            "first": dr.where(v.id < self.sources, v.id, -1),
            "second": dr.where(v.id < self.sources, 2 * v.id + 1, -1),
        }

    def start(self, v: Any) -> Any:
        return v.id < self.sources

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id, 2 * u.id + 1

    def update(self, v: Any, message: Any) -> Any:
        first, second = message
        free = v.first < 0
        return {"first": dr.where(free, first, v.first), "second": dr.where(free, second, v.second)}

    def active(self, old: Any, new: Any) -> Any:
        return new.first != old.first


def everyone_wants_everyone(sources: int, targets: int) -> Graph:
    """Each of the sources has an edge to each of the targets, so that all threads come to the same targets."""
    src = np.repeat(np.arange(sources), targets)
    dst = np.tile(np.arange(sources, sources + targets), sources)
    return Graph.from_edges(src, dst, np.ones(len(src), np.float32), num_vertices=sources + targets)


def graph_of(shape: str, seed: int, *, directed: bool = True, size: int = 2000) -> Graph:
    """A weighted graph of one of the ``SHAPES`` with some ``size`` vertices."""
    draw = np.random.default_rng(seed)
    src, dst, weights = (np.concatenate(parts) for parts in zip(*_parts(shape, draw, size), strict=True))
    return Graph.from_edges(src, dst, weights.astype(np.float32), num_vertices=size, directed=directed)


def acyclic(graph: Graph) -> Graph:
    """The edges of a graph that lead from a lower id to a higher one."""
    edges = graph.edges()
    kept = edges.src < edges.dst
    weights = None if edges.weight is None else edges.weight[kept]
    return Graph.from_edges(edges.src[kept], edges.dst[kept], weights, num_vertices=graph.num_vertices)


def _parts(shape: str, draw: Any, size: int) -> Iterator[tuple[Array, Array, Array]]:
    everyone = np.arange(size)
    if shape == "hubs":  # a few vertices that all others send to and hear from
        for hub in range(4):
            yield np.full(size, hub), everyone, draw.random(size) + 0.01
            yield everyone, np.full(size, hub), draw.random(size) + 0.01
    elif shape == "chain":  # a long way round, and short cuts that overtake it
        yield everyone[:-1], everyone[1:], np.full(size - 1, 0.25)
        yield draw.integers(0, size, size // 8), draw.integers(0, size, size // 8), draw.random(size // 8) + 1
    elif shape == "equal":  # many ways of the same length
        yield draw.integers(0, size, 8 * size), draw.integers(0, size, 8 * size), np.ones(8 * size)
    else:
        edges = generators.uniform(size, 4 * size, directed=True, seed=int(draw.integers(1 << 30))).edges()
        yield edges.src, edges.dst, draw.random(len(edges.src)) * 0.98 + 0.01
