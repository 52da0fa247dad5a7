"""What all kinds of parts on the CPU have in common: a module of compiled kernels, and a launcher."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from dromos.dtypes import Array
from dromos.engines import GraphShape
from dromos.engines.array_part import ArrayPart
from dromos.engines.cpu.costs import planning
from dromos.engines.cpu.emit import kernel_module
from dromos.engines.cpu.launching import Launcher
from dromos.program import GraphTypes, Program

__all__ = ["CompiledPart"]


class CompiledPart(ArrayPart):
    """A part whose kernels are those of one skeleton."""

    skeleton: ClassVar[str]

    def __init__(
        self, program: Program, shape: GraphShape, types: GraphTypes, first: int, last: int, threads: int
    ) -> None:
        super().__init__(program, shape, types, first, last)
        self.threads = threads
        self._launcher = Launcher(self, threads)
        self._kernels = kernel_module(self.typed, self.analysis, self.skeleton)

    @property
    def planning(self) -> Mapping[str, Any]:
        """See :class:`dromos.engines.parts.Part`; the same for any number of threads, since ranks may differ."""
        return planning(self.typed, self.analysis, several_threads=True)

    @property
    def launcher(self) -> Launcher:
        """The launcher of the part's kernels."""
        return self._launcher

    def _fields(self) -> tuple[Array, ...]:
        return tuple(self.state.values())
