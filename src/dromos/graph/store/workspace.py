"""The folder of a conversion: locked, removed at the end, and reusable after the process was killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from dromos.errors import FileError

__all__ = ["Workspace", "open_workspace"]

_LOCK = "lock"
_MANIFEST = "manifest.json"


class Workspace:
    """A conversion's own folder, held by a lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        """A file of the folder."""
        return self.folder / name

    def finished(self, task: dict[str, Any]) -> dict[str, Any] | None:
        """The facts that an earlier run of the same task noted after its input; if none, clear the folder."""
        try:
            note = json.loads(self.path(_MANIFEST).read_text())
        except (OSError, ValueError):
            note = None
        if isinstance(note, dict) and note.get("task") == json.loads(json.dumps(task)):
            return dict(note["facts"])
        self._clear()
        return None

    def note(self, task: dict[str, Any], facts: dict[str, Any]) -> None:
        """Note that the input is ingested: a run killed after this continues from here."""
        draft = self.path(f"{_MANIFEST}.new")
        with open(draft, "w") as out:
            json.dump({"task": task, "facts": facts}, out)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(self.path(_MANIFEST))

    def remove_unless(self, kept: set[str]) -> None:
        """Remove what a killed run left, except the files ``kept`` and those that the folder itself needs."""
        for path in self.folder.iterdir():
            if path.name not in kept | {_LOCK, _MANIFEST}:
                path.unlink()

    def _clear(self) -> None:
        self.path(_MANIFEST).unlink(missing_ok=True)  # first, since the files it describes are about to be removed
        self.remove_unless(set())


@contextlib.contextmanager
def open_workspace(out_path: Path, tmp_dir: Path | None) -> Iterator[Workspace]:
    """The folder for making ``out_path``, beside it or in ``tmp_dir``; removed when the block ends, however it ends.

    Only a killed process leaves it behind. The next process finds it by name and takes it over. While one process works
    on ``out_path``, a second one gets an error.
    """
    place = blake2b(os.fsencode(out_path.absolute()), digest_size=4).hexdigest()
    folder = (out_path.parent if tmp_dir is None else tmp_dir) / f".{out_path.name}.spill-{place}"
    lock = _locked(folder, out_path)
    try:
        yield Workspace(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _locked(folder: Path, out_path: Path) -> IO[str]:
    """The folder's lock file, locked; the system releases it when the process dies, however it dies."""
    while True:
        folder.mkdir(exist_ok=True)
        try:
            lock = open(folder / _LOCK, "a+")  # noqa: SIM115 - held as long as the work goes on
        except FileNotFoundError:
            continue  # another process has just removed the folder
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            lock.close()
            raise FileError(
                f"process {owner} is making this file already (it holds {folder.name}); wait for it, or end it",
                path=out_path,
            ) from None
        try:
            if os.fstat(lock.fileno()).st_ino == (folder / _LOCK).stat().st_ino:
                lock.truncate(0)
                lock.write(str(os.getpid()))
                lock.flush()
                return lock
        except FileNotFoundError:
            pass
        lock.close()  # the file was removed between our opening and our locking it
