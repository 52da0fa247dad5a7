"""Programs on the cores of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dromos.engines import GraphLike, NativeKernel
from dromos.engines.direction import along
from dromos.engines.native import cpu_kernel
from dromos.parallel import num_threads
from dromos.program import Program

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["CpuEngine"]


class CpuEngine:
    """Compiles programs and runs them on ``threads`` threads.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> from dromos.graph import Graph
    >>> from dromos.plan import Path
    >>> class Degrees(dr.Program):
    ...     count = dr.field(np.int64, init=0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return 1
    ...     def update(self, v, message): return v.count + message
    ...     def active(self, old, new): return False
    >>> run = CpuEngine(threads=1).prepare(Degrees(), Graph.from_edges([0, 1], [2, 2]))
    >>> run.step(Path()).finished
    'frontier empty'
    >>> run.result()["count"].tolist()
    [0, 0, 2]
    """

    name = "cpu"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = num_threads(threads)

    def prepare(self, program: Program, graph: GraphLike) -> CpuExecution:
        """The program in its initial state; kernels are compiled, or loaded from the cache, on first use."""
        from dromos.engines.cpu.execution import CpuExecution  # not needed for a first call that NumPy answers

        return CpuExecution(*along(program, graph), self.threads)

    def native(self, name: str) -> NativeKernel | None:
        """The kernel called ``name``, for this engine's threads."""
        return cpu_kernel(name, self.threads)
