"""A part on the CPU that may run the first supersteps of a search for all parts, while few vertices are active.

The host has the whole graph in its memory. A superstep of some vertices costs it microseconds, where parts that tell
each other what they found wait for a device. So it writes the rows of whatever it finds, its own and others', and keeps
one log of them: frontiers stand in it one behind the other. In the end the owners get their rows.
"""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.claiming_part import OUT_DEGREES, ClaimingPart
from dromos.engines.cpu.launching import LINE, TOUCHED, edge_arrays, slice_arrays
from dromos.engines.cpu.topology import HUB_LENGTH
from dromos.engines.leading import Led
from dromos.engines.parts import Partial
from dromos.graph.slices import GraphSlice

__all__ = ["LeadingPart"]


class LeadingPart(ClaimingPart):
    """As its base; see :class:`dromos.engines.leading.LeadingPart`."""

    _front_begin = _front_end = 0  # where the frontier of all parts stands in the log, which is `_away`
    _front_out = 0

    @property
    def can_lead(self) -> bool:
        """Whether there are other parts; asked before the first superstep."""
        return not self._alone

    def begin_lead(self, others: Array) -> None:
        """Run for all parts from here on; ``others``: their vertices in the first frontier."""
        own = self._list()
        front = np.concatenate((own, others))
        # who is in the first frontier wants no message: a search with open starts has another kind of part
        np.bitwise_and.at(self._wanting, others >> 6, ~(np.uint64(1) << (others & 63).astype(np.uint64)))
        self._front_begin, self._front_end = 0, len(front)
        self._away[: len(front)] = front
        self._front_out = int((self._offsets[front + 1] - self._offsets[front]).sum())

    def lead(self, rows: GraphSlice) -> Partial:
        """A push along the out-rows of all vertices, and what comes of it in all parts."""
        begin, end = self._front_begin, self._front_end
        run = self._launcher
        counters, report = run.counters(touched=end), run.report()
        run.run(
            self._kernels.push_claims, slice_arrays(rows), self.first, self.last, True, self._fields(),
            edge_arrays(self, rows), run.context(), self._told_messages, self._offsets, self._wanting,
            self._away[begin:end], end - begin, (self._next, self._away),
            np.empty(rows.num_arcs // HUB_LENGTH + 1, np.int64), (run.buffer(), run.buffer(), run.buffer()), counters,
            run.memory(), report,
            counters=counters, work=self._front_out,
        )  # fmt: skip
        self._front_begin, self._front_end = end, int(counters[TOUCHED * LINE])
        self._front_out = int(report.reshape(-1, LINE)[:, OUT_DEGREES].sum())
        found = self._front_end - end
        return Partial(found, self._front_out, 0, found)

    def end_lead(self) -> Led:
        """Keep the own part of the frontier, and tell what the others are to take over."""
        log, begin = self._away[: self._front_end], self._front_begin
        outside = (log < self.first) | (log >= self.last)
        theirs, own = log[outside], log[begin:][~outside[begin:]]
        self._next[: len(own)] = own
        self._found, self._found_out = len(own), int((self._offsets[own + 1] - self._offsets[own]).sum())
        others_out = self._front_out - self._found_out
        self._advance()
        written = [spec.name for spec in self.ir.fields if spec.name in self.analysis.written_fields]
        rows = {name: self.state[name][theirs] for name in written}
        return Led(theirs, rows, int(np.count_nonzero(outside[begin:])), Partial(self._size, self._out), others_out)

    def learn_front(self, others: Array) -> None:
        """The active vertices of other parts, for a pull in this superstep; own ones are known."""
        if self._front_step != self.superstep:
            self._make_front()
        self._launcher.run(self._kernels.to_bits, others, self._front, work=len(others))
