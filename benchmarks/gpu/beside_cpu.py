"""Kernels for whole graphs on the GPU beside those of the CPU, as a caller sees them.

A row is a graph and an algorithm. ``ms`` is the time of a whole call with ``device="cuda"`` up to arrays on the host,
with the graph already on the device: the median of several. ``first_ms`` is the first call on the graph, which copies
it, and loads or compiles kernels that no earlier row has used. The peer is ``device="cpu"`` on all cores: also the
median, or the first call if that takes seconds. ``ratio`` is our time over the peer's. ``differs``: whether the answers
differ; for sums, by more than their rounding, and for communities, whether the modularity is lower by more than 1 %
(``modularity`` and ``peer_modularity`` give both).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.gpu.graphs import make
from benchmarks.record import say

__all__ = ["KEY", "run"]

KEY = ("graph", "row")
_ROUNDS = 5
_MOST_SECONDS = 1.5  # after which a call is not repeated
_SEEDS = 1024


def _equal(found: Any, expected: Any) -> bool:
    return np.array_equal(found, expected)


def _close(found: Any, expected: Any) -> bool:
    return np.allclose(found, expected, rtol=1e-9)


def _as_good(found: float, expected: float) -> bool:
    return found >= expected - 0.01 * abs(expected)


class _Row(NamedTuple):
    call: Callable[..., Any]
    field: str
    graphs: tuple[str, ...]
    weighted: bool = False
    same: Callable[[Any, Any], bool] = _equal


def _samples(graph: dr.Graph, **how: Any) -> Any:
    seeds = np.random.default_rng(1).choice(graph.num_vertices, min(_SEEDS, graph.num_vertices), replace=False)
    return dr.sample_neighbors(graph, seeds, [15, 10, 5], **how)


ROWS = {
    "truss_numbers": _Row(dr.truss_numbers, "truss", ("kron18", "kron20", "grid2000")),
    "coloring": _Row(dr.coloring, "color", ("kron20", "kron22", "grid2000")),
    "coloring in random order": _Row(partial(dr.coloring, order="random"), "color", ("kron22",)),
    "minimum_spanning_forest": _Row(dr.minimum_spanning_forest, "target", ("kron22", "grid2000"), weighted=True),
    "minimum_spanning_forest without weights": _Row(dr.minimum_spanning_forest, "target", ("kron22",)),
    "maximal_matching": _Row(dr.maximal_matching, "mate", ("kron22", "grid2000"), weighted=True),
    "maximal_matching without weights": _Row(dr.maximal_matching, "mate", ("kron22", "grid2000")),
    "edge_betweenness from 64 sources": _Row(
        partial(dr.edge_betweenness, k=64, seed=1), "centrality", ("kron18", "grid1000"), same=_close
    ),
    "random_walks, one from each vertex": _Row(partial(dr.random_walks, walks=1, seed=1), "walk", ("kron20",)),
    "random_walks, p=0.5, q=2": _Row(partial(dr.random_walks, walks=1, p=0.5, q=2.0, seed=1), "walk", ("kron18",)),
    "sample_neighbors of 1,024 seeds": _Row(_samples, "vertices", ("kron20",)),
    "node_similarity": _Row(dr.node_similarity, "target", ("kron16",)),
    "louvain": _Row(dr.louvain, "modularity", ("kron18", "kron20", "grid1000"), same=_as_good),
    "leiden": _Row(dr.leiden, "modularity", ("kron18", "grid1000"), same=_as_good),
}
_QUICK_GRAPHS = ("kron10", "grid30")


def run(
    quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = (), device: str = "cuda"
) -> Iterator[dict[str, Any]]:
    """A row for each graph and algorithm."""
    wanted = {label: row for label, row in ROWS.items() if chosen(label, rows)}
    every = dict.fromkeys(name for row in wanted.values() for name in row.graphs)
    for name in graphs or (_QUICK_GRAPHS if quick else every):
        made = make(name)
        mine = {label: row for label, row in wanted.items() if graphs or quick or name in row.graphs}
        hosts = {weighted: made.host(weighted) for weighted in {row.weighted for row in mine.values()}}
        del made  # free the device's memory for the copies that calls make
        for label, row in mine.items():
            graph = hosts[row.weighted]
            say(f"{name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges, {label}")
            yield {"graph": name, "row": label, **_measured(row, graph, device)}


def _measured(row: _Row, graph: dr.Graph, device: str) -> dict[str, Any]:
    first_ms, found = _timed(row, graph, device)
    ms = _median(row, graph, device)
    peer_ms, peer = _timed(row, graph, "cpu")
    if peer_ms < 1e3 * _MOST_SECONDS:
        peer_ms = _median(row, graph, "cpu")
    told = {"modularity": found.modularity, "peer_modularity": peer.modularity} if row.field == "modularity" else {}
    return {
        "ms": ms, "peer": "cpu", "peer_ms": peer_ms, "ratio": ms / peer_ms, "first_ms": first_ms,
        "device": found.device, "differs": not row.same(getattr(found, row.field), getattr(peer, row.field)), **told,
    }  # fmt: skip


def _median(row: _Row, graph: dr.Graph, device: str) -> float:
    begin, times = time.perf_counter(), []
    while len(times) < _ROUNDS and (not times or time.perf_counter() - begin < _MOST_SECONDS):
        times.append(_timed(row, graph, device)[0])
    return statistics.median(times)


def _timed(row: _Row, graph: dr.Graph, device: str) -> tuple[float, Any]:
    """Milliseconds by the host's clock, and the answer."""
    begin = time.perf_counter()
    found = row.call(graph, device=device)
    return 1e3 * (time.perf_counter() - begin), found
