"""Messages of a part on a GPU that depend on their source alone: computed once per vertex, and read by other parts from
a board in the host's memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from dromos.codegen.cuda.structures import shared_type
from dromos.dtypes import Array
from dromos.engines.board import Board, posted_range
from dromos.engines.cuda.part_exchange import TellingPart, on_device
from dromos.engines.cuda.transfers import fetch_later, pinned_empty, send_later

__all__ = ["BoardPart"]


class BoardPart(TellingPart):
    """See :class:`dromos.engines.board.PostingPart`."""

    @cached_property
    def posts_offers(self) -> bool:
        """See :class:`dromos.engines.board.PostingPart`: boards hold messages in their own types."""
        return self.kernels.by_source and all(shared_type(dtype) == dtype for dtype in self.typed.accumulators)

    def board_rows(self, rows: int, dtype: np.dtype[Any]) -> Array:
        """See :class:`dromos.engines.board.PostingPart`."""
        return pinned_empty(rows, dtype)

    @on_device
    def post_offers(self, board: Board) -> None:
        """See :class:`dromos.engines.board.PostingPart`; they are copied beside the kernels that follow."""
        import cupy

        own = posted_range(self.shape.offsets, self.first, self.last)
        self.kernels.offer(own.start, own.stop)
        made = cupy.cuda.get_current_stream().record()
        self._copying.wait_event(made)
        for array, rows in zip(self.memory.offers, board.arrays, strict=True):
            fetch_later(array[own], rows[own], self._copying)
        done = self._copying.record()
        board.later(self.first, done.synchronize)
        self._pulled_at = self._superstep

    @on_device
    def take_offers(self, board: Board, first: int, last: int) -> None:
        """See :class:`dromos.engines.board.PostingPart`."""
        import cupy

        board.wait(first)
        theirs, stream = posted_range(self.shape.offsets, first, last), cupy.cuda.get_current_stream()
        for array, rows in zip(self.memory.offers, board.arrays, strict=True):
            send_later(rows[theirs], array[theirs], stream)

    @cached_property
    def _copying(self) -> Any:
        import cupy

        return cupy.cuda.Stream(non_blocking=True)
