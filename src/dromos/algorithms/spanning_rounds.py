"""Spanning forests by rounds: trees choose an edge to another tree, all at once, and are joined (Boruvka, 1926).

A round is one superstep over the edges of vertices that may still have one to another tree, and there are log V of them
at most. The largest tree waits for the others to choose it, so that its vertices' edges are looked at no more. What is
done between the rounds takes time and memory by the vertices alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dromos.program as dr
from dromos.algorithms.first_edges import FirstEdges
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.graph.permute import degree_order, inverse
from dromos.runner import Session

__all__ = ["OtherTree", "forest_by_rounds", "joined", "outside_the_largest", "tops"]


class OtherTree(dr.Program):
    """The first open neighbor of each asking vertex in another tree, told by its place in an order of all vertices."""

    open = dr.vertex_param(bool)
    asks = dr.vertex_param(bool)
    tree = dr.vertex_param(dr.ID)
    place = dr.vertex_param(dr.ID)
    found = dr.field(dr.ID, init=-1)
    combine = dr.MIN

    def start(self, v: Any) -> Any:
        return v.open

    def wants(self, v: Any) -> Any:
        return v.asks

    def sends(self, u: Any, edge: Any, v: Any) -> Any:
        return u.tree != v.tree

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.place

    def update(self, v: Any, message: Any) -> Any:
        return message

    def active(self, old: Any, new: Any) -> Any:
        return False


def forest_by_rounds(
    session: Session, graph: Graph, *, maximum: bool = False, by_degree: bool = False
) -> tuple[dict[str, Array], Array]:
    """By programs: the columns of the lightest forest, or the heaviest, by source and target; and each vertex's tree.

    The graph is undirected. Of equal edges the first by its ends is taken. A tree is named by one of its vertices.
    ``by_degree``, without weights: vertices choose the neighbor of most neighbors instead, so that one tree has
    nearly all vertices of most graphs after the first round.
    """
    ids = np.arange(graph.num_vertices, dtype=graph.targets.dtype)
    place = vertex = ids
    if by_degree:
        vertex = degree_order(graph.out_degree, descending=True).astype(ids.dtype, copy=False)
        place = inverse(vertex, ids.dtype)
    edges = None if graph.weights is None else FirstEdges(session, graph, falling=maximum)
    none: tuple[Array, ...] = () if edges is None else (edges.weights_of(ids[:0]),)
    columns = [(ids[:0], ids[:0], *none)]
    tree, open_ = ids, np.ones(graph.num_vertices, dtype=bool)
    while (asks := open_ & outside_the_largest(tree)).any():
        ranks: tuple[Array, ...] = ()
        if edges is None:
            other = session.run(OtherTree(open=open_, asks=asks, tree=tree, place=place), graph).fields["found"]
        else:
            other, rank = edges.find(open_, asks, tree)
            ranks = (rank,)
        open_ = open_ & (~asks | (other >= 0))  # who has no edge to another tree will have none
        low, high = np.minimum(place, other), np.maximum(place, other)
        chosen = _least_by_tree(tree, np.flatnonzero(asks & open_), (*ranks, low, high))
        tree, kept = joined(tree, tree[chosen], tree[vertex[other[chosen]]])
        chosen = chosen[kept]
        weights = () if edges is None else (edges.weights_of(ranks[0][chosen]),)
        ends = vertex[low[chosen]], vertex[high[chosen]]
        columns.append((np.minimum(*ends), np.maximum(*ends), *weights))
        del other, low, high, chosen, kept, ends  # the next program needs the room
    whole = [np.concatenate(parts) for parts in zip(*columns, strict=True)]
    order = np.lexsort((whole[1], whole[0]))
    return {name: column[order] for name, column in zip(("source", "target", "weight"), whole, strict=False)}, tree


def _least_by_tree(tree: Array, among: Array, columns: tuple[Array, ...]) -> Array:
    """Of the vertices ``among``, those whose row of ``columns`` is the least of their tree.

    >>> _least_by_tree(np.array([0, 0, 2]), np.arange(3), (np.array([7, 7, 9]), np.array([4, 3, 1]))).tolist()
    [1, 2]
    """
    for column in columns:
        here, values = tree[among], column[among]
        least = np.zeros_like(column)
        least[here] = values  # of any vertex of the tree
        np.minimum.at(least, here, values)
        among = among[values == least[here]]
    return among


def outside_the_largest(tree: Array) -> Array:
    """Which vertices are in any tree but the largest one; of equal ones that is the first by its name.

    >>> outside_the_largest(np.array([0, 1, 1, 3])).tolist()
    [True, False, False, True]
    """
    outside: Array = tree != (np.bincount(tree).argmax() if len(tree) else 0)
    return outside


def joined(tree: Array, here: Array, there: Array) -> tuple[Array, Array]:
    """Each vertex's tree after the trees ``here`` were joined to those that they chose, and which choices were needed.

    Choices go round in no cycle, but for two trees that chose each other: then one choice is enough.

    >>> tree, kept = joined(np.array([0, 1, 2, 3, 0]), np.array([0, 1, 2]), np.array([1, 0, 1]))
    >>> tree.tolist(), kept.tolist()
    ([0, 0, 0, 3, 0], [False, True, True])
    """
    above = np.arange(len(tree), dtype=tree.dtype)
    above[here] = there
    both = (above[there] == here) & (here < there)
    above[here[both]] = here[both]
    return tops(above)[tree], ~both


def tops(above: Array) -> Array:
    """Where the way upwards ends, from each vertex.

    >>> tops(np.array([0, 0, 1, 2])).tolist()
    [0, 0, 0, 0]
    """
    while True:
        higher = above[above]
        if np.array_equal(higher, above):
            return above
        above = higher
