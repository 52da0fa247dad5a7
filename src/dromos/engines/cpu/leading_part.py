"""A part on the CPU that may run the first supersteps of a search for all parts, while few vertices are active.

The host has the whole graph in its memory. A superstep of some vertices costs it microseconds, while parts that
exchange what they found wait for a device. So the host writes the rows of all vertices that it finds, its own and
others', and keeps a log of either, in which frontiers follow one another. In the end the owners get their rows.
"""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.claiming_part import OUT_DEGREES, ClaimingPart
from dromos.engines.cpu.launching import LINE, QUEUE, TOUCHED, edge_arrays, slice_arrays
from dromos.engines.cpu.topology import HUB_LENGTH
from dromos.engines.cpu.words import rows_of
from dromos.engines.leading import Led
from dromos.engines.parts import Partial
from dromos.graph.slices import GraphSlice

__all__ = ["LeadingPart"]


class LeadingPart(ClaimingPart):
    """As its base; see :class:`dromos.engines.leading.LeadingPart`."""

    # `_next` and `_away` are the logs of own and of other vertices: the begin and end of their current frontiers
    _own_begin = _own_end = _away_begin = _away_end = 0
    _front_out = 0  # arcs that leave the frontier of all parts

    @property
    def can_lead(self) -> bool:
        """Whether there are other parts; called before the first superstep."""
        return not self._alone

    def begin_lead(self) -> None:
        """Start to run for all parts, from the first superstep on."""
        own, others = self._list(), self._away[: self._away_starts].astype(np.int64)
        # vertices in the first frontier want no message: a search with open starts uses another kind of part
        np.bitwise_and.at(self._wanting, others >> 6, ~(np.uint64(1) << (others & 63).astype(np.uint64)))
        self._own_end, self._away_end = len(own), len(others)
        self._next[: len(own)] = own
        self._front_out = self._out + self._degrees(others)

    def lead(self, rows: GraphSlice) -> Partial:
        """Push along the out-rows of all vertices; return the outcome over all parts."""
        front = np.concatenate((self._next[self._own_begin : self._own_end], self.led_front))
        run = self._launcher
        counters, report = run.counters(queue=self._own_end, touched=self._away_end), run.report()
        run.run(
            self._kernels.push_claims, slice_arrays(self, rows), self.first, self.last, True, self._fields(),
            edge_arrays(self, rows), run.context(), self._told_messages, self._offsets, self._wanting, front,
            len(front), (self._next, self._away), np.empty(rows.num_arcs // HUB_LENGTH + 1, np.int64),
            (run.buffer(), run.buffer(), run.buffer()), counters, run.memory(), report,
            counters=counters, work=self._front_out,
        )  # fmt: skip
        self._own_begin, self._own_end = self._own_end, int(counters[QUEUE * LINE])
        self._away_begin, self._away_end = self._away_end, int(counters[TOUCHED * LINE])
        self._front_out = int(report.reshape(-1, LINE)[:, OUT_DEGREES].sum())
        found = self._own_end - self._own_begin + self._away_end - self._away_begin
        return Partial(found, self._front_out, 0, found)

    def end_lead(self) -> Led:
        """Keep the own share of the frontier, and return what the other parts are to take over."""
        own = self._next[self._own_begin : self._own_end]
        self._found, self._found_out = len(own), self._degrees(own)
        others_out = self._front_out - self._found_out
        self._next[: len(own)] = own.copy()
        self._advance()
        theirs, active = self._away[: self._away_end], self._away_end - self._away_begin
        written = [spec.name for spec in self.ir.fields if spec.name in self.analysis.written_fields]
        rows = {name: rows_of(self.state[name], theirs) for name in written}
        return Led(theirs, rows, active, Partial(self._size, self._out), others_out)

    def learn_front(self, others: Array) -> None:
        """Set the active vertices of other parts, for a pull in this superstep; own ones are known."""
        if self._front_step != self.superstep:
            self._make_front()
        self._launcher.run(self._kernels.to_bits, others, self._front, work=len(others))

    @property
    def led_front(self) -> Array:
        """The active vertices of other parts, along whose rows the next :meth:`lead` pushes too."""
        return self._away[self._away_begin : self._away_end]

    def _degrees(self, vertices: Array) -> int:
        return int((self._offsets[vertices + 1] - self._offsets[vertices]).sum())
