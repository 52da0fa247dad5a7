"""Coloring: no two neighbors have the same color.

Returns ``color``, numbered from 0, and the number of colors, ``count``: at most the greatest degree plus one.
Self-loops and edge directions are ignored.

Vertices choose in turn: each takes the smallest color that no neighbor has. Vertices with the most neighbors choose
first; ties are broken at random with ``seed`` (Welsh and Powell, 1967). The engine's own kernel runs if it has one.

Other engines run programs that do the same in parallel: a vertex takes its color as soon as all neighbors before it
have theirs (Jones and Plassmann, "A parallel graph coloring heuristic", 1993). Neighbors send their colors as bits,
62 colors at a time. A vertex that finds all of these taken tries again with the next 62.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import count_of, sources_of_arcs, symmetric
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.permute import degree_order, inverse, random_order
from dromos.runner import Options, Result, Session

__all__ = ["ColoringResult", "Colors", "Earlier", "coloring", "verify"]

_AT_ONCE: Final = 62  # colors; the bit behind them says that all are taken, and no number is below zero
_NONE_LEFT: Final = 1 << _AT_ONCE
_BYTES_PER_VERTEX: Final = 48  # what is held between the programs
_MORE_FOR_COLORS: Final = 48  # what Colors takes beyond Earlier, so that too small a budget is refused at once


class Earlier(dr.Program):
    """How many arcs lead to each open vertex from open ones whose turn comes before."""

    open = dr.vertex_param(bool)
    turn = dr.vertex_param(dr.ID)
    count = dr.field(np.int64, init=0)
    combine = dr.SUM

    def start(self, v: Any) -> Any:
        return v.open

    def wants(self, v: Any) -> Any:
        return v.open

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.turn < v.turn

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        return message

    def active(self, old: Any, new: Any) -> Any:
        return False


class Colors(dr.Program):
    """Open vertices choose the least bit that is not taken, each when all before it have told it theirs.

    ``earlier`` is what :class:`Earlier` counted. Who finds no bit left chooses the one behind them, and takes none.
    """

    open = dr.vertex_param(bool)
    turn = dr.vertex_param(dr.ID)
    earlier = dr.vertex_param(np.int64)
    waiting = dr.field(np.int64)
    taken = dr.field(np.int64)
    chosen = dr.field(np.int64)
    combine = (dr.SUM, dr.OR)

    def init(self, v: Any) -> Any:
        return {"waiting": v.earlier, "taken": 0, "chosen": dr.where(v.open & (v.earlier == 0), 1, 0)}

    def start(self, v: Any) -> Any:
        return v.open & (v.earlier == 0)

    def wants(self, v: Any) -> Any:
        return v.open & (v.waiting > 0)

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.turn < v.turn

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1, dr.where(u.chosen == _NONE_LEFT, 0, u.chosen)

    def update(self, v: Any, message: Any) -> Any:
        told, colors = message
        waiting, taken = v.waiting - told, v.taken | colors
        carried = taken + 1  # its only bit that ``taken`` lacks is the least one free
        return {
            "waiting": waiting,
            "taken": taken,
            "chosen": dr.where(waiting == 0, carried - (carried & taken), v.chosen),
        }

    def active(self, old: Any, new: Any) -> Any:
        return (old.waiting > 0) & (new.waiting == 0)


class ColoringResult(Result):
    """What :func:`coloring` returns."""

    group_field = "color"
    color: Array
    count: int


def coloring(graph: Graph, order: str = "degree", seed: int = 0, **how: Unpack[Options]) -> ColoringResult:
    """A color for each vertex that differs from the colors of its neighbors.

    Args:
        graph: any; edge directions are ignored.
        order: which vertices choose first: ``"degree"`` for those with the most neighbors, or ``"random"``.
        seed: the random seed of the order; with ``"degree"`` it orders vertices of equal degree.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            The CPU kernel uses one thread.

    >>> import dromos as dr
    >>> result = dr.coloring(dr.generators.star(4))
    >>> result.color.tolist(), result.count
    ([0, 1, 1, 1, 1], 2)
    """
    session = Session("coloring", graph, **how)
    if order not in ("degree", "random"):
        raise InvalidArgumentError(f"order={order!r} is neither 'degree' nor 'random'")
    on = symmetric(graph)
    turns = random_order(on.num_vertices, count_of(seed, "seed"))
    fields = session.native_or_left("coloring", on, order=turns, by_degree=order == "degree")
    if fields is None and order == "degree":
        turns = turns[degree_order(on.out_degree[turns], descending=True)]
    color = _colors(session, on, turns) if fields is None else fields["color"]
    return session.result(
        ColoringResult,
        {"color": color},
        values={"count": int(color.max(initial=-1)) + 1},
        verifier=lambda result: verify(on, result["color"]),
    )


def _colors(session: Session, graph: Graph, order: Array) -> Array:
    """By programs: the least colors first, until every vertex has one."""
    turn = inverse(order, graph.targets.dtype)
    color, open_ = np.full(graph.num_vertices, -1, np.int32), np.ones(graph.num_vertices, dtype=bool)
    first = 0
    while open_.any():
        session.hold_beside_programs(_BYTES_PER_VERTEX + _MORE_FOR_COLORS)
        earlier = session.run(Earlier(open=open_, turn=turn), graph).fields["count"]
        session.hold_beside_programs(_BYTES_PER_VERTEX)
        chosen = session.run(Colors(open=open_, turn=turn, earlier=earlier), graph).fields["chosen"]
        found = open_ & (chosen != _NONE_LEFT)
        color[found] = first + np.frexp(chosen[found])[1] - 1  # the place of the only bit
        open_, first = open_ & ~found, first + _AT_ONCE
    return color


def verify(graph: Graph, color: Array) -> None:
    """Neighbors differ, and each vertex has neighbors of all lesser colors: none could have a lesser one."""
    src, dst = sources_of_arcs(graph), graph.targets
    require(len(color) == graph.num_vertices, "there is not one color for each vertex")
    nowhere(color < 0, "vertex {} has no color")
    nowhere((color[src] == color[dst]) & (src != dst), "arc {} joins two vertices of one color")
    lesser = color[dst] < color[src]
    pairs = np.unique(src[lesser].astype(np.int64) * (int(color.max(initial=0)) + 1) + color[dst[lesser]])
    around = np.bincount(pairs // (int(color.max(initial=0)) + 1), minlength=graph.num_vertices)
    nowhere(around != color, "vertex {} could have a lesser color")
