"""The sections of a striped store: slices are read from the stripes that hold them."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from dromos.dtypes import Array
from dromos.graph.store.layout import ALIGNMENT, aligned
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.stripes import open_source
from dromos.graph.store.sections import StoreSections
from dromos.graph.store.stored import open_origin
from dromos.graph.store.striped import pieces_of

__all__ = ["StripedSections"]


class StripedSections(StoreSections):
    """A store in stripes. It cannot be mapped, so every slice is read into memory of its own; close it after use."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._origin, checksums = open_origin(path)
        self._source = open_source(self._origin)
        super().__init__(Path(path), self._origin.header, checksums, _Read(self._source))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._source.check_unchanged()
        self._source.close()

    def _place_of(self, begin: int, end: int) -> str:
        stripes = self._origin.stripes
        assert stripes is not None
        places = [
            f"bytes {at:,}..{at + last - first:,} of {stripes.files[number].path}"
            for number, at, first, last in pieces_of(stripes, begin, end - begin)
        ]
        return f", which are {' and '.join(places)}"


class _Read:
    """The bytes of a store, read slice by slice."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def __getitem__(self, place: slice) -> Array:
        begin, end, _ = place.indices(self._source.nbytes)
        low = begin // ALIGNMENT * ALIGNMENT  # whole disk blocks, as direct reads need them
        if end <= begin:
            return np.empty(0, dtype=np.uint8)
        buffer = mmap.mmap(-1, aligned(end - low))
        self._source.read_into(memoryview(buffer), low)
        return np.frombuffer(buffer, dtype=np.uint8)[begin - low : end - low]
