"""Machine code of kernels: shipped with the installation, or compiled when first needed and kept as object files."""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dromos import disk_cache
from dromos.compile_turns import compile_turn
from dromos.compiler.array_layout import TYPE_SIZE, is_layout_known
from dromos.compiler.calls import Call
from dromos.compiler.compile import FITS, KERNEL, kernel_text
from dromos.compiler.machine import addresses_of, machine_description, object_code
from dromos.compiler.shipped import shipped_code
from dromos.compiler.values import LoweringError, Shape
from dromos.errors import FileError, MissingDependencyError
from dromos.stamps import source_digest

__all__ = ["IN_VECTORS", "Wanted", "code_for", "is_kept", "load_or_compile", "watched"]

IN_VECTORS = "IN_VECTORS"
"""The name of a module constant: whether the module's kernels apply the same operation to several consecutive values,
so that looking for vector instructions pays off. Other kernels would only take longer to compile."""

_lock = threading.Lock()
_watchers: list[Callable[[Wanted], None]] = []


class Wanted(NamedTuple):
    """A kernel that a call needs."""

    function: Callable[..., Any]
    shapes: tuple[Shape, ...]
    for_team: bool

    def key(self) -> bytes | None:
        """What its machine code depends on besides the processor and LLVM.

        None for a function whose source is not complete: it captures names of an enclosing function, or has no file.
        """
        if self.function.__closure__:
            return None
        try:
            stamp = source_digest(self.function.__code__.co_filename)
        except OSError:
            return None
        form = "team" if self.for_team else "python"
        key = (platform.machine(), TYPE_SIZE, _own_digest(), stamp, form, self.function.__qualname__, self.shapes)
        return hashlib.sha256(repr(key).encode()).digest()


def load_or_compile(function: Callable[..., Any], shapes: tuple[Shape, ...], *, for_team: bool) -> Call:
    """A kernel for arguments of certain types: loaded from disk, or compiled now."""
    if not is_layout_known():
        raise LoweringError(f"arrays of NumPy {np.__version__} lie in memory otherwise than kernels expect")
    wanted = Wanted(function, shapes, for_team)
    for watcher in _watchers:
        watcher(wanted)
    key = wanted.key()
    with _lock:
        data = None if key is None else shipped_code(key)
        if data is None:
            data = code_for(wanted)
        result, code = _parts(data)
        return Call(addresses_of(code, KERNEL, FITS), shapes, result)


def is_kept(function: Callable[..., Any], shapes: tuple[Shape, ...], *, for_team: bool) -> bool:
    """Whether machine code for arguments of certain types is on disk."""
    wanted = Wanted(function, shapes, for_team)
    key = wanted.key()
    if key is None:
        return False
    try:
        return shipped_code(key) is not None or _is_on_disk(_file_name(wanted, key))
    except MissingDependencyError:  # nothing can be compiled here, so nothing is kept
        return False


@contextmanager
def watched(watcher: Callable[[Wanted], None]) -> Iterator[None]:
    """Call ``watcher`` with each kernel that is first requested in this process.

    >>> with watched(print):
    ...     pass
    """
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


def code_for(wanted: Wanted) -> bytes:
    """The result type of a kernel, and its object file: kept on disk from an earlier time, or compiled now."""
    key = wanted.key()
    if key is None:
        return _compiled(wanted)
    name = _file_name(wanted, key)
    data = _read(name)
    if data is None:
        with compile_turn(name, lambda: _is_on_disk(name)):
            data = _read(name)
            if data is None:
                data = _compiled(wanted)
                disk_cache.save(name, data)
    return data


def _compiled(wanted: Wanted) -> bytes:
    """Compile a kernel; return its result type and its object file."""
    written = kernel_text(wanted.function, wanted.shapes, for_team=wanted.for_team)
    in_vectors = bool(wanted.function.__globals__.get(IN_VECTORS))
    return repr(written.result).encode() + b"\n" + object_code(written.text, in_vectors=in_vectors)


def _read(name: str) -> bytes | None:
    """The data kept under a name; None if there is none, or it is damaged."""
    data = disk_cache.read(name)
    try:
        return None if data is None or not _parts(data)[1] else data
    except (ValueError, SyntaxError):
        return None


def _parts(data: bytes) -> tuple[Shape, bytes]:
    """The result type of a kernel, and its object file."""
    result, _, code = data.partition(b"\n")
    return ast.literal_eval(result.decode()), code


def _file_name(wanted: Wanted, key: bytes) -> str:
    """The name of the object file for this processor."""
    digest = hashlib.sha256(repr((*machine_description(), key)).encode()).hexdigest()[:32]
    name = f"{wanted.function.__module__.rpartition('.')[2]}.{wanted.function.__name__}"[:80]
    return f"kernels/{name}-{digest}.object"


def _is_on_disk(name: str) -> bool:
    try:
        shared, private = disk_cache.places()
    except FileError:
        return False
    return any((folder / name).is_file() for folder in (shared, private) if folder is not None)


@cache
def _own_digest() -> bytes:
    """A digest of this compiler's sources."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _renew_lock() -> None:
    """In a forked child, replace the lock: another thread of the parent may have held it."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
