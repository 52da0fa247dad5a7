"""Arc values from the device's order to the given one: the inverse of what :mod:`rows` does with weights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.engines import GraphLike
from dromos.engines.cuda.compiler import load
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.row_pieces import pieces_of_rows
from dromos.engines.cuda.rows import RELABELLING, narrow_offsets, types_of
from dromos.engines.cuda.transfers import to_device

__all__ = ["arcs_in_given_order"]

_PIECE: Final = 1 << 26  # arcs that are sorted at once
_THREADS: Final = 256


def arcs_in_given_order(graph: GraphLike, copy: DeviceGraph, values: Any) -> Any:
    """``values`` for each arc of ``copy``, along its out-rows, in the order of the arcs of ``graph``; of 8 bytes each.

    A renumbered row is sorted by the new ids of its targets, and parallel arcs keep their order in it. The same sort
    tells where each of the given arcs went.
    """
    import cupy

    if copy.rank is None or not len(values):
        return values
    offsets, rank = narrow_offsets(to_device(graph.offsets), graph.num_arcs), copy.rank
    module = load(RELABELLING, "relabel", defines=types_of(offsets, rank))
    vertex, found = rank.dtype.type, cupy.empty(len(values), values.dtype)
    for first, last, begin, end in pieces_of_rows(graph.offsets, graph.num_arcs, _PIECE, _PIECE):
        arcs = end - begin
        blocks, keys = max(1, min(65535, -(-arcs // _THREADS))), cupy.empty(arcs, cupy.uint64)
        module.launch(
            "keys_of", blocks, _THREADS, offsets, to_device(graph.targets[begin:end]), rank, vertex(first),
            vertex(last), np.int64(begin), np.int64(arcs), keys,
        )  # fmt: skip
        order = cupy.argsort(keys, kind="stable")
        module.launch(
            "return_values", blocks, _THREADS, keys, offsets, copy.out.offsets, rank, np.int64(begin), np.int64(arcs),
            order, values, found[begin:end],
        )  # fmt: skip
    return found
