"""A graph on the device that represents one of the host, so that nothing is copied when a run begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.graphs import SOURCES, DeviceCsr, make

__all__ = ["Resident", "resident"]


@dataclass
class Resident:
    """The arrays as they were made, the graphs for the engine, and the start vertices."""

    csr: DeviceCsr
    sources: list[int]
    share: float = 1.0
    """The share of the arcs on the device; the rest is in the host's memory."""

    @property
    def name(self) -> str:
        """The name of the graph."""
        return self.csr.name

    @cached_property
    def graph(self) -> dr.Graph:
        """The graph without weights."""
        return self._registered(weighted=False)

    @cached_property
    def weighted(self) -> dr.Graph:
        """The graph with whole weights 1..255."""
        return self._registered(weighted=True)

    def _registered(self, weighted: bool) -> dr.Graph:
        from dromos.engines.cuda.device_graph import DeviceGraph, keep
        from dromos.engines.cuda.residency import Residency

        graph = self.csr.host(weighted)
        arrays = (self.csr.offsets, self.csr.targets, self.csr.weights if weighted else None)
        where = Residency(self.share, self.share)
        for renumber in (True, False) if self.share == 1 else (True,):  # in the given order, the same arrays again
            keep(graph, DeviceGraph.from_device(*arrays, renumber=renumber, residency=where), renumber=renumber)
        return graph

    def device_graph(self, weighted: bool = False) -> Any:
        """The engine's own form of the graph."""
        from dromos.engines.cuda.device_graph import device_graph

        return device_graph(self.weighted if weighted else self.graph)

    def random_sources(self, count: int, seed: int) -> Any:
        """Random vertices with edges; fewer than ``count`` if there are no more."""
        inside = np.flatnonzero(np.diff(self.graph.offsets) > 0)
        drawn = np.random.default_rng(seed).choice(inside, min(count, len(inside)), replace=False)
        return drawn.astype(np.int64)

    def release(self) -> None:
        """Free the memory of the device and of the host."""
        import cupy as cp

        from dromos.engines.cuda.device_graph import forget

        for name in ("graph", "weighted"):
            if name in self.__dict__:
                forget(self.__dict__.pop(name))
        self.csr.forget_hosts()
        cp.get_default_memory_pool().free_all_blocks()


def resident(name: str, sources: int = SOURCES) -> Resident:
    """The graph called ``name``, made on the device, with ``sources`` sources."""
    csr = make(name)
    return Resident(csr, csr.sources(sources))
