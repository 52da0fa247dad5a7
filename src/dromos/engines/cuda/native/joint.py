"""Breadth-first searches from many sources at once, on a GPU.

As on the CPU (``dromos/engines/native/joint.py``): a bit a search, 64 to 512 of them in the words of a vertex; a group
is searched in one kernel from its first level to its last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.native.launching import ID_VARIANTS, module_of, text_of
from dromos.engines.native.joint_groups import Found, step_of, width_for

__all__ = ["joint", "sources"]

_NAME: Final = "native_joint"
_THREADS: Final = 512
_NANOSECONDS: Final = 100_000_000
_U, _L = np.dtype(np.uint32), np.dtype(np.uint64)
_SLOT: Final = np.dtype([*((name, _U) for name in ("size", "big", "huge", "stop")), ("out", _L)], align=True)
_DISTANCES: Final = {1: "signed char", 2: "short", 4: "int", 8: "long long"}


def joint(
    graph: DeviceGraph,
    *,
    groups: Sequence[Array],
    consume: Callable[[Found], Any],
    limit: int | None = None,
    distance: Any = None,
    want_seen: bool = False,
    memory: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> Mapping[str, Any]:
    """Traverse from each group of sources (given ids), and hand what it found to ``consume``, one group at a time."""
    del memory  # the groups were sized by it
    width = width_for(max((len(group) for group in groups), default=1))
    search = _Search(graph, width, limit, distance)
    steps = []
    for number, group in enumerate(groups):
        found = search.run(number, np.asarray(group), want_seen)
        consume(found)
        steps.append(step_of(found))
        if progress is not None:
            progress(number + 1, len(groups))
    return {"steps": steps}


class _Search:
    """What the device needs to search from one group after the other."""

    def __init__(self, graph: DeviceGraph, width: int, limit: int | None, distance: Any) -> None:
        import cupy

        n, ids = graph.num_vertices, graph.out.targets.dtype
        self.graph, self.width, self.ids = graph, width, ids
        self.limit = np.iinfo(np.int64).max if limit is None else limit
        self.dtype = np.dtype(np.int32 if distance is None else distance)
        self.wants_distance = distance is not None
        self.tables = cupy.empty((3, n, width), cupy.uint64)
        self.queues = cupy.empty((3, n), ids)
        self.listed = cupy.zeros((n + 31) // 32, cupy.uint32)
        self.distance = cupy.empty((64 * width, n), self.dtype) if self.wants_distance else None
        self.control_type = _control_type(width)
        self.control = cupy.zeros(self.control_type.itemsize, cupy.uint8)
        defines = (f"WORDS={width}", f"DISTANCE={_DISTANCES[self.dtype.itemsize]}")
        self.module = module_of(_NAME, graph, *defines)
        self.blocks = self.module.cooperative_grid("traverse", _THREADS)

    def run(self, number: int, group: Array, want_seen: bool) -> Found:
        """What the group finds."""
        begin = time.perf_counter()
        control = np.zeros(1, self.control_type)
        if self.graph.num_vertices and self.limit > 0:
            control = self._search(group)
        count, told = len(group), control[0]
        reached, far, near, depth = (told[name][:count] for name in ("reached", "far", "near", "depth"))
        seen = self.graph.to_given_order(self.tables[0]).get() if want_seen else None
        rows = None if self.distance is None else self.distance[:count].get()
        return Found(
            number, group, reached.astype(np.int64), far.astype(np.int64), near.copy(), depth.astype(np.int64), rows,
            seen, int(told["level"]), int(told["pulled"]), int(told["joint"]) or len(np.unique(group)),
            time.perf_counter() - begin,
        )  # fmt: skip

    def _search(self, group: Array) -> Array:
        arguments = self._place(group)
        fields = self.control_type.fields
        assert fields is not None
        head = fields["size"][1]  # cleared before every launch
        while True:
            self.control[:head] = 0
            self.module.launch("traverse", self.blocks, _THREADS, arguments, together=True)
            control: Array = self.control.get().view(self.control_type)
            if control[0]["finished"]:
                return control

    def _place(self, group: Array) -> Array:
        """Put the sources' bits into empty tables, and each vertex among them into the queue."""
        import cupy

        graph, width, n = self.graph, self.width, self.graph.num_vertices
        vertices = group if graph.rank is None else graph.rank[cupy.asarray(group)].get()
        first, which = np.unique(vertices, return_inverse=True)
        places = np.arange(len(group))
        bits = np.zeros((len(first), width), np.uint64)
        np.bitwise_or.at(bits, (which, places // 64), np.left_shift(np.uint64(1), (places % 64).astype(np.uint64)))
        self.tables.fill(0)
        at = cupy.asarray(first)
        self.tables[0][at] = self.tables[1][at] = cupy.asarray(bits)
        self.queues[0][: len(first)] = at.astype(self.ids)
        if self.distance is not None:
            self.distance.fill(-1)
            self.distance[cupy.asarray(places), cupy.asarray(group)] = 0
        control = np.zeros(1, self.control_type)
        control["size"], control["in_queue"], control["clean"], control["joint"] = len(first), 1, 1, len(first)
        degrees = graph.out.offsets[at + 1].astype(cupy.int64) - graph.out.offsets[at].astype(cupy.int64)
        control["out"] = int(degrees.sum())
        self.control.set(control.view(np.uint8))
        record = np.zeros(1, _argument_type(width))
        rows = {"offsets": graph.out.offsets, "targets": graph.out.targets, "in_offsets": graph.into.offsets}
        rows |= {"sources": graph.into.targets, "ids": graph.ids, "seen": self.tables[0], "hubs": self.queues[2]}
        rows |= {"listed": self.listed, "distance": self.distance, "control": self.control}
        for name, array in rows.items():
            record[name] = 0 if array is None or array.size == 0 else int(array.data.ptr)
        record["table"] = [int(self.tables[1].data.ptr), int(self.tables[2].data.ptr)]
        record["queue"] = [int(self.queues[0].data.ptr), int(self.queues[1].data.ptr)]
        record["n"], record["arcs"], record["max_degree"] = n, graph.num_arcs, graph.max_out_degree
        record["limit"], record["nanoseconds"], record["classes"] = self.limit, _NANOSECONDS, graph.classes
        full = np.zeros(64 * width, bool)
        full[: len(group)] = True
        record["full"] = np.packbits(full, bitorder="little").view(np.uint64)
        return record


def _control_type(width: int) -> np.dtype[Any]:
    """The structure ``Control`` of the kernel."""
    searches = 64 * width
    words = ("size", "flipped", "level", "finished", "pulled", "in_queue", "clean", "levels")
    return np.dtype(
        [
            ("arrivals", _U), ("unused", _U), ("slots", _SLOT, (3,)), ("counts", _U, (3, searches)),
            *((name, _U) for name in words), ("out", _L), ("joint", _L),
            ("reached", _L, (searches,)), ("far", _L, (searches,)), ("near", np.float64, (searches,)),
            ("depth", _L, (searches,)),
        ],
        align=True,
    )  # fmt: skip


def _argument_type(width: int) -> np.dtype[Any]:
    """The structure ``Joint`` of the kernel; what holds several words begins at a multiple of 16 bytes there."""
    pairs: list[Any] = [(name, _L) for name in ("offsets", "targets", "in_offsets", "sources", "ids")]
    pairs += [(name, np.int64) for name in ("n", "arcs", "max_degree", "limit", "nanoseconds")]
    pairs += [("classes", np.int64, (8,)), ("seen", _L), ("table", _L, (2,)), ("queue", _L, (2,))]
    pairs += [(name, _L) for name in ("hubs", "listed", "distance", "control")]
    used = sum(np.dtype((kind, *shape) if shape else kind).itemsize for _, kind, *shape in pairs)
    if width > 1 and used % 16:
        pairs.append(("gap", _L))
    return np.dtype([*pairs, ("full", _L, (width,))], align=True)


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Variants of the kernel with every type and the least and greatest widths: name, text, definitions."""
    shapes = [(1, "int"), (2, "int"), (8, "int"), (1, "signed char")]
    return [
        (_NAME, text_of(_NAME), (*variant, f"WORDS={width}", f"DISTANCE={kind}"))
        for variant in ID_VARIANTS
        for width, kind in (shapes if variant == ID_VARIANTS[0] else shapes[:1])
    ]
