"""Every program of every algorithm, as it reaches an engine: the algorithms run, and what they prepare is noted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import dromos as dr
from dromos.engines import GraphLike, graph_types
from dromos.engines.reference import ReferenceEngine
from dromos.program import Program, TypedProgram

__all__ = ["typed_programs"]


class _Recorder(ReferenceEngine):
    """Runs programs plainly, has no kernels of its own, and keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[tuple[str, object], TypedProgram] = {}

    def prepare(self, program: Program, graph: GraphLike) -> Any:
        typed = program.typed(graph_types(graph))
        self.seen[typed.ir.hash, typed.types] = typed
        return super().prepare(program, graph)

    def native(self, name: str) -> Any:
        return super().native(name) if name in ("triangles", "cdlp") else None


def _calls(bare: dr.Graph, weighted: dr.Graph, whole: dr.Graph) -> dict[str, Callable[..., Any]]:
    first, n = 0, bare.num_vertices
    person = dict.fromkeys(range(0, n, 2), 1.0)
    return {
        "bfs": lambda **how: dr.bfs(bare, first, **how),
        "sssp": lambda **how: dr.sssp(weighted, first, **how).parent,
        "sssp, whole": lambda **how: dr.sssp(whole, first, **how).parent,
        "sssp, unweighted": lambda **how: dr.sssp(bare, first, **how).parent,
        "bellman_ford": lambda **how: (
            dr.sssp(dr.Graph.from_edges([0, 1], [1, 2], np.array([3.0, -1.0], np.float32)), 0, **how).parent
        ),
        "pagerank": lambda **how: dr.pagerank(bare, **how),
        "pagerank in float32": lambda **how: dr.pagerank(bare, dtype=np.float32, **how),
        "pagerank, weighted": lambda **how: dr.pagerank(weighted, **how),
        "pagerank, personal": lambda **how: dr.pagerank(weighted, personalization=person, **how),
        "connected_components": lambda **how: dr.connected_components(bare, **how),
        "strongly_connected_components": lambda **how: dr.strongly_connected_components(bare, **how),
        "betweenness": lambda **how: dr.betweenness(bare, sources=[first], **how),
        "betweenness, many levels": lambda **how: dr.betweenness(dr.generators.path(70), sources=[first], **how),
        "core_numbers": lambda **how: dr.core_numbers(bare, **how),
        "k_core": lambda **how: dr.k_core(bare, 2, **how),
        "coloring": lambda **how: dr.coloring(bare, **how),
        "maximal_matching": lambda **how: dr.maximal_matching(bare, **how),
        "maximal_matching, weighted": lambda **how: dr.maximal_matching(weighted, **how),
        "maximal_matching, whole": lambda **how: dr.maximal_matching(whole.symmetrized(), **how),
        "minimum_spanning_forest": lambda **how: dr.minimum_spanning_forest(weighted.symmetrized(), **how),
        "minimum_spanning_forest, unweighted": lambda **how: dr.minimum_spanning_forest(bare.symmetrized(), **how),
        "biconnected_components": lambda **how: dr.biconnected_components(bare.symmetrized(), **how),
        "spmv": lambda **how: dr.spmv(weighted, np.ones(n), **how),
        "belief_propagation": lambda **how: _beliefs(bare.symmetrized(), how),
    }


@cache
def typed_programs() -> tuple[TypedProgram, ...]:
    """All of them, each once for each set of types."""
    engine = _Recorder()
    bare = dr.Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])
    weighted = bare.with_weights(np.array([1, 2, 3, 4, 5], np.float32))
    whole = bare.with_weights(np.array([1, 2, 3, 4, 5], np.int32))
    for call in _calls(bare, weighted, whole).values():
        call(device=engine)
    return tuple(engine.seen.values())


def _beliefs(graph: dr.Graph, how: dict[str, Any]) -> Any:
    known = np.zeros((graph.num_vertices, 2))
    known[0] = 0.5, -0.5
    return dr.belief_propagation(graph, known, [[0.1, -0.1], [-0.1, 0.1]], **how)
