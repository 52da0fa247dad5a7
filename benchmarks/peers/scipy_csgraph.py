"""SciPy: ``scipy.sparse.csgraph``, and PageRank as a product of matrix and vector an iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph, csr_matrix

from benchmarks.cases import Case
from benchmarks.peers import Peer


def adjacency(case: Case, *, weights: bool = False) -> csr_matrix:
    """The graph as a matrix of float64, the type that csgraph does not have to convert; arrays may be written to."""
    graph = case.weighted if weights else case.graph
    data = np.ones(graph.num_arcs) if graph.weights is None else graph.weights.astype(np.float64)
    offsets = graph.offsets.astype(graph.targets.dtype)
    return csr_matrix((data, graph.targets.copy(), offsets), shape=(graph.num_vertices,) * 2)


class SciPy(Peer):
    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        self.matrix, self.weighted = adjacency(case), adjacency(case, weights=True)
        degree = case.graph.out_degree.astype(np.float64)
        self.dangling = degree == 0
        scaled = self.matrix.copy()
        scaled.data /= np.maximum(degree, 1)[scaled.indices]
        self.walk = scaled

    def bfs(self, source: int) -> Any:
        return csgraph.breadth_first_order(self.matrix, source, directed=True, return_predecessors=True)

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        return {"parent": raw[1]}

    def sssp(self, source: int) -> Any:
        return csgraph.dijkstra(self.weighted, directed=True, indices=source)

    def read_sssp(self, raw: Any) -> dict[str, Any]:
        return {"distance": raw}

    def pagerank(self, iterations: int) -> Any:
        n = len(self.dangling)
        rank = np.full(n, 1 / n)
        for _ in range(iterations):
            previous = rank
            rank = 0.85 * (self.walk @ rank + previous[self.dangling].sum() / n) + 0.15 / n
            np.abs(rank - previous).sum()
        return rank

    def read_pagerank(self, raw: Any) -> dict[str, Any]:
        return {"rank": raw}

    def connected_components(self) -> Any:
        return csgraph.connected_components(self.matrix, directed=False)

    def read_connected_components(self, raw: Any) -> dict[str, Any]:
        return {"count": raw[0]}


create = SciPy
