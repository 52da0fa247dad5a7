"""What a native kernel wants of the device, and of the graph there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dromos.engines import GraphLike

__all__ = ["USUAL", "Wants"]

_WIDE: Final = 2**32  # arcs, from which on their ids take eight bytes


@dataclass(frozen=True)
class Wants:
    """Each native module may have one, called ``WANTS``; others are content with :data:`USUAL`."""

    bytes_per_vertex: int = 64
    """Of the device, roughly, beside the graph; kernels for many sources need more, for each source."""
    bytes_per_arc: int = 0
    """The same for each arc, where ids of arcs take four bytes; twice as much elsewhere."""
    bytes_per_weight: int = 0
    """For each arc on top of that, where the graph has weights."""
    weights: bool = False
    """Whether it reads them."""
    given_order: bool = False
    """Whether rows must be as they were given."""
    least_arcs: int = 0
    """Graphs of fewer arcs are left to the host."""
    host_graph: bool = False
    """Whether it takes the graph in the host's memory too, as ``host``: there it leaves what the host does sooner."""

    def state_bytes(self, graph: GraphLike) -> int:
        """What the kernel needs on the device beside ``graph``.

        >>> import dromos as dr
        >>> Wants(bytes_per_arc=8).state_bytes(dr.generators.path(3))
        224
        """
        per_arc = self.bytes_per_arc * (1 if graph.num_arcs < _WIDE else 2)
        if graph.weights is not None:
            per_arc += self.bytes_per_weight
        return self.bytes_per_vertex * graph.num_vertices + per_arc * graph.num_arcs


USUAL: Final = Wants()
