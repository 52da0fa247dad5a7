"""What depends on a program with its types: facts for a run, its kernels, and their compiled modules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda import hooks_text
from dromos.codegen.cuda.structures import shared_type
from dromos.codegen.facts import is_always_active
from dromos.engines import GraphLike
from dromos.engines.cuda.compiler import Module, load
from dromos.engines.cuda.layout import BITMAPS, arguments_type, control_type, reduced_type
from dromos.engines.cuda.options import CudaOptions
from dromos.engines.skeletons import forms_of, skeleton_for
from dromos.identity_cache import IdentityCache
from dromos.plan import PATHS, Path
from dromos.program import Analysis, Program, TypedProgram, analyse
from dromos.program.expr import FALSE, TRUE
from dromos.program.forms import is_offered, is_ordered

__all__ = [
    "Kernel",
    "ProgramFacts",
    "facts_of",
    "kernel_for",
    "kernels_of",
    "module_of",
    "slices_kernel",
    "source_text",
]

_THREADS: Final = 2048  # resident threads of a multiprocessor
_QUEUES: Final = 4
_FIXED: Final = 16 << 20  # the trace, partial sums and the allocator's rounding
_facts: Final = IdentityCache()
_modules: dict[tuple[object, ...], Module] = {}


# ---- what a run has to know of a program ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ProgramFacts:
    """What a run has to know of a program, independently of the graph's arrays.

    There is one object for each typed program, so facts are compared by identity.
    """

    analysis: Analysis
    always: bool
    """All vertices are active in every superstep."""
    starts_alike: bool
    """All vertices are active at the start, and nothing else that a run does next depends on the initial state."""
    ordered: bool
    """Vertices are settled in the order of a field."""
    weights: bool
    """The weights of the graph are read."""
    in_given_order: bool
    """Vertices and arcs have to be in the given order: edge values are in the order of the arcs, and values that are
    read by id in that of the vertices."""
    dominated: tuple[Path, ...]
    """Paths that are never the fastest here."""
    arguments: np.dtype[Any]
    control: np.dtype[Any]
    reduced_bytes: int
    vertex_bytes: int
    """Memory of a run per vertex beside the graph: fields with copies, accumulators, queues, bitmaps, a result."""
    arc_bytes: int
    """Memory per arc: the edge fields."""

    def state_bytes(self, program: Program, graph: GraphLike) -> int:
        """The memory of the state, the buffers, the parameters and the results of a run beside the graph."""
        arrays = (values for values in program.params.values() if np.ndim(values))
        given = sum(int(values.nbytes) for values in arrays if all(values.strides))
        return graph.num_vertices * self.vertex_bytes + graph.num_arcs * self.arc_bytes + 2 * given + _FIXED


def facts_of(typed: TypedProgram) -> ProgramFacts:
    """The facts about ``typed``, computed once.

    >>> import dromos.program as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> known = facts_of(BFS.typed(dr.GraphTypes()))
    >>> known.weights, known.always, known is facts_of(BFS.typed(dr.GraphTypes()))
    (False, False, True)
    """
    return _facts.once(typed, "facts", lambda: _find_facts(typed))


def _find_facts(typed: TypedProgram) -> ProgramFacts:
    ir, analysis = typed.ir, analyse(typed)
    always = is_always_active(ir, analysis)
    sizes = {spec.name: typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in (*ir.fields, *ir.edge_fields)}
    fields = {spec.name: sizes[spec.name] for spec in ir.fields}
    copies = sum(fields[name] for name in ir.written if name in fields)
    merged = sum(shared_type(dtype).itemsize for dtype in typed.accumulators)
    vertex = sum(fields.values()) + copies * (2 if ir.sent else 1) + 2 * merged
    vertex += _QUEUES * typed.types.id.itemsize + len(BITMAPS) // 8 + 1 + max(fields.values(), default=0)
    return ProgramFacts(
        analysis,
        always,
        ir.start is TRUE and ir.converged is FALSE and not ir.reductions and analysis.claimed is None,
        is_ordered(typed, analysis),
        weights="weight" in ir.operations,
        in_given_order=bool(ir.edge_fields or ir.edge_params or ir.reads_by_id),
        dominated=tuple(path for path in PATHS if path.direction == "push") if always else (),
        arguments=arguments_type(typed),
        control=control_type(typed),
        reduced_bytes=reduced_type(typed).itemsize,
        vertex_bytes=vertex,
        arc_bytes=sum(sizes[spec.name] for spec in ir.edge_fields),
    )


# ---- kernels and modules -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """A skeleton (the name of a file in ``kernels/``), and its compile-time choices."""

    skeleton: str
    pull: bool = False
    topology: bool = False
    by_source: bool = False
    split: bool = False
    """Messages are sent in separate launches, one for each range of rows."""

    @property
    def by_queue(self) -> bool:
        """Whether the cost of a superstep grows with its frontier, not with the graph."""
        return not (self.pull or self.topology)

    @property
    def defines(self) -> tuple[str, ...]:
        """The choices, as preprocessor definitions."""
        newest = self.skeleton in ("asynchronous", "ordered")
        flags = {"PULL": self.pull, "TOPOLOGY": self.topology, "BY_SOURCE": self.by_source, "ASYNC": newest}
        split = ("SPLIT=1",) if self.split else ()
        return tuple(f"{name}={int(value)}" for name, value in flags.items()) + split

    def in_ranges(self) -> Kernel:
        """The same superstep with messages sent range by range of rows; only of the skeleton ``supersteps``.

        >>> Kernel("supersteps", pull=True, by_source=True).in_ranges()
        Kernel(skeleton='supersteps', pull=True, topology=False, by_source=False, split=True)
        """
        return replace(self, by_source=False, split=True)


def kernel_for(path: Path, typed: TypedProgram, analysis: Analysis, *, claimed: bool = False) -> Kernel:
    """The kernel that runs a program on ``path``; ``claimed``: its frontier lets vertices be claimed by one bit."""
    if is_always_active(typed.ir, analysis):
        # there is no queue, and sending in supersteps is one of the orders that an asynchronous path allows
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
    """The compiled module on the current device, for a graph of ``types``, given as preprocessor definitions.

    ``renamed``: the device's ids are not the given ones. ``over_link``: some arcs are read in the host's memory.
    ``pack_arcs``: rows there are packed, the longest in packs of so many arcs; 0: they are not packed.
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
