"""Arrays in a zip archive, read without trust: no pickles, and no allocation that the file's size does not back."""

from __future__ import annotations

import contextlib
import math
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FormatError, UnsupportedFormatError
from dromos.graph.formats.base import Progress, no_progress

__all__ = ["ArchiveReader", "ArchiveWriter"]

_BLOCK = 1 << 22  # bytes read or written at once
_MAX_DEFLATE_RATIO = 1040  # deflate shrinks at most 1032 to 1
_MAX_HEADER = 4096
_END_OF_ARCHIVE = 22 + 65535  # the last record of a zip archive, and the longest comment behind it


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
            dtype, shape, fortran = _read_header(member)
            if dtype.hasobject:
                raise UnsupportedFormatError(
                    f"the array {name!r} holds pickled objects, which are not read", path=self.path
                )
            wanted, held = math.prod(shape) * dtype.itemsize, info.file_size - member.tell()
            if wanted != held or min(shape, default=0) < 0:
                raise CorruptFileError(
                    f"the array {name!r}, {dtype} of shape {shape}, should have {wanted:,} bytes, and has {held:,}",
                    path=self.path,
                )
            flat = np.empty(math.prod(shape), dtype=dtype)
            if wanted:
                self._fill(flat.view(np.uint8), member)
            if member.read(1):  # reading to the end is what checks the checksum
                raise CorruptFileError(f"the array {name!r} goes on after its end", path=self.path)
        flat.flags.writeable = False  # so that a graph may be made around it without a copy
        return flat.reshape(shape, order="F" if fortran else "C")

    def _fill(self, room: Array, member: IO[bytes]) -> None:
        at = 0
        while at < len(room):
            data = member.read(min(_BLOCK, len(room) - at))
            if not data:
                raise EOFError("an array is cut short")
            room[at : at + len(data)] = np.frombuffer(data, np.uint8)
            at += len(data)
            self._done += len(data)
            self._progress(self._done, self._total)

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


def _read_header(member: IO[bytes]) -> tuple[np.dtype[Any], tuple[int, ...], bool]:
    version = npy.read_magic(member)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"version {version} of an array's header is not known")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(member, max_header_size=_MAX_HEADER)
    return np.dtype(dtype), shape, fortran


class ArchiveWriter:
    """Write arrays into an ``.npz`` archive, a few megabytes at a time; the same arrays give the same bytes."""

    def __init__(self, out: IO[bytes], *, compress: bool, total: int, progress: Progress) -> None:
        self._zip = zipfile.ZipFile(out, "w")
        self._kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        self._progress, self._done, self._total = progress, 0, total

    def add(self, name: str, array: Array) -> None:
        """Append an array of at most one dimension."""
        info = zipfile.ZipInfo(f"{name}.npy")
        info.compress_type = self._kind
        with self._zip.open(info, "w", force_zip64=True) as member:
            npy.write_array_header_1_0(member, npy.header_data_from_array_1_0(array))
            flat = array.reshape(-1)
            step = max(1, _BLOCK // max(1, array.itemsize))
            for begin in range(0, flat.size, step):
                block = flat[begin : begin + step].tobytes()
                member.write(block)
                self._done += len(block)
                self._progress(self._done, self._total)

    def close(self) -> None:
        """Write the table of contents."""
        self._zip.close()
