"""What the checks of compilation share; each architecture has a file of its own, so that they run side by side.

The optimiser takes two thirds of the compiler's time, and the assembler most of the rest. So a source goes no further
than there is something new to find:

- For 8.0 every source becomes instructions, with few optimisations, and the first source of a kind machine code: the
  assembler finds too much shared memory, for example, and instructions that a kernel spells out and that do not exist.
  Later ones become machine code where there is anything in them that it has not judged yet (``assembling.py``).
- For 9.0, which has all that 8.0 has, the first source of a kind becomes machine code with all optimisations. Later
  ones differ from it by a program or by types, and are not compiled again. No source asks which architecture it is
  compiled for (which is looked at for each, and for the headers in ``test_depths.py``), so what 8.0 takes as a whole,
  9.0 does not refuse for its program.

A kind is a skeleton with the choices made in it, or a native source. ``make test-deep`` compiles everything as for a
run. What compiled once, from the same text by the same compiler, is noted in the cache folder, not compiled again.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from unittest.mock import patch

from dromos import disk_cache
from dromos.codegen.facts import is_always_active
from dromos.engines.cuda import compiler
from dromos.engines.cuda.modules import Kernel, kernels_of, source_text
from dromos.engines.cuda.packed_rows import PACK_ARCS, PACKING
from dromos.engines.cuda.rows import RELABELLING
from dromos.engines.cuda.sorted_rows import SORTING, WEIGHTED
from dromos.engines.cuda.streamed_rows import STREAMED
from dromos.program import TypedProgram, analyse
from tests.cuda.assembling import Assembled
from tests.cuda.every_program import typed_programs

__all__ = [
    "Depth", "compile_in_ranges", "compile_native", "compile_program", "compile_relabelling", "compile_wide",
    "compiles",
]  # fmt: skip

_TYPES = ("VID=int", "EID=unsigned")
_WIDE = ("VID=long long", "EID=long long", "RENAMED=0", "BLOCK=1024", "STORED_WEIGHT=unsigned char")
_QUICK = "--Ofast-compile=max"
_QUICK_SINCE = (13, 0)  # the version of NVRTC


_ASKS = "__CUDA_ARCH__"


class Depth(Enum):
    """How far a source is compiled: the options for that, and for what kind of architecture."""

    PARSED = (("--fdevice-syntax-only",), "compute")
    GENERATED = ((_QUICK,), "compute")  # and assembled where that could find anything
    ASSEMBLED = ((_QUICK,), "sm")
    OPTIMISED = ((), "sm")
    AS_ELSEWHERE = ((), "none")  # not at all: another architecture judges this source


_FIRST = {"sm_80": Depth.ASSEMBLED, "sm_90": Depth.OPTIMISED}
_LATER = {"sm_80": Depth.GENERATED, "sm_90": Depth.AS_ELSEWHERE}
_assembled: defaultdict[str, Assembled] = defaultdict(Assembled)


def compiles(text: str, name: str, *, arch: str, defines: Sequence[str], depth: Depth) -> bool:
    """Whether the source compiles for an architecture such as ``"sm_90"``; an error of the compiler is raised."""
    from cupy_backends.cuda.libs import nvrtc

    version = nvrtc.getVersion()
    if version < _QUICK_SINCE or os.environ.get("DROMOS_TEST_EXAMPLES"):
        depth = Depth.OPTIMISED
    elif _ASKS in text:
        return False
    if depth is Depth.AS_ELSEWHERE:
        return True
    more, kind = depth.value
    options, target = (*compiler._OPTIONS, *more), arch.replace("sm", kind)
    parts = (text, *compiler.headers().values(), target, *defines, *options, str(version))
    note = f"cuda/compiles-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}"
    if disk_cache.read(note) is None:
        instructions, code = _compile(text, name, target, defines, options)
        if not code and depth is not Depth.PARSED:
            return False
        if depth is Depth.ASSEMBLED:
            _assembled[arch].add(instructions)
        if depth is Depth.GENERATED and not _assembled[arch].judges(instructions):
            return compiles(text, name, arch=arch, defines=defines, depth=Depth.ASSEMBLED)
        disk_cache.save(note, b"it does")
    return True


def _compile(text: str, name: str, target: str, defines: Sequence[str], options: Sequence[str]) -> tuple[bytes, bytes]:
    """The instructions, and what becomes of them for this target: machine code, or themselves."""
    from cupy_backends.cuda.libs import nvrtc

    get_code = nvrtc.getCUBIN if target.startswith("sm") else nvrtc.getPTX
    found: list[bytes] = []

    def instructions_and_code(program: int) -> bytes:
        found.append(bytes(nvrtc.getPTX(program)))
        return bytes(get_code(program))

    with patch.object(compiler, "_OPTIONS", options), patch.object(nvrtc, "getCUBIN", instructions_and_code):
        code = compiler.compile_cubin(text, name, arch=target, defines=defines)
    return found[0], code


@cache
def _first_programs() -> dict[Kernel, TypedProgram]:
    """The first program with each kernel."""
    found: dict[Kernel, TypedProgram] = {}
    for typed in typed_programs():
        for kernel in kernels_of(typed, analyse(typed)):
            found.setdefault(kernel, typed)
    return found


def compile_program(typed: TypedProgram, arch: str) -> int:
    """Compile every kernel of a program; how many there were."""
    analysis = analyse(typed)
    kernels = kernels_of(typed, analysis)
    for kernel in kernels:
        text = source_text(typed, analysis, kernel)
        defines = (*kernel.defines, *_TYPES, "RENAMED=1")
        depth = (_FIRST if _first_programs().get(kernel) is typed else _LATER)[arch]
        assert compiles(text, typed.ir.name, arch=arch, defines=defines, depth=depth)
        if kernel.by_source and kernel.skeleton == "supersteps" and is_always_active(typed.ir, analysis):
            packed = ("OVER_LINK=1", *defines, f"PACK_ARCS={PACK_ARCS}")
            assert compiles(text, typed.ir.name, arch=arch, defines=packed, depth=depth)
    return len(kernels)


def compile_wide(typed: TypedProgram, arch: str) -> int:
    """Compile the push kernels of a program for ids of eight bytes, with the largest block; how many there were."""
    analysis = analyse(typed)
    kernels = [kernel for kernel in kernels_of(typed, analysis) if not kernel.pull and not kernel.topology]
    for kernel in kernels:
        text, defines = source_text(typed, analysis, kernel), (*kernel.defines, *_WIDE)
        assert compiles(text, typed.ir.name, arch=arch, defines=defines, depth=Depth.ASSEMBLED)
    return len(kernels)


def compile_in_ranges(typed: TypedProgram, arch: str) -> int:
    """Compile the kernels that send messages range by range of rows; how many there were."""
    kernels = [Kernel("supersteps"), Kernel("supersteps", topology=True), Kernel("supersteps", pull=True)]
    for kernel in (kernel.in_ranges() for kernel in kernels):
        text = source_text(typed, analyse(typed), kernel)
        defines = (*kernel.defines, *_TYPES, "RENAMED=1")
        assert compiles(text, typed.ir.name, arch=arch, defines=defines, depth=Depth.ASSEMBLED)
    return len(kernels)


def compile_native(name: str, arch: str) -> int:
    """Compile every variant of a native kernel for this architecture; how many there were."""
    variants = import_module(f"dromos.engines.cuda.native.{name}").sources()
    _compile_variants(variants, arch)
    return len(variants)


def compile_relabelling(arch: str) -> int:
    """Compile the kernels that bring rows to the device, for each type of ids and offsets; how many there were."""
    types = [(f"VID={ids}", f"EID={offsets}") for ids in ("int", "long long") for offsets in ("unsigned", "long long")]
    variants = [("packing", PACKING, _TYPES), ("sorting", SORTING, _TYPES), ("sorting", SORTING, (*_TYPES, WEIGHTED))]
    variants += [("relabel", RELABELLING, ids_and_offsets) for ids_and_offsets in types]
    variants += [("streamed", STREAMED, ids_and_offsets) for ids_and_offsets in types]
    _compile_variants(variants, arch)
    return len(variants)


def _compile_variants(variants: Sequence[tuple[str, str, Sequence[str]]], arch: str) -> None:
    """Compile sources, each with a name and its choices; the first with a name is the first of its kind."""
    seen: set[str] = set()
    for name, text, defines in variants:
        assert compiles(text, name, arch=arch, defines=defines, depth=(_LATER if name in seen else _FIRST)[arch])
        seen.add(name)
