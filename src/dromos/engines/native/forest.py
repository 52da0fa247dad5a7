"""Weakly connected components over rows on several processors: one forest that is passed from one to the next.

Every processor hooks the trees of the forest together along its rows, as Afforest does in one memory. In a symmetric
graph a row whose vertex is in the largest tree is skipped: each of its arcs is seen from its other end, wherever that
is, or both ends are in that tree. So the processors after the first one skip most rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.cpu.memory import reused_empty
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads, run_team

__all__ = ["UNKNOWN", "Forest", "link_rows", "named"]

UNKNOWN: Final = -1
_NO_ONE: Final = -2
_SMALL: Final = 1 << 15


@dataclass(eq=False)
class Forest:
    """``parent[v]`` is ``v`` at a root, and less than ``v`` elsewhere.

    >>> Forest.of(3, np.dtype(np.int32), symmetric=True).planted().tolist()
    [0, 1, 2]
    """

    size: int
    dtype: np.dtype[Any]
    giant: int
    """A vertex of the tree whose rows are skipped; :data:`UNKNOWN` until it has been determined."""
    parent: Array | None = None
    """None: every vertex is alone."""

    @classmethod
    def of(cls, num_vertices: int, dtype: np.dtype[Any], *, symmetric: bool) -> Forest:
        """Every vertex alone."""
        return cls(num_vertices, dtype, UNKNOWN if symmetric else _NO_ONE)

    def planted(self) -> Array:
        """The parents, allocated on first use."""
        if self.parent is None:
            self.parent = reused_empty(self.size, self.dtype)
            self.parent[:] = np.arange(self.size, dtype=self.dtype)
        return self.parent


def link_rows(forest: Forest, piece: GraphSlice, threads: int | None = None) -> None:
    """Join the trees along the out-rows of a slice; then make every vertex point at its root.

    >>> forest = Forest.of(4, np.dtype(np.int32), symmetric=False)
    >>> link_rows(forest, GraphSlice(2, 4, np.array([0, 1, 2]), np.array([0, 3], np.int32), None), 1)
    >>> forest.planted().tolist()
    [0, 1, 0, 3]
    """
    from dromos.engines.native import components_kernels as kernels
    from dromos.jit import LINE, team_memory

    if not piece.num_arcs:
        return
    small = piece.num_arcs < _SMALL
    team = 1 if small else num_threads(threads)
    cursors, stop = np.zeros(kernels.PHASES * LINE, dtype=np.int64), np.zeros(1, dtype=np.int64)
    giant = np.array([forest.giant], np.int64)
    run_team(
        kernels.link_rows, np.int64(piece.start), read_only(piece.offsets), read_only(piece.targets), forest.planted(),
        giant, cursors, team_memory(team), stop, threads=team, stop=None if small else stop,
    )  # fmt: skip
    forest.giant = int(giant[0])


def named(forest: Forest, given_ids: Array, new_ids: Array, threads: int | None = None) -> Array:
    """The least given id of each vertex's tree, in the given order; every vertex has to point at its root.

    >>> forest = Forest(3, np.dtype(np.int32), 0, np.array([0, 0, 2], np.int32))
    >>> named(forest, np.array([2, 0, 1]), np.array([1, 2, 0]), 1).tolist()
    [0, 1, 0]
    """
    from dromos.engines.native import components_kernels as kernels
    from dromos.jit import team_memory

    n, parent = forest.size, forest.planted()
    label, least = reused_empty(n, parent.dtype), reused_empty(n, parent.dtype)
    team = 1 if n < _SMALL else num_threads(threads)
    crowded = np.int64(parent[forest.giant]) if forest.giant >= 0 else np.int64(UNKNOWN)
    run_team(
        kernels.name_trees, parent, read_only(given_ids), read_only(new_ids), crowded, least, label,
        team_memory(team), threads=team,
    )  # fmt: skip
    return label
