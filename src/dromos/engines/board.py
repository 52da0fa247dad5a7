"""Messages that depend on their source alone, on a board in the host's memory that all parts share.

The owner of a vertex makes its message once and posts it; the other parts read it there. Nothing is merged or packed,
other parts need not know the fields of the source or whether it is active, and a device may still be copying while
parts that do not read its rows go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part
from dromos.program import TypedProgram

__all__ = ["Board", "PostingPart", "can_post", "make_board", "posted_range"]


class Board:
    """One row per vertex of the graph for each component of a message.

    >>> waited = []
    >>> board = Board([np.zeros(4)])
    >>> board.later(2, lambda: waited.append(2))
    >>> board.wait(0), waited, board.wait(2), waited, board.wait(), waited
    (None, [2], None, [2], None, [2])
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays = tuple(arrays)
        self._pending: dict[int, Callable[[], Any]] = {}

    def later(self, first: int, wait: Callable[[], Any]) -> None:
        """Register ``wait``: when it returns, the rows of the part that begins at vertex ``first`` are there."""
        self._pending[first] = wait

    def wait(self, first: int | None = None) -> None:
        """Wait for the rows of the part that begins at ``first``, or of all parts."""
        for key in [*self._pending] if first is None else [first] if first in self._pending else []:
            self._pending.pop(key)()


class PostingPart(Part, Protocol):
    """A part that can work with a board; :attr:`posts_offers` may be false at run time."""

    posts_offers: bool

    def board_rows(self, rows: int, dtype: np.dtype[Any]) -> Array:
        """Allocate memory for a board, of the kind that this part reads and writes best."""

    def post_offers(self, board: Board) -> None:
        """Post the messages of the own vertices; they may arrive later (:meth:`Board.later`)."""

    def take_offers(self, board: Board, first: int, last: int) -> None:
        """Read what the part of the vertices ``first..last`` has posted."""


def can_post(parts: Sequence[Part]) -> TypeGuard[Sequence[PostingPart]]:
    """Whether all parts work with a board."""
    return all(getattr(part, "posts_offers", False) for part in parts)


def posted_range(offsets: Array, first: int, last: int) -> slice:
    """The vertices of ``first..last`` up to the last one with out-arcs: messages of later ones are never read.

    >>> posted_range(np.array([0, 2, 2, 5, 5, 5]), 0, 5), posted_range(np.array([0, 2, 2, 2]), 1, 3)
    (slice(0, 3, None), slice(1, 1, None))
    """
    return slice(first, max(first, int(np.searchsorted(offsets[: last + 1], offsets[last]))))


def make_board(typed: TypedProgram, parts: Sequence[PostingPart], num_vertices: int) -> Board:
    """A board for messages of a program, in memory that a device among the parts reads and writes directly."""
    owner = next((part for part in parts if part.asynchronous), parts[0])
    return Board([owner.board_rows(num_vertices, dtype) for dtype in typed.accumulators])
