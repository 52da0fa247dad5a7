"""NetworkX functions on the Dromos backend against NetworkX itself and its other backends, as a user calls them.

The graphs are uniform random graphs of 10^4, 10^5 and 10^6 edges, undirected, mean degree 10, whole weights from 1 to
100. ``ours_s`` is a call on a graph that was converted before, ``with_conversion_s`` one on a graph that was not; both
return what NetworkX returns, including dictionaries of Python numbers. The graphs of the other backends, if installed,
are converted before, too. Calls take turns, and the best of each counts. A cell is empty if a backend does not have the
function, fails, or would exceed the budget, judging by the previous graph.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import networkx as nx
import numpy as np

from benchmarks import record

KEY = ("name",)
_MEAN_DEGREE = 10
_OTHERS = ("parallel", "graphblas")
_REPEATS = 3

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "number_connected_components": lambda G, how: nx.number_connected_components(G, **how),
    "single_source_shortest_path_length": lambda G, how: nx.single_source_shortest_path_length(G, 0, **how),
    "single_source_dijkstra_path_length": lambda G, how: nx.single_source_dijkstra_path_length(G, 0, **how),
    "bfs_edges": lambda G, how: list(nx.bfs_edges(G, 0, **how)),
    "pagerank": lambda G, how: nx.pagerank(G, **how),
    "core_number": lambda G, how: nx.core_number(G, **how),
    "triangles": lambda G, how: nx.triangles(G, **how),
    "minimum_spanning_edges": lambda G, how: list(nx.minimum_spanning_edges(G, data=False, **how)),
    "label_propagation_communities": lambda G, how: list(nx.community.label_propagation_communities(G, **how)),
    "betweenness_centrality, k=8": lambda G, how: nx.betweenness_centrality(G, k=8, seed=1, **how),
}


def run(
    quick: bool = False,
    budget: float = 30.0,
    rows: tuple[str, ...] = (),
    sizes: tuple[int, ...] = (10**4, 10**5, 10**6),
) -> Iterator[dict[str, Any]]:
    """Yield one row per function and size."""
    nx.config.warnings_to_ignore.add("cache")
    chosen = {name: call for name, call in FUNCTIONS.items() if not rows or name.startswith(rows)}
    _warm(chosen)
    expected: dict[tuple[str, str], float] = {}
    for edges in (10**3, 10**4) if quick else sizes:
        graph = _graph(edges)
        for name, call in chosen.items():
            yield _row(name, call, graph, edges, budget, expected)


def _graph(edges: int) -> Any:
    rng = np.random.default_rng(7)
    nodes = 2 * edges // _MEAN_DEGREE
    graph = nx.Graph()
    graph.add_nodes_from(range(nodes))
    ends = rng.integers(0, nodes, (edges, 2)).tolist()
    weights = rng.integers(1, 101, edges).tolist()
    graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weights, strict=True) if u != v)
    return graph


def _warm(chosen: dict[str, Callable[..., Any]]) -> None:
    """Compile, or load from disk, what the functions need: once per installation, so not part of a call."""
    graph = _graph(100)
    for call in chosen.values():
        call(graph, {"backend": "dromos"})


def _row(
    name: str, call: Callable[..., Any], graph: Any, edges: int, budget: float, expected: dict[tuple[str, str], float]
) -> dict[str, Any]:
    others = _others()
    backends = ["networkx", "dromos", *others]
    best: dict[str, float] = {}
    for other in others:
        if expected.get((name, other), 0.0) * 15 <= budget:
            _timed(call, graph, other)  # converts the graph
    for number in range(_REPEATS):
        for backend in backends:
            if expected.get((name, backend), 0.0) * (1 if number else 15) > budget:
                continue
            if backend == "dromos":
                graph.__networkx_cache__.get("backends", {}).pop("dromos", None)
                _keep(best, "with conversion", _timed(call, graph, backend))
            if (taken := _timed(call, graph, backend)) is not None:
                expected[name, backend] = taken
            _keep(best, backend, taken)
    graph.__networkx_cache__.clear()
    theirs, ours = best.get("networkx"), best["dromos"]
    return {
        "name": f"{name}, {edges:,} edges",
        "ours_s": ours,
        "with_conversion_s": best["with conversion"],
        "networkx_s": theirs,
        "ratio": None if theirs is None else ours / theirs,
        "ratio_with_conversion": None if theirs is None else best["with conversion"] / theirs,
        **{f"{other}_s": best.get(other) for other in others},
    }


@cache
def _others() -> tuple[str, ...]:
    """The other backends that are installed and can be loaded with this version of NetworkX."""
    found = []
    for entry in entry_points(group="networkx.backends"):
        if entry.name in _OTHERS:
            try:
                entry.load()
            except ImportError as error:
                record.say(f"{entry.name} cannot be loaded: {error}")
            else:
                found.append(entry.name)
    return tuple(found)


def _keep(best: dict[str, float], name: str, taken: float | None) -> None:
    if taken is not None:
        best[name] = min(best.get(name, taken), taken)


def _timed(call: Callable[..., Any], graph: Any, backend: str) -> float | None:
    """The seconds of a call; ``None`` if the backend does not have the function, or fails."""
    how = {"backend": backend}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        try:
            call(graph, how)
        except Exception:
            if backend in ("networkx", "dromos"):
                raise
            return None
        return time.perf_counter() - start
