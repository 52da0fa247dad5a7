"""Kernels of programs: what of a skeleton is chosen at compile time, and compiled modules."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dromos.codegen.cuda import hooks_text
from dromos.codegen.facts import is_always_active
from dromos.engines.cuda.compiler import Module, load
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.skeletons import forms_of, skeleton_for
from dromos.plan import Path
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import is_offered

__all__ = ["Kernel", "kernel_for", "kernels_of", "module_of", "slices_kernel", "source_text"]

_THREADS = 2048  # resident threads of a multiprocessor
_modules: dict[tuple[object, ...], Module] = {}


@dataclass(frozen=True)
class Kernel:
    """A skeleton (the name of a file in ``kernels/``), and what of it is chosen at compile time."""

    skeleton: str
    pull: bool = False
    topology: bool = False
    by_source: bool = False

    @property
    def by_queue(self) -> bool:
        """Whether the cost of a superstep grows with its frontier, not with the graph."""
        return not (self.pull or self.topology)

    @property
    def defines(self) -> tuple[str, ...]:
        """The choices, as the preprocessor takes them."""
        newest = self.skeleton in ("asynchronous", "ordered")
        flags = {"PULL": self.pull, "TOPOLOGY": self.topology, "BY_SOURCE": self.by_source, "ASYNC": newest}
        return tuple(f"{name}={int(value)}" for name, value in flags.items())


def kernel_for(path: Path, typed: TypedProgram, analysis: Analysis, *, claimed: bool = False) -> Kernel:
    """The kernel that runs a program on ``path``; ``claimed``: its frontier lets vertices be taken by one bit."""
    if is_always_active(typed.ir, analysis):
        # there is no queue, and to send in supersteps is one of the orders that an asynchronous path allows
        path = replace(path, sync="sync")
    pull, topology = path.direction == "pull", path.driven == "td"
    skeleton = skeleton_for(path, forms_of(typed, analysis, claimed=claimed) - {"offered in place"})
    match skeleton:
        case "claiming" | "ordered":
            return Kernel(skeleton)
        case "offering":
            return Kernel("supersteps", pull=True, by_source=True)
        case "asynchronous":
            return Kernel(skeleton, pull, topology and not pull)
    return Kernel(skeleton, pull, topology)


def kernels_of(typed: TypedProgram, analysis: Analysis) -> tuple[Kernel, ...]:
    """Every kernel that a program can need."""
    paths = [Path.parse(path) for path in analysis.legal_paths]
    every = [
        kernel_for(path, typed, analysis, claimed=c) for path in paths for c in {False, analysis.claimed is not None}
    ]
    return tuple(dict.fromkeys([Kernel("supersteps"), *every, slices_kernel(typed, analysis)]))


def slices_kernel(typed: TypedProgram, analysis: Analysis) -> Kernel:
    """The kernels of a part of a graph: the halves of a superstep, over slices."""
    return Kernel("slices", by_source=is_offered(typed.ir, analysis))


def source_text(typed: TypedProgram, analysis: Analysis, kernel: Kernel) -> str:
    """The whole source of a module."""
    return f'{hooks_text(typed, analysis)}\n#include "{kernel.skeleton}.cuh"\n'


def module_of(
    typed: TypedProgram,
    analysis: Analysis,
    kernel: Kernel,
    types: tuple[str, ...],
    options: CudaOptions,
    block: int,
    *,
    renamed: bool = False,
    over_link: bool = False,
    pack_arcs: int = 0,
) -> Module:
    """The compiled module on the current device, for a graph of ``types``, as the preprocessor takes them.

    ``renamed``: the device's ids are not the given ones. ``over_link``: some arcs are read in the host's memory.
    ``pack_arcs``: rows there are packed, the longest so many arcs at a time; 0: they are not.
    """
    import cupy

    resident = _THREADS // block if kernel.pull else 1
    shape = (f"BLOCK={block}", f"RESIDENT={max(1, resident)}")
    order = (f"RENAMED={int(renamed)}", f"OVER_LINK={int(over_link)}", f"PACK_ARCS={pack_arcs}")
    defines = (*kernel.defines, *types, *order, *shape, *options.defines)
    key = (typed.ir.hash, typed.types, kernel.skeleton, defines, int(cupy.cuda.Device().id))
    if key not in _modules:
        text = source_text(typed, analysis, kernel)
        _modules[key] = load(text, f"{typed.ir.name}_{kernel.skeleton}", defines=defines)
    return _modules[key]
