"""The thin supersteps that a search begins with: the host runs them alone, on the whole graph."""

from __future__ import annotations

from typing import Final

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.leading import AdoptingPart, LeadingPart
from dromos.engines.parts import Partial
from dromos.graph import Graph
from dromos.graph.partly_held import PartlyHeldGraph
from dromos.graph.slices import GraphSlice

__all__ = ["Lead"]

_MOST_ARCS: Final = 1 << 14  # that the host goes along sooner than a device is told and waited for
_SHARE: Final = 64  # and no more than this part of all arcs: there a pull is near


class Lead:
    """A host's part that runs for both parts until there is more to do, and the device's part that goes on."""

    def __init__(self, graph: Graph, host: LeadingPart, device: AdoptingPart) -> None:
        self._graph = graph
        self._host, self._device = host, device
        self.most_arcs = min(_MOST_ARCS, graph.num_arcs // _SHARE)
        """The most that the host goes along in a superstep."""
        self._begun = False

    def suits(self, active_arcs: int) -> bool:
        """Whether a push along so many arcs is one for the host alone."""
        return active_arcs <= self.most_arcs

    def step(self) -> tuple[Partial, float]:
        """A superstep of the host; its outcome for both parts, and its seconds."""
        if not self._begun:
            self._host.begin_lead()
            self._begun = True
        own = Stopwatch()
        return self._host.lead(self._rows()), own.seconds()

    def _rows(self) -> GraphSlice:
        """All rows; of those that the host does not hold, the active vertices' have been made."""
        graph = self._graph
        if isinstance(graph, PartlyHeldGraph):
            return graph.hold(self._host.led_front)
        return GraphSlice(0, graph.num_vertices, graph.offsets, graph.targets, graph.weights)

    def hand_over(self) -> tuple[Partial, Partial, Array] | None:
        """The frontiers of the host and of the device, and the vertices of the latter; None: nothing was led."""
        if not self._begun:
            return None
        led = self._host.end_lead()
        self._device.adopt(led)
        return led.own, Partial(led.frontier, led.out_degree), led.front
