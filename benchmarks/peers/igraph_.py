"""igraph, through python-igraph."""

from __future__ import annotations

from typing import Any

import igraph
import numpy as np

from benchmarks.cases import Case
from benchmarks.peers import Peer, Unavailable

_MOST_EDGES = 2**25
"""Beyond that the graph takes gigabytes in igraph, and its Python lists as many again."""


class Igraph(Peer):
    notes = {"triangles": "global transitivity, which counts them"}  # noqa: RUF012

    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        if case.graph.num_edges > _MOST_EDGES:
            raise Unavailable(f"more than {_MOST_EDGES:,} edges")
        edges = case.weighted.edges()
        ends = np.stack([edges.src, edges.dst], axis=1)
        self.graph = igraph.Graph(n=case.graph.num_vertices, edges=ends, directed=False)
        self.weights = edges.weight.tolist()

    def bfs(self, source: int) -> Any:
        return self.graph.distances(source=source)[0]

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        level = np.array(raw)
        return {"level": np.where(np.isinf(level), -1, level).astype(np.int64)}

    def sssp(self, source: int) -> Any:
        return self.graph.distances(source=source, weights=self.weights)[0]

    def read_sssp(self, raw: Any) -> dict[str, Any]:
        return {"distance": np.array(raw)}

    def connected_components(self) -> Any:
        return self.graph.connected_components().membership

    def read_connected_components(self, raw: Any) -> dict[str, Any]:
        return {"count": max(raw) + 1}

    def betweenness(self, sources: list[int]) -> Any:
        return self.graph.betweenness(sources=sources)

    def read_betweenness(self, raw: Any) -> dict[str, Any]:
        return {"centrality": np.array(raw)}

    def triangles(self) -> Any:
        return self.graph.transitivity_undirected(mode="zero")

    def read_triangles(self, raw: Any) -> dict[str, Any]:
        return {"transitivity": raw}

    def core_numbers(self) -> Any:
        return self.graph.coreness()

    def read_core_numbers(self, raw: Any) -> dict[str, Any]:
        return {"core": np.array(raw)}


create = Igraph
