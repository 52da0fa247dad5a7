"""Settings of the CUDA engine: they affect the time, never the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CudaOptions"]


@dataclass(frozen=True)
class CudaOptions:
    """Settings of a :class:`~dromos.engines.cuda.CudaEngine`; the defaults are what measured best.

    >>> CudaOptions().shape(thin=True)
    (256, 1)
    """

    renumber: bool = True
    """Order vertices by degree on the device."""
    memory: int | None = None
    """Bytes of the device's memory that a run and its graph may take; None: what is free. Arcs that do not fit are in
    the host's memory and are read there."""
    share: float | None = None
    """The share of the arcs on the device, for measurements; None: as much as there is room for."""
    packed: bool = True
    """Pack rows in the host's memory for kernels that read all of them in every superstep."""
    way: Literal["auto", "in place", "pages", "gathered"] = "auto"
    """How rows in the host's memory reach the device: read *in place* by the kernels, copied as *pages* while kernels
    run, or *gathered* by the host's threads and then copied. ``"auto"`` chooses the fastest by measured rates in each
    synchronous superstep, and *in place* in kernels that fuse supersteps. Any other setting always applies, for tests
    and measurements, and leaves only synchronous paths. A pull reads all rows, so there *gathered* means *pages*, and
    so it does for programs with edge values, whose indices are those of the arcs."""
    on_device: bool = False
    """Leave results on the device, as CuPy arrays."""
    block: int | None = None
    """Threads in a block. None: 1024; but 256 for a traversal of a graph of high diameter, with one block per
    multiprocessor: there a superstep costs as much as a barrier, which grows with the blocks."""
    blocks: int = 0
    """Blocks on a multiprocessor; 0: as many as fit."""
    launch_ms: float = 100.0
    """How long a kernel runs before the host may interrupt it."""
    fusion: Literal["all", "selective", "none"] = "all"
    """How many supersteps one kernel runs: all; those of one direction; one, with a check by the host after each."""
    defines: tuple[str, ...] = ()
    """Constants of the kernels that override those of their files, such as ``PROBES=4``: for measurements."""

    def shape(self, thin: bool) -> tuple[int, int]:
        """Threads in a block, and blocks on a multiprocessor (0: as many as fit); ``thin``: for thin frontiers."""
        if self.block is not None:
            return self.block, self.blocks
        return (256, self.blocks or 1) if thin else (1024, self.blocks)
