"""Dependencies of sources on edges: Brandes's sweeps, with sums for arcs in place of those for vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native import betweenness, brandes
from dromos.engines.cuda.native.fields import AsItIs, ByArc
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, launch, module_of, text_of
from dromos.engines.cuda.native.wants import Wants

__all__ = ["WANTS", "edge_betweenness", "sources"]

WANTS: Final = Wants(bytes_per_arc=56)  # the sums; a key, its sorted copy, the order, and what a sort takes itself
_EDGES: Final = "native_edges"
_NARROW: Final = 4096
"""Levels of fewer vertices than that do not fill the device: a block does them as soon."""
_THREADS: Final = 256


def edge_betweenness(graph: DeviceGraph, *, sources: Array, directed: bool) -> Mapping[str, Any]:
    """The share of shortest paths from ``sources`` that leads over each edge of a simple graph, summed over targets.

    ``through`` is by arc; unless ``directed``, each edge has one number, beside ``source`` and ``target``.
    """
    import cupy

    through, left = cupy.zeros(graph.num_arcs), sources.tolist() if graph.num_arcs else []
    blocks = brandes.blocks_for(graph, len(left), edges=True)
    if left and not blocks:
        deepest = _first(graph, left[0], through)
        left = left[1:]
        if graph.num_vertices < _NARROW * deepest:
            blocks = brandes.blocks_that_fit(graph, len(left), edges=True)
    if blocks:
        more, left = brandes.by_blocks(graph, left, blocks, edges=True)
        through += more
    betweenness.one_by_one(graph, left, through, edges=True)
    if directed:
        return {"through": ByArc(through)}
    return {name: AsItIs(values) for name, values in _joined(graph, through).items()}


def _first(graph: DeviceGraph, source: int, through: Any) -> int:
    """Add what the first source has; the depth of its search, which says how to go on."""
    depths = list[int]()

    def watch(deepest: int) -> None:
        depths.append(deepest)
        if brandes.is_too_deep(graph, deepest):
            raise brandes.too_deep()

    betweenness.one_by_one(graph, [source], through, edges=True, watch=watch)
    return depths[0]


def _joined(graph: DeviceGraph, through: Any) -> dict[str, Any]:
    """Each edge once, by its given ends in rising order, with what leads over it in both directions."""
    import cupy

    arcs, ids = graph.num_arcs, graph.out.targets.dtype
    edges = arcs // 2
    found = {"source": cupy.empty(edges, ids), "target": cupy.empty(edges, ids), "through": cupy.empty(edges)}
    if not edges:
        return found
    module, keys = module_of(_EDGES, graph), cupy.empty(arcs, cupy.uint64)
    launch(
        module, "edge_keys", grid_for(arcs, _THREADS), _THREADS, graph.out.offsets, graph.out.targets, graph.ids,
        np.int64(graph.num_vertices), np.int64(arcs), keys,
    )  # fmt: skip
    order = cupy.argsort(keys)
    launch(
        module, "join_arcs", grid_for(edges, _THREADS), _THREADS, keys, order, through, np.int64(edges),
        *found.values(),
    )  # fmt: skip
    return found


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return betweenness.sources(edges=True) + [(_EDGES, text_of(_EDGES), variant) for variant in ID_VARIANTS]
