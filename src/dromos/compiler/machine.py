"""Machine code of a kernel's text: made by LLVM, and put where it can be called."""

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

_OLDEST: Final = (20,)  # of LLVM; llvmlite with 15 reads pointers with types only
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
    """Raise an error that says what to install where nothing can be compiled.

    >>> require_compiler()
    """
    _llvm()


@cache
def _context() -> Any:
    """What all modules of this compiler belong to: others may be at work in the common one.

    It is never given back. A module must not outlive its context, and one that an exception holds (Ctrl-C while LLVM is
    at work) is given back whenever garbage is collected.
    """
    return _llvm().create_context()


@contextmanager
def compiling_for(level: Level) -> Iterator[None]:
    """Compile for a level of processors inside, not for the one of this machine."""
    global _level
    before, _level = _level, level
    try:
        yield
    finally:
        _level = before


def has_crc() -> bool:
    """Whether code is compiled for a processor of ARM's with instructions for checksums."""
    if _level is not None:
        return _level.has_crc
    return bool(_llvm().get_host_cpu_features().get("crc"))


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
    """The target, and what generates code for it."""
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
    """What machine code depends on beside the kernel's text.

    LLVM takes a tenth of a second to load, so it is not asked where Linux says as much: who finds all kernels on disk
    does without it.
    """
    processor = processor_description() if _level is None else f"{_level.cpu} {_level.features}"
    if processor:
        return _compiler_version(), processor
    llvm = _llvm()
    return _compiler_version(), str(llvm.llvm_version_info), llvm.get_default_triple(), *_processor()


@cache
def _compiler_version() -> str:
    """The version of llvmlite, which is not loaded for it."""
    found = find_spec("llvmlite")
    if found is not None and found.origin is not None:
        with suppress(OSError):
            return (Path(found.origin).parent / "_version.py").read_text()
    _llvm()
    import llvmlite

    return str(llvmlite.__version__)


def parsed(text: str) -> Any:
    """A module in LLVM's language, for this processor.

    LLVM takes the alignment of loads and stores from the data layout that it knows when it reads them, so the layout
    stands before them: without one, 64 bits are aligned to 4 bytes.
    """
    target, machine = _machine()
    layout = f'target datalayout = "{machine.target_data}"\ntarget triple = "{target.triple}"\n'
    return _llvm().parse_assembly(layout + text, context=_context())


def object_code(text: str, *, in_vectors: bool = False) -> bytes:
    """Compile a module in LLVM's language to an object file.

    ``in_vectors``: values that are treated alike one after the other are put into one register where they can be.
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
    """Load an object file; the addresses of functions in it."""
    if can_load():
        try:
            return load_object(code, *names)
        except UnknownObjectError:  # of another version of LLVM, which then is here and knows it
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
    """What ``work`` returns, done where no Ctrl-C comes: Python raises it in the main thread alone.

    Raised while an object of LLVM's is given back, it would be lost, or the object would be given back twice. So the
    main thread raises it, when the work is done.
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
        other.join()  # as long as LLVM works: what comes next may be in need of it
        raise
    if failed:
        raise failed[0]
    return found[0]
