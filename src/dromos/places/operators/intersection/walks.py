"""Closed walks of three steps by weight, over blocks of rows: the intersection of rows, with a weight for every arc.

The contract: ``add_walks(left, right, total)`` takes two blocks of rows that are sets, with weights. For each row v of
``left`` it goes through the members u that are rows of ``right``, in order. For each it adds to ``total`` at v the
weight of u times the sum, over the members x that rows u and v share, of the product of both their weights.

Rows of ``left`` are whole, and those of ``right`` have only members of higher degree, so each triangle is found in one
of its two directions. One thread handles a vertex, and its sum continues from one range of held rows to the next in the
order of the ids: it is the same to the last bit for any number of threads, blocks and ranks, and in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks, Rows
from dromos.places.operators.intersection import form_of, held_ranges

__all__ = ["AddWalks", "add_walks_of", "sum_closed_walks"]

AddWalks: TypeAlias = Callable[[Rows, Rows, Array], None]
"""Takes two blocks, and the sums to add to."""


def add_walks_of(leaf: str, num_vertices: int, threads: int | None = None) -> AddWalks:
    """The form of a leaf engine, for a graph with ``num_vertices`` vertices."""
    found: AddWalks = form_of(leaf).add_walks(num_vertices, threads)
    return found


def sum_closed_walks(blocks: Blocks, leaf: str, *, greatest: float = 1.0) -> Mapping[str, Array]:
    """``walks``: for each vertex, the sum of the products of weights over walks of three steps back to it.

    A step weighs the cube root of an arc's weight as a fraction of the ``greatest``, or 1; steps between two vertices
    with arcs both ways in a directed graph weigh the sum of both. Self-loops are left out, and of parallel arcs the
    heaviest counts. ``degree``: the remaining arcs of each vertex in all directions; ``near``: its number of neighbors.
    """
    n = blocks.shape.num_vertices
    total = np.zeros(n)
    add = add_walks_of(leaf, n, blocks.threads)
    merge = _Merging(blocks, greatest)
    for held in blocks.of_everybody(held_ranges(blocks, lambda rows: _to_hubs(merge(rows), blocks.degree))):
        for rows in blocks.rows():
            add(merge(rows), held, total)
    total *= 2
    for values in (total, merge.degree, merge.near):
        blocks.share(values)
    return {"walks": total, "degree": merge.degree, "near": merge.near}


class _Merging:
    """Rows as sets in the order of the ids, with the weights of steps."""

    def __init__(self, blocks: Blocks, greatest: float) -> None:
        n = blocks.shape.num_vertices
        self._n, self._greatest = n, greatest
        self._outward = blocks.shape.out_degree if len(blocks.directions) > 1 else None
        self.degree, self.near = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def __call__(self, rows: Rows) -> Rows:
        first, last = rows.first, rows.last
        weights = np.ones(len(rows.targets)) if rows.weights is None else np.cbrt(rows.weights / self._greatest)
        keys = (rows.sources - first) * self._n + rows.targets
        keys *= 2
        if self._outward is not None:  # the second half of a row has the arcs that reach the vertex
            lengths = np.diff(rows.offsets)
            inward = rows.offsets[:-1] + self._outward[first:last]
            keys += np.arange(len(keys)) >= np.repeat(inward, lengths)
        other = np.flatnonzero(rows.sources != rows.targets)
        if len(other) < len(keys):
            keys, weights = keys[other], weights[other]
        del other
        if not (keys[1:] >= keys[:-1]).all():
            order = np.argsort(keys, kind="stable")  # most rows are in order already, in each direction
            keys, weights = keys[order], weights[order]
            del order
        keys, weights = _grouped(keys, weights, np.maximum)
        keys >>= 1
        self.degree[first:last] = self._lengths(keys, last - first)
        if self._outward is not None:
            keys, weights = _grouped(keys, weights, np.add)
        lengths = self._lengths(keys, last - first)
        self.near[first:last] = lengths
        keys -= np.repeat(np.arange(last - first) * self._n, lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Rows(first, last, offsets, keys.astype(rows.targets.dtype), weights)

    def _lengths(self, keys: Array, rows: int) -> Array:
        """The number of keys, which are in order, of each row."""
        return np.diff(np.searchsorted(keys, np.arange(rows + 1) * self._n))


def _grouped(keys: Array, weights: Array, merge: np.ufunc) -> tuple[Array, Array]:
    """Each key once, with its weights merged; equal keys are adjacent."""
    if (keys[1:] > keys[:-1]).all():
        return keys, weights
    begins = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[begins], merge.reduceat(weights, begins)


def _to_hubs(rows: Rows, degree: Array) -> Rows:
    """Rows with only the members of higher degree, or of equal degree and lower id."""
    assert rows.weights is not None
    sources, targets = rows.sources, rows.targets
    here, there = degree[sources], degree[targets]
    chosen = np.flatnonzero((there > here) | ((there == here) & (targets < sources)))
    offsets = np.searchsorted(chosen, rows.offsets)
    return Rows(rows.first, rows.last, offsets, targets[chosen], rows.weights[chosen])
