"""What the checks of compilation share; each architecture has a file of its own, so that they run side by side.

The optimiser takes two thirds of the compiler's time. It works on every kernel for one architecture; for the others all
is compiled and assembled with few optimisations, unless ``make test-deep`` asks for more. So are the programs that are
like another one but for a type or a function, and native kernels for wide ids or offsets. What compiled once, from the
same text by the same compiler, is noted in the cache folder and not compiled again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib import import_module
from unittest.mock import patch

from dromos import disk_cache
from dromos.codegen.facts import is_always_active
from dromos.engines.cuda import compiler
from dromos.engines.cuda.modules import Kernel, kernels_of, source_text
from dromos.engines.cuda.packed_rows import PACK_ARCS, PACKING
from dromos.engines.cuda.rows import RELABELLING
from dromos.engines.cuda.sorted_rows import SORTING
from dromos.program import TypedProgram, analyse

__all__ = [
    "compile_in_ranges", "compile_native", "compile_program", "compile_relabelling", "compile_wide", "compiles",
]  # fmt: skip

_TYPES = ("VID=int", "EID=unsigned")
_WIDE = ("VID=long long", "EID=long long", "RENAMED=0", "BLOCK=1024", "STORED_WEIGHT=unsigned char")
_OPTIMISED = "sm_90"
_QUICK = "--Ofast-compile=max"
_QUICK_SINCE = (13, 0)  # the version of NVRTC


def compiles(text: str, name: str, *, arch: str, defines: Sequence[str], optimised: bool = True) -> bool:
    """Whether the source gives machine code; an error of the compiler is raised."""
    from cupy_backends.cuda.libs import nvrtc

    version = nvrtc.getVersion()
    wanted = (optimised and arch == _OPTIMISED) or os.environ.get("DROMOS_TEST_EXAMPLES")
    quick = version >= _QUICK_SINCE and not wanted
    options = (*compiler._OPTIONS, _QUICK) if quick else compiler._OPTIONS
    parts = (text, *compiler.headers().values(), arch, *defines, *options, str(version))
    note = f"cuda/compiles-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}"
    if disk_cache.read(note) is None:
        with patch.object(compiler, "_OPTIONS", options):
            if not compiler.compile_cubin(text, name, arch=arch, defines=defines):
                return False
        disk_cache.save(note, b"it does")
    return True


def compile_program(typed: TypedProgram, arch: str, *, slices: bool, optimised: bool = True) -> int:
    """Compile every kernel of a program, with or without those of ``slices``; how many there were."""
    analysis = analyse(typed)
    kernels = [kernel for kernel in kernels_of(typed, analysis) if slices or kernel.skeleton != "slices"]
    for kernel in kernels:
        text = source_text(typed, analysis, kernel)
        defines = (*kernel.defines, *_TYPES, "RENAMED=1")
        assert compiles(text, typed.ir.name, arch=arch, defines=defines, optimised=optimised)
        if kernel.by_source and kernel.skeleton == "supersteps" and is_always_active(typed.ir, analysis):
            packed = ("OVER_LINK=1", *defines, f"PACK_ARCS={PACK_ARCS}")
            assert compiles(text, typed.ir.name, arch=arch, defines=packed, optimised=optimised)
    return len(kernels)


def compile_wide(typed: TypedProgram, arch: str) -> int:
    """Compile the push kernels of a program for ids of eight bytes, with the largest block; how many there were."""
    analysis = analyse(typed)
    kernels = [kernel for kernel in kernels_of(typed, analysis) if not kernel.pull and not kernel.topology]
    for kernel in kernels:
        assert compiles(
            source_text(typed, analysis, kernel), typed.ir.name, arch=arch, defines=(*kernel.defines, *_WIDE)
        )
    return len(kernels)


def compile_in_ranges(typed: TypedProgram, arch: str) -> int:
    """Compile the kernels that send messages range by range of rows; how many there were."""
    kernels = [Kernel("supersteps"), Kernel("supersteps", topology=True), Kernel("supersteps", pull=True)]
    for kernel in (kernel.in_ranges() for kernel in kernels):
        text = source_text(typed, analyse(typed), kernel)
        assert compiles(text, typed.ir.name, arch=arch, defines=(*kernel.defines, *_TYPES, "RENAMED=1"))
    return len(kernels)


def compile_native(name: str, arch: str) -> int:
    """Compile every variant of a native kernel for this architecture; how many there were."""
    variants = import_module(f"dromos.engines.cuda.native.{name}").sources()
    for variant, text, defines in variants:
        assert compiles(text, variant, arch=arch, defines=defines, optimised=set(_TYPES) <= set(defines))
    return len(variants)


def compile_relabelling(arch: str) -> int:
    """Compile the kernels that bring rows to the device, for each type of ids and offsets; how many there were."""
    assert compiles(PACKING, "packing", arch=arch, defines=_TYPES)
    assert compiles(SORTING, "sorting", arch=arch, defines=_TYPES)
    for ids in ("int", "long long"):
        for offsets in ("unsigned", "long long"):
            assert compiles(RELABELLING, "relabel", arch=arch, defines=(f"VID={ids}", f"EID={offsets}"))
    return 4
