"""Parts of kernels, compiled only as far as a kernel needs them: to LLVM's intermediate form, ready to be inlined.

Numba treats every function that a kernel calls as one that Python may call too: it builds two wrappers around it and
generates machine code for all three. A part that is always inlined needs none of that, and it takes a third to a half
of the time that a kernel needs to compile.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba

__all__ = ["kernel_part"]


def kernel_part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Make ``function`` a part of kernels, which only compiled code calls; ``options`` are those of ``numba.njit``."""
    dispatcher = _dispatcher_class()
    if dispatcher is None:
        return numba.njit(**options)(function)
    return dispatcher(function, targetoptions={"nopython": True, **options})


@cache
def _dispatcher_class() -> Any:
    """The dispatcher of parts; None where Numba's inner names are others than those that it builds on."""
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import CompileResult, Flags, compile_extra
        from numba.core.dispatcher import _FunctionCompiler
        from numba.core.registry import CPUDispatcher
    except ImportError:
        return None
    needed = {
        JITCodeLibrary: ("_finalize_final_module", "_finalize_dynamic_globals", "_verify_declare_only_symbols"),
        CompileResult: ("_replace",),
        Flags: ("no_compile", "no_cpython_wrapper", "no_cfunc_wrapper"),
        _FunctionCompiler: ("_compile_core",),
        CPUDispatcher: ("add_overload",),
    }
    if any(not hasattr(owner, name) for owner, names in needed.items() for name in names):
        return None

    class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
        """The optimised code of one function for other functions to link; no machine code is generated for it."""

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True

    class PartCompiler(_FunctionCompiler):  # type: ignore[misc, unused-ignore]
        """As Numba compiles a function, without wrappers and machine code."""

        def _compile_core(self, args: Any, return_type: Any) -> Any:
            flags = Flags()
            self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            context = self.targetdescr.target_context
            library = LinkedLibrary(context.codegen(), self.py_func.__qualname__)
            library.enable_object_caching()
            result = compile_extra(
                self.targetdescr.typing_context,
                context,
                self.py_func,
                args=args,
                return_type=return_type,
                flags=flags,
                locals=self.locals,
                library=library,
                pipeline_class=self.pipeline_class,
            )
            if result.typing_error is not None:
                raise result.typing_error
            # Numba finds the code of a call by the function's entry point: any object of its own serves as the key.
            result = result._replace(entry_point=object())
            context.insert_user_function(result.entry_point, result.fndesc, [library])
            return result

    class PartDispatcher(CPUDispatcher):  # type: ignore[misc, unused-ignore]
        """What the decorator makes of a function."""

        _compiler: Any

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            full = self._compiler
            self._compiler = PartCompiler(
                full.py_func, full.targetdescr, full.targetoptions, full.locals, full.pipeline_class
            )

        def __call__(self, *args: Any) -> Any:
            raise TypeError(f"{self.py_func.__name__}() is a part of kernels; only compiled code can call it")

        def add_overload(self, result: Any) -> None:
            """Note a compiled form; the table that calls from Python go by has no entry for it."""
            self.overloads[tuple(result.signature.args)] = result

    return PartDispatcher
