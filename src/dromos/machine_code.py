"""The machine code of kernels on disk, in the folder of :mod:`dromos.disk_cache` and nowhere else.

Numba's own cache keeps it beside the source, or where ``NUMBA_CACHE_DIR`` points to, and unpickles whatever it finds
there. Here one file holds one kernel for one signature: its name is a digest of what the code depends on, which stands
in the file once more and is compared.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import hashlib
import pickle
import platform
import sys
import warnings
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from dromos import disk_cache
from dromos.compile_turns import compile_turn
from dromos.errors import DromosWarning

__all__ = ["is_kept", "keep_machine_code", "turn_to_compile"]


def keep_machine_code(dispatcher: Any, stamp: bytes) -> None:
    """Have a kernel of Numba's keep its machine code from one process to the next.

    ``stamp`` stands for the source of the kernel and of all that it takes from elsewhere.
    """
    if _missing_names() or not hasattr(dispatcher, "_cache"):
        return
    dispatcher._cache = _KernelCache(dispatcher.py_func, stamp)


def is_kept(dispatcher: Any, args: tuple[Any, ...]) -> bool:
    """Whether the machine code of a kernel for arguments such as these is on disk."""
    kept = getattr(dispatcher, "_cache", None)
    if not isinstance(kept, _KernelCache):
        return False
    return kept.holds(tuple(dispatcher.typeof_pyval(value) for value in args), dispatcher.targetctx)


def turn_to_compile(dispatcher: Any, sig: tuple[Any, ...]) -> AbstractContextManager[None]:
    """What a kernel is compiled within: for code that is kept on disk, one process at a time."""
    kept = getattr(dispatcher, "_cache", None)
    if not isinstance(kept, _KernelCache) or sig in dispatcher.overloads:
        return nullcontext()
    return kept.turn(sig, dispatcher.targetctx)


@cache
def _missing_names() -> str:
    """What of Numba's inner names this module needs and this version does not have; told once."""
    try:
        from numba.core.compiler import CompileResult
        from numba.core.serialize import dumps  # noqa: F401
    except ImportError as error:
        missing = str(error)
    else:
        missing = ", ".join(
            f"CompileResult.{name}" for name in ("_reduce", "_rebuild") if not hasattr(CompileResult, name)
        )
    if missing:
        import numba

        warnings.warn(
            f"Dromos does not know how to keep machine code with Numba {numba.__version__} ({missing}): every process "
            "compiles what it needs; another version of Numba will help",
            DromosWarning,
            stacklevel=4,
        )
    return missing


class _KernelCache:
    """What a dispatcher of Numba's asks for compiled code, and hands it to; see ``numba.core.caching._Cache``."""

    def __init__(self, function: Any, stamp: bytes) -> None:
        self._function, self._stamp, self._enabled = function, stamp, True

    @property
    def cache_path(self) -> str:
        return str(disk_cache.cache_folder() / "kernels")

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing is kept in memory."""

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether there is a file for a signature."""
        return _is_on_disk(self._name(self._key(sig, target_context.codegen())))

    def turn(self, sig: Any, target_context: Any) -> AbstractContextManager[None]:
        """Wait for other processes that compile for this signature; see :func:`compile_turn`."""
        from numba.core.compiler_lock import global_compiler_lock

        if not self._enabled or global_compiler_lock.is_locked():
            return nullcontext()  # what is compiled on the way to a kernel is compiled in that kernel's turn
        name = self._name(self._key(sig, target_context.codegen()))
        return nullcontext() if _is_on_disk(name) else compile_turn(name, lambda: _is_on_disk(name))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature; None if there is none yet."""
        from numba.core.compiler import CompileResult

        if not self._enabled:
            return None
        _start_runtime(target_context)
        key = self._key(sig, target_context.codegen())
        data = disk_cache.read(self._name(key))
        if data is None:
            return None
        try:
            kept, payload = pickle.loads(data)
            return CompileResult._rebuild(target_context, *payload) if kept == key else None
        except Exception:  # made by a version whose types have another form: compile
            return None

    def save_overload(self, sig: Any, compiled: Any) -> None:
        """Keep a compiled function."""
        from numba.core.serialize import dumps

        dynamic = compiled.library.has_dynamic_globals or any(not part.can_cache for part in compiled.lifted)
        if not self._enabled or dynamic:
            return
        key = self._key(sig, compiled.codegen)
        disk_cache.save(self._name(key), dumps((key, compiled._reduce())))

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """All that the machine code depends on: versions, processor, source, signature."""
        import llvmlite
        import numba
        from numba.core.serialize import dumps

        code, closure = self._function.__code__, self._function.__closure__
        held = b"" if closure is None else dumps(tuple(cell.cell_contents for cell in closure))
        versions = (numba.__version__, llvmlite.__version__, sys.version, platform.machine())
        source = (self._stamp, code.co_firstlineno, _digest(code.co_code), _digest(held))
        return (*versions, codegen.magic_tuple(), *source, sig)

    def _name(self, key: tuple[Any, ...]) -> str:
        name = f"{self._function.__module__.rpartition('.')[2]}.{self._function.__name__}"
        return f"kernels/{name[:80]}-{_digest(repr(key).encode())[:32]}.code"


def _start_runtime(target_context: Any) -> None:
    """Let machine code find Numba's runtime.

    Numba's own cache loads all that its compiler knows as well (``refresh``): half a second, most of it for modules
    such as SciPy's that compiled code does not look at. The compiler loads it when it has something to compile.
    """
    try:
        from numba.core.runtime import rtsys
    except ImportError:  # another Numba
        target_context.refresh()
    else:
        rtsys.initialize(target_context)


def _is_on_disk(name: str) -> bool:
    shared, private = disk_cache.places()
    return any((folder / name).is_file() for folder in (shared, private) if folder is not None)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
