"""Up to so many arcs of each vertex, drawn by random numbers that are hashes of the arcs' positions."""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.splitmix import STEP, mixed
from dromos.parallel import run_team

__all__ = ["drawn_arcs"]

_FEW: Final = 1 << 15  # arcs that NumPy sorts sooner than a kernel is loaded


def drawn_arcs(offsets: Array, vertices: Array, limit: int, seed: int, layer: int) -> tuple[Array, Array]:
    """Of each vertex the ``limit`` arcs with the least random numbers, or all: ``(place among vertices, arc)``.

    They stand in the order of the vertices, and of each one's row.

    >>> rows, arcs = drawn_arcs(np.array([0, 3, 4]), np.array([1, 0]), 2, seed=1, layer=0)
    >>> rows.tolist(), arcs.tolist()
    ([0, 1, 1], [3, 0, 2])
    """
    begins = offsets[vertices]
    lengths = offsets[vertices + 1] - begins
    counts = np.minimum(lengths, limit)
    salt = mixed(np.array([seed], np.uint64) * np.uint64(1024) + np.uint64(layer) + STEP)
    rows = np.repeat(np.arange(len(vertices)), counts)
    many = int(lengths.sum())
    arcs = (_by_sorting if many <= _FEW else _by_kernel)(offsets, vertices, limit, salt, counts)
    return rows, arcs[np.lexsort((arcs, rows))]


def _by_sorting(offsets: Array, vertices: Array, limit: int, salt: Array, counts: Array) -> Array:
    lengths = offsets[vertices + 1] - offsets[vertices]
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
