"""Machine code of a kernel, made by LLVM when it is first called with arguments of certain types."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any

import numpy as np

from dromos.compiling import compiling
from dromos.direct.statements import lowered
from dromos.direct.values import INTEGER, REAL, Kind, LoweringError, kind_of_array

__all__ = ["DirectKernel", "direct_kernel"]

_lock = threading.Lock()
_kept: list[Any] = []  # LLVM's engines, which own the machine code, and their contexts


def direct_kernel(function: Callable[..., None]) -> DirectKernel:
    """Make a kernel of a function of arrays and numbers that returns nothing; :mod:`dromos.direct` says what it may do.

    >>> kernel = direct_kernel(np.testing.assert_equal)  # a kernel is translated when it is first called
    >>> kernel.__name__
    'assert_equal'
    """
    return DirectKernel(function)


class DirectKernel:
    """A function and its machine code; ``python`` is the function itself, which does the same, slowly."""

    __name__: str

    def __init__(self, function: Callable[..., None]) -> None:
        self.python = function
        self._compiled: dict[tuple[Kind, ...], Callable[..., None]] = {}
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> None:
        kinds: list[Kind] = []
        passed: list[Any] = []
        for number, value in enumerate(args):
            if isinstance(value, np.ndarray):
                kind = kind_of_array(value)
                if kind is None:
                    raise LoweringError(
                        f"{self.__name__}: argument {number} is an array of {value.dtype} with shape {value.shape}; "
                        "kernels take arrays of whole numbers or doubles, with one axis, in one piece"
                    )
                kinds.append(kind)
                passed += [value.ctypes.data, value.size]
            else:
                kinds.append(REAL if isinstance(value, (float, np.floating)) else INTEGER)
                passed.append(value)
        types = tuple(kinds)
        (self._compiled.get(types) or self._compile(types))(*passed)

    def _compile(self, kinds: tuple[Kind, ...]) -> Callable[..., None]:
        with _lock:
            if kinds not in self._compiled:
                with compiling(f"the kernel {self.__name__!r}"):
                    text = lowered(self.python, kinds, typed_pointers=_llvm().llvm_version_info < (17,))
                    address = _machine_code(text)
                types: list[Any] = []
                for kind in kinds:
                    if kind.startswith("["):
                        types += [ctypes.c_void_p, ctypes.c_int64]
                    else:
                        types.append(ctypes.c_double if kind == REAL else ctypes.c_int64)
                self._compiled[kinds] = ctypes.CFUNCTYPE(None, *types)(address)  # a call lets go of the GIL
        return self._compiled[kinds]


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _machine_code(text: str) -> int:
    """Compile a module; the address of its kernel."""
    llvm = _llvm()
    try:
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know this processor
        cpu, features = "", ""
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=cpu, features=features, opt=3, codemodel="jitdefault")
    context = llvm.create_context()  # Numba's threads may be at work in the common one
    module = llvm.parse_assembly(text, context=context)
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    module.verify()
    _optimise(llvm, module, machine)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _kept.append((engine, context))
    address: int = engine.get_function_address("kernel")
    return address


def _optimise(llvm: Any, module: Any, machine: Any) -> None:
    """LLVM's usual passes, by the interface that this version of llvmlite has."""
    if hasattr(llvm, "create_pass_builder"):
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return
    builder = llvm.create_pass_manager_builder()
    builder.opt_level, builder.inlining_threshold = 2, 225
    passes = llvm.create_module_pass_manager()
    machine.add_analysis_passes(passes)
    builder.populate(passes)
    passes.run(module)


def _renew_lock() -> None:
    """In a child of a fork: another thread may have held it there."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)
