"""Samples of neighbourhoods, layer by layer: the same edges as on the CPU, in the same order.

What is drawn depends on where an arc lies among all, so the graph is not renumbered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import LeftToHostError
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.fields import AsItIs
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, module_of, text_of
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.cuda.records import number_of, record_of
from dromos.engines.cuda.transfers import to_host
from dromos.engines.native.sampling import salt_of

__all__ = ["WANTS", "sampling", "sources"]

WANTS: Final = Wants(given_order=True)
_NAME: Final = "native_sampling"
_BLOCK: Final = number_of(_NAME, "BLOCK")
_THREADS: Final = 256
_MOST_ARCS: Final = (1 << 32) - 1  # of a layer: numbers of four bytes
layer_type: Final = record_of(_NAME, "Layer")
"""The structure ``Layer`` of the kernel."""


def sampling(graph: DeviceGraph, *, seeds: Array, limits: Sequence[int], seed: int) -> Mapping[str, Any]:
    """``vertices`` of a sample, the seeds first, and for each layer ``source_0``, ``target_0``: places among them.

    The rows of the graph are those of the arcs that come in.
    """
    import cupy

    n, ids, module = graph.num_vertices, graph.out.targets.dtype, module_of(_NAME, graph)
    frontier = cupy.asarray(seeds.astype(np.int64))
    place, first = cupy.full(n, -1, cupy.int64), cupy.full(n, 0xFFFFFFFF, cupy.uint32)
    place[frontier] = cupy.arange(len(seeds))
    record = np.zeros(1, layer_type)
    record["offsets"], record["targets"] = address(graph.out.offsets), address(graph.out.targets)
    record["place"], record["first"] = address(place), address(first)
    vertices, known, begin, fields = [frontier], len(seeds), 0, dict[str, Any]()
    for layer, limit in enumerate(limits):
        size = len(frontier)
        count, ends = 0, cupy.empty(size, cupy.int64)
        if size:
            module.launch(
                "count_drawn", grid_for(size, _THREADS), _THREADS, graph.out.offsets, frontier, np.int64(size),
                np.int64(limit), ends,
            )  # fmt: skip
            cupy.cumsum(ends, out=ends)
            count = int(ends[-1])
        if count > _MOST_ARCS:
            raise LeftToHostError(f"a layer of {count} arcs")
        heads, rows, source = cupy.empty(count, ids), cupy.empty(count, cupy.int64), cupy.empty(count, cupy.int64)
        fresh = cupy.empty(0, cupy.int64)
        if count:
            record["frontier"], record["size"], record["limit"] = address(frontier), size, limit
            record["salt"], record["ends"] = salt_of(seed, layer), address(ends)
            record["heads"], record["rows"] = address(heads), address(rows)
            module.launch("draw", grid_for(32 * size, _BLOCK), _BLOCK, record)
            blocks, arcs = grid_for(count, _THREADS), np.int64(count)
            module.launch("flag_new", blocks, _THREADS, heads, arcs, place, first, source)
            numbers = cupy.cumsum(source)
            fresh = cupy.empty(int(numbers[-1]), cupy.int64)
            module.launch("place_new", blocks, _THREADS, heads, arcs, numbers, np.int64(known), place, fresh)
            module.launch("place_arcs", blocks, _THREADS, heads, rows, arcs, place, np.int64(begin), source)
        fields[f"source_{layer}"], fields[f"target_{layer}"] = source, rows
        begin, known, frontier = known, known + len(fresh), fresh
        vertices.append(fresh)
    fields["vertices"] = cupy.concatenate(vertices)
    return {name: AsItIs(to_host(values)) for name, values in fields.items()}


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), variant) for variant in ID_VARIANTS]
