"""Machine code of a kernel's text: made by LLVM, and put where it can be called."""

from __future__ import annotations

from functools import cache
from typing import Any

__all__ = ["addresses_of", "machine_description", "object_code"]

_kept: list[Any] = []  # machine code lives as long as its engine


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def _context() -> Any:
    """What all modules of this compiler belong to: others may be at work in the common one.

    It is never given back. A module must not outlive its context, and one that an exception holds (Ctrl-C while LLVM is
    at work) is given back whenever garbage is collected.
    """
    return _llvm().create_context()


@cache
def _processor() -> tuple[str, str]:
    """The name and the features of this processor, as LLVM knows them."""
    llvm = _llvm()
    try:
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        return "", ""


@cache
def _machine() -> tuple[Any, Any]:
    """The target, and what generates code for it."""
    cpu, features = _processor()
    target = _llvm().Target.from_default_triple()
    reloc = "static" if target.name.startswith("x86") else "default"
    machine = target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
    )
    return target, machine


def machine_description() -> tuple[str, ...]:
    """What machine code depends on beside the kernel's text."""
    import llvmlite

    llvm = _llvm()
    return llvmlite.__version__, str(llvm.llvm_version_info), llvm.get_default_triple(), *_processor()


def object_code(text: str) -> bytes:
    """Compile a module in LLVM's language to an object file."""
    llvm = _llvm()
    target, machine = _machine()
    # LLVM takes the alignment of loads and stores from the layout that is known when it reads them
    described = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n{text}'
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = llvm.create_pass_builder(machine, options)
    # given back here, not by Python's garbage collection, which swallows the Ctrl-C that comes meanwhile
    with llvm.parse_assembly(described, context=_context()) as module:
        builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
    return code


def addresses_of(code: bytes, *names: str) -> list[int]:
    """Load an object file; the addresses of functions in it."""
    llvm = _llvm()
    machine = _machine()[1]
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly("", context=_context()), machine)
    _kept.append(engine)
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return [int(engine.get_function_address(name)) for name in names]
