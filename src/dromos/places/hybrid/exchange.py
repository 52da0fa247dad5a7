"""What the parts of a split graph tell each other: as in any place, or by a board where messages allow it."""

from __future__ import annotations

from collections.abc import Sequence

from dromos.engines.board import Board, PostingPart, can_post, make_board
from dromos.engines.parts import Part, Phase
from dromos.places.exchange import CopyExchange
from dromos.program import TypedProgram

__all__ = ["BoardExchange"]


class BoardExchange(CopyExchange):
    """Before a pull, messages that depend on their source alone are posted; all else is copied."""

    def __init__(self, typed: TypedProgram, num_vertices: int) -> None:
        self._typed, self._num_vertices = typed, num_vertices
        self._board: Board | None = None

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        if phase == "pull" and len(parts) > 1 and can_post(parts):
            self._post(parts)
        else:
            super().refresh(parts, phase)

    def _post(self, parts: Sequence[PostingPart]) -> None:
        if self._board is None:
            self._board = make_board(self._typed, parts, self._num_vertices)
        for part in sorted(parts, key=lambda part: not part.asynchronous):  # the others work while a device does
            part.post_offers(self._board)
        for part in parts:
            for other in parts:
                if other is not part:
                    part.take_offers(self._board, other.first, other.last)
