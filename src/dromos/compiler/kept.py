"""Calls of kernels: compiled when first needed, and kept on disk as object files."""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import threading
from functools import cache
from pathlib import Path
from typing import Any, Final

from dromos import disk_cache
from dromos.compile_turns import compile_turn
from dromos.compiler.compile import argument_shapes, call_at, kernel_text
from dromos.compiler.machine import address_of, is_able, machine_description, object_code
from dromos.compiler.source import plain_function
from dromos.compiler.values import LoweringError, Shape
from dromos.errors import FileError, InvalidArgumentError
from dromos.stamps import source_digest
from dromos.team_calls import Call, is_supported

__all__ = ["COMPILER_VARIABLE", "compiled_call", "is_call_kept"]

COMPILER_VARIABLE: Final = "DROMOS_COMPILER"
_log = logging.getLogger("dromos.compiling")
_lock = threading.Lock()
_refused: set[str] = set()


def compiled_call(kernel: Any, args: tuple[Any, ...]) -> Call | None:
    """How a team calls ``kernel(thread, threads, *args)``, compiled now or found on disk; None: Numba is to compile it.

    ``kernel`` is what a decorator of :mod:`dromos.jit` made.
    """
    found = _named(kernel, args)
    if found is None:
        return None
    function, shapes, name = found
    with _lock:
        try:
            code = disk_cache.read(name)
            if code is None:
                text = kernel_text(function, shapes)
                with compile_turn(name, lambda: _is_on_disk(name)):
                    code = disk_cache.read(name)
                    if code is None:
                        code = object_code(text)
                        disk_cache.save(name, code)
            return call_at(address_of(code), shapes)
        except (LoweringError, RuntimeError) as error:  # not known here, or LLVM does not take it
            _log.debug("Numba compiles %s: %s", function.__name__, error)
            _refused.add(name)
            return None


def is_call_kept(kernel: Any, args: tuple[Any, ...]) -> bool:
    """Whether there is machine code on disk for ``kernel(thread, threads, *args)``, made by this compiler."""
    found = _named(kernel, args)
    return found is not None and _is_on_disk(found[2])


def _named(kernel: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Shape, ...], str] | None:
    """The function of a kernel, the types of its arguments, and the name of its object file; None for Numba's."""
    function = plain_function(kernel)
    if function is None or _is_numba_chosen() or not is_supported() or not is_able():
        return None
    try:
        shapes = argument_shapes(args)
        stamp = source_digest(function.__code__.co_filename)
    except (LoweringError, OSError):
        return None
    key = (*machine_description(), platform.machine(), stamp, _own_digest(), function.__name__, shapes)
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"[:80]
    file = f"kernels/{name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.object"
    return None if file in _refused else (function, shapes, file)


def _is_numba_chosen() -> bool:
    chosen = os.environ.get(COMPILER_VARIABLE, "")
    if chosen not in ("", "own", "numba"):
        raise InvalidArgumentError(f"{COMPILER_VARIABLE}={chosen!r} is not a compiler; choose 'own' or 'numba'")
    return chosen == "numba"


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
