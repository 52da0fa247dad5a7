"""Shares of shortest paths by edge, which add up to the betweenness of edges.

For each source of a batch, every vertex has its ``level`` (-1 if the source does not reach it), the number of shortest
``paths`` that lead to it, and its ``gain``: one more than its dependency, divided by its paths (0 if not reached). An
arc from u to v, one level further, then has the share ``paths[u] * gain[v]`` of all paths from the source.

The contract: ``add(piece, values, through, by_arc)`` takes a slice and adds the shares of all sources of a batch, in
order, to its rows of the result, the first ones of ``through``; it returns their number. ``by_arc``: each arc has a
row. Otherwise the graph is undirected and simple, and each edge has a row, at the arc from the lesser end, with the
shares of both directions. ``plain`` defines the meaning, ``vectorised`` uses NumPy, ``cpu`` all threads. One thread
handles a row, so that sums are the same for any number of threads, slices, ranks and sources of a batch.

Memory: the values of a batch, 20 bytes per vertex and source, and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.graph.slices import GraphSlice
from dromos.places.operators.blocks import Blocks

__all__ = ["BLOCK", "AddShares", "Values", "add_of", "add_shares", "answered"]

BLOCK = 1 << 14
"""Arcs that NumPy processes together."""


class Values(NamedTuple):
    """The state of the vertices: one row per vertex, one column per source."""

    level: Array
    paths: Array
    gain: Array


AddShares: TypeAlias = Callable[[GraphSlice, Values, Array, bool], int]
"""Takes a slice, the state of vertices, the rows to add to, and ``by_arc``; returns how many rows the slice has."""

_FORMS = {"cpu": "cpu", "cuda": "cpu", "numpy": "vectorised", "reference": "plain"}


def add_of(leaf: str, threads: int | None = None) -> AddShares:
    """The form of a leaf engine."""
    form: Any = import_module(f"dromos.places.operators.shares.{_FORMS[leaf]}")
    found: AddShares = form.add(threads)
    return found


def add_shares(
    blocks: Blocks, leaf: str, *, level: Array, paths: Array, gain: Array, through: Array, by_arc: bool, with_ends: bool
) -> Mapping[str, Array]:
    """``through`` with the shares of a batch added; with ends also the ``source`` and the ``target`` of each row.

    The given arrays are written to.
    """
    values, add = Values(level, paths, gain), add_of(leaf, blocks.threads)
    bounds = _bounds(blocks, len(through), by_arc)
    ends = [np.empty(len(through), blocks.dtype) for _ in range(2 if with_ends else 0)]
    done = bounds[blocks.process]
    for piece in blocks.slices():
        here = slice(done, done + add(piece, values, through[done:], by_arc))
        if with_ends:
            _write_ends(piece, by_arc, ends[0][here], ends[1][here])
        done = here.stop
    for column in (through, *ends):
        blocks.share(column, bounds)
    return {"through": through, **dict(zip(("source", "target"), ends, strict=False))}


def _bounds(blocks: Blocks, rows: int, by_arc: bool) -> list[int]:
    """Where the rows of each process begin, and where the last end."""
    if blocks.processes == 1:
        return [0, rows]
    own = sum(
        int(np.count_nonzero(answered(sources, targets, by_arc)))
        for piece in blocks.slices()
        for sources, targets in piece.arc_blocks(BLOCK, blocks.dtype)
    )
    return [0, *np.cumsum(blocks.collect(np.array([own]))).tolist()]


def answered(sources: Array, targets: Array, by_arc: bool) -> Array:
    """Which arcs stand for a row of the result."""
    return np.ones(len(sources), dtype=bool) if by_arc else sources < targets


def _write_ends(piece: GraphSlice, by_arc: bool, source: Array, target: Array) -> None:
    """Write the ends of the rows of a slice."""
    done = 0
    for begin, end in piece.arc_blocks(BLOCK, source.dtype):
        kept = np.flatnonzero(answered(begin, end, by_arc))
        here = slice(done, done + len(kept))
        source[here], target[here] = begin[kept], end[kept]
        done = here.stop
