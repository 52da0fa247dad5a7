"""Truss numbers: what every edge would have by itself, lowered by what the edges around it have, until nothing changes.

An edge may claim as many triangles as the degrees of its ends allow. Its claim is then lowered, again and again, to the
h-index over its triangles of the lesser claim of the two other edges: the greatest h such that h triangles have h or
more. Claims only fall, never below the truss number less two, and end there, in whatever order edges are looked at
(Sariyüce, Seshadhri and Pinar, "Local algorithms for hierarchical dense subgraph discovery", 2018). So threads work in
place, and processes on what the others knew a round ago, with one answer for all of them.

Blocks of rows come once, and are kept: the answer has one row per edge, which is the graph itself and a number more, so
rows that are kept cost a ninth more memory than the answer. All processes have them, and share the vertices out.

The contract of a form, for rows of which edges are numbered by source and target, each by its end of lesser id:

- ``begin(rows, values)``: fill in ``rows.place``, and the first claims.
- ``lower(rows, vertices, state)``: of the edges that ``look`` marks and whose *owner* is one of ``vertices``, lower
  the claims in ``values``; the owner of an edge is its end of more neighbours, or of as many and the greater id.
  ``look`` becomes 2 where a claim fell. In ``again`` mark the edges whose claim may not hold any more, and in ``woken``
  their owners; claims that other threads lower at the same time count as what they were or will be. Gives how many fell.

Memory, with ids of 4 bytes: 18 bytes per edge, 8 per vertex and thread, and one block.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.places.operators.blocks import Blocks
from dromos.places.operators.trusses.rows import Reading, WholeRows, greater_ids

__all__ = ["Claims", "Form", "WholeRows", "find_trusses", "form_of"]

_FORMS: Final = {"cpu": "cpu", "cuda": "cpu", "numpy": "plain", "reference": "plain"}


class Claims(NamedTuple):
    """What is known of every edge in a round, and of every vertex (``woken``)."""

    values: Array
    look: Array
    again: Array
    woken: Array


class Form(Protocol):
    """See the module's text."""

    def begin(self, rows: WholeRows, values: Array) -> None: ...

    def lower(self, rows: WholeRows, vertices: Array, claims: Claims) -> int: ...


def form_of(leaf: str, threads: int | None = None) -> Form:
    """The form of a leaf engine."""
    module: Any = import_module(f"dromos.places.operators.trusses.{_FORMS[leaf.partition(':')[0]]}")
    found: Form = module.form(threads)
    return found


def find_trusses(blocks: Blocks, leaf: str) -> Mapping[str, Any]:
    """``source``, ``target`` and ``truss`` of each edge of an undirected graph, in the order of its rows.

    Self-loops are left out, and parallel edges count once; where there are such, the order is that of ids.
    """
    clock, reading = Stopwatch(), Reading(blocks)
    rows = reading.whole_rows()
    values = np.empty(len(rows.place), blocks.dtype)
    form = form_of(leaf, blocks.threads)
    form.begin(rows, values)
    steps = [(1, blocks.shape.num_vertices, "whole rows are brought together", clock.seconds())]
    _lower_all(blocks, form, rows, values, steps)
    base, target = rows.base, greater_ids(blocks, rows)
    del rows, form  # one column is made after the other, so that no more is held than while claims fell
    truss = np.add(values, 2, dtype=np.int64)
    del values
    reading.restore_order(base, target, truss)
    source = np.repeat(np.arange(len(base) - 1, dtype=blocks.dtype), np.diff(base))
    return {"source": source, "target": target, "truss": truss, "steps": steps}


def _lower_all(
    blocks: Blocks, form: Form, rows: WholeRows, values: Array, steps: list[tuple[int, int, str, float]]
) -> None:
    """Lower claims until all hold, and tell of each round."""
    n, m = blocks.shape.num_vertices, len(values)
    look, again, woken = np.ones(m, np.uint8), np.zeros(m, np.uint8), np.zeros(n, np.uint8)
    vertices = np.arange(n)
    while len(vertices):
        clock = Stopwatch()
        own = np.ascontiguousarray(vertices[blocks.process :: blocks.processes])
        fell = form.lower(rows, own, Claims(values, look, again, woken))
        if blocks.processes > 1:
            fell = _tell(blocks, rows.place.dtype, Claims(values, look, again, woken))
        steps.append((1, len(vertices), f"{fell:,} edges lost triangles, and others look at theirs", clock.seconds()))
        vertices = np.flatnonzero(woken)
        look, again = again, look
        again.fill(0)
        woken.fill(0)


def _tell(blocks: Blocks, dtype: np.dtype[np.generic], claims: Claims) -> int:
    """Tell all processes which claims fell, each in one of them, and who is to look again; how many fell."""
    fallen = np.flatnonzero(claims.look == 2).astype(dtype)
    of_all = blocks.collect(fallen)
    claims.values[of_all] = blocks.collect(claims.values[fallen])
    blocks.join(claims.again)
    blocks.join(claims.woken)
    return len(of_all)
