"""Files: opened through their compression, and written beside their final name until they are whole."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from dromos.errors import (
    CorruptFileError,
    FileError,
    FormatError,
    GraphDataError,
    MissingDependencyError,
    UnsupportedFormatError,
)

__all__ = [
    "COMPRESSIONS", "atomic_output", "atomic_outputs", "data_errors", "file_errors", "open_input", "require_folder",
    "strip_compression",
]  # fmt: skip

COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz")


def strip_compression(path: Path) -> tuple[Path, str | None]:
    """The path without its compression's extension, and that extension.

    >>> strip_compression(Path("a/web.el.gz"))
    (PosixPath('a/web.el'), '.gz')
    """
    suffix = path.suffix.lower()
    return (path.with_suffix(""), suffix) if suffix in COMPRESSIONS else (path, None)


@contextlib.contextmanager
def file_errors(path: str | os.PathLike[str], doing: str = "read") -> Iterator[None]:
    """Turn what the system and the decompressors raise into errors that name the file and the trouble."""
    import lzma
    import zlib

    try:
        yield
    except FileError:
        raise
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise CorruptFileError(f"the compressed data is damaged or cut short ({error})", path=path) from None
    except OSError as error:
        if error.errno is None and doing == "write":
            raise FileError(f"cannot write the file: {error}", path=path) from error
        if error.errno is None:  # gzip, bz2 and Arrow raise OSError without a number for damaged data
            raise CorruptFileError(f"the compressed data is damaged or cut short ({error})", path=path) from None
        raise FileError(f"cannot {doing} the file: {os.strerror(error.errno)}", path=path) from error


@contextlib.contextmanager
def data_errors(path: Path) -> Iterator[None]:
    """Give errors about the data (not about the file) the name of the file."""
    try:
        yield
    except GraphDataError as error:
        raise FormatError(str(error), path=path) from error
    except FileError as error:
        if error.path is not None:
            raise
        named = type(error)(error.message, path=path)
        if isinstance(error, FormatError) and isinstance(named, FormatError):
            named.line = error.line  # the message tells it already
        raise named from error


def require_folder(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a file to write whose folder does not exist.

    >>> require_folder("nowhere/ranks.parquet")
    Traceback (most recent call last):
        ...
    dromos.errors.FileError: nowhere/ranks.parquet: cannot write the file: the folder nowhere does not exist
    """
    folder = Path(path).parent
    if not folder.exists():
        raise FileError(f"cannot write the file: the folder {folder} does not exist", path=path)


def open_input(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading, through its compression; a directory, a pipe, a missing or an empty file is an error."""
    path = Path(path)
    with file_errors(path):
        if path.is_dir():
            raise FileError("is a directory; give the file in it", path=path)
        if path.is_fifo() or path.is_char_device():
            raise FileError("cannot read from a pipe or a terminal; save the data to a file first", path=path)
        if path.stat().st_size == 0:
            raise CorruptFileError("the file is empty", path=path)
        stream: IO[bytes] = _opener(strip_compression(path)[1], path, "rb")
        return stream


@contextlib.contextmanager
def atomic_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file, through the compression its name asks for; it gets its name only when it is whole.

    On an error, Ctrl-C included, what was written is removed and a file of that name stays as it was.
    """
    with atomic_outputs([path]) as (out,):
        yield out


@contextlib.contextmanager
def atomic_outputs(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[IO[bytes]]]:
    """Write several files that belong together; they get their names only when all of them are whole."""
    targets = [Path(path) for path in paths]
    beside: list[Path] = []
    streams: list[IO[bytes]] = []
    current = targets[0]
    try:
        with contextlib.ExitStack() as opened:
            for current in targets:
                with file_errors(current, "write"):
                    beside.append(_beside(current))
                    streams.append(opened.enter_context(_opener(strip_compression(current)[1], beside[-1], "wb")))
            with file_errors(targets[0], "write"):
                yield streams
            for current, stream in zip(targets, streams, strict=True):
                with file_errors(current, "write"):
                    stream.close()
        for current, part in zip(targets, beside, strict=True):
            with file_errors(current, "write"):
                part.replace(current)
    except OSError as error:  # from closing what a first error left open
        with file_errors(current, "write"):
            raise error
    finally:
        for part in beside:
            part.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    """A new empty file beside ``path``, with the rights that a new file gets."""
    if path.is_dir():
        raise FileError("is a directory; give a file name", path=path)
    require_folder(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    beside = Path(name)
    beside.chmod(0o666 & ~_umask())
    return beside


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _opener(compression: str | None, path: Path, mode: str) -> Any:
    if compression is None:
        return open(path, mode)
    if compression == ".gz":
        import gzip

        return gzip.open(path, mode, **({"compresslevel": 6} if mode == "wb" else {}))  # type: ignore[call-overload]
    if compression == ".bz2":
        import bz2

        return bz2.open(path, mode)
    if compression == ".xz":
        import lzma

        return lzma.open(path, mode)
    if compression == ".zst":
        try:
            import pyarrow as pa
        except ImportError:
            raise MissingDependencyError("files ending in .zst need the package pyarrow: pip install pyarrow") from None
        if mode == "rb":
            stream: Any = pa.CompressedInputStream(pa.OSFile(str(path), "rb"), "zstd")
            return io.BufferedReader(stream)  # reads lines, which Arrow's streams do not
        return pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd")
    raise UnsupportedFormatError(f"compression {compression} is not known; use {', '.join(COMPRESSIONS)}", path=path)
