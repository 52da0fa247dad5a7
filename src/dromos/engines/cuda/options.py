"""What can be set about the CUDA engine: the results are the same with every setting, the time is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CudaOptions"]


@dataclass(frozen=True)
class CudaOptions:
    """Settings of a :class:`~dromos.engines.cuda.CudaEngine`; the defaults are what measured best.

    >>> CudaOptions(probes=4).defines
    ('PROBES=4', 'BLOCK_ROW=1024', 'GRID_ROW=65536', 'FILTER=0', 'HUB_WORDS=0')
    """

    renumber: bool = True
    """Order vertices by degree on the device."""
    fusion: Literal["all", "selective", "none"] = "all"
    """How many supersteps one kernel runs: all; those of one direction; one, with a look from the host after each."""
    filter: Literal["just-in-time", "online", "ballot"] = "just-in-time"
    """How a traversal makes its next frontier: every warp appends what it finds, or the bits of all vertices are
    gathered afterwards, or the one in a push and the other in a pull."""
    hub_words: int = 0
    """Words of the frontier's bitmap, those of the greatest hubs, that a pull keeps in shared memory."""
    memory: int | None = None
    """Bytes of the device's memory that a run and its graph may take; None: what is free. Arcs for which there is no
    room lie in the host's memory and are read there."""
    share: float | None = None
    """The share of the arcs that lies on the device, for measurements; None: as much as there is room for."""
    on_device: bool = False
    """Leave results on the device, as CuPy arrays."""
    block: int | None = None
    """Threads in a block. None: 1024; but 256 for a traversal of a graph of high diameter, and one block a
    multiprocessor: there a superstep costs what a barrier costs, which grows with the blocks."""
    blocks: int = 0
    """Blocks on a multiprocessor; 0: as many as fit."""
    full_pull: bool = True
    """Compile pulls for as many threads as a multiprocessor holds, at the price of registers."""
    probes: int = 8
    """Neighbours that a lane looks at alone in a pull before its warp helps."""
    block_row: int = 1024
    """Arcs of a row from which on a whole block walks it; above the greatest degree, hubs are walked by a warp."""
    grid_row: int = 65536
    """Arcs of a row from which on all blocks walk it."""
    alpha: float = 15.0
    """Push turns to pull when the frontier's out-edges exceed the untouched edges over this."""
    beta: float = 24.0
    """Pull turns back to push when the frontier is below the number of vertices over this."""
    delta_scale: float = 1.0
    """The first width of a bucket in near-far, as a multiple of the engine's own choice."""
    widest: float = 4.0
    """How often a bucket may be as wide as the first one."""
    launch_ms: float = 100.0
    """How long a kernel stays before the host may interrupt it."""

    @property
    def defines(self) -> tuple[str, ...]:
        """The settings that are compiled in."""
        how = ("just-in-time", "online", "ballot").index(self.filter)
        return (
            f"PROBES={self.probes}", f"BLOCK_ROW={self.block_row}", f"GRID_ROW={self.grid_row}", f"FILTER={how}",
            f"HUB_WORDS={self.hub_words}",
        )  # fmt: skip

    def shape(self, thin: bool) -> tuple[int, int]:
        """Threads in a block, and blocks on a multiprocessor (0: as many as fit); ``thin``: for thin frontiers."""
        if self.block is not None:
            return self.block, self.blocks
        return (256, self.blocks or 1) if thin else (1024, self.blocks)
