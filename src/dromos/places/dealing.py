"""How pages are dealt to parts: to the owners of their rows, round-robin, or to every part.

In each case a part owns a range of vertices, and its own rows are authoritative. The arcs that it processes differ:

=========== ============================== =============================== =================================
``deal``    pages of a part                copies of other parts' vertices messages to other parts' vertices
=========== ============================== =============================== =================================
``rows``    those of its own vertices      what it reads at the far ends   go to their owners (push only)
``pages``   every ``parts``-th of all      all that it reads               go to their owners
``targets`` all, cut to arcs into its own  the active ones                 none
=========== ============================== =============================== =================================

``pages`` and ``targets`` are strategies P and S of GTS (Kim et al., SIGMOD 2016, section 4). Both use the exchange of a
grid (:mod:`dromos.places.grid`): ``pages`` with all parts in one row and one column, ``targets`` with one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from dromos.dtypes import Array
from dromos.engines import GraphLike
from dromos.engines.parts import Part, Phase
from dromos.errors import InvalidArgumentError
from dromos.graph.slices import GraphSlice
from dromos.places.exchange import CopyExchange
from dromos.places.feed import Feed, MemoryFeed
from dromos.places.grid import Grid, GridCopyExchange
from dromos.plan.path import Direction
from dromos.program import Program

__all__ = ["DEALS", "Deal", "dealt", "require_deal"]

Deal: TypeAlias = Literal["rows", "pages", "targets"]
DEALS: Final[tuple[Deal, ...]] = get_args(Deal)


def require_deal(program: Program, deal: Deal) -> None:
    """Refuse a program with values per arc, which are stored with the source of the arc."""
    ir = program.ir()
    specs = (*ir.edge_fields, *ir.edge_params)
    if specs and deal != "rows":
        raise InvalidArgumentError(
            f"{ir.name}: {specs[0].name} has a value for each arc, and with deal={deal!r} an arc is not stored with "
            "its source; leave deal out"
        )


def dealt(deal: Deal, graph: GraphLike, parts: Sequence[Part], slices: int) -> tuple[list[Feed], CopyExchange]:
    """The feed of each part, with ``slices`` pages per part, and the exchange between the parts."""
    if deal == "rows":
        return [MemoryFeed(graph, part.first, part.last, slices) for part in parts], CopyExchange()
    for number, part in enumerate(parts):
        part.enter_grid((deal, len(parts), slices, number), graph.num_vertices)
    if deal == "pages":
        pages = MemoryFeed(graph, 0, graph.num_vertices, slices * len(parts))
        return [_InTurn(pages, number, len(parts)) for number in range(len(parts))], _Everybody()
    return [_IntoOwn(graph, part.first, part.last, slices, len(parts)) for part in parts], GridCopyExchange(
        Grid(len(parts), 1)
    )


class _Everybody(CopyExchange):
    """An exchange where any part may have arcs between any two vertices."""

    in_grid = True

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        if phase == "push":
            super().refresh(parts, "sources")
        super().refresh(parts, phase)
        if phase == "pull":
            super().refresh(parts, "targets")


class _InTurn:
    """Every ``count``-th page, starting with the one of the given number."""

    in_memory = True

    def __init__(self, pages: MemoryFeed, number: int, count: int) -> None:
        self._pages, self._number, self._count = pages, number, count
        self.directions = pages.directions

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`dromos.places.feed.Feed`: all, since vertices of other parts send and want messages too."""
        return self._pages.holding(None, direction)[self._number :: self._count]

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.feed.Feed`."""
        return self._pages.fetch(numbers, direction)


class _IntoOwn:
    """All pages, cut to the arcs into the vertices ``first..last``."""

    directions: tuple[Direction, ...] = ("push", "pull")
    in_memory = True

    def __init__(self, graph: GraphLike, first: int, last: int, slices: int, parts: int) -> None:
        self._first, self._last = first, last
        self._pages = MemoryFeed(graph, 0, graph.num_vertices, slices * parts)
        self._in_rows = MemoryFeed(graph, first, last, slices)

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`dromos.places.feed.Feed`: all pages of a push, since vertices of other parts send too."""
        return self._in_rows.holding(vertices, "pull") if direction == "pull" else self._pages.holding(None, "push")

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.feed.Feed`."""
        if direction == "pull":
            yield from self._in_rows.fetch(numbers, "pull")
            return
        for page in self._pages.fetch(numbers, "push"):
            cut = self._cut(page)
            if cut.num_arcs:
                yield cut

    def _cut(self, page: GraphSlice) -> GraphSlice:
        into_own = (page.targets >= self._first) & (page.targets < self._last)
        before = np.concatenate(([0], np.cumsum(into_own)))
        base = int(page.offsets[0])  # distinguishes the pages of a part from each other
        offsets = before[page.offsets - base] + base
        weights = None if page.weights is None else page.weights[into_own]
        return GraphSlice(page.start, page.stop, offsets, page.targets[into_own], weights, lacks_arcs=True)
