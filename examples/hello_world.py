"""Hello, world: the template for an algorithm of your own. Copy it, and change the middle.

The algorithm: how many of its in-neighbors know more people than a vertex does itself? One superstep answers: every
vertex tells its out-neighbors its degree, and each counts those that are above its own.

    python examples/hello_world.py
"""

from __future__ import annotations

import numpy as np

import dromos as dr


class Popular(dr.Program):
    """1. The fields that a vertex has. 2. What goes along an edge. 3. How messages merge. 4. What a vertex becomes."""

    above = dr.field(np.int64, init=0)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return dr.cast(u.out_degree > v.out_degree, np.int64)

    def update(self, v, message):
        return message

    def active(self, old, new):
        return False  # nothing more to do after the first superstep


def popular(graph: dr.Graph, **how) -> dr.Result:
    """How many in-neighbors have more out-neighbors than the vertex itself: ``above``."""
    return dr.run(Popular(), graph, **how)


def verify(graph: dr.Graph, above: np.ndarray) -> None:
    """An edge leads up or it does not: the counts of a graph and of one with all orders reversed are all edges."""
    edges = graph.edges(arcs=True)
    up = graph.out_degree[edges.src] > graph.out_degree[edges.dst]
    assert np.all(above <= graph.in_degree)
    assert above.sum() == np.count_nonzero(up)


if __name__ == "__main__":
    friends = dr.Graph.from_edges(["ada", "ada", "ada", "bob"], ["bob", "eve", "ian", "eve"], directed=False)
    result = popular(friends)
    verify(friends, result.above)
    print(result.head())
    print(result.trace)
