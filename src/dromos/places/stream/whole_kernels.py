"""The CPU's kernels on graphs that a budget holds whole: what each takes beside the graph, at most."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dromos.engines.joint_groups import group_bytes, width_for
from dromos.graph.store.stored import StoredGraph
from dromos.parallel import num_threads
from dromos.places.stream.whole import Derived

__all__ = ["KERNELS", "PRODUCTS", "PRODUCT_BYTES", "WEIGHTED", "derived_by", "kernel_bytes", "options_within"]

_COPY: Final = 24  # bytes per arc and per vertex for a copy of the graph with its hubs first, while it is made
_KEPT_COPY: Final = 12  # the same, once it is made
_COPY_SHARE: Final = 4  # making a copy takes up to so many times its size
_SWEEP: Final = 320  # bytes per vertex for a batch of sources
_FROM: Final = 64  # sources, from which such a copy may be made
_ROOM: Final = 48 << 20  # of all threads, where each has its own sources

KERNELS: Final[Mapping[str, Callable[[StoredGraph, int, Mapping[str, Any]], int]]] = {
    "betweenness": lambda graph, threads, options: _betweenness(graph, options),
    "cdlp": lambda graph, threads, options: 24 * graph.num_vertices + 80 * threads * _longest(graph),
    "coloring": lambda graph, threads, options: 64 * graph.num_vertices,
    "components": lambda graph, threads, options: 16 * graph.num_vertices,
    "cores": lambda graph, threads, options: 32 * graph.num_vertices,
    "independent_set": lambda graph, threads, options: 32 * graph.num_vertices,
    "joint": lambda graph, threads, options: _joint(graph, options),
    "katz": lambda graph, threads, options: 64 * graph.num_vertices,
    "longest_paths": lambda graph, threads, options: 64 * graph.num_vertices,
    "topological": lambda graph, threads, options: 48 * graph.num_vertices,
    "triangles": lambda graph, threads, options: (80 + threads) * graph.num_vertices + 3 * graph.num_arcs,
    "weighted_betweenness": lambda graph, threads, options: (64 * threads + 16) * graph.num_vertices,
}
"""``bytes(graph, threads, options)`` by name. Kernels whose callers look at the arcs themselves are not among them."""

WEIGHTED: Final = frozenset({"katz", "longest_paths", "weighted_betweenness"})
"""Kernels that read weights, if there are any."""

PRODUCTS: Final = frozenset({"product", "lanczos"})
"""Kernels that a method takes in turn, so that it asks for them before it begins."""
PRODUCT_BYTES: Final = 8 * (26 + 8)
"""Per vertex: the vectors that span a space, and those of the method."""


def kernel_bytes(name: str, graph: StoredGraph, threads: int | None, options: Mapping[str, Any]) -> int:
    """What the kernel called ``name`` takes beside the graph."""
    return KERNELS[name](graph, num_threads(threads), options)


def options_within(name: str, options: Mapping[str, Any], spare: int) -> dict[str, Any]:
    """The options of a kernel that may use ``spare`` bytes beyond its needs."""
    return {**options, "memory": max(1, spare // _COPY_SHARE)} if name == "joint" else dict(options)


def derived_by(name: str, graph: StoredGraph, options: Mapping[str, Any], spare: int) -> Derived | None:
    """What a kernel with ``spare`` bytes beyond its needs may leave with the graph: a copy with its hubs first."""
    size = graph.num_arcs + graph.num_vertices
    if name == "joint":
        return Derived("hubs first", min(_KEPT_COPY * size, spare), 0)
    if name == "betweenness" and len(options["sources"]) >= _FROM:
        return Derived("hubs first", _KEPT_COPY * size, _COPY * size)
    return None


def _longest(graph: StoredGraph) -> int:
    """The most neighbors of a vertex, in both directions."""
    longest = int(graph.out_degree.max(initial=0))
    return longest + int(graph.in_degree.max(initial=0)) if graph.directed else longest


def _betweenness(graph: StoredGraph, options: Mapping[str, Any]) -> int:
    copy = _COPY * (graph.num_arcs + graph.num_vertices) if len(options["sources"]) >= _FROM else 0
    return _SWEEP * graph.num_vertices + copy + _ROOM


def _joint(graph: StoredGraph, options: Mapping[str, Any]) -> int:
    width = width_for(max(map(len, options["groups"]), default=1))
    ids = np.dtype(graph.targets.dtype).itemsize
    return group_bytes(graph.num_vertices, width, options.get("distance")) + 4 * ids * graph.num_vertices + _ROOM
