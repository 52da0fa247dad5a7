"""scikit-network."""

from __future__ import annotations

from typing import Any

import numpy as np
import sknetwork.path
import sknetwork.ranking
import sknetwork.topology

from benchmarks.cases import Case
from benchmarks.peers import Peer
from benchmarks.peers.scipy_csgraph import adjacency

_MOST_VERTICES = 1 << 12
"""Counting triangles takes 7 s at that size, and four times as many vertices take sixteen times as long."""


class ScikitNetwork(Peer):
    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        self.matrix = adjacency(case)
        if case.graph.num_vertices > _MOST_VERTICES:
            self.skips["triangles"] = "its time grows with the square of the vertices"

    def bfs(self, source: int) -> Any:
        return sknetwork.path.get_distances(self.matrix, source)

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        return {"level": raw}

    def pagerank(self, iterations: int) -> Any:
        ranking = sknetwork.ranking.PageRank(damping_factor=0.85, solver="piteration", n_iter=iterations, tol=0)
        return ranking.fit_predict(self.matrix)

    def connected_components(self) -> Any:
        return sknetwork.topology.get_connected_components(self.matrix)

    def read_connected_components(self, raw: Any) -> dict[str, Any]:
        return {"count": int(np.max(raw)) + 1}

    def triangles(self) -> Any:
        return sknetwork.topology.count_triangles(self.matrix, parallelize=True)

    def read_triangles(self, raw: Any) -> dict[str, Any]:
        return {"total": int(raw)}

    def core_numbers(self) -> Any:
        return sknetwork.topology.get_core_decomposition(self.matrix)

    def read_core_numbers(self, raw: Any) -> dict[str, Any]:
        return {"core": raw}


create = ScikitNetwork
