"""Louvain and Leiden over blocks of rows, which processes may share.

Every process knows the community of every vertex and has the rows of its own vertices. Vertices move in batches, chosen
by a hash of their ids. For a batch, each process finds the best communities for its own vertices, based on the state
before the batch, and all processes apply all moves in the order of ids. So the communities depend neither on blocks nor
on the number of processes (with weights that are not whole numbers, sums may differ in the last digits).

The graph of communities is made of the sums of each process. While it is large, each process has some of its rows, as
on the first level; otherwise every process has all of it, and all climb the levels above alike
(:mod:`dromos.engines.native.community_rounds`).

The contract of a form, whose rows are whole, and whose ``vertices`` are some of them in ascending order:

- ``around(rows, community, moved)``: for each row the weight of its arcs to others of its community, and whether one
  of its neighbors in another community is marked in ``moved``.
- ``best_moves(rows, vertices, moves)``: the community with the greatest gain for each vertex, the least number if tied;
  its own if no other gains more than it by :data:`~dromos.engines.native.community_levels.LEAST_GAIN`.
- ``best_joins(rows, vertices, joins)``: the part of its community that each vertex, which is alone, joins; itself if it
  joins none.
- ``joined(rows, vertices, part, new)``: for each vertex the weight of arcs to others of its part that are marked in
  ``new``, and to those that are not.
- ``by_target(arcs, strength)``: the transposed level of all arcs, given by source, target and weight. Rows are in the
  order of arcs, so that the targets of each row of a symmetric level come out in ascending order.
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
    """The state while vertices move, by vertex and by community."""

    strength: Array
    scale: float
    community: Array
    total: Array
    """The strength of each community."""


class Joins(NamedTuple):
    """The state while the parts of communities are joined, by vertex, by part and by community."""

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
    """See the module's docstring."""

    def around(self, rows: Rows, community: Array, moved: Array) -> tuple[Array, Array]: ...

    def best_moves(self, rows: Rows, vertices: Array, moves: Moves) -> Array: ...

    def best_joins(self, rows: Rows, vertices: Array, joins: Joins) -> Array: ...

    def joined(self, rows: Rows, vertices: Array, part: Array, new: Array) -> tuple[Array, Array]: ...

    def by_target(self, arcs: tuple[Array, Array, Array], strength: Array) -> Level: ...

    def pieces(self, rows: Rows, community: Array, parent: Array) -> None: ...


def form_of(leaf: str, num_vertices: int, threads: int | None = None) -> Form:
    """The form of a leaf engine, for a graph with ``num_vertices`` vertices."""
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
