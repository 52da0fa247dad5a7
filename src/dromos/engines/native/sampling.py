"""Samples of neighborhoods: up to a number of arcs of each vertex, drawn by hashes of the arcs' positions.

No program can express it: which of its neighbors a vertex takes is not a merge of messages. Memory: 8 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.splitmix import STEP, mixed
from dromos.graph import Graph
from dromos.parallel import run_team

__all__ = ["Places", "drawn_arcs", "salt_of", "sampled_layers", "sampling"]

_FEW: Final = 1 << 15  # arcs that NumPy sorts faster than a kernel is loaded


def sampling(
    graph: Graph, *, seeds: Array, limits: Sequence[int], seed: int, threads: int | None = None
) -> Mapping[str, Array]:
    """``vertices`` of a sample, the seeds first, and for each layer ``source_0``, ``target_0``: indices among them.

    The rows of the graph hold in-arcs. Up to ``limits[0]`` arcs of each seed are drawn, then up to ``limits[1]`` of
    each new vertex, and so on.

    >>> import dromos as dr
    >>> found = sampling(dr.generators.path(4), seeds=np.array([1]), limits=[2, 2], seed=0)
    >>> found["vertices"].tolist(), found["source_1"].tolist(), found["target_1"].tolist()
    ([1, 0, 2, 3], [0, 0, 3], [1, 2, 2])
    """
    places = _Places(graph.num_vertices)
    return sampled_layers(
        graph.offsets, lambda arcs: graph.targets[arcs], places, seeds=seeds, limits=limits, seed=seed
    )


class Places(Protocol):
    """The indices of vertices in a sample: each gets the next one on first occurrence."""

    def enter(self, vertices: Array) -> tuple[Array, Array]:
        """The indices of ``vertices``, which may repeat, and the new ones among them, in the order of indices."""


class _Places:
    """In an array of all vertices."""

    def __init__(self, num_vertices: int) -> None:
        self._place, self._known = np.full(num_vertices, -1, np.int64), 0

    def enter(self, vertices: Array) -> tuple[Array, Array]:
        """See :class:`Places`."""
        new, first = np.unique(vertices[self._place[vertices] < 0], return_index=True)
        new = new[np.argsort(first, kind="stable")]
        self._place[new] = self._known + np.arange(len(new))
        self._known += len(new)
        return self._place[vertices], new


def sampled_layers(
    offsets: Array,
    targets_at: Callable[[Array], Array],
    places: Places,
    *,
    seeds: Array,
    limits: Sequence[int],
    seed: int,
) -> Mapping[str, Array]:
    """As :func:`sampling`, with the offsets of rows and a function that finds the targets of arcs by position."""
    places.enter(seeds)
    vertices, frontier, before, fields = [seeds], seeds, 0, dict[str, Array]()
    for layer, limit in enumerate(limits):
        rows, arcs = drawn_arcs(offsets, frontier, limit, seed, layer)
        fields[f"source_{layer}"], new = places.enter(targets_at(arcs).astype(np.int64))
        fields[f"target_{layer}"] = before + rows
        before += len(frontier)
        vertices.append(new)
        frontier = new
    return {"vertices": np.concatenate(vertices), **fields}


def salt_of(seed: int, layer: int) -> Array:
    """The salt of the hashes of arc positions in a layer, as an array of one."""
    return mixed(np.array([seed], np.uint64) * np.uint64(1024) + np.uint64(layer) + STEP)


def drawn_arcs(offsets: Array, vertices: Array, limit: int, seed: int, layer: int) -> tuple[Array, Array]:
    """The ``limit`` arcs of each vertex with the least random numbers, or all: ``(index among vertices, arc)``.

    They are in the order of the vertices, and of each one's row.

    >>> rows, arcs = drawn_arcs(np.array([0, 3, 4]), np.array([1, 0]), 2, seed=1, layer=0)
    >>> rows.tolist(), arcs.tolist()
    ([0, 1, 1], [3, 0, 2])
    """
    lengths = (offsets[vertices + 1] - offsets[vertices]).astype(np.int64)
    counts = np.minimum(lengths, limit)
    salt = salt_of(seed, layer)
    rows = np.repeat(np.arange(len(vertices)), counts)
    many = int(lengths.sum())
    arcs = (_by_sorting if many <= _FEW else _by_kernel)(offsets, vertices, limit, salt, counts)
    return rows, arcs[np.lexsort((arcs, rows))]


def _by_sorting(offsets: Array, vertices: Array, limit: int, salt: Array, counts: Array) -> Array:
    lengths = (offsets[vertices + 1] - offsets[vertices]).astype(np.int64)
    before = np.cumsum(lengths) - lengths
    rows, place = np.repeat(np.arange(len(vertices)), lengths), np.arange(int(lengths.sum()))
    within = place - np.repeat(before, lengths)
    arcs = within + offsets[vertices][rows]
    order = np.lexsort((mixed((arcs.astype(np.uint64) ^ salt) + STEP), rows))
    found: Array = arcs[order[within < limit]]
    return found


def _by_kernel(offsets: Array, vertices: Array, limit: int, salt: Array, counts: Array) -> Array:
    from dromos.engines.native import sampling_kernels as kernels

    total = int(counts.sum())
    arcs, keys, stop = np.empty(total, np.int64), np.empty(total, np.uint64), np.zeros(1, np.int64)
    run_team(
        kernels.draw, read_only(offsets), read_only(vertices), limit, read_only(salt), np.cumsum(counts) - counts, arcs,
        keys, np.zeros(1, np.int64), stop, stop=stop,
    )  # fmt: skip
    return arcs
