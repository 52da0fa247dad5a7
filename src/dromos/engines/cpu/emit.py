"""A program's kernel module: its rendered functions, the other hooks of the skeletons, and a skeleton's own text.

The skeletons are ordinary Python modules. Each imports its hooks from :mod:`dromos.engines.cpu.skeletons.hooks`, which
is what an editor, a linter and a reader see. Here that import is replaced by the text of the program's own hooks. So
one file holds all that a kernel depends on, and its name, a hash of the text, is the key of its machine code.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from functools import cache
from types import ModuleType

from dromos import disk_cache
from dromos.codegen.cache import load
from dromos.codegen.python import folding, hooks_text
from dromos.codegen.python.folding import fold_flags
from dromos.codegen.python.hooks import CLAIMING_LOAD, skeleton_flags, wanting_levels
from dromos.codegen.python.printer import ASYNCHRONOUS_LOAD
from dromos.errors import FileError
from dromos.program import Analysis, GraphTypes, TypedProgram

__all__ = ["kernel_module", "module_text"]

_modules: dict[tuple[str, GraphTypes, str], ModuleType] = {}
_SHARING = {
    "asynchronous": ASYNCHRONOUS_LOAD, "asynchronous_slices": ASYNCHRONOUS_LOAD, "claiming": CLAIMING_LOAD,
}  # fmt: skip
"""Skeletons in which a thread reads fields that another may be writing, and the loads that they use."""
_USES = {
    "asynchronous_slices": ("asynchronous",),
    "claiming": ("claiming_rows", "claiming_words"),
    "offering": ("offers",),
    "offering_blocks": ("offers", "block_tiles", "offering"),
    "slice_blocks": ("offers", "block_tiles"),
    "slices": ("supersteps", "offers"),
}
"""Skeletons whose functions a skeleton uses."""


def kernel_module(typed: TypedProgram, analysis: Analysis, skeleton: str) -> ModuleType:
    """The compiled-on-first-call module of ``skeleton`` (the name of a module of skeletons) for a program."""
    key = (typed.ir.hash, typed.types, skeleton)
    module = _modules.get(key)
    if module is None:
        module = _modules[key] = load(module_text(typed, analysis, skeleton), f"{typed.ir.name}_{skeleton}")
    return module


def module_text(typed: TypedProgram, analysis: Analysis, skeleton: str) -> str:
    """The whole text of a kernel module."""
    parts = [hooks_text(typed, analysis, shared=_SHARING.get(skeleton, ""))]
    if skeleton == "claiming" and analysis.search is not None:
        parts.append(wanting_levels(typed, analysis.search))
    flags = skeleton_flags(typed, analysis)
    return "\n\n".join([*parts, _folded(skeleton, tuple(flags.items()))])


@cache
def _folded(skeleton: str, flags: tuple[tuple[str, bool], ...]) -> str:
    """A skeleton's text with a program's flags folded in; cached on disk: folding takes as long as loading a kernel."""
    text = _skeleton_text(skeleton)
    maker = inspect.getsource(folding)
    digest = hashlib.sha256(f"{sys.version} {maker} {flags} {text}".encode()).hexdigest()
    name = f"skeletons/{skeleton}-{digest[:32]}.text"
    try:
        kept = disk_cache.read(name)
        if kept is not None:
            return kept.decode()
        folded = fold_flags(text, dict(flags))
        disk_cache.save(name, folded.encode())
    except FileError:  # no folder to cache it in: reading the text needs none
        return fold_flags(text, dict(flags))
    return folded


@cache
def _skeleton_text(name: str) -> str:
    """A skeleton module without its imports of hooks, and with the hash of the helpers that it imports from Dromos.

    Helpers that depend on no hooks are imported, and so are compiled once for all the programs of a process.
    """
    from dromos import intrinsics, jit
    from dromos.engines.cpu import skeletons
    from dromos.engines.cpu.skeletons import common

    sources = "".join(inspect.getsource(module) for module in (intrinsics, jit, common))
    texts = [f"# helpers {hashlib.sha256(sources.encode()).hexdigest()[:16]}", f"from {common.__name__} import *"]
    for part in (*_USES.get(name, ()), name):
        source = (skeletons.FOLDER / f"{part}.py").read_text()
        texts.append(source.partition(skeletons.HOOKS_END)[2].strip())
    return "\n\n\n".join(texts) + "\n"
