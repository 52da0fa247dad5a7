"""Parts in rows and columns: each has the arcs from the vertices of its column to those of its row.

Part ``i * columns + j`` stands in row ``i`` and column ``j``, and owns one range of vertices as in any place. A
superstep has three steps:

- *expand*: the parts of a column exchange their active vertices and the values that messages read of them;
- *send*: each part sends along its block of arcs;
- *fold*: the messages to the vertices of a row, merged by the monoid, go to their owners in that row.

So a part communicates only with the others of its row and column, in a push and in a pull alike. Each arc lies in one
block, so every monoid is merged as if there were no grid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Part, Phase
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.places.exchange import CopyExchange
from dromos.plan.path import Direction
from dromos.program import Program

__all__ = ["Grid", "GridCopyExchange", "GridFeed", "arcs_by_row", "grid_feeds", "require_grid"]


@dataclass(frozen=True)
class Grid:
    """A number of rows and of columns of parts.

    >>> grid = Grid.parse("2d", 6)
    >>> str(grid), grid.row_of(4), grid.column_of(4), grid.members_of_row(1), grid.members_of_column(1)
    ('2x3', 1, 1, [3, 4, 5], [1, 4])
    """

    rows: int
    columns: int

    @classmethod
    def parse(cls, text: str, parts: int) -> Grid:
        """``"4x2"``, or ``"2d"`` for the grid of ``parts`` parts that is closest to a square.

        >>> Grid.parse("3x1", 4)
        Traceback (most recent call last):
        ...
        dromos.errors.InvalidArgumentError: a grid of 3x1 has 3 parts, not 4; choose rows x columns = 4, or '2d'
        """
        if text == "2d":
            rows = max(rows for rows in range(1, math.isqrt(parts) + 1) if parts % rows == 0)
            return cls(rows, parts // rows)
        found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", text)
        if found is None:
            raise InvalidArgumentError(f"{text!r} is not a grid; give rows and columns as in '4x2', or '2d'")
        grid = cls(int(found[1]), int(found[2]))
        if grid.rows * grid.columns != parts:
            raise InvalidArgumentError(
                f"a grid of {grid} has {grid.rows * grid.columns} parts, not {parts}; "
                f"choose rows x columns = {parts}, or '2d'"
            )
        return grid

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"

    def row_of(self, part: int) -> int:
        """The row that a part stands in."""
        return part // self.columns

    def column_of(self, part: int) -> int:
        """The column that a part stands in."""
        return part % self.columns

    def members_of_row(self, row: int) -> list[int]:
        """The parts of a row, ascending."""
        return list(range(row * self.columns, (row + 1) * self.columns))

    def members_of_column(self, column: int) -> list[int]:
        """The parts of a column, ascending."""
        return list(range(column, self.rows * self.columns, self.columns))

    def source_range(self, part: int, bounds: Sequence[int]) -> tuple[int, int]:
        """The vertex range (end exclusive) of a part's column, whose out-rows its block has."""
        column = self.members_of_column(self.column_of(part))
        return bounds[column[0]], bounds[column[-1] + 1]

    def enter(self, part: Part, number: int, bounds: Sequence[int]) -> None:
        """Assign the block with this number to a part."""
        first, last = self.source_range(number, bounds)
        part.enter_grid((self, number), last - first)

    def target_bounds(self, bounds: Sequence[int]) -> list[int]:
        """The vertices of each row, as bounds: the parts of a row own consecutive vertices."""
        return [bounds[row * self.columns] for row in range(self.rows + 1)]


def require_grid(program: Program) -> None:
    """Refuse a program with values per arc: in a grid an arc need not lie with its source."""
    ir = program.ir()
    specs = (*ir.edge_fields, *ir.edge_params)
    if specs:
        raise InvalidArgumentError(
            f"{ir.name}: {specs[0].name} has a value for each arc, and in a grid of ranks an arc is not stored "
            "with its source; use device='mpi' without a grid"
        )


def arcs_by_row(pieces: Sequence[GraphSlice], targets: Sequence[int]) -> list[tuple[Array, ...]]:
    """Sources, targets and any weights of the arcs of some out-rows, for each row of a grid.

    >>> piece = GraphSlice(4, 6, np.array([9, 10, 12]), np.array([1, 7, 2]), None)
    >>> [[column.tolist() for column in arcs] for arcs in arcs_by_row([piece], [0, 5, 9])]
    [[[4, 5], [1, 2]], [[5], [7]]]
    """
    columns: list[list[Array]] = [[piece.sources.astype(piece.targets.dtype), piece.targets] for piece in pieces]
    for found, piece in zip(columns, pieces, strict=True):
        if piece.weights is not None:
            found.append(piece.weights)
    joined = [np.concatenate(arrays) for arrays in zip(*columns, strict=True)]
    if not joined:
        return [() for _ in range(len(targets) - 1)]
    inside = [(joined[1] >= first) & (joined[1] < last) for first, last in pairwise(targets)]
    return [tuple(column[chosen] for column in joined) for chosen in inside]


class GridFeed:
    """The block of a part: out-rows of the vertices of its column, and in-rows of those of its row."""

    directions: tuple[Direction, ...] = ("push", "pull")
    in_memory = True

    def __init__(self, grid: Grid, part: int, bounds: Sequence[int], arcs: Sequence[Array]) -> None:
        """``arcs``: sources, targets and any weights."""
        block = Graph.from_edges(*arcs, num_vertices=bounds[-1])
        row, targets = grid.row_of(part), grid.target_bounds(bounds)
        self._pieces: dict[Direction, GraphSlice] = {
            "push": _rows(block, *grid.source_range(part, bounds)),
            "pull": _rows(block.transpose, targets[row], targets[row + 1]),
        }

    def holding(self, vertices: Array | None, direction: Direction) -> Array:
        """See :class:`dromos.places.feed.Feed`; the part itself knows which rows have work."""
        return np.arange(1 if self._pieces[direction].num_arcs else 0)

    def fetch(self, numbers: Array, direction: Direction) -> Iterator[GraphSlice]:
        """See :class:`dromos.places.feed.Feed`."""
        for _ in numbers:
            yield self._pieces[direction]


def _rows(block: Graph, first: int, last: int) -> GraphSlice:
    rows = block.slice(first, last)
    # offsets start at 0, and any row may have arcs in other blocks
    return GraphSlice(first, last, rows.offsets - rows.offsets[0], rows.targets, rows.weights, lacks_arcs=True)


class GridCopyExchange(CopyExchange):
    """A grid of parts that all live in this process."""

    in_grid = True

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        if phase not in ("push", "pull"):
            super().refresh(parts, phase)
            return
        pushes = phase == "push"
        for column in range(self._grid.columns):
            members = [parts[number] for number in self._grid.members_of_column(column)]
            super().refresh(members, "sources" if pushes else "pull")
        for row in range(self._grid.rows):
            members = [parts[number] for number in self._grid.members_of_row(row)]
            super().refresh(members, "push" if pushes else "targets")

    def deliver(self, parts: Sequence[Part]) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        for row in range(self._grid.rows):
            super().deliver([parts[number] for number in self._grid.members_of_row(row)])


def grid_feeds(grid: Grid, graph: Any, bounds: Sequence[int]) -> list[GridFeed]:
    """The blocks of all parts of a graph in memory."""
    whole = [GraphSlice(0, graph.num_vertices, graph.offsets, graph.targets, graph.weights)]
    feeds: dict[int, GridFeed] = {}
    for row, arcs in enumerate(arcs_by_row(whole, grid.target_bounds(bounds))):
        column_of = np.searchsorted(bounds, arcs[0], side="right") - 1
        for part in grid.members_of_row(row):
            mine = column_of % grid.columns == grid.column_of(part)
            feeds[part] = GridFeed(grid, part, bounds, [column[mine] for column in arcs])
    return [feeds[part] for part in range(grid.rows * grid.columns)]
