"""An external sort of arcs: into ranges of rows, these into smaller ranges, until each can be sorted in memory.

The ranges come out in ascending order, and within each range the arcs keep their input order, so the sort is stable. A
row too long for memory is split further, into ranges of targets; a single arc repeated too often for memory needs no
sorting. So every input works, and no merge is needed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dromos.dtypes import Array
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.store.budget import Budget
from dromos.graph.store.spill import SpillFile
from dromos.graph.store.workspace import Workspace

__all__ = ["Part", "Partitioner"]

_MAX_PARTS = 256


@dataclass(frozen=True)
class Part:
    """The arcs from the rows ``first..last`` to the targets ``low..high``; all of these rows, or a part of one row."""

    first: int
    last: int
    low: int
    high: int
    arcs: SpillFile | None

    @property
    def count(self) -> int:
        """The number of arcs."""
        return 0 if self.arcs is None else self.arcs.count

    @property
    def is_one_arc(self) -> bool:
        """Whether all arcs have the same two ends."""
        return self.last - self.first == 1 and self.high - self.low == 1


class Partitioner:
    """Sorts arcs of a graph with ``num_vertices`` vertices into parts that fit in memory."""

    def __init__(self, workspace: Workspace, budget: Budget, num_vertices: int, arc_bytes: int) -> None:
        self._workspace, self._budget = workspace, budget
        self._num_vertices = num_vertices
        self._most_arcs = max(2, budget.arcs_at_once(arc_bytes))
        self._names = itertools.count()

    def sorted_parts(self, arcs: Iterable[EdgeBlock], count: int) -> Iterator[Part]:
        """Parts in ascending order that cover all rows; a part's file is removed when the next part is requested."""
        whole = Part(0, self._num_vertices, 0, self._num_vertices, None)
        for part in self._split(whole, arcs, count):
            yield from self._refined(part)

    def _refined(self, part: Part) -> Iterator[Part]:
        fits = part.count <= self._most_arcs and part.last - part.first <= self._budget.rows_at_once
        if part.arcs is None or fits or part.is_one_arc:
            yield part
            if part.arcs is not None:
                part.arcs.remove()
            return
        for smaller in self._split(part, part.arcs.frames(), part.count):
            yield from self._refined(smaller)

    def _split(self, part: Part, arcs: Iterable[EdgeBlock], count: int) -> list[Part]:
        """Scatter arcs over equal ranges of rows, or of targets if there is only one row."""
        one_row = part.last - part.first == 1
        begin, end = (part.low, part.high) if one_row else (part.first, part.last)
        wanted = 2 * -(-count // self._most_arcs)
        if not one_row:
            wanted = max(wanted, -(-(end - begin) // self._budget.rows_at_once))
        width = max(1, -(-(end - begin) // min(wanted or 1, _MAX_PARTS)))
        bounds = [*range(begin, end, width), end]
        files = self._scattered(arcs, begin, width, len(bounds) - 1, one_row)
        if part.arcs is not None:
            part.arcs.remove()
        pairs = zip(bounds[:-1], bounds[1:], files, strict=True)
        if one_row:
            return [Part(part.first, part.last, low, high, file) for low, high, file in pairs]
        return [Part(first, last, part.low, part.high, file) for first, last, file in pairs]

    def _scattered(
        self, arcs: Iterable[EdgeBlock], begin: int, width: int, parts: int, by_target: bool
    ) -> list[SpillFile | None]:
        files: list[SpillFile | None] = [None] * parts
        waiting: list[list[EdgeBlock]] = [[] for _ in range(parts)]
        held = 0

        def write_out() -> None:
            for number, blocks in enumerate(waiting):
                if blocks:
                    file = files[number]
                    if file is None:
                        file = files[number] = SpillFile(self._workspace.path(f"part-{next(self._names)}.arcs"))
                    _append(file, blocks, self._budget.frame_edges)
                    blocks.clear()

        for block in arcs:
            if len(block.src) == 0:  # all of its edges were self-loops and dropped
                continue
            for number, piece in _pieces(block, begin, width, by_target):
                waiting[number].append(piece)
            held += sum(column.nbytes for column in block if column is not None)
            if held >= self._budget.waiting_bytes:
                write_out()
                held = 0
        write_out()
        return files


def _append(file: SpillFile, blocks: list[EdgeBlock], frame_edges: int) -> None:
    """Write blocks together, in frames small enough to be scattered again."""
    src, dst = np.concatenate([block.src for block in blocks]), np.concatenate([block.dst for block in blocks])
    weights = [block.weight for block in blocks if block.weight is not None]
    weight = np.concatenate(weights) if weights else None
    for begin in range(0, len(src), frame_edges):
        part = slice(begin, begin + frame_edges)
        file.append(src[part], dst[part], None if weight is None else weight[part])


def _pieces(block: EdgeBlock, begin: int, width: int, by_target: bool) -> Iterator[tuple[int, EdgeBlock]]:
    """The arcs of a block grouped by part, in their order, with the number of each part."""
    keys: Array = block.dst if by_target else block.src
    part = ((keys - begin) // width).astype(np.uint16)
    order = np.argsort(part, kind="stable")  # 16-bit keys: NumPy sorts them by radix
    src, dst = block.src[order], block.dst[order]
    weight = None if block.weight is None else block.weight[order]
    counts = np.bincount(part)
    ends = np.cumsum(counts)
    for number in np.flatnonzero(counts).tolist():
        first, last = int(ends[number] - counts[number]), int(ends[number])
        yield number, EdgeBlock(src[first:last], dst[first:last], None if weight is None else weight[first:last])
