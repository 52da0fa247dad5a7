"""Louvain and Leiden over blocks of rows, which processes may share.

Every process knows the community of every vertex and has the rows of its own. Vertices move in batches, which a hash of
their ids decides about: of one batch each process finds the communities that its own vertices gain most by, against
what held before the batch, and all processes make all moves in the order of ids. So the communities depend neither on
blocks nor on how many processes there are (with weights that are no whole numbers, sums may differ in the last digits).
The graph of communities is made of what each process adds up. While it is large each process has some of its rows, as
of the first level; else it is in every one of them, and the levels above are climbed by all alike
(:mod:`dromos.engines.native.community_rounds`).

The contract of a form, whose rows are whole, and whose ``vertices`` are some of them in ascending order:

- ``around(rows, community, moved)``: for each row the weight of its arcs to others of its community, and whether one
  of its neighbours in another community is marked in ``moved``.
- ``best_moves(rows, vertices, moves)``: the community that each vertex gains most by, the least number of several; its
  own where another gains no more than that and :data:`~dromos.engines.native.community_levels.LEAST_GAIN`.
- ``best_joins(rows, vertices, joins)``: the part of its community that each vertex, which is alone, joins; itself where
  it joins none.
- ``joined(rows, vertices, part, new)``: of each vertex the weight of arcs to others of its part that are marked in
  ``new``, and to those that are not.
- ``by_target(arcs, strength)``: a level of all arcs, given by source, target and weight, the other way round. Rows are
  in the order of arcs, so that a level that is symmetric comes out with the targets of each row in ascending order.
- ``pieces(rows, community, parent)``: join the trees of ``parent`` along arcs within communities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.community_levels import Level, Steps
from dromos.engines.native.community_rounds import FINALISTS, Found, Search
from dromos.engines.native.within import compiled_row_weights, plain_row_weights
from dromos.graph.slices import GraphSlice
from dromos.places.operators.blocks import Blocks, Rows

__all__ = ["Form", "Joins", "Moves", "find_communities", "form_of"]

_FORMS: Final = {"cpu": "cpu", "cuda": "cpu", "numpy": "vectorised", "reference": "vectorised"}


class Moves(NamedTuple):
    """What is known while vertices move, by vertex and by community."""

    strength: Array
    scale: float
    community: Array
    total: Array
    """The strength of each community."""


class Joins(NamedTuple):
    """What is known while the parts of communities are joined, by vertex, by part and by community."""

    strength: Array
    scale: float
    community: Array
    whole: Array
    """The strength of each community."""
    part: Array
    total: Array
    """The strength of each part, which has the number of its first vertex."""
    cut: Array
    """The weight between each part and the rest of its community."""
    mobile: Array
    """Vertices that may join others now, so that none joins them."""


class Form(Protocol):
    """See the module's text."""

    def around(self, rows: Rows, community: Array, moved: Array) -> tuple[Array, Array]: ...

    def best_moves(self, rows: Rows, vertices: Array, moves: Moves) -> Array: ...

    def best_joins(self, rows: Rows, vertices: Array, joins: Joins) -> Array: ...

    def joined(self, rows: Rows, vertices: Array, part: Array, new: Array) -> tuple[Array, Array]: ...

    def by_target(self, arcs: tuple[Array, Array, Array], strength: Array) -> Level: ...

    def pieces(self, rows: Rows, community: Array, parent: Array) -> None: ...


def form_of(leaf: str, num_vertices: int, threads: int | None = None) -> Form:
    """The form of a leaf engine, for a graph of so many vertices."""
    module: Any = import_module(f"dromos.places.operators.communities.{_FORMS[leaf.partition(':')[0]]}")
    found: Form = module.form(num_vertices, threads)
    return found


def find_communities(
    blocks: Blocks, leaf: str, *, resolution: float, seed: int, refined: bool, rounds: int, tries: int
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.communities.communities`, with other communities."""
    from dromos.places.operators.communities.steps import BlockLevel, BlockSteps

    n = blocks.shape.num_vertices
    form = form_of(leaf, n, blocks.threads)
    own = _together(blocks)
    is_compiled, singles = _FORMS[leaf.partition(":")[0]] == "cpu", np.arange(n, dtype=blocks.dtype)
    rows = [GraphSlice(own.first, own.last, own.offsets, own.targets, own.weights)]
    found = compiled_row_weights(rows, singles, blocks.threads) if is_compiled else plain_row_weights(rows, singles)
    strength, loops = found.total + found.loops, found.loops
    blocks.share(strength)
    blocks.share(loops)
    everything = float(strength.sum())
    steps = BlockSteps(blocks, form, is_compiled=is_compiled)
    if everything <= 0:
        return {"community": singles, "levels": [singles], "sums": (float(loops.sum()), strength)}

    def by_gain(find: Callable[[Steps, int], Found], count: int) -> list[Found]:
        found: list[Found] = []
        for number in range(count):
            found = sorted([*found, find(steps, number)], key=lambda one: -one.gain)[:FINALISTS]
        return found

    bottom = BlockLevel.of_rows(own, blocks.ranges(), strength, everything - 2 * float(loops.sum()))
    search = Search(
        bottom, singles, resolution / everything, everything, seed, refined, rounds, tries, one_by_one=not refined
    )
    best = search.best(by_gain)
    if not best.climb.parts:
        return {"community": singles, "levels": [singles], "sums": (float(loops.sum()), strength)}
    levels = search.hierarchy(steps, best)
    return {"community": levels[-1], "levels": levels, "sums": best.sums(everything)}


def _together(blocks: Blocks) -> Rows:
    """All rows of this process."""
    bounds = blocks.bounds()
    return blocks.gather(bounds[0][0], bounds[-1][1]) if bounds else blocks.gather(0, 0)
