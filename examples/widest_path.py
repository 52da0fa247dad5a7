"""The widest path: how much can flow from one vertex to every other along a single path?

A path is as wide as its narrowest edge. Messages are minima along a path, merged by maximum: monotone, so all eight
execution paths are legal, and the planner may choose among them.

    python examples/widest_path.py
"""

from __future__ import annotations

import numpy as np

import dromos as dr


class WidestPath(dr.Program):
    source = dr.param(dr.ID)
    width = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v):
        return dr.where(v.id == self.source, np.inf, 0.0)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return dr.minimum(u.width, edge.weight)

    def update(self, v, message):
        return dr.maximum(v.width, message)


def verify(graph: dr.Graph, source: int, width: np.ndarray) -> None:
    """No edge widens any path, and every width comes in along some edge."""
    edges = graph.edges(arcs=True)
    offered = np.minimum(width[edges.src], edges.weight)
    assert np.all(offered <= width[edges.dst])
    best = np.zeros(graph.num_vertices)
    np.maximum.at(best, edges.dst, offered)
    others = np.arange(graph.num_vertices) != source
    assert np.all(best[others] == width[others])


if __name__ == "__main__":
    pipes = dr.generators.with_random_weights(dr.generators.rmat(8, seed=1), 1, 100, seed=1)
    answer = dr.run(WidestPath(source=0), pipes)
    verify(pipes, 0, answer.width)
    print(answer)
    print(answer.trace)
    for path in ("sync-push-dd", "sync-pull-td", "async-push-dd"):
        again = dr.run(WidestPath(source=0), pipes, path=path)
        assert np.array_equal(again.width, answer.width)
        print(f"{path:14} {again.iterations:3} supersteps, the same widths")
