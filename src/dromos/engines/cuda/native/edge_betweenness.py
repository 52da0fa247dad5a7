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

__all__ = ["BYTES_PER_ARC", "edge_betweenness", "sources"]

BYTES_PER_ARC: Final = 56
"""The sums; then a key, its sorted copy, the order, and what a sort takes itself."""
_EDGES: Final = "native_edges"
_THREADS: Final = 256


def edge_betweenness(graph: DeviceGraph, *, sources: Array, directed: bool) -> Mapping[str, Any]:
    """The share of shortest paths from ``sources`` that leads over each edge of a simple graph, summed over targets.

    ``through`` is by arc; unless ``directed``, each edge has one number, beside ``source`` and ``target``.
    """
    import cupy

    starts: list[int] = sources.tolist() if graph.num_arcs else []
    blocks = brandes.blocks_for(graph, len(starts), edges=True)
    if blocks:
        through, left = brandes.by_blocks(graph, starts, blocks, edges=True)
    else:
        through, left = cupy.zeros(graph.num_arcs), starts
    betweenness.one_by_one(graph, left, through, before=len(starts) - len(left), edges=True)
    if directed:
        return {"through": ByArc(through)}
    return {name: AsItIs(values) for name, values in _joined(graph, through).items()}


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
