"""Parts of graphs on the cores of this machine: which kind of part a program gets."""

from __future__ import annotations

from dromos.engines import GraphShape, NativeKernel, types_read
from dromos.engines.array_part import ArrayPart
from dromos.engines.cpu.general_part import CpuPart
from dromos.engines.cpu.leading_part import LeadingPart
from dromos.engines.cpu.ordered_part import OrderedPart
from dromos.engines.native import cpu_kernel
from dromos.engines.native.forest import Forest, link_rows
from dromos.graph.slices import GraphSlice
from dromos.parallel import num_threads
from dromos.program import GraphTypes, Program, analyse
from dromos.program.forms import is_claimed, is_ordered

__all__ = ["CpuLeaf", "CpuPart"]


class CpuLeaf:
    """Runs parts with compiled kernels, on ``threads`` threads."""

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = num_threads(threads)

    def part(self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int) -> ArrayPart:
        """See :class:`dromos.engines.parts.Leaf`."""
        types = types_read(program, types)
        typed = program.typed(types)
        if is_claimed(typed, analyse(typed)):
            part = LeadingPart(program, shape, types, first, last, self.threads)
            if not part.has_open_starts:
                return part
        kind = OrderedPart if is_ordered(typed, analyse(typed)) else CpuPart
        return kind(program, shape, types, first, last, self.threads)

    def native(self, name: str) -> NativeKernel | None:
        """The compiled kernel called ``name`` for whole graphs; None if there is none."""
        return cpu_kernel(name, self.threads)

    def link_rows(self, forest: Forest, shape: GraphShape, piece: GraphSlice) -> None:
        """Join the trees of a forest along the out-rows of a slice."""
        link_rows(forest, piece, self.threads)
