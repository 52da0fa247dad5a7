"""NetworKit."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np

from benchmarks.cases import Case
from benchmarks.peers import Peer


class NetworKit(Peer):
    notes = {"betweenness": "sources drawn by NetworKit", "triangles": "triangles of each edge"}  # noqa: RUF012

    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        nk.setNumberOfThreads(threads)
        edges, n = case.weighted.edges(), case.graph.num_vertices
        ends = edges.src.astype(np.uint64), edges.dst.astype(np.uint64)
        self.graph = nk.GraphFromCoo(ends, n=n, weighted=False, directed=False, edgesIndexed=True)
        weights = edges.weight.astype(np.float64)
        self.weighted = nk.GraphFromCoo((weights, ends), n=n, weighted=True, directed=False)

    def bfs(self, source: int) -> Any:
        return nk.distance.BFS(self.graph, source, storePaths=True).run()

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        level = np.array(raw.getDistances())
        return {"level": np.where(level > 1e300, -1, level).astype(np.int64)}

    def sssp(self, source: int) -> Any:
        return nk.distance.Dijkstra(self.weighted, source, storePaths=False).run()

    def read_sssp(self, raw: Any) -> dict[str, Any]:
        distance = np.array(raw.getDistances())
        return {"distance": np.where(distance > 1e300, np.inf, distance)}

    def pagerank(self, iterations: int) -> Any:
        sinks = nk.centrality.SinkHandling.DistributeSinks
        run = nk.centrality.PageRank(self.graph, damp=0.85, tol=1e-300, distributeSinks=sinks)
        run.maxIterations = iterations
        return run.run()

    def read_pagerank(self, raw: Any) -> dict[str, Any]:
        return {"iterations": raw.numberOfIterations(), "rank": np.array(raw.scores())}

    def connected_components(self) -> Any:
        return nk.components.ParallelConnectedComponents(self.graph).run()

    def read_connected_components(self, raw: Any) -> dict[str, Any]:
        return {"count": raw.numberOfComponents()}

    def betweenness(self, sources: list[int]) -> Any:
        return nk.centrality.EstimateBetweenness(self.graph, len(sources), normalized=False, parallel=True).run()

    def triangles(self) -> Any:
        return nk.sparsification.TriangleEdgeScore(self.graph).run()

    def read_triangles(self, raw: Any) -> dict[str, Any]:
        return {"total": int(np.sum(raw.scores(), dtype=np.int64)) // 3}

    def core_numbers(self) -> Any:
        return nk.centrality.CoreDecomposition(self.graph).run()

    def read_core_numbers(self, raw: Any) -> dict[str, Any]:
        return {"core": np.array(raw.scores(), dtype=np.int64)}


create = NetworKit
