"""SuiteSparse:GraphBLAS through python-graphblas, in the usual few lines of linear algebra an algorithm."""

from __future__ import annotations

from typing import Any

import graphblas as gb
import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring

from benchmarks.cases import Case
from benchmarks.peers import Peer


def _matrix(graph: Any, values: Any) -> Matrix:
    n = graph.num_vertices
    return Matrix.from_csr(graph.offsets.astype(np.uint64), graph.targets.astype(np.uint64), values, ncols=n)


class GraphBLAS(Peer):
    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        gb.ss.config["nthreads"] = threads
        graph, n = case.graph, case.graph.num_vertices
        self.matrix = _matrix(graph, np.ones(graph.num_arcs, dtype=bool))
        self.weighted = _matrix(case.weighted, case.weighted.weights)
        self.degree = Vector.from_dense(np.maximum(graph.out_degree, 1).astype(np.float64))
        self.dangling = np.flatnonzero(graph.out_degree == 0)
        # relabelling pays where a few rows are long (LAGraph's rule: the mean degree well above the median)
        self.skewed = graph.out_degree.mean() > 1.3 * np.median(graph.out_degree)
        self.size = n

    def bfs(self, source: int) -> Any:
        level, parent = Vector(np.int32, self.size), Vector(np.int64, self.size)
        front = Vector(np.int64, self.size)
        front[source] = parent[source] = source
        depth = 0
        while front.nvals:
            level(front.S) << depth
            front(~parent.S, replace=True) << semiring.any_secondi(front @ self.matrix)
            parent(front.S) << front
            depth += 1
        return level, parent

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        return {"level": raw[0].to_dense(fill_value=-1)}

    def sssp(self, source: int) -> Any:
        distance = Vector.from_scalar(np.iinfo(np.int32).max, self.size, dtype=np.int32)
        distance[source] = 0
        front = Vector(np.int32, self.size)
        front[source] = 0
        while front.nvals:
            found = semiring.min_plus(front @ self.weighted).new(dtype=np.int32)
            better = binary.lt(found & distance).new()
            front = Vector(np.int32, self.size)
            front(better.V) << found
            distance(front.S) << front
        return distance

    def read_sssp(self, raw: Any) -> dict[str, Any]:
        distance = raw.to_dense().astype(np.float64)
        return {"distance": np.where(distance == np.iinfo(np.int32).max, np.inf, distance)}

    def pagerank(self, iterations: int) -> Any:
        n = self.size
        rank = Vector.from_scalar(1 / n, n, dtype=np.float64)
        for _ in range(iterations):
            lost = rank[self.dangling].new().reduce(monoid.plus).get(0.0) if len(self.dangling) else 0.0
            share = binary.truediv(rank & self.degree).new()
            share(binary.times) << 0.85
            fresh = Vector.from_scalar((0.15 + 0.85 * lost) / n, n, dtype=np.float64)
            fresh(binary.plus) << semiring.plus_second(self.matrix @ share)
            binary.minus(rank & fresh).new().apply("abs").new().reduce(monoid.plus).get(0.0)
            rank = fresh
        return rank

    def read_pagerank(self, raw: Any) -> dict[str, Any]:
        return {"rank": raw.to_dense()}

    def triangles(self) -> Any:
        matrix = self.matrix
        if self.skewed:
            order = np.argsort(self.case.graph.out_degree, kind="stable")
            matrix = matrix[order, order].new()
        low = gb.select.tril(matrix, -1).new()
        high = gb.select.triu(matrix, 1).new()
        count = Matrix(np.int64, self.size, self.size)
        count(low.S) << semiring.plus_pair(low @ high.T)
        return count.reduce_scalar(monoid.plus).get(0)

    def read_triangles(self, raw: Any) -> dict[str, Any]:
        return {"total": raw}


create = GraphBLAS
