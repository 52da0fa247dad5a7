"""Colouring: no two neighbours have the same colour.

Returns ``color``, from 0 on, and the number of colours, ``count``: at most one more than the greatest degree.
Self-loops are left out; the direction of edges is not looked at.

Each vertex takes, in its turn, the least colour that no neighbour has; those with most neighbours come first, equals
in an order drawn from ``seed``. The answer is that of Jones and Plassmann's parallel method with these priorities.
Welsh and Powell, 1967; Jones and Plassmann, "A parallel graph coloring heuristic", 1993.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, sources_of_arcs, symmetric
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.permute import random_order
from dromos.runner import Options, Result, Session

__all__ = ["ColoringResult", "coloring", "verify"]


class ColoringResult(Result):
    """What :func:`coloring` returns."""

    color: Array
    count: int


def coloring(graph: Graph, order: str = "degree", seed: int = 0, **how: Unpack[Options]) -> ColoringResult:
    """A colour for each vertex that none of its neighbours has.

    Args:
        graph: any; the direction of edges is not looked at.
        order: who chooses first: ``"degree"``, those with most neighbours, or ``"random"``.
        seed: of the random order, and of that among equals.
        how: ``device``, ``threads``; on the CPU one thread works, and there are no paths to choose from.

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
    color = session.host_native("coloring", on, order=turns, by_degree=order == "degree")["color"]
    return session.result(
        ColoringResult,
        {"color": color},
        values={"count": int(color.max(initial=-1)) + 1},
        verifier=lambda result: verify(on, result["color"]),
    )


def verify(graph: Graph, color: Array) -> None:
    """Neighbours differ, and each vertex has neighbours of all lesser colours: none could have a lesser one."""
    src, dst = sources_of_arcs(graph), graph.targets
    require(len(color) == graph.num_vertices, "there is not one colour for each vertex")
    nowhere(color < 0, "vertex {} has no colour")
    nowhere((color[src] == color[dst]) & (src != dst), "arc {} joins two vertices of one colour")
    lesser = color[dst] < color[src]
    pairs = np.unique(src[lesser].astype(np.int64) * (int(color.max(initial=0)) + 1) + color[dst[lesser]])
    around = np.bincount(pairs // (int(color.max(initial=0)) + 1), minlength=graph.num_vertices)
    nowhere(around != color, "vertex {} could have a lesser colour")
