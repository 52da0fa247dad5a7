"""The steps of Louvain and Leiden on blocks of rows, on the CPU's threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.native.community_levels import Level
from dromos.parallel import num_threads, run_team
from dromos.places.operators.blocks import Rows
from dromos.places.operators.communities import Form, Joins, Moves

__all__ = ["form"]

_SMALL = 1 << 14  # arcs that one thread processes alone


def form(num_vertices: int, threads: int | None = None) -> Form:
    """See :mod:`dromos.places.operators.communities`."""
    return _Compiled(num_vertices, num_threads(threads))


class _Compiled:
    def __init__(self, num_vertices: int, threads: int) -> None:
        self._threads = threads
        self._sums = np.zeros(threads * num_vertices)
        self._around = np.empty(0, np.int32)

    def around(self, rows: Rows, community: Array, moved: Array) -> tuple[Array, Array]:
        """See :mod:`dromos.places.operators.communities`."""
        inside, called = np.empty(rows.last - rows.first), np.empty(rows.last - rows.first, np.uint8)
        self._run("look_around", rows, read_only(community), read_only(moved.view(np.uint8)), inside, called)
        return inside, called.view(bool)

    def best_moves(self, rows: Rows, vertices: Array, moves: Moves) -> Array:
        """See :mod:`dromos.places.operators.communities`."""
        best = np.empty(len(vertices), moves.community.dtype)
        self._run(
            "choose_moves", rows, vertices, read_only(moves.strength), moves.scale, read_only(moves.community),
            read_only(moves.total), self._sums, self._seen(rows, best.dtype), best,
        )  # fmt: skip
        return best

    def best_joins(self, rows: Rows, vertices: Array, joins: Joins) -> Array:
        """See :mod:`dromos.places.operators.communities`."""
        best = np.empty(len(vertices), joins.part.dtype)
        known = map(read_only, (joins.community, joins.whole, joins.part, joins.total, joins.cut))
        self._run(
            "choose_joins", rows, vertices, read_only(joins.strength), joins.scale, *known,
            read_only(joins.mobile.view(np.uint8)), self._sums, self._seen(rows, best.dtype), best,
        )  # fmt: skip
        return best

    def joined(self, rows: Rows, vertices: Array, part: Array, new: Array) -> tuple[Array, Array]:
        """See :mod:`dromos.places.operators.communities`."""
        found = np.empty(len(vertices)), np.empty(len(vertices))
        self._run("weigh_joined", rows, vertices, read_only(part), read_only(new.view(np.uint8)), *found)
        return found

    def by_target(self, arcs: tuple[Array, Array, Array], strength: Array) -> Level:
        """See :mod:`dromos.places.operators.communities`."""
        sources, targets, weights = arcs
        offsets = np.concatenate([[0], np.cumsum(np.bincount(targets, minlength=len(strength)))])
        rows, sums = np.empty_like(sources), np.empty_like(weights)
        _kernels().sort_by_target(*map(read_only, arcs), offsets[:-1].copy(), rows, sums)
        return Level.of(offsets, rows, sums, strength)

    def pieces(self, rows: Rows, community: Array, parent: Array) -> None:
        """See :mod:`dromos.places.operators.communities`."""
        from dromos.engines.native import communities_block_kernels

        join: Any = communities_block_kernels.join_pieces
        join(*_arrays(rows), community, parent)

    def _run(self, kernel: str, rows: Rows, *arguments: Any) -> None:
        stop = np.zeros(1, np.int64)
        run_team(
            getattr(_kernels(), kernel), *_arrays(rows), *arguments, np.zeros(1, np.int64), stop,
            threads=1 if len(rows.targets) < _SMALL else self._threads, stop=stop,
        )  # fmt: skip

    def _seen(self, rows: Rows, dtype: np.dtype[Any]) -> Array:
        """Scratch memory for the groups around a vertex, for each thread; kept for the next call."""
        needed = self._threads * (rows.longest + 1)
        if len(self._around) < needed:
            self._around = np.empty(needed, dtype)
        return self._around


def _arrays(rows: Rows) -> tuple[Any, ...]:
    """The first vertex, and the rows in the form for kernels."""
    weights = np.empty(0) if rows.weights is None else rows.weights
    return np.int64(rows.first), read_only(rows.offsets), read_only(rows.targets), read_only(weights)


def _kernels() -> Any:
    from dromos.places.operators.communities import cpu_kernels

    return cpu_kernels
