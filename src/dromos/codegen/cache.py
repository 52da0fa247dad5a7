"""Generated source modules on disk: named by the hash of their text, written atomically.

A module is run from its text, not from the file or from bytecode beside it. The file is there for people to read, for
tracebacks, and for the digest by which the machine code of its kernels is kept.
"""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

from dromos.disk_cache import CACHE_VARIABLE, cache_folder, places, touch, write_whole
from dromos.errors import FileError

__all__ = ["CACHE_VARIABLE", "cache_folder", "load", "write"]

_lock = threading.Lock()
_loading: set[str] = set()


def write(text: str, stem: str = "module", folder: Path | None = None) -> Path:
    """The file that holds ``text``, written if it does not exist; ``stem`` makes its name readable."""
    data = text.encode()
    name = f"{_identifier(stem)}_{hashlib.sha256(data).hexdigest()[:16]}.py"
    shared, private = places(folder)
    try:
        for target in (place / name for place in (shared, private) if place is not None):
            if target.is_file() and target.read_bytes() == data:
                return target
        write_whole(private / name, data, private)
    except OSError as error:
        raise FileError(
            f"cannot write generated code ({error.strerror}); set {CACHE_VARIABLE} to a folder that can be written",
            path=private / name,
        ) from error
    return private / name


def load(text: str, stem: str = "module", folder: Path | None = None) -> ModuleType:
    """The module with the given source, kept in the cache folder; the same one for the same text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     load("answer = 42\\n", "demo", Path(scratch)).answer
    42
    """
    path = write(text, stem, folder)
    touch(path)
    name = f"dromos_generated_{path.stem}"
    with _lock:
        module = sys.modules.get(name)
        if module is not None and module.__file__ == str(path):
            return module
        module = ModuleType(name)
        module.__file__ = str(path)
        _loading.add(name)
        sys.modules[name] = module
        try:
            exec(compile(text, str(path), "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            _loading.discard(name)
    return module


def _after_fork() -> None:
    """In a forked child, nothing would finish the loads of other threads or release their lock: reset both."""
    global _lock
    _lock = threading.Lock()
    for name in _loading:
        sys.modules.pop(name, None)
    _loading.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _identifier(stem: str) -> str:
    """``stem`` as a part of a module's name."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem) or "module"
