"""Every algorithm on every legal path on a few small graphs, to run under compute-sanitizer.

    compute-sanitizer --tool memcheck  python -m benchmarks.gpu.sanitize
    compute-sanitizer --tool racecheck python -m benchmarks.gpu.sanitize

With names of algorithms it runs only those, and ``--list`` prints the names: a tool takes long to instrument kernels,
on one core, so several processes are best run side by side.

Memory is allocated from the driver array by array, not from a pool, so that an access beyond an array is an access
outside of its allocation. Answers are verified as well: a tool that slows kernels a hundredfold exposes orders of
execution that do not occur otherwise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.graphs import make
from dromos.engines.cuda.compiler import Module
from dromos.errors import IllegalPathError
from dromos.plan.path import PATHS

__all__ = ["CALLS", "NO_PATHS", "main", "watched"]

Call = Callable[[dr.Graph, dr.Graph, dict[str, Any]], Any]


def _beliefs(graph: dr.Graph, how: dict[str, Any]) -> Any:
    prior = np.zeros((graph.num_vertices, 2))
    prior[0] = 0.5, -0.5
    coupling = np.array([[1, -1], [-1, 1]]) * 1e-4
    return dr.belief_propagation(graph, prior, coupling, tol=1e-9, **how)


def _many(graph: dr.Graph) -> range:
    """More sources than one group takes, if there are enough vertices."""
    return range(min(graph.num_vertices, 600))


CALLS: dict[str, Call] = {
    "bfs": lambda bare, weighted, how: dr.bfs(bare, 1, **how),
    "sssp": lambda bare, weighted, how: dr.sssp(weighted, 1, **how),
    "sssp, float weights": lambda bare, weighted, how: dr.sssp(
        weighted.with_weights(np.asarray(weighted.weights, np.float32) / 7), 1, **how
    ),
    "pagerank": lambda bare, weighted, how: dr.pagerank(bare, tol=1e-3, max_iter=5, on_limit="return", **how),
    "pagerank in float32": lambda bare, weighted, how: dr.pagerank(
        bare, tol=1e-3, max_iter=5, on_limit="return", dtype=np.float32, **how
    ),
    "betweenness": lambda bare, weighted, how: dr.betweenness(bare, sources=[1, 2], **how),
    "betweenness of all": lambda bare, weighted, how: dr.betweenness(bare, **how),
    "connected_components": lambda bare, weighted, how: dr.connected_components(bare, **how),
    "strongly_connected_components": lambda bare, weighted, how: dr.strongly_connected_components(bare, **how),
    "core_numbers": lambda bare, weighted, how: dr.core_numbers(bare, **how),
    "k_core": lambda bare, weighted, how: dr.k_core(bare, 3, **how),
    "spmv": lambda bare, weighted, how: dr.spmv(weighted, np.ones(weighted.num_vertices), **how),
    "belief_propagation": lambda bare, weighted, how: _beliefs(bare, how),
    "label_propagation": lambda bare, weighted, how: dr.label_propagation(bare, **how),
    "triangles": lambda bare, weighted, how: dr.triangles(bare, **how),
    "truss_numbers": lambda bare, weighted, how: dr.truss_numbers(bare, **how),
    "coloring": lambda bare, weighted, how: dr.coloring(bare, **how),
    "minimum_spanning_forest": lambda bare, weighted, how: dr.minimum_spanning_forest(weighted, **how),
    "minimum_spanning_forest without weights": lambda bare, weighted, how: dr.minimum_spanning_forest(bare, **how),
    "maximal_matching": lambda bare, weighted, how: dr.maximal_matching(weighted, **how),
    "maximal_matching without weights": lambda bare, weighted, how: dr.maximal_matching(bare, **how),
    "louvain": lambda bare, weighted, how: dr.louvain(bare, **how),
    "louvain by weights": lambda bare, weighted, how: dr.louvain(weighted, **how),
    "leiden": lambda bare, weighted, how: dr.leiden(bare, **how),
    "leiden by weights": lambda bare, weighted, how: dr.leiden(weighted, **how),
    "edge_betweenness": lambda bare, weighted, how: dr.edge_betweenness(bare, k=min(40, bare.num_vertices), **how),
    "random_walks": lambda bare, weighted, how: dr.random_walks(bare, 12, 2, **how),
    "random_walks, p=0.5, q=2": lambda bare, weighted, how: dr.random_walks(weighted, 12, 2, p=0.5, q=2.0, **how),
    "sample_neighbors": lambda bare, weighted, how: dr.sample_neighbors(
        bare, range(40), [15, 10], device=how["device"]
    ),
    "node_similarity": lambda bare, weighted, how: dr.node_similarity(bare, k=4, **how),
    "multi_source_bfs": lambda bare, weighted, how: dr.multi_source_bfs(bare, _many(bare), **how),
    "distances": lambda bare, weighted, how: dr.distances(bare, _many(bare)[::2], **how),
}
_BLOCKS = 8
NO_PATHS = (
    "betweenness of all", "label_propagation", "triangles", "truss_numbers", "coloring", "minimum_spanning_forest",
    "minimum_spanning_forest without weights", "maximal_matching", "maximal_matching without weights", "louvain",
    "louvain by weights", "leiden", "leiden by weights", "edge_betweenness", "random_walks", "random_walks, p=0.5, q=2",
    "sample_neighbors", "node_similarity", "multi_source_bfs", "distances",
)  # fmt: skip


def small_graphs() -> Iterator[tuple[str, dr.Graph, dr.Graph]]:
    """A skewed graph, a flat one, a lattice, and a star whose hub has a block of threads of its own."""
    for name in ("kron7", "urand6", "grid9x14"):
        made = make(name)
        yield name, made.host(), made.host(weighted=True)
    leaves = 2500
    offsets = np.concatenate([[0], np.arange(leaves, 2 * leaves + 1)])
    targets = np.concatenate([np.arange(1, leaves + 1), np.zeros(leaves, int)]).astype(np.int32)
    weights = np.tile(1 + np.arange(leaves) % 9, 2).astype(np.int32)
    star = dr.Graph.from_csr(offsets, targets, directed=False)
    yield "star", star, dr.Graph.from_csr(offsets, targets, weights, directed=False)


def _limit_grids(most: int) -> None:
    """Limit the blocks of kernels that fill the device: more of them show nothing more, and cost minutes."""
    whole = Module.cooperative_grid

    def few(self: Module, *given: Any, **named: Any) -> int:
        return min(most, whole(self, *given, **named))

    Module.cooperative_grid = few  # type: ignore[method-assign]


def _keep_small_levels() -> None:
    """Give Louvain's and Leiden's kernels graphs that are otherwise left to the host."""
    from dromos.engines.cuda.native import communities

    communities.SMALL = 0  # type: ignore[misc]
    communities.WANTS = replace(communities.WANTS, least_arcs=0)  # type: ignore[misc]


def main(wanted: Sequence[str] = ()) -> int:
    """Run all algorithms (or those named); return 1 if an answer is wrong."""
    if list(wanted) == ["--list"]:
        print("\n".join(CALLS))
        return 0
    import cupy as cp

    cp.cuda.set_allocator(None)
    _limit_grids(_BLOCKS)
    _keep_small_levels()
    return watched(small_graphs(), wanted)


def watched(graphs: Iterable[tuple[str, dr.Graph, dr.Graph]], wanted: Sequence[str] = (), device: str = "cuda") -> int:
    """Run all calls on all paths on ``graphs``, each without and with weights; return 1 if an answer is wrong."""
    wrong = runs = 0
    for graph_name, bare, weighted in graphs:
        for name, call in CALLS.items():
            if wanted and name not in wanted:
                continue
            begin = time.perf_counter()
            taken = []
            for path in ("auto",) if name in NO_PATHS else ("auto", *map(str, PATHS)):
                how = {"device": device, "path": path}
                try:
                    call(bare, weighted, how).verify()
                except IllegalPathError:
                    continue
                except Exception as error:  # later calls are to be checked too
                    print(f"WRONG: {graph_name} {name} {path}: {type(error).__name__}: {error}", flush=True)
                    wrong += 1
                taken.append(path)
            runs += len(taken)
            print(f"{graph_name:10} {name:30} {len(taken)} paths {time.perf_counter() - begin:6.1f} s", flush=True)
    print(f"{runs} runs, {wrong} wrong answers")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
