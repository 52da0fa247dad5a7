"""The mode of a list: the most frequent of the labels around each vertex, the least if tied.

The contract: ``mode(offsets, values, before)`` takes lists as rows of ``values`` and returns one value for each; for an
empty list, that of ``before``. It may overwrite ``values``. ``plain`` defines the meaning, ``vectorised`` sorts, and
``cpu`` counts in hash tables, on all threads.

Label propagation consists of rounds of it. A list is a row of labels, gathered from all slices (and both directions)
that hold a part of the row before it is counted. Memory: the labels of two rounds, degrees, and one block of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks

__all__ = ["Mode", "mode_of", "propagate_labels"]

Mode: TypeAlias = Callable[[Array, Array, Array], Array]
"""Takes offsets of lists, their values, and the values for empty lists; returns one value per list."""

_FORMS = {"cpu": "cpu", "cuda": "cpu", "numpy": "vectorised", "reference": "plain"}


def mode_of(leaf: str, threads: int | None = None) -> Mode:
    """The form of a leaf engine.

    >>> lists = np.array([0, 3, 3]), np.array([7, 5, 7]), np.array([1, 2])
    >>> [mode_of(leaf)(*lists).tolist() for leaf in ("reference", "numpy")]
    [[7, 2], [7, 2]]
    """
    form: Any = import_module(f"dromos.places.operators.mode.{_FORMS[leaf]}")
    found: Mode = form.mode(threads)
    return found


def propagate_labels(blocks: Blocks, leaf: str, *, max_iter: int) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds, and those of the round before; a round that changes nothing is the last."""
    mode, n = mode_of(leaf, blocks.threads), blocks.shape.num_vertices
    label = np.arange(n, dtype=blocks.dtype)
    previous = label.copy()
    for _ in range(max_iter if blocks.degree.any() else 0):
        previous, label = label, previous
        for rows in blocks.rows():
            around = previous[rows.targets]
            label[rows.first : rows.last] = mode(rows.offsets, around, previous[rows.first : rows.last])
        blocks.share(label)
        if np.array_equal(label, previous):
            break
    return {"label": label, "previous": previous}
