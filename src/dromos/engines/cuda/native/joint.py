"""Breadth-first searches from many sources at once, on a GPU.

As on the CPU (``dromos/engines/native/joint.py``): one bit per search, 64 to 512 of them in the words of a vertex; a
group is searched in one kernel from its first level to its last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, module_of, text_of
from dromos.engines.cuda.records import record_of
from dromos.engines.cuda.transfers import to_host
from dromos.engines.joint_groups import Found, step_of, width_for
from dromos.errors import DeviceError

__all__ = ["argument_type", "control_type", "joint", "sources"]

_NAME: Final = "native_joint"
_THREADS: Final = 512
_NANOSECONDS: Final = 100_000_000
"""After so long a kernel hands back to the host, which starts it again if nobody wants it to stop."""
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
    sums: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> Mapping[str, Any]:
    """Traverse from each group of sources (given ids), and hand what it found to ``consume``, one group at a time.

    ``sums``: rows of distances stay on the device, and for each vertex they are added up over all sources: how many
    ``reached`` it, their ``distance_sum``, and the sum of the inverses, ``inverse_sum``.
    """
    import cupy

    del memory  # the groups were sized by it
    largest = max((len(group) for group in groups), default=1)
    try:
        search = Search(graph, largest, limit, distance, sums)
    except cupy.cuda.memory.OutOfMemoryError as error:
        cupy.get_default_memory_pool().free_all_blocks()
        free, total = cupy.cuda.runtime.memGetInfo()
        raise DeviceError(
            f"a group of {largest} searches does not fit on the GPU beside the graph: {free / 2**30:.2f} GiB are "
            f"free of {total / 2**30:.2f} GiB ({error}); give a memory= that makes groups smaller, or use device='cpu'"
        ) from None
    steps = []
    for number, group in enumerate(groups):
        found = search.run(number, np.asarray(group, np.int64), want_seen)
        consume(found)
        steps.append(step_of(found))
        if progress is not None:
            progress(number + 1, len(groups))
    return {"steps": steps, **search.sums}


class Search:
    """What the device needs to search from one group of up to ``largest`` sources after the other."""

    def __init__(
        self, graph: DeviceGraph, largest: int, limit: int | None = None, distance: Any = None, sums: bool = False
    ) -> None:
        import cupy

        n, width = graph.num_vertices, width_for(largest)
        if sums and distance is None:
            distance = np.int32
        self.graph = graph
        self.limit = np.iinfo(np.int64).max if limit is None else limit
        dtype = np.dtype(np.int32 if distance is None else distance)
        self.tables = cupy.empty((3, n, width), cupy.uint64)
        self.queues = cupy.empty((3, n), graph.out.targets.dtype)
        self.listed = cupy.zeros((n + 31) // 32, cupy.uint32)
        self.distance = None if distance is None else cupy.empty((largest, n), dtype)
        self.rows = None if distance is None or sums else np.empty((largest, n), dtype)
        kinds = {"reached": cupy.int64, "distance_sum": cupy.int64, "inverse_sum": cupy.float64} if sums else {}
        self.sums = {name: cupy.zeros(n, kind) for name, kind in kinds.items()}
        self.control_type = control_type(width)
        self.control = cupy.zeros(self.control_type.itemsize, cupy.uint8)
        self.module = module_of(_NAME, graph, f"WORDS={width}", f"DISTANCE={_DISTANCES[dtype.itemsize]}")
        self.arguments = self._arguments()

    def run(self, number: int, group: Array, want_seen: bool = False) -> Found:
        """What the group finds."""
        begin = time.perf_counter()
        control = np.zeros(1, self.control_type)
        if self.graph.num_vertices:
            self.place(group)
            control = self.traverse()
        count, told = len(group), control[0]
        reached, far, depth = (told[name][:count].astype(np.int64) for name in ("reached", "far", "depth"))
        seen = to_host(self.graph.to_given_order(self.tables[0])) if want_seen else None
        rows = None
        if self.sums and self.graph.num_vertices:
            blocks = grid_for(self.graph.num_vertices, _THREADS)
            self.module.launch("add_up", blocks, _THREADS, self.arguments, np.int32(count), *self.sums.values())
        if self.distance is not None and self.rows is not None:
            rows = to_host(self.distance[:count], self.rows[:count])
        return Found(
            number, group, reached, far, told["near"][:count].copy(), depth, rows, seen, int(told["level"]),
            int(told["pulled"]), int(told["joint"]), time.perf_counter() - begin,
        )  # fmt: skip

    def place(self, group: Array) -> None:
        """Begin anew: the sources' bits in empty tables."""
        import cupy

        self.tables.fill(0)
        self.control.fill(0)
        if self.distance is not None:
            self.distance.fill(-1)
        self.module.launch("place", 1, _THREADS, self.arguments, cupy.asarray(group), np.int32(len(group)))

    def launch(self) -> None:
        """Start the kernel from where the searches are."""
        blocks = self.module.cooperative_grid("traverse", _THREADS)
        self.module.launch("traverse", blocks, _THREADS, self.arguments, together=True)

    def traverse(self) -> Array:
        """Go through all levels, and say how the searches ended."""
        fields = self.control_type.fields
        assert fields is not None
        head = fields["size"][1]  # cleared before every launch
        control = self._told() if self.limit <= 0 else None  # with levels to go, nobody waits for the sources
        while control is None or (control[0]["level"] < self.limit and not control[0]["finished"]):
            self.control.data.memset_async(0, head)
            self.launch()
            control = self._told()
        return control

    def _told(self) -> Array:
        control: Array = self.control.get().view(self.control_type)
        return control

    def _arguments(self) -> Array:
        graph, record = self.graph, np.zeros(1, argument_type)
        arrays = {
            "offsets": graph.out.offsets, "targets": graph.out.targets, "in_offsets": graph.into.offsets,
            "sources": graph.into.targets, "ids": graph.ids, "rank": graph.rank, "seen": self.tables[0],
            "hubs": self.queues[2], "listed": self.listed, "distance": self.distance, "control": self.control,
        }  # fmt: skip
        for name, array in arrays.items():
            record[name] = address(array)
        record["table"] = [address(self.tables[1]), address(self.tables[2])]
        record["queue"] = [address(self.queues[0]), address(self.queues[1])]
        record["n"], record["arcs"], record["max_degree"] = graph.num_vertices, graph.num_arcs, graph.max_out_degree
        record["limit"], record["nanoseconds"], record["classes"] = self.limit, _NANOSECONDS, graph.classes
        return record


@cache
def control_type(width: int) -> np.dtype[Any]:
    """The structure ``Control`` of the kernel for ``width`` words per vertex."""
    slot = record_of("joint_records", "JointSlot")
    return record_of("joint_records", "Control", {"JointSlot": slot}, {"SEARCHES": 64 * width, "WORDS": width})


argument_type: Final = record_of("joint_records", "Joint")
"""The structure ``Joint`` of the kernel."""


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Variants of the kernel with every type and every width: name, text, definitions."""
    shapes = [(1, "int"), (2, "int"), (4, "int"), (8, "int"), (1, "signed char")]
    return [
        (_NAME, text_of(_NAME), (*variant, f"WORDS={width}", f"DISTANCE={kind}"))
        for variant in ID_VARIANTS
        for width, kind in (shapes if variant == ID_VARIANTS[0] else shapes[:1])
    ]
