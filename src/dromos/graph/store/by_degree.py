"""The vertices of a conversion in the order of their degrees: the largest first."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.errors import ResourceError
from dromos.graph import permute
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.labels import Labels
from dromos.graph.store.budget import LEAST_MEMORY, Budget
from dromos.graph.store.mapped import MappedFile, map_of
from dromos.graph.store.row_files import RowFiles
from dromos.graph.store.workspace import Workspace
from dromos.graph.summary import enough_bytes, human_bytes

__all__ = ["DegreeOrder", "check_memory"]

_TABLES = 3  # of ids, while the order is made: degrees take up to two, and the order one
_NAME_BYTES = 64  # per byte of names that are copied together: their positions and, before that, those of vertices


def check_memory(num_vertices: int, memory: int) -> None:
    """Raise an error if this memory cannot hold what the order takes.

    >>> check_memory(1000, 8 << 20)
    >>> check_memory(1 << 30, 8 << 20)
    Traceback (most recent call last):
        ...
    dromos.errors.ResourceError: memory=8.0 MiB is too little to order 1,073,741,824 vertices by degree; give at least \
12.0 GiB
    """
    held = _held_bytes(num_vertices)
    least = max(_TABLES * held, held + LEAST_MEMORY)
    if memory < least:
        raise ResourceError(
            f"memory={human_bytes(memory)} is too little to order {num_vertices:,} vertices by degree; "
            f"give at least {enough_bytes(least)}"
        )


class DegreeOrder:
    """The new id of every vertex in memory, and the old ids in a file.

    Args:
        rows: of the graph in its old order.
        num_vertices: of the graph.
        workspace: for the file, and for that of the labels.
        budget: of the whole conversion.
    """

    def __init__(self, rows: RowFiles, num_vertices: int, workspace: Workspace, budget: Budget) -> None:
        check_memory(num_vertices, budget.memory)
        self._rows, self._workspace, self._budget = rows, workspace, budget
        old_ids = permute.degree_order(rows.degrees(), descending=True)
        self._new_ids = permute.inverse(old_ids, id_dtype(num_vertices))
        self._step = budget.frame_edges
        self._old_ids = self._written("old_ids", (old_ids[ids].astype(np.int64) for ids in self._pieces(num_vertices)))
        self.left = Budget(budget.memory - _held_bytes(num_vertices))
        """What is left of the budget while arcs are renumbered."""

    def arcs(self) -> Iterator[EdgeBlock]:
        """Every arc between the new ids; the old rows are removed at the end."""
        for sources, targets, weights in self._rows.arcs():
            yield EdgeBlock(self._new_ids[sources], self._new_ids[targets], weights)
        self._rows.remove()

    def labels(self, old: Labels | None) -> Labels:
        """The labels in the new order; without ``old`` ones the old ids, which still name the vertices."""
        if old is None:
            return Labels(self._old_ids.array)
        if old.integers is not None:
            return Labels(self._written("labels", self._gathered(old.integers)).array)
        assert old.utf8 is not None
        assert old.offsets is not None
        ends = self._written("label_offsets", self._ends(old.offsets))
        names = self._written("label_utf8", self._names(old.utf8, old.offsets), np.uint8)
        return Labels(utf8=names.array, offsets=ends.array)

    def _pieces(self, num_vertices: int) -> Iterator[slice]:
        for begin in range(0, num_vertices, self._step):
            yield slice(begin, min(begin + self._step, num_vertices))

    def _written(self, name: str, pieces: Iterator[Array], dtype: type = np.int64) -> MappedFile:
        path = self._workspace.path(f"by_degree_{name}.bin")
        with open(path, "wb") as out:
            for piece in pieces:
                piece.tofile(out)
        return MappedFile(path, np.dtype(dtype))

    def _gathered(self, values: Array) -> Iterator[Array]:
        """The values of the vertices in their new order; each piece is one pass over the map that they may be in."""
        for piece in self._pieces(len(values)):
            old_ids = self._old_ids.array[piece]
            order = np.argsort(old_ids)
            found = np.empty(len(old_ids), values.dtype)
            found[order] = values[old_ids[order]]
            yield found
            _let_go(values)

    def _ends(self, offsets: Array) -> Iterator[Array]:
        """Where the names of the vertices begin in their new order, and where the last one ends."""
        end = np.zeros(1, np.int64)
        yield end
        for lengths in (lengths for _, lengths in self._name_places(offsets)):
            ends = end + np.cumsum(lengths)
            yield ends
            end = ends[-1:]

    def _names(self, utf8: Array, offsets: Array) -> Iterator[Array]:
        """The bytes of the names of the vertices in their new order."""
        most = max(1, self._budget.memory // _NAME_BYTES)
        for begins, lengths in self._name_places(offsets):
            ends, first = np.cumsum(lengths), 0
            while first < len(ends):
                done = int(ends[first] - lengths[first])
                last = max(first + 1, int(np.searchsorted(ends, done + most, side="right")))
                shifts = begins[first:last] - (ends[first:last] - lengths[first:last])
                yield utf8[np.repeat(shifts, lengths[first:last]) + np.arange(done, int(ends[last - 1]))]
                _let_go(utf8)
                first = last

    def _name_places(self, offsets: Array) -> Iterator[tuple[Array, Array]]:
        """Where the names of the vertices begin in the old bytes, and their lengths; piece by piece."""
        for piece in self._pieces(len(offsets) - 1):
            old_ids = self._old_ids.array[piece]
            begins = np.asarray(offsets[old_ids])
            yield begins, offsets[old_ids + 1] - begins
            _let_go(offsets)


def _held_bytes(num_vertices: int) -> int:
    """The new ids, which are held while arcs are renumbered."""
    return int(num_vertices * id_dtype(num_vertices).itemsize)


def _let_go(array: Array) -> None:
    """Release the memory of an array that lies in a map."""
    mapped = map_of(array)
    if mapped is not None:
        mapped.madvise(mmap.MADV_DONTNEED)
