"""What can be set about the CUDA engine: the results are the same with every setting, the time is not."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CudaOptions"]


@dataclass(frozen=True)
class CudaOptions:
    """Settings of a :class:`~dromos.engines.cuda.CudaEngine`; the defaults are what measured best.

    >>> CudaOptions(renumber=False).defines
    ('BLOCK=256', 'PROBES=8', 'BLOCK_ROW=1024', 'GRID_ROW=65536')
    """

    renumber: bool = True
    """Order vertices by degree on the device."""
    fused: bool = True
    """Run many supersteps in one kernel; False: one launch and one look from the host for each."""
    on_device: bool = False
    """Leave results on the device, as CuPy arrays."""
    block: int = 256
    """Threads in a block."""
    blocks: int = 0
    """Blocks on a multiprocessor; 0: as many as fit."""
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
    widest: float = 8.0
    """How often a bucket may be as wide as the first one."""
    launch_ms: float = 100.0
    """How long a kernel stays before the host may interrupt it."""

    @property
    def defines(self) -> tuple[str, ...]:
        """The settings that are compiled in."""
        return (
            f"BLOCK={self.block}", f"PROBES={self.probes}", f"BLOCK_ROW={self.block_row}", f"GRID_ROW={self.grid_row}",
        )  # fmt: skip
