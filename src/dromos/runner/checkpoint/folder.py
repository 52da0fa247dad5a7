"""A checkpoint on disk: a folder with one state file per rank, and a manifest that makes them valid.

Every file is written beside its name, flushed to disk and renamed. State files carry a serial number. The manifest
names the valid serial. It is replaced once all ranks have written theirs; only then are files of earlier serials
removed. So whenever a process is killed, the folder holds one whole checkpoint, the last or the one before, or none
yet.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CheckpointError, CorruptFileError
from dromos.graph.formats.files import file_errors
from dromos.runner.together import by_first

__all__ = ["Folder"]

_FORMAT: Final = 1
_MANIFEST: Final = "checkpoint.json"
_STATE: Final = re.compile(r"\.?state-(\d+)\.\d+-of-\d+\.npz(\.part)?")


class Folder:
    """The checkpoint in ``path``, from one rank of ``comm``; all ranks call the same methods."""

    def __init__(self, path: str | os.PathLike[str], comm: Any) -> None:
        self.path, self._comm = Path(path), comm
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        self.manifest: dict[str, Any] = by_first(comm, self._read_manifest)
        """The saved manifest; empty if nothing was saved."""
        self._serial: int = self.manifest.get("serial", 0)

    def _read_manifest(self) -> dict[str, Any]:
        place = self.path / _MANIFEST
        if self.path.exists() and not self.path.is_dir():
            raise CheckpointError("is a file; a checkpoint is a folder: give another name", path=self.path)
        if not place.exists():
            if self.path.is_dir() and any(not _STATE.fullmatch(entry.name) for entry in self.path.iterdir()):
                raise CheckpointError("is a folder with other files in it; give a new folder", path=self.path)
            self._require_writable()
            return {}
        with file_errors(place):
            text = place.read_bytes()
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            raise CorruptFileError("is not the manifest of a checkpoint; remove the folder", path=place) from None
        if found.get("format") != _FORMAT:
            raise CheckpointError(
                f"has format {found.get('format')!r}, and this version of Dromos reads {_FORMAT}; remove the folder",
                path=self.path,
            )
        return found

    def _require_writable(self) -> None:
        """Check before hours of work; the folder itself is made by the first file in it."""
        nearest = next(place for place in (self.path, *self.path.absolute().parents) if place.exists())
        if not nearest.is_dir() or not os.access(nearest, os.W_OK):
            trouble = "may not be written" if nearest.is_dir() else "is a file"
            raise CheckpointError(f"cannot be created, because {nearest} {trouble}; give another name", path=self.path)

    # ---- state -----------------------------------------------------------------------------------------------------

    def load(self) -> dict[str, Array]:
        """This rank's saved state."""
        ranks = len(self.manifest["bytes"])
        if ranks != self._size:
            raise CheckpointError(
                f"was saved by {ranks} ranks and cannot be resumed by {self._size}; start {ranks} ranks again",
                path=self.path,
            )
        place = self.path / _state_name(self._serial, self._rank, self._size)
        return _read_arrays(place, self.manifest["bytes"][self._rank])

    def save(self, arrays: Mapping[str, Array], told: Mapping[str, Any]) -> None:
        """Replace the saved state with ``arrays`` of every rank, and ``told`` in the manifest."""
        serial = self._serial + 1
        place = self.path / _state_name(serial, self._rank, self._size)
        size = _write(place, lambda stream: _write_arrays(stream, arrays))
        sizes = self._comm.allgather(size)  # so all state files are on disk
        manifest = {"format": _FORMAT, "serial": serial, "bytes": sizes, **told}
        by_first(self._comm, lambda: self._commit(manifest))
        self.manifest, self._serial = manifest, serial

    def _commit(self, manifest: Mapping[str, Any]) -> None:
        text = json.dumps(manifest, default=_as_number).encode()
        _write(self.path / _MANIFEST, lambda stream: stream.write(text))
        for entry in self.path.iterdir():
            found = _STATE.fullmatch(entry.name)
            if found is not None and int(found[1]) < manifest["serial"]:
                entry.unlink(missing_ok=True)

    # ---- programs that are done ------------------------------------------------------------------------------------

    def save_outcome(self, number: int, fields: Mapping[str, Array]) -> int:
        """Save the fields of a finished program, which all ranks have in full: the first writes. Return the size."""
        place = self.path / f"program-{number}.npz"
        size: int = by_first(self._comm, lambda: _write(place, lambda stream: _write_arrays(stream, fields)))
        return size

    def load_outcome(self, number: int, size: int) -> dict[str, Array]:
        """The fields of a finished program."""
        return _read_arrays(self.path / f"program-{number}.npz", size)


def _as_number(value: Any) -> Any:
    return value.item()  # a NumPy scalar


def _state_name(serial: int, rank: int, size: int) -> str:
    return f"state-{serial}.{rank}-of-{size}.npz"


def _write(place: Path, write: Callable[[IO[bytes]], Any]) -> int:
    """Write a file that gets its name only when it is complete and on disk; return its size."""
    beside = place.with_name(f".{place.name}.part")
    try:
        with file_errors(place, "write"):
            place.parent.mkdir(parents=True, exist_ok=True)
            with open(beside, "wb") as stream:
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
                size = stream.tell()
            beside.replace(place)
            _flush_names(place.parent)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return size


def _flush_names(folder: Path) -> None:
    """Flush the folder: the names in it are on disk only when the folder is."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_arrays(stream: IO[bytes], arrays: Mapping[str, Array]) -> None:
    np.savez(stream, allow_pickle=False, **{f"a.{name}": values for name, values in arrays.items()})


def _read_arrays(place: Path, size: int) -> dict[str, Array]:
    """The arrays of a file; a ZIP archive has a checksum for each, which reading verifies."""
    with file_errors(place):
        actual = place.stat().st_size
        if actual != size:
            raise CorruptFileError(f"has {actual:,} bytes instead of {size:,}; remove the folder", path=place)
        try:
            with np.load(place, allow_pickle=False) as found:
                return {name.removeprefix("a."): found[name] for name in found.files}
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError) as error:
            raise CorruptFileError(f"is damaged ({error}); remove the folder", path=place) from None
