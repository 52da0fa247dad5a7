"""Machine code of kernels: made when first needed, and kept on disk as object files."""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dromos import disk_cache
from dromos.compile_turns import compile_turn
from dromos.compiler.array_layout import TYPE_SIZE, is_layout_known
from dromos.compiler.calls import Call
from dromos.compiler.compile import FITS, KERNEL, kernel_text
from dromos.compiler.machine import addresses_of, machine_description, object_code
from dromos.compiler.values import LoweringError, Shape
from dromos.errors import FileError
from dromos.stamps import source_digest

__all__ = ["IN_VECTORS", "is_kept", "load_or_compile"]

IN_VECTORS = "IN_VECTORS"
"""The name of a constant of a module: whether its kernels do the same to several values, one written after the other,
so that it pays to look for instructions that do several at once. Other kernels would only take longer to compile."""

_lock = threading.Lock()


def load_or_compile(function: Callable[..., Any], shapes: tuple[Shape, ...], *, for_team: bool) -> Call:
    """A kernel for arguments of certain types: from disk, or compiled now."""
    if not is_layout_known():
        raise LoweringError(f"arrays of NumPy {np.__version__} lie in memory otherwise than kernels expect")
    name = _file_name(function, shapes, for_team)
    with _lock:
        kept = None if name is None else _read(name)
        if kept is not None:
            return Call(addresses_of(kept[1], KERNEL, FITS), shapes, kept[0])
        written = kernel_text(function, shapes, for_team=for_team)
        in_vectors = bool(function.__globals__.get(IN_VECTORS))
        if name is None:
            code = object_code(written.text, in_vectors=in_vectors)
            return Call(addresses_of(code, KERNEL, FITS), shapes, written.result)
        with compile_turn(name, lambda: _is_on_disk(name)):
            kept = _read(name)
            if kept is None:
                kept = written.result, object_code(written.text, in_vectors=in_vectors)
                disk_cache.save(name, repr(written.result).encode() + b"\n" + kept[1])
        return Call(addresses_of(kept[1], KERNEL, FITS), shapes, written.result)


def is_kept(function: Callable[..., Any], shapes: tuple[Shape, ...], *, for_team: bool) -> bool:
    """Whether there is machine code on disk for arguments of certain types."""
    name = _file_name(function, shapes, for_team)
    return name is not None and _is_on_disk(name)


def _read(name: str) -> tuple[Shape, bytes] | None:
    """What a kernel returns and its object file; None where there is none."""
    data = disk_cache.read(name)
    if data is None:
        return None
    result, _, code = data.partition(b"\n")
    try:
        return ast.literal_eval(result.decode()), code
    except (ValueError, SyntaxError):
        return None


def _file_name(function: Callable[..., Any], shapes: tuple[Shape, ...], for_team: bool) -> str | None:
    """The name of an object file; None for a function whose source does not say all: it holds names, or has no file."""
    if function.__closure__:
        return None
    try:
        stamp = source_digest(function.__code__.co_filename)
    except OSError:
        return None
    form = "team" if for_team else "python"
    made_by = (*machine_description(), platform.machine(), TYPE_SIZE, _own_digest())
    key = (*made_by, stamp, form, function.__qualname__, shapes)
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"[:80]
    return f"kernels/{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.object"


def _is_on_disk(name: str) -> bool:
    try:
        shared, private = disk_cache.places()
    except FileError:
        return False
    return any((folder / name).is_file() for folder in (shared, private) if folder is not None)


@cache
def _own_digest() -> bytes:
    """What stands for this compiler."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def _renew_lock() -> None:
    """In a child of a fork: another thread may have held it there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
