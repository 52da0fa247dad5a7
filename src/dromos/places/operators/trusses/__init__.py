"""Truss numbers: the triangles of every edge are counted, then edges are peeled, those with the fewest first.

Blocks of rows are read once, and kept. The result has one row per edge, which is the graph itself and one more number,
so peeling takes about a third more memory than the result; rereading rows would save no more than that. All processes
have all rows. They divide the vertices whose triangles they count, and the edges of a round whose triangles they take;
after each round they exchange what the remaining edges have lost.

When two thirds of the edges are gone, rows are rebuilt from those that are left: these are a truss, and the edges that
are gone play no part in what follows.

The contract of a form, for edges that are numbered by source and target, each by its end of lesser id:

- ``number(rows)``: fill in ``rows.place``.
- ``count(rows, vertices, values)``: add to ``values`` the triangles of each edge that have their least corner among
  ``vertices``.
- ``peel(rows, leaving, level, peeling)``: take the triangles of the edges ``leaving``, which are 1 in ``gone``, from
  those that stay (0) and have more than ``level``; edges that have gone before (2) have no triangles. An edge that
  comes down to ``level`` is put into ``queue``, from its beginning on. Returns the number of such edges.

Memory, with ids of 4 bytes: 21 bytes per edge, and one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks
from dromos.places.operators.trusses.rows import Reading, WholeRows, greater_ids, rows_among

__all__ = ["Form", "Peeling", "find_trusses", "form_of"]

_FORMS: Final = {"cpu": "cpu", "cuda": "cpu", "numpy": "plain", "reference": "plain"}
_LEFT: Final = 3  # rows are rebuilt from the remaining edges when these are one in this many
_LOOKED_AT: Final = 1 << 20  # edges that NumPy processes together: temporary arrays grow with this

_Step: TypeAlias = tuple[int, int, str, float]
"""Rounds, vertices, a description of the step, and its seconds."""


class Peeling(NamedTuple):
    """The state of every edge while edges are peeled."""

    values: Array
    gone: Array
    queue: Array


class Form(Protocol):
    """See the module's docstring."""

    def number(self, rows: WholeRows) -> None: ...

    def count(self, rows: WholeRows, vertices: Array, values: Array) -> None: ...

    def peel(self, rows: WholeRows, leaving: Array, level: int, peeling: Peeling) -> int: ...


def form_of(leaf: str, threads: int | None = None) -> Form:
    """The form of a leaf engine."""
    module: Any = import_module(f"dromos.places.operators.trusses.{_FORMS[leaf.partition(':')[0]]}")
    found: Form = module.form(threads)
    return found


def find_trusses(blocks: Blocks, leaf: str) -> Mapping[str, Any]:
    """``source``, ``target`` and ``truss`` of each edge of an undirected graph, in the order of its rows.

    Self-loops are left out, and parallel edges count once; if there are any, the order is that of ids.
    """
    reading = Reading(blocks)
    search = _Search(blocks, form_of(leaf, blocks.threads), reading)
    search.count()
    search.peel_all()
    base, target, truss = search.base, search.target, search.truss()
    reading.restore_order(base, target, truss)
    source = np.repeat(np.arange(len(base) - 1, dtype=blocks.dtype), np.diff(base))
    return {"source": source, "target": target, "truss": truss, "steps": search.steps}


class _Search:
    """The data held per edge, each only while it is needed; it includes two columns of the result from the start."""

    def __init__(self, blocks: Blocks, form: Form, reading: Reading) -> None:
        clock, self._blocks, self._form = Stopwatch(), blocks, form
        self._rows = reading.whole_rows()
        self.base, self.target = self._rows.base, self._rows.targets[:0]
        self._found = np.zeros(len(self._rows.place), blocks.dtype)  # triangles, then truss numbers less two
        self.steps: list[_Step] = []
        self._tell(1, "whole rows are brought together", clock)

    def _tell(self, rounds: int, said: str, clock: Stopwatch) -> None:
        self.steps.append((rounds, len(self.base) - 1, said, clock.seconds()))

    def count(self) -> None:
        """Count the triangles of each edge."""
        clock, blocks = Stopwatch(), self._blocks
        self._form.count(self._rows, np.arange(blocks.process, len(self.base) - 1, blocks.processes), self._found)
        blocks.add_up(self._found)
        self._tell(1, "the triangles of each edge are counted", clock)

    def peel_all(self) -> None:
        """Lower the triangles of each edge to its truss number less two, replacing rows with shorter ones."""
        names: Array | None = None
        values = self._found
        while True:
            clock = Stopwatch()
            self._form.number(self._rows)
            rounds, stays = _peel(self._blocks, self._form, self._rows, values)
            if names is not None:
                self._found[names] = values
            self._keep(stays, is_first=names is None)
            left = np.flatnonzero(stays).astype(self._rows.place.dtype)
            self._tell(rounds, f"{len(values) - len(left):,} of {len(values):,} edges are peeled", clock)
            if not len(left):
                return
            names, values = left if names is None else names[left], values[left]

    def _keep(self, stays: Array, *, is_first: bool) -> None:
        """Keep only the rows of the edges that stay; the first time, the result takes what it needs of the old rows."""
        fewer = rows_among(self._blocks, self._rows, stays)
        self._rows = self._rows._replace(place=fewer.place)
        if is_first:
            self.target = greater_ids(self._blocks, self._rows)
        self._rows = fewer

    def truss(self) -> Array:
        """The truss number of each edge; ends the search."""
        found, self._found = self._found, self._found[:0].copy()
        return np.add(found, 2, dtype=np.int64)


def _peel(blocks: Blocks, form: Form, rows: WholeRows, values: Array) -> tuple[int, Array]:
    """Peel level by level until few edges are left or none; return the number of rounds, and a mask of these edges."""
    m = len(values)
    gone, queue = np.zeros(m, np.uint8), np.empty(m, rows.place.dtype)
    known = values.copy() if blocks.processes > 1 else None
    np.copyto(gone, 2, where=values == 0)
    rounds, end = 0, 0
    left = m - int(np.count_nonzero(gone))
    while left and left * _LEFT > m:
        level = _least(values, gone)
        size = _take(values, gone, level, queue[end:])
        while size:
            leaving = queue[end : end + size]
            end, left, rounds = end + size, left - size, rounds + 1
            _mark(gone, leaving, 1)
            peeling = Peeling(values, gone, queue[end:])
            own = np.ascontiguousarray(leaving[blocks.process :: blocks.processes])
            size = form.peel(rows, own, level, peeling)
            if known is not None:
                size = _agree(blocks, known, level, peeling)
            _mark(gone, leaving, 2)
    return rounds, np.equal(gone, 0, out=gone.view(np.bool_))


def _least(values: Array, gone: Array) -> int:
    """The fewest triangles of an edge that is left."""
    return min(
        int(values[at : at + _LOOKED_AT].min(where=gone[at : at + _LOOKED_AT] == 0, initial=np.iinfo(values.dtype).max))
        for at in range(0, len(values), _LOOKED_AT)
    )


def _take(values: Array, gone: Array, level: int, queue: Array) -> int:
    """Put the remaining edges with ``level`` triangles into the queue; return their number."""
    size = 0
    for at in range(0, len(values), _LOOKED_AT):
        here = slice(at, at + _LOOKED_AT)
        found = at + np.flatnonzero((values[here] == level) & (gone[here] == 0))
        queue[size : size + len(found)] = found
        size += len(found)
    return size


def _mark(gone: Array, edges: Array, mark: int) -> None:
    for at in range(0, len(edges), _LOOKED_AT):
        gone[edges[at : at + _LOOKED_AT]] = mark


def _agree(blocks: Blocks, known: Array, level: int, peeling: Peeling) -> int:
    """Sum what edges lost in all processes relative to ``known``; return how many come down to ``level``."""
    values, _, queue = peeling
    touched = np.flatnonzero(values != known).astype(queue.dtype)
    lost = blocks.collect(known[touched] - values[touched])
    everywhere = blocks.collect(touched)
    np.subtract.at(known, everywhere, lost)
    edges = np.unique(everywhere)
    values[edges] = known[edges] = np.maximum(known[edges], level)
    following = edges[values[edges] == level]
    queue[: len(following)] = following
    return len(following)
