"""How much of a graph is on the device: all of it if it fits, otherwise what a run's memory leaves room for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dromos.engines import GraphLike
from dromos.errors import ResourceError
from dromos.graph.summary import human_bytes

__all__ = ["Need", "Residency", "free_bytes", "is_symmetric"]

_LEAST_SCRATCH: Final = 64 << 20
_NEAR: Final = 0.75  # a copy is not remade if at least this share of what could be on the device is there
_FILL: Final = 0.95  # of what is free: sorts and results take some
_MOST_BUFFERS: Final = 96 << 20
_BUFFERS_SHARE: Final = 1 / 8  # of the room for arcs, if that is small


@dataclass(frozen=True)
class Residency:
    """The shares of a graph's targets and weights that are on the device; the rest is read in the host's memory."""

    share: float = 1.0
    weights_share: float = 1.0
    scratch: int = 0
    """Bytes that copying the graph may take beside it; 0: half of what is free."""
    buffers: int = _MOST_BUFFERS
    """Bytes that are left free on the device for copies of rows, if some are on the host."""


@dataclass(frozen=True)
class Need:
    """The memory that a run needs on the device beside the arcs, and the most that it may take in all."""

    memory: int | None = None
    """The most that the run and the graph may take together; None: what is free."""
    state: int = 0
    """What the run takes beside the graph."""
    weights: bool = True
    """Whether it reads the weights."""
    share: float | None = None
    """The share of the arcs that is to be on the device; None: as much as there is room for."""

    def residency(self, graph: GraphLike, freed: int = 0) -> Residency:
        """The placement of ``graph``; ``freed``: bytes that are in use now and will be free then.

        Raises :class:`~dromos.errors.ResourceError` if not even the vertices have room.
        """
        memory = int((free_bytes() + freed) * _FILL) if self.memory is None else self.memory
        fixed = self.state + vertex_bytes(graph)
        if fixed > memory:
            raise ResourceError(
                f"{human_bytes(memory)} of the GPU's memory is too little: this run needs {human_bytes(fixed)} there "
                "for the fields of the vertices and the offsets of their rows; the arcs may lie in the host's memory",
                needed=fixed,
            )
        if self.share is not None:
            return Residency(self.share, self.share, max(self.state, _LEAST_SCRATCH), _MOST_BUFFERS)
        sides = 1 if is_symmetric(graph) else 2
        targets = sides * graph.num_arcs * graph.targets.itemsize
        weights = 0 if graph.weights is None else sides * graph.num_arcs * graph.weights.itemsize
        room = memory - fixed
        scratch = 0 if self.memory is None else max(self.state, _LEAST_SCRATCH)
        if targets + weights <= room:
            return Residency(scratch=scratch)
        if self.weights or targets > room:
            buffers = min(_MOST_BUFFERS, int(room * _BUFFERS_SHARE))
            room -= buffers
        else:
            buffers = 0  # this run reads nothing over the link
        if self.weights:  # both are read for every arc
            share = room / (targets + weights)
            return Residency(share, share, scratch, buffers)
        share = min(1.0, room / max(targets, 1))
        return Residency(share, min(1.0, (room - share * targets) / max(weights, 1)), scratch, buffers)

    def is_met_by(self, found: Residency, graph: GraphLike, held: int) -> bool:
        """Whether a copy with this placement, which takes ``held`` bytes of the device, will do."""
        if self.share is not None:
            return found.share == self.share
        if self.memory is None and found.share == found.weights_share == 1:
            return True
        wanted = self.residency(graph, held)
        pairs = [(found.share, wanted.share)]
        if self.weights and graph.weights is not None:
            pairs.append((found.weights_share, wanted.weights_share))
        return all(_NEAR * most <= have <= most for have, most in pairs)


def vertex_bytes(graph: GraphLike) -> int:
    """The size of the offsets and the ids of the vertices."""
    offset = 4 if graph.num_arcs < 2**32 - 2**20 else 8
    sides = 1 if is_symmetric(graph) else 2
    return graph.num_vertices * (sides * offset + 2 * graph.targets.itemsize)


def is_symmetric(graph: GraphLike) -> bool:
    """Whether in-rows and out-rows are the same."""
    return bool(getattr(graph, "symmetric", False)) or graph.transpose is graph


def free_bytes() -> int:
    """The available memory of the current device."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
