"""Generated source modules on disk: named by the hash of their text, written whole or not at all, imported from there.

Numba keeps the machine code of a cached function beside the file that defines it. A module with a stable name and
unchanged bytes is therefore compiled by the first process and loaded by the next.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Final

from dromos.errors import FileError

__all__ = ["CACHE_VARIABLE", "cache_folder", "load", "write"]

CACHE_VARIABLE: Final = "DROMOS_CACHE_DIR"
_lock = threading.Lock()
_loading: set[str] = set()


def cache_folder() -> Path:
    """Where generated modules live: ``DROMOS_CACHE_DIR``, else ``dromos`` in the platform's folder for user caches."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "dromos"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dromos"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dromos"


def write(text: str, stem: str = "module", folder: Path | None = None) -> Path:
    """The file that holds ``text``, written if it is not there yet; ``stem`` is for people who look into the folder.

    An existing file with these bytes is left alone, because its time stamp is part of Numba's cache key.
    """
    data = text.encode()
    name = f"{_identifier(stem)}_{hashlib.sha256(data).hexdigest()[:16]}.py"
    target = (folder or cache_folder()) / name
    try:
        if target.is_file() and target.read_bytes() == data:
            return target
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, partial = tempfile.mkstemp(prefix=f".{name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(partial).replace(target)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(
            f"cannot write generated code ({error.strerror}); set {CACHE_VARIABLE} to a folder that can be written",
            path=target,
        ) from error
    return target


def load(text: str, stem: str = "module", folder: Path | None = None) -> ModuleType:
    """The module with the given source, imported from the cache folder; the same one for the same text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     load("answer = 42\\n", "demo", Path(scratch)).answer
    42
    """
    path = write(text, stem, folder)
    name = f"dromos_generated_{path.stem}"
    with _lock:
        module = sys.modules.get(name)
        if module is not None and module.__file__ == str(path):
            return module
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        _loading.add(name)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            _loading.discard(name)
    return module


def _after_fork() -> None:
    """In a child there is nobody who would go on with what another thread was loading, nor open its lock."""
    global _lock
    _lock = threading.Lock()
    for name in _loading:
        sys.modules.pop(name, None)
    _loading.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _identifier(stem: str) -> str:
    """``stem`` as part of a module's name."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem) or "module"
