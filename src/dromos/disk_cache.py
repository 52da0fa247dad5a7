"""The folder that keeps compiled code between processes: its trusted owners, its contents, and its size.

Files there are executed. A folder is therefore used only if nobody but its owner can write to it, and if that owner is
the user, or root where the folder is read-only (an image, a cluster's software tree). Every file is read together with
a digest of its content, so that damage costs a compilation rather than the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from dromos.errors import FileError, InvalidArgumentError

__all__ = [
    "CACHE_VARIABLE",
    "LIMIT_VARIABLE",
    "Places",
    "cache_folder",
    "limit_bytes",
    "places",
    "read",
    "save",
    "touch",
    "trim",
    "write_whole",
]

CACHE_VARIABLE: Final = "DROMOS_CACHE_DIR"
LIMIT_VARIABLE: Final = "DROMOS_CACHE_LIMIT"
_DEFAULT_LIMIT: Final = 1 << 30
_DIGEST_BYTES: Final = 32
_KEPT_SHARE: Final = 0.8  # of the limit remains after a clean-up, so that the next one is some time away
_TOUCH_SECONDS: Final = 3600.0  # a file used within the last hour is not marked as used again
_TRIM_EVERY: Final = 64 << 20  # bytes that a process writes between two checks of the folder's size
_others: Final = stat.S_IWGRP | stat.S_IWOTH
_written = _TRIM_EVERY  # the first write of a process checks


class Places(NamedTuple):
    """Where to look for code: first in ``shared`` (read-only, usually None), then in ``private``, which is written."""

    shared: Path | None
    private: Path


def cache_folder() -> Path:
    """The folder for compiled code: ``DROMOS_CACHE_DIR``, else ``dromos`` in the platform's folder for user caches."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given).expanduser() if given else _user_folder()


def _user_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dromos"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dromos"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dromos"


def places(folder: Path | None = None) -> Places:
    """The folders to use, created and checked; one that others could have put code into is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     places(Path(scratch)).shared is None
    True
    """
    chosen = cache_folder() if folder is None else folder
    try:
        chosen.mkdir(parents=True, exist_ok=True, mode=0o700)
        status = chosen.stat()
    except OSError as error:
        raise _cannot_write(chosen, error) from error
    if not hasattr(os, "geteuid"):
        return Places(None, chosen)
    writable = os.access(chosen, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
    why = _why_untrusted(status, writable)
    if why:
        raise FileError(
            f"code that is kept in this folder is run, and {why}; set {CACHE_VARIABLE} to a folder of your own",
            path=chosen,
        )
    if writable:
        return Places(None, chosen)
    private = _user_folder()
    if private == chosen:
        raise FileError(f"the folder cannot be written to; set {CACHE_VARIABLE} to one that can", path=chosen)
    return Places(chosen, places(private).private)


def _why_untrusted(status: os.stat_result, writable: bool) -> str:
    """Why a folder or a file of this status is not trusted; empty if it is."""
    if status.st_mode & _others:
        return f"others may write to it (mode {stat.S_IMODE(status.st_mode):o}; `chmod go-w` takes that back)"
    if status.st_uid == os.geteuid() or (status.st_uid == 0 and not writable):
        return ""
    return f"it belongs to another user (uid {status.st_uid}, you are {os.geteuid()})"


def _cannot_write(path: Path, error: OSError) -> FileError:
    return FileError(
        f"cannot write generated code ({error.strerror}); set {CACHE_VARIABLE} to a folder that can be written",
        path=path,
    )


def read(name: str) -> bytes | None:
    """The data that :func:`save` has kept under ``name``; None if missing, damaged or owned by someone else."""
    found = places()
    for folder in (found.shared, found.private):
        if folder is None:
            continue
        try:
            with open(folder / name, "rb") as file:
                if hasattr(os, "geteuid") and _why_untrusted(os.fstat(file.fileno()), writable=False):
                    continue
                digest, data = file.read(_DIGEST_BYTES), file.read()
        except OSError:
            continue
        if hashlib.sha256(data).digest() == digest:
            touch(folder / name)
            return data
    return None


def save(name: str, data: bytes) -> None:
    """Keep ``data`` under ``name``; a full disk costs only time."""
    folder = places().private
    path = folder / name
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, hashlib.sha256(data).digest() + data, folder)


def write_whole(path: Path, data: bytes, folder: Path) -> None:
    """Write a file of the cache ``folder`` under a temporary name and rename it: it is found complete or not at all."""
    global _written
    handle, partial = tempfile.mkstemp(prefix=f".{path.name[:60]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(partial).replace(path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    _written += len(data)
    if _written >= _TRIM_EVERY:
        _written = 0
        trim(folder)


def touch(path: Path) -> None:
    """Mark a file as used, by its modification time, since many disks keep no access times."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _TOUCH_SECONDS:
            os.utime(path)


def limit_bytes() -> int:
    """The size limit of the folder: ``DROMOS_CACHE_LIMIT`` in bytes, or with a suffix K, M or G; default 1 GiB.

    >>> limit_bytes() > 0
    True
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip().upper().removesuffix("B").removesuffix("I")
    if not text:
        return _DEFAULT_LIMIT
    scale = {"K": 10, "M": 20, "G": 30, "T": 40}.get(text[-1], 0)
    try:
        value = float(text[:-1] if scale else text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1 << 60:
        raise InvalidArgumentError(f"{LIMIT_VARIABLE}={os.environ[LIMIT_VARIABLE]!r} is not a size such as 512M or 2G")
    return int(value * (1 << scale))


def trim(folder: Path) -> int:
    """Remove the least recently used files until the folder is within its limit; return the bytes removed.

    Other processes may read, write and clean up at the same time: a removed file is compiled again, and an open one
    stays readable.
    """
    found: list[tuple[float, int, Path]] = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            with contextlib.suppress(OSError):
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
    total, limit, removed = sum(size for _, size, _ in found), limit_bytes(), 0
    if total <= limit:
        return 0
    for _, size, path in sorted(found):
        if total - removed <= _KEPT_SHARE * limit:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            removed += size
    return removed
