"""A graph that is only on the device, as far as a run needs it."""

from __future__ import annotations

from typing import Any

from dromos.engines.cuda.device_graph import DeviceGraph, keep

__all__ = ["ResidentGraph"]


class ResidentGraph:
    """Stands for ``copy`` where a host's graph is expected: its sizes and types, not its arrays."""

    weights: Any = None

    def __init__(self, copy: DeviceGraph) -> None:
        self.num_vertices, self.num_arcs = copy.num_vertices, copy.num_arcs
        self.targets, self.offsets = copy.out.targets, copy.out.offsets
        self.out_degree = self.in_degree = copy.out.offsets
        keep(self, copy, renumber=True)
        keep(self, copy, renumber=False)

    @property
    def transpose(self) -> ResidentGraph:
        """Both directions are on the device already."""
        return self
