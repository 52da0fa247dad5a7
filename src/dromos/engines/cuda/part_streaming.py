"""A part on a GPU whose rows come from a graph on disk: slices pass through its memory, and the first ones stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.part_exchange import on_device
from dromos.engines.cuda.part_posting import BoardPart
from dromos.engines.cuda.streamed_rows import KeptSlice, StreamedRows
from dromos.engines.cuda.transfers import to_host
from dromos.graph.store.paged.slices import PagedSlice
from dromos.plan.path import Direction

__all__ = ["StreamingPart"]


class StreamingPart(BoardPart):
    """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""

    @on_device
    def stream_rows(self, offsets: Mapping[Direction, Array], weights: np.dtype[Any] | None) -> int:
        """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""
        return self.kernels.stream(offsets, weights).capacity

    @on_device
    def keep_rows(self, piece: PagedSlice, direction: Direction) -> None:
        """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""
        self._rows_through.keep(piece, direction)

    @on_device
    def kept_rows(self, direction: Direction) -> KeptSlice:
        """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""
        return self._rows_through.kept(direction)

    @on_device
    def pages_wanted(self, direction: Direction, page_arcs: int, num_pages: int) -> Array | None:
        """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""
        import cupy

        if self.always if direction == "push" else self.analysis.wants is None:
            return None
        marks = cupy.zeros(num_pages, cupy.uint8)
        offsets = self._rows_through.offsets_of(direction)
        bits = page_arcs.bit_length() - 1
        self.kernels.launch("mark_pages", offsets, np.int32(direction == "pull"), np.int32(bits), marks)
        return to_host(marks).view(bool)

    @on_device
    def end_rows(self) -> None:
        """See :class:`dromos.places.stream.kept_rows.KeepingPart`."""
        if self.kernels.streamed is not None:
            self.kernels.streamed.wait()

    @property
    def _rows_through(self) -> StreamedRows:
        assert self.kernels.streamed is not None
        return self.kernels.streamed
