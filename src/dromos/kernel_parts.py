"""Kernels and parts of them, compiled only as far as they are used.

Numba treats every function that a kernel calls as one that Python may call too: it builds two wrappers around it and
generates machine code for all three. A part that is always inlined needs none of that, and it takes a third to a half
of the time that a kernel needs to compile. Nor is a part optimised by itself: it is inlined first, and what it became
part of is optimised as a whole, once. Numba's passes for closures and for expressions of whole arrays are left out.
Numba would also compile a part anew for each constant that it is called with, and for those that variables begin with;
it is compiled once for their type, and the optimiser sees the constants when the part is inlined.

The threads of a team call a kernel by its address. The wrappers, which for tuples of arrays are longer than many a
kernel, are made when Python calls it: by a dispatcher of Numba's that stands behind the kernel's.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numba

from dromos.machine_code import turn_to_compile
from dromos.team_calls import is_supported

__all__ = ["for_python", "kernel_part", "lean_passes", "team_kernel"]


def team_kernel(function: Callable[..., Any], options: dict[str, Any], keep: Callable[[Any, bytes], None]) -> Any:
    """Make ``function`` a kernel for teams of threads, which compiled code and Python may call too.

    ``options`` are those of ``numba.njit``. ``keep`` is called with each dispatcher that is made, to have its machine
    code kept on disk, and with what tells those of one function apart.
    """
    kind = _kernel_dispatcher_class() if is_supported() else None
    if kind is None:
        return for_python(function, options, keep)
    bare = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    passes = {"pipeline_class": bare.pop("pipeline_class")} if "pipeline_class" in bare else {}
    compiled = kind(function, targetoptions=bare, **passes)
    compiled.wrapped = cache(partial(for_python, function, options, keep))
    keep(compiled, b"without wrappers")
    return compiled


def for_python(function: Callable[..., Any], options: dict[str, Any], keep: Callable[[Any, bytes], None]) -> Any:
    """Make ``function`` a kernel that Python can call; see :func:`team_kernel`."""
    compiled = numba.njit(**options)(function)
    keep(compiled, b"")
    return compiled


@cache
def _kernel_dispatcher_class() -> Any:
    """The dispatcher of kernels; None where Numba's inner names are others than those that it builds on."""
    try:
        from numba.core.options import DefaultOptions
        from numba.core.registry import CPUDispatcher
    except ImportError:
        return None
    needed = ((DefaultOptions, "no_cpython_wrapper"), (DefaultOptions, "no_cfunc_wrapper"), (CPUDispatcher, "compile"))
    if not all(hasattr(owner, name) for owner, name in needed):
        return None

    class KernelDispatcher(CPUDispatcher):  # type: ignore[misc, unused-ignore]
        """What the decorator makes of a function."""

        wrapped: Callable[[], Any]

        def __call__(self, *args: Any, **named: Any) -> Any:
            return self.wrapped()(*args, **named)

        def compile(self, sig: Any) -> Any:
            with turn_to_compile(self, sig):
                return super().compile(sig)

        def add_overload(self, result: Any) -> None:
            """Note a compiled form; calls from Python go to the other dispatcher."""
            self.overloads[tuple(result.signature.args)] = result

    return KernelDispatcher


def kernel_part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Make ``function`` a part of kernels, which only compiled code calls; ``options`` are those of ``numba.njit``."""
    dispatcher = _dispatcher_class()
    if dispatcher is None:
        return numba.njit(**options)(function)
    return dispatcher(function, targetoptions={"nopython": True, **options}, **lean_passes())


@cache
def lean_passes() -> dict[str, Any]:
    """The option of ``numba.njit`` for functions without closures and array expressions; none with an unknown Numba.

    Looking for those takes a tenth of the time that Numba needs for a function.
    """
    try:
        from numba.core.compiler import CompilerBase, DefaultPassBuilder
        from numba.core.compiler_machinery import PassManager
        from numba.core.typed_passes import NopythonRewrites
        from numba.core.untyped_passes import InlineClosureLikes
    except ImportError:
        return {}

    class LeanCompiler(CompilerBase):  # type: ignore[misc, unused-ignore]
        """Numba's compiler, less two passes."""

        def define_pipelines(self) -> list[Any]:
            lean = PassManager("lean")
            for kind, purpose in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
                if kind not in (NopythonRewrites, InlineClosureLikes):
                    lean.add_pass(kind, purpose)
            lean.finalize()
            return [lean]

    return {"pipeline_class": LeanCompiler}


@cache
def _dispatcher_class() -> Any:
    """The dispatcher of parts; None where Numba's inner names are others than those that it builds on."""
    try:
        from numba.core.codegen import JITCodeLibrary
        from numba.core.compiler import CompileResult, Flags, compile_extra
        from numba.core.dispatcher import _FunctionCompiler
        from numba.core.errors import TypingError
        from numba.core.registry import CPUDispatcher
        from numba.core.types import BooleanLiteral, IntegerLiteral, unliteral
    except ImportError:
        return None
    needed = {
        JITCodeLibrary: (
            "_optimize_functions",
            "_optimize_final_module",
            "_finalize_final_module",
            "_finalize_dynamic_globals",
            "_verify_declare_only_symbols",
        ),
        CompileResult: ("_replace",),
        Flags: ("no_compile", "no_cpython_wrapper", "no_cfunc_wrapper"),
        _FunctionCompiler: ("_compile_core",),
        CPUDispatcher: ("add_overload", "get_call_template"),
    }
    if any(not hasattr(owner, name) for owner, names in needed.items() for name in names):
        return None

    constants = (BooleanLiteral, IntegerLiteral)

    class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc, unused-ignore]
        """The code of one function as other functions link it: not optimised yet, and without machine code."""

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout

        def _optimize_final_module(self) -> None:
            """The kernel that the code is inlined into is optimised as a whole."""

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

        def get_call_template(self, args: Any, kws: Any) -> Any:
            """What a call is compiled to; for a constant only where it does not compile otherwise, as an index may."""
            plain = tuple(unliteral(kind) if isinstance(kind, constants) else kind for kind in args)
            if plain == tuple(args):
                return super().get_call_template(args, kws)
            try:
                return super().get_call_template(plain, kws)
            except TypingError:
                return super().get_call_template(args, kws)

        def add_overload(self, result: Any) -> None:
            """Note a compiled form; the table that calls from Python go by has no entry for it."""
            self.overloads[tuple(result.signature.args)] = result

    return PartDispatcher
