"""Lists of a graph's edges on the device, in the order in which greedy choices take them (``edge_lists.cuh``).

Most edges are never chosen. So the first few for each vertex are listed and chosen from; of the others only those are
listed then that still can be.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from dromos.engines.cuda.compiler import Module, as_bytes
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, launch, module_of, text_of
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.cuda.records import number_of, record_of

__all__ = ["LISTS", "EdgeList", "EdgeLists", "edge_sources", "table_of"]

LISTS: Final = Wants(bytes_per_vertex=192, weights=True)  # a few edges for each vertex
_FILE: Final = "edge_lists"
_CHUNK: Final = number_of(_FILE, "CHUNK")
_KINDS: Final = ("int32", "float32", "float64", "uint8", "int8", "uint16", "int16")  # from 1 on, as in the kernels
_ORDER: Final = record_of(_FILE, "Order")
_EDGES_A_VERTEX: Final = 1  # of the first list
_SAMPLES: Final = 4096
_MOST_OF_ALL: Final = 0.4  # a first list with more is not worth the second look at all arcs


class EdgeList(NamedTuple):
    """``size`` edges, and as much memory again: a round writes those that go on to the other."""

    first: Any
    second: Any
    size: int


class EdgeLists:
    """The edges of one graph: from the lightest on, or the heaviest; equal ones by the names of their ends."""

    def __init__(self, file: str, graph: DeviceGraph, *, falling: bool, names: Any, likes: Any = None) -> None:
        """The edges of ``graph``.

        Args:
            file: where the kernels are.
            graph: with weights or without.
            falling: from the heaviest on.
            names: what each vertex of the device counts by; None: its own number.
            likes: how little the end of the lesser name cares for each vertex; None: it goes by the greater name.
        """
        weights, targets = graph.out.weights, graph.out.targets
        self.graph, self._tables = graph, (names, likes)  # whose memory the kernels read
        self.weight_dtype = None if weights is None else np.dtype(weights.dtype if graph.weight_type is None else "i4")
        self.key_dtype = np.dtype(np.uint64 if self.weight_dtype == np.float64 else np.uint32)
        self.module: Module = module_of(file, graph, f"KEY={'u64' if self.key_dtype.itemsize == 8 else 'unsigned'}")
        self._edge_size = record_of(_FILE, "Edge", {"vid": targets.dtype, "key": self.key_dtype}).itemsize
        self.threads = number_of(file, "THREADS")
        order = np.zeros(1, _ORDER)
        if weights is not None and len(weights):
            order["weights"], order["kind"] = int(weights.data.ptr), 1 + _KINDS.index(weights.dtype.name)
        for name, table in (("names", names), ("likes", likes)):
            order[name] = 0 if table is None else int(table.data.ptr)
        order["falling"], order["mirrored"] = falling, graph.symmetric
        self.order = as_bytes(order)
        self._rows = (graph.out.offsets, targets, targets.dtype.type(graph.num_vertices), np.uint64(graph.num_arcs))

    @property
    def num_edges(self) -> int:
        """The most edges that there can be."""
        return self.graph.num_arcs // 2 if self.graph.symmetric else self.graph.num_arcs

    def limits(self) -> list[int]:
        """The last keys of the lists, of which the last takes all that is left: one or two."""
        import cupy

        last, wanted = 2 ** (8 * self.key_dtype.itemsize) - 1, _EDGES_A_VERTEX * self.graph.num_vertices
        if self.num_edges * _MOST_OF_ALL <= max(wanted, _SAMPLES):
            return [last]
        keys = cupy.empty(_SAMPLES, self.key_dtype)
        launch(self.module, "sample_keys", _SAMPLES // 256, 256, *self._rows, self.order, np.uint32(_SAMPLES), keys)
        sample = np.sort(keys.get())
        limit = int(sample[_SAMPLES * wanted // self.num_edges])
        return [last] if sample[int(_SAMPLES * _MOST_OF_ALL)] <= limit else [limit, last]

    def listed(self, limit: int, taken: Any) -> EdgeList:
        """The edges up to the key ``limit`` that ``taken``, the table of the vertices, leaves open; None: all."""
        import cupy

        blocks = grid_for(-(-self.graph.num_arcs // _CHUNK) * 32, self.threads)
        room = min(self.num_edges, 3 * _EDGES_A_VERTEX * self.graph.num_vertices // 2 + _SAMPLES)
        while True:
            found, count = self.memory(room), cupy.zeros(1, cupy.uint64)
            launch(
                self.module, "list_edges", blocks, self.threads, *self._rows, self.order, self.key_dtype.type(limit),
                taken, found, np.uint64(room), count,
            )  # fmt: skip
            edges = int(count.get()[0])
            if edges <= room:
                return EdgeList(found, self.memory(edges), edges)
            del found
            room = edges

    def memory(self, edges: int) -> Any:
        """Room for so many edges."""
        import cupy

        return cupy.empty(max(edges, 1) * self._edge_size, cupy.uint8)


def table_of(file: str, structure: str, **arrays: Any) -> Any:
    """A structure of pointers for a kernel; an array of two is a pair of them."""
    record = np.zeros(1, record_of(file, structure))
    for name, array in arrays.items():
        record[name] = [int(one.data.ptr) for one in array] if isinstance(array, tuple) else int(array.data.ptr)
    return as_bytes(record)


def edge_sources(file: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels in ``file``: name, text, definitions."""
    keys = ("KEY=unsigned", "KEY=u64")
    return [(file, text_of(file), (*defines, key)) for defines in ID_VARIANTS for key in keys]
