"""rustworkx."""

from __future__ import annotations

from typing import Any

import numpy as np
import rustworkx as rx

from benchmarks.cases import Case
from benchmarks.peers import Peer, Unavailable

_MOST_EDGES = 2**25
_MOST_WEDGES = 4e9
"""Pairs of neighbours that counting triangles looks at, at some 40 ns each."""
_BLOCK = 1 << 20


class Rustworkx(Peer):
    notes = {"triangles": "transitivity, which counts them"}  # noqa: RUF012

    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        if case.graph.num_edges > _MOST_EDGES:
            raise Unavailable(f"more than {_MOST_EDGES:,} edges")
        wedges = float((case.graph.out_degree.astype(np.float64) ** 2).sum())
        if wedges > _MOST_WEDGES:
            self.skips["triangles"] = f"{wedges:.0e} pairs of neighbours"
        edges, n = case.weighted.edges(), case.graph.num_vertices
        self.graph = rx.PyGraph(multigraph=True, node_count_hint=n, edge_count_hint=len(edges.src))
        self.graph.add_nodes_from(range(n))
        for start in range(0, len(edges.src), _BLOCK):
            part = slice(start, start + _BLOCK)
            columns = (edges.src[part].tolist(), edges.dst[part].tolist(), edges.weight[part].tolist())
            self.graph.add_edges_from(list(zip(*columns, strict=True)))

    def bfs(self, source: int) -> Any:
        return rx.bfs_layers(self.graph, [source])

    def read_bfs(self, raw: Any) -> dict[str, Any]:
        level = np.full(self.graph.num_nodes(), -1)
        for depth, layer in enumerate(raw):
            level[layer] = depth
        return {"level": level}

    def sssp(self, source: int) -> Any:
        return rx.dijkstra_shortest_path_lengths(self.graph, source, float), source

    def read_sssp(self, raw: Any) -> dict[str, Any]:
        lengths, source = raw
        distance = np.full(self.graph.num_nodes(), np.inf)
        distance[list(lengths.keys())] = list(lengths.values())
        distance[source] = 0  # not among the lengths unless a loop leads back to it
        return {"distance": distance}

    def connected_components(self) -> Any:
        return rx.connected_components(self.graph)

    def read_connected_components(self, raw: Any) -> dict[str, Any]:
        return {"count": len(raw)}

    def triangles(self) -> Any:
        return rx.transitivity(self.graph)

    def read_triangles(self, raw: Any) -> dict[str, Any]:
        return {"transitivity": raw}

    def core_numbers(self) -> Any:
        return rx.core_number(self.graph)

    def read_core_numbers(self, raw: Any) -> dict[str, Any]:
        return {"core": np.array([raw[vertex] for vertex in range(len(raw))])}


create = Rustworkx
