"""Compile a kernel's text to machine code with LLVM, and load it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from dromos.compiler.levels import Level, processor_description
from dromos.compiler.loading import UnknownObjectError, can_load, load_object
from dromos.errors import MissingDependencyError

__all__ = [
    "addresses_of",
    "compiling_for",
    "has_crc",
    "machine_description",
    "object_code",
    "parsed",
    "require_compiler",
]

_OLDEST: Final = (20,)  # of LLVM; llvmlite with 15 supports typed pointers only
_INSTALL: Final = "pip install 'dromos[compiler]'"
T = TypeVar("T")
_kept: list[Any] = []  # machine code lives as long as its engine
_level: Level | None = None


@cache
def _llvm() -> Any:
    try:
        import llvmlite.binding as llvm
    except ImportError:
        raise MissingDependencyError(
            f"Dromos has no machine code for this and compiles it, which needs llvmlite: {_INSTALL}"
        ) from None
    if llvm.llvm_version_info < _OLDEST:
        version = ".".join(map(str, llvm.llvm_version_info))
        raise MissingDependencyError(f"Dromos compiles this with a newer llvmlite; it has LLVM {version}: {_INSTALL}")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def require_compiler() -> None:
    """Raise an error that says what to install if nothing can be compiled.

    >>> require_compiler()
    """
    _llvm()


@cache
def _context() -> Any:
    """The LLVM context of this compiler's modules; other users of llvmlite may be using the global one.

    It is never disposed of. A module must not outlive its context, and a module held by an exception (Ctrl-C while LLVM
    works) is disposed of only when garbage is collected.
    """
    return _llvm().create_context()


@contextmanager
def compiling_for(level: Level) -> Iterator[None]:
    """Compile for a level of processors within the block, instead of for this machine's processor."""
    global _level
    before, _level = _level, level
    try:
        yield
    finally:
        _level = before


def has_crc() -> bool:
    """Whether code is compiled for a processor with instructions for checksums."""
    if _level is not None:
        return _level.has_crc
    features = _llvm().get_host_cpu_features()
    return bool(features.get("crc") or features.get("pclmul"))


@cache
def _own_processor() -> tuple[str, str]:
    """The name and the features of this processor, as LLVM knows them."""
    llvm = _llvm()
    try:
        return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except RuntimeError:
        return "", ""


def _processor() -> tuple[str, str]:
    """The name and the features of the processors that code is compiled for."""
    return _own_processor() if _level is None else (_level.cpu, _level.features)


def _machine() -> tuple[Any, Any]:
    """The target, and its code generator."""
    return _machine_of(*_processor())


@cache
def _machine_of(cpu: str, features: str) -> tuple[Any, Any]:
    target = _llvm().Target.from_default_triple()
    reloc = "static" if target.name.startswith("x86") else "default"
    machine = target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
    )
    return target, machine


def machine_description() -> tuple[str, ...]:
    """What machine code depends on besides the kernel's text.

    LLVM takes a tenth of a second to load, so the description comes from Linux where possible: a process that finds all
    kernels on disk need not load LLVM.
    """
    processor = processor_description() if _level is None else f"{_level.cpu} {_level.features}"
    if processor:
        return _compiler_version(), processor
    llvm = _llvm()
    return _compiler_version(), str(llvm.llvm_version_info), llvm.get_default_triple(), *_processor()


@cache
def _compiler_version() -> str:
    """The version of llvmlite, without loading it."""
    found = find_spec("llvmlite")
    if found is not None and found.origin is not None:
        with suppress(OSError):
            return (Path(found.origin).parent / "_version.py").read_text()
    _llvm()
    import llvmlite

    return str(llvmlite.__version__)


def parsed(text: str) -> Any:
    """Parse a module in LLVM's language, for this processor.

    LLVM derives the alignment of loads and stores from the data layout known when it parses them, so the layout comes
    first: without one, 64-bit values are aligned to 4 bytes.
    """
    target, machine = _machine()
    layout = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n'
    return _llvm().parse_assembly(layout + text, context=_context())


def object_code(text: str, *, in_vectors: bool = False) -> bytes:
    """Compile a module in LLVM's language to an object file.

    ``in_vectors``: combine the same operation on consecutive values into vector instructions (SLP) where possible.
    """
    llvm = _llvm()
    machine = _machine()[1]

    def work() -> bytes:
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization, options.slp_vectorization = True, in_vectors
        builder, module = llvm.create_pass_builder(machine, options), parsed(text)
        builder.getModulePassManager().run(module, builder)
        code: bytes = machine.emit_object(module)
        return code

    return _undisturbed(work)


def addresses_of(code: bytes, *names: str) -> list[int]:
    """Load an object file; return the addresses of functions in it."""
    if can_load():
        try:
            return load_object(code, *names)
        except UnknownObjectError:  # from another version of LLVM, which is then installed and can load it
            pass
    llvm = _llvm()
    machine = _machine()[1]

    def work() -> list[int]:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly("", context=_context()), machine)
        _kept.append(engine)
        engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return [int(engine.get_function_address(name)) for name in names]

    return _undisturbed(work)


def _undisturbed(work: Callable[[], T]) -> T:
    """Run ``work`` on another thread, where Ctrl-C cannot interrupt it: Python raises it in the main thread only.

    If raised while an object of LLVM is disposed of, the exception would be lost, or the object disposed of twice. So
    the main thread raises it when the work is done.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            failed.append(error)

    other = threading.Thread(target=run)
    other.start()
    try:
        other.join()
    except KeyboardInterrupt:
        other.join()  # until LLVM is done, since what follows may need LLVM
        raise
    if failed:
        raise failed[0]
    return found[0]
