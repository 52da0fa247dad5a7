"""What can be set about the CUDA engine: the results are the same with every setting, the time is not."""

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
    """Bytes of the device's memory that a run and its graph may take; None: what is free. Arcs for which there is no
    room lie in the host's memory and are read there."""
    share: float | None = None
    """The share of the arcs that lies on the device, for measurements; None: as much as there is room for."""
    packed: bool = True
    """Pack rows that lie in the host's memory for kernels that read all of them in every superstep."""
    way: Literal["auto", "in place", "pages", "gathered"] = "auto"
    """How rows in the host's memory reach the device: read *in place* by the kernels, copied as *pages* while kernels
    work, or *gathered* by the host's threads and then copied. ``"auto"`` takes the quickest by measured rates in each
    synchronous superstep, and *in place* in kernels that fuse supersteps. Another one is taken always, for tests and
    measurements, and leaves only synchronous paths. A pull reads all rows, so there *gathered* means *pages*, and so it
    does for programs with values by edge, whose places are those of the arcs."""
    on_device: bool = False
    """Leave results on the device, as CuPy arrays."""
    block: int | None = None
    """Threads in a block. None: 1024; but 256 for a traversal of a graph of high diameter, and one block a
    multiprocessor: there a superstep costs what a barrier costs, which grows with the blocks."""
    blocks: int = 0
    """Blocks on a multiprocessor; 0: as many as fit."""
    launch_ms: float = 100.0
    """How long a kernel stays before the host may interrupt it."""
    fusion: Literal["all", "selective", "none"] = "all"
    """How many supersteps one kernel runs: all; those of one direction; one, with a look from the host after each."""
    defines: tuple[str, ...] = ()
    """Numbers of the kernels that are to be others than their files say, such as ``PROBES=4``: for measurements."""

    def shape(self, thin: bool) -> tuple[int, int]:
        """Threads in a block, and blocks on a multiprocessor (0: as many as fit); ``thin``: for thin frontiers."""
        if self.block is not None:
            return self.block, self.blocks
        return (256, self.blocks or 1) if thin else (1024, self.blocks)
