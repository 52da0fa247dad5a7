"""What the parts of a split graph tell each other: as in any place, or by a board where messages allow it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dromos.dtypes import Array
from dromos.engines.board import Board, PostingPart, can_post, make_board
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.parts import Part, Phase
from dromos.parallel import in_blocks
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

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """See :class:`dromos.places.exchange.Exchange`; copied by all threads, into memory of an earlier run."""
        if edges:
            return super().gather(parts, name, edges=True)
        rows = [part.own_rows(name) if hasattr(part, "own_rows") else _own_rows(part, name) for part in parts]
        found = reused_empty((self._num_vertices, *rows[0].shape[1:]), rows[0].dtype)
        for part, own in zip(parts, rows, strict=True):
            _copy(found[part.first : part.last], own)
        return found


def _copy(into: Array, values: Array) -> None:
    in_blocks(lambda begin, end: np.copyto(into[begin:end], values[begin:end]), len(values))


def _own_rows(part: Part, name: str) -> Array:
    return part.state[name][part.first : part.last]
