"""Arrays in a zip archive: NumPy reads and writes them, without pickles; sizes are checked before it does."""

from __future__ import annotations

import contextlib
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from numpy.lib import format as npy

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FormatError, UnsupportedFormatError
from dromos.graph.formats.base import Progress, no_progress

__all__ = ["ArchiveReader", "write_archive"]

_MAX_DEFLATE_RATIO = 1040  # deflate shrinks at most 1032 to 1
_MAX_HEADER = 4096
_END_OF_ARCHIVE = 22 + 65535  # the last record of a zip archive, and the longest comment behind it


class _Counted:
    """A member of an archive that tells how many bytes went through it; NumPy asks for no more than these two."""

    def __init__(self, member: IO[bytes], progress: Progress, done: int, total: int) -> None:
        self._member, self._progress, self.done, self._total = member, progress, done, total

    def read(self, size: int = -1) -> bytes:
        data = self._member.read(size)
        self._count(len(data))
        return data

    def write(self, data: bytes) -> int:
        self._count(len(data))
        return self._member.write(data)

    def _count(self, size: int) -> None:
        self.done += size
        self._progress(min(self.done, self._total), self._total)


class ArchiveReader:
    """The arrays of an ``.npz`` archive by name; each is checked against the archive's checksum as it is read."""

    def __init__(self, stream: IO[bytes], path: Path, progress: Progress = no_progress) -> None:
        self.path = path
        self._progress, self._done = progress, 0
        self._size = stream.seek(0, 2)
        with self._errors():
            self._zip = zipfile.ZipFile(stream)
            if len(self._zip.infolist()) != _promised_members(stream, self._size):
                raise zipfile.BadZipFile("the directory does not list as many arrays as it promises")
            for info in self._zip.infolist():
                self._zip.open(info).close()  # compares the name in the directory with the one before the data
        self._members = {info.filename: info for info in self._zip.infolist()}
        self._total = sum(info.file_size for info in self._members.values())

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._members

    def array(self, name: str) -> Array:
        """The array called ``name``."""
        info = self._members.get(f"{name}.npy")
        if info is None:
            raise FormatError(
                f"the archive has no array {name!r}; is it a sparse matrix saved by SciPy?", path=self.path
            )
        self._check_sizes(name, info)
        with self._errors(name), self._zip.open(info) as member:
            counted = _Counted(member, self._progress, self._done, self._total)
            array = npy.read_array(counted, allow_pickle=False, max_header_size=_MAX_HEADER)
            if member.read(1):  # reading to the end is what checks the checksum
                raise ValueError("it goes on after its end")
        self._done = counted.done
        array.flags.writeable = False  # so that a graph may be made around it without a copy
        return array

    def _check_sizes(self, name: str, info: zipfile.ZipInfo) -> None:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnsupportedFormatError(
                f"the array {name!r} is compressed in a way that NumPy does not use", path=self.path
            )
        ratio = 1 if info.compress_type == zipfile.ZIP_STORED else _MAX_DEFLATE_RATIO
        if info.compress_size > self._size or info.file_size > ratio * info.compress_size:
            raise CorruptFileError(
                f"the array {name!r} claims {info.file_size:,} bytes out of {info.compress_size:,} stored; "
                f"the file has {self._size:,}",
                path=self.path,
            )

    @contextlib.contextmanager
    def _errors(self, name: str | None = None) -> Iterator[None]:
        """What zipfile, zlib and NumPy raise for damaged data, as one kind of error."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # zipfile and NumPy warn about oddities of damaged headers
                yield
        except (FormatError, UnsupportedFormatError):
            raise
        except (
            zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, TypeError, SyntaxError, KeyError,
            IndexError, OverflowError, RecursionError, MemoryError, NotImplementedError, RuntimeError,
        ) as error:  # fmt: skip
            what = "the archive" if name is None else f"the array {name!r}"
            raise CorruptFileError(f"{what} is damaged, or this is no .npz file ({error})", path=self.path) from None


def _promised_members(stream: IO[bytes], size: int) -> int:
    """How many members the end of an archive promises; zipfile itself does not compare."""
    stream.seek(max(0, size - _END_OF_ARCHIVE))
    tail = stream.read()
    at = tail.rindex(b"PK\x05\x06")
    return int.from_bytes(tail[at + 10 : at + 12], "little")


def write_archive(out: IO[bytes], arrays: Mapping[str, Array], *, compress: bool, progress: Progress) -> None:
    """Write arrays as an ``.npz`` archive; the same arrays give the same bytes."""
    total, done = sum(array.nbytes for array in arrays.values()), 0
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                counted = _Counted(member, progress, done, total)
                npy.write_array(counted, array, version=(1, 0), allow_pickle=False)
            done = counted.done
