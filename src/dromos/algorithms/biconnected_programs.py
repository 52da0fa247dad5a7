"""Bridges, articulation points and biconnected components by programs, from any spanning forest.

A forest is found by rounds, and its trees get roots and numbers in preorder on the host: a subtree is a range of
numbers. One superstep then tells each vertex the least and the greatest number around it, and each subtree is given
those of its vertices. The edge above a subtree is a bridge if no other edge leaves the subtree.

If an edge leads from a subtree to beyond that of the vertex above, the tree edges to the subtree and to that vertex are
on a cycle. So are the tree edges to both ends of an edge of which neither is above the other. By these two rules
vertices, each of which stands for the tree edge to it, are joined into biconnected components, by rounds again. The
vertex above a component is an articulation point, unless it is a root: roots are leaves of their trees.

Tarjan and Vishkin, "An efficient parallel biconnectivity algorithm", 1985; the rules as in Dong, Wang, Gu and Sun,
"Provably fast and space-efficient parallel biconnectivity", 2023.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import weighted
from dromos.algorithms.rooted_forest import over_subtrees, rooted
from dromos.algorithms.spanning_rounds import forest_by_rounds, joined, outside_the_largest, tops
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["Across", "Around", "bridges_by_programs", "components_by_programs"]

# Ids that are held for each vertex while programs run. The first number makes room for what comes between them, too:
# numbering the forest takes more than is held there, but no program has fields then. It is so great that no later
# program needs more memory than the first, which a budget that is too small is refused by.
_BESIDE_ROUNDS: Final = 10
_BESIDE_NUMBERS: Final = 4
_BESIDE_GROUPS: Final = 6


class Around(dr.Program):
    """The least and the greatest number among each vertex and its neighbors; one edge to its parent is left out.

    A parallel edge to the parent counts. ``above``: the parent's number, -1 at a root.
    """

    number = dr.vertex_param(dr.ID)
    above = dr.vertex_param(dr.ID)
    least = dr.field(dr.ID)
    greatest = dr.field(dr.ID)
    combine = (dr.MIN, dr.MAX, dr.SUM)

    def init(self, v: Any) -> Any:
        return {"least": v.number, "greatest": v.number}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        is_parent = u.number == v.above
        number = dr.where(is_parent, v.number, u.number)
        return number, number, dr.where(is_parent, 1, 0)

    def update(self, v: Any, message: Any) -> Any:
        least, greatest, to_parent = message
        least = dr.where(to_parent > 1, dr.minimum(least, v.above), least)
        return {"least": dr.minimum(v.least, least), "greatest": dr.maximum(v.greatest, greatest)}

    def active(self, old: Any, new: Any) -> Any:
        return False


class Across(dr.Program):
    """The least other group that each asking vertex has an edge to, of those where neither end is above the other."""

    open = dr.vertex_param(bool)
    asks = dr.vertex_param(bool)
    first = dr.vertex_param(dr.ID)
    last = dr.vertex_param(dr.ID)
    group = dr.vertex_param(dr.ID)
    found = dr.field(dr.ID, init=-1)
    combine = dr.MIN

    def start(self, v: Any) -> Any:
        return v.open

    def wants(self, v: Any) -> Any:
        return v.asks

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return (u.group != v.group) & ((u.last < v.first) | (v.last < u.first))

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.group

    def update(self, v: Any, message: Any) -> Any:
        return message

    def active(self, old: Any, new: Any) -> Any:
        return False


class _Subtrees(NamedTuple):
    """A spanning forest, and which numbers the edges of its subtrees lead to; one row per number, but for the first."""

    number: Array
    """By vertex."""
    vertex: Array
    above: Array
    """The parent, -1 at a root."""
    last: Array
    """Of the subtree that begins with the number."""
    leaving: Array
    """Whether an edge leads from here to anywhere but the subtree, the one to the parent left out."""
    low: Array
    """The least number that an edge of the subtree leads to, but for the one above it."""
    high: Array
    """The greatest one."""


def bridges_by_programs(session: Session, graph: Graph) -> Mapping[str, Array]:
    """The ``parent`` of each vertex in a spanning forest (-1 at a root), and whether the edge to it is a ``bridge``."""
    number, vertex, above, last, _, low, high = _subtrees(session, weighted(graph, None), 0)
    is_bridge = (above >= 0) & (low == np.arange(len(low))) & (high <= last)
    return {"parent": np.where(above >= 0, vertex[above], above)[number], "bridge": is_bridge[number]}


def components_by_programs(session: Session, graph: Graph, *, bytes_per_edge: int = 0) -> Mapping[str, Array]:
    """Of each vertex: whether it is a ``cut``, its ``number``, and the ``component`` of the edge to its parent.

    An edge is in the component of its end with the greater number. Components are named by one of their numbers.
    ``bytes_per_edge``: those of an answer that is to be made of this, which a budget has to have room for.
    """
    bare = weighted(graph, None)
    number, _, above, last, leaving, low, high = _subtrees(session, bare, bytes_per_edge)
    leads_beyond = (above >= 0) & ((low < above) | (high > last[above]))
    group = tops(np.where(leads_beyond, above, np.arange(len(above), dtype=above.dtype)))
    last, leaving = last[number], leaving[number]
    del _, low, high, leads_beyond
    session.hold_beside_programs(_BESIDE_GROUPS * number.itemsize, bytes_per_edge)
    group = _joined_across(session, bare, number, last, group, leaving)
    first = np.empty_like(group)
    first[group[::-1]] = np.arange(len(group), dtype=group.dtype)[::-1]  # of each group the least is written last
    heads = above[first[group]]
    is_cut = np.zeros(len(heads), dtype=bool)
    is_cut[heads[heads >= 0]] = True
    return {"cut": (is_cut & (above >= 0))[number], "number": number, "component": group[number]}


def _subtrees(session: Session, graph: Graph, bytes_per_edge: int) -> _Subtrees:
    size = graph.targets.dtype.itemsize
    session.hold_beside_programs(_BESIDE_ROUNDS * size, bytes_per_edge)
    rows, tree = forest_by_rounds(session, graph, by_degree=True)
    number, vertex, above, last = rooted(rows["source"], rows["target"], tree)
    del rows, tree
    least = greatest = ids = np.arange(len(number), dtype=number.dtype)
    if (above >= 0).any():
        session.hold_beside_programs(_BESIDE_NUMBERS * size, bytes_per_edge)
        around = session.run(Around(number=number, above=above[number]), graph).fields
        least, greatest = around["least"][vertex], around["greatest"][vertex]
        del around
    leaving = (least < ids) | (greatest > last)
    del ids
    low, high = over_subtrees(least, last, np.minimum), over_subtrees(greatest, last, np.maximum)
    return _Subtrees(number, vertex, above, last, leaving, low, high)


def _joined_across(session: Session, graph: Graph, first: Array, last: Array, group: Array, open_: Array) -> Array:
    """The group of each number after those were joined that have edges across, which ``open_`` vertices may have.

    ``first`` and ``last`` are the numbers of each vertex's subtree. As in a forest by rounds, the largest group waits.
    """
    n, own = len(first), group[first]
    while (asks := open_ & outside_the_largest(own)).any():
        program = Across(open=open_, asks=asks, first=first, last=last, group=own)
        found = session.run(program, graph).fields["found"]
        del program
        open_ = open_ & (~asks | (found >= 0))  # who has no edge to another group will have none
        asks = asks & open_
        least = np.full(n, n, first.dtype)
        np.minimum.at(least, own[asks], found[asks])
        here = np.flatnonzero(least < n)
        # Each takes its least neighbor: along a cycle of choices every second one would be less than the one before.
        group, _ = joined(group, here, least[here])
        own = group[first]
    return group
