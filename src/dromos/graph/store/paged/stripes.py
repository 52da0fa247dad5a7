"""The files behind a striped store, read as if they were one."""

from __future__ import annotations

from pathlib import Path

from dromos.errors import FileError
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource, StoreFile
from dromos.graph.store.striped import pieces_of

__all__ = ["StripedFiles", "open_source"]


def open_source(origin: Origin) -> ByteSource:
    """A source for the bytes of a store, in one file or in stripes."""
    return StoreFile(origin) if origin.stripes is None else StripedFiles(origin)


class StripedFiles:
    """See :class:`ByteSource`. Requests of several threads go to all disks; one that crosses a stripe goes to two."""

    def __init__(self, origin: Origin) -> None:
        assert origin.stripes is not None
        self.origin, self.path, self._stripes = origin, Path(origin.path), origin.stripes
        self._files: list[StoreFile] = []
        try:
            for file in origin.stripes.files:
                self._files.append(StoreFile(file))
            self.check_unchanged()
        except BaseException:
            self.close()
            raise

    @property
    def nbytes(self) -> int:
        """The size of the whole store."""
        return self._stripes.size

    def read_into(self, buffer: memoryview, position: int) -> None:
        """Fill ``buffer`` from ``position`` of the whole store, up to its end."""
        length = min(len(buffer), self._stripes.size - position)
        for file, at, first, last in pieces_of(self._stripes, position, length):
            end = len(buffer) if last == length else last  # whole disk blocks, also at the end of the store
            self._files[file].read_into(buffer[first:end], at)

    def check_unchanged(self) -> None:
        """Raise an error if any file was written to, cut, replaced or removed since the graph was opened."""
        for file in self._files:
            file.check_unchanged()
        if not self.origin.is_current:
            raise FileError(
                "the file was changed, replaced or removed after the graph was opened; open it again", path=self.path
            )

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()
