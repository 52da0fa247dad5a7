"""Random walks, a thread each: the same ones as on the CPU.

Rows are looked at in the given order, in which walks draw from them, so the graph is not renumbered. The walks are
taken in portions: while one is copied to the host, the device takes the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.fields import AsItIs
from dromos.engines.cuda.native.launching import ID_VARIANTS, grid_for, module_of, slices, text_of
from dromos.engines.cuda.native.wants import Wants
from dromos.engines.cuda.records import record_of
from dromos.engines.cuda.transfers import to_device, to_host
from dromos.engines.splitmix import STEP, mixed

__all__ = ["WANTS", "sources", "walks"]

WANTS: Final = Wants(bytes_per_arc=8, weights=True, given_order=True)  # running sums of weights
_NAME: Final = "native_walks"
_THREADS: Final = 256
_PORTION: Final = 1 << 28  # bytes of walks
_BIASED_STEPS: Final = 8  # of a launch: where few steps are accepted, each may take a thousand draws
walks_type: Final = record_of(_NAME, "Walks")
"""The structure ``Walks`` of the kernel."""


def walks(graph: DeviceGraph, *, starts: Array, length: int, p: float, q: float, seed: int) -> Mapping[str, Any]:
    """One row per start: the vertices of a walk of ``length`` steps from it, -1 where it ended before.

    Unless ``p`` and ``q`` are 1, the rows of the graph are sorted.
    """
    import cupy

    count, ids = len(starts), graph.out.targets.dtype
    most = max(1, min(count, _PORTION // (ids.itemsize * (length + 1))))
    portions = list(slices(count, most))
    if not portions:
        return {"walk": AsItIs(np.empty((0, length + 1), ids))}
    walker = _Walker(graph, starts, length, p, q, seed, most)
    rooms = [cupy.empty((most, length + 1), ids) for _ in portions[:2]]
    if len(portions) == 1:
        walker.take(*portions[0], rooms[0])
        return {"walk": AsItIs(to_host(rooms[0]))}
    found = reused_empty((count, length + 1), ids)
    cupy.cuda.get_current_stream().synchronize()  # what walks read is there
    with cupy.cuda.Stream(non_blocking=True) as beside:
        walker.take(*portions[0], rooms[0])
    for number, (begin, end) in enumerate(portions):
        beside.synchronize()
        with beside:
            for following in portions[number + 1 : number + 2]:
                walker.take(*following, rooms[(number + 1) % 2])
        to_host(rooms[number % 2][: end - begin], found[begin:end])
    return {"walk": AsItIs(found)}


class _Walker:
    """Takes walks by their numbers."""

    def __init__(
        self, graph: DeviceGraph, starts: Array, length: int, p: float, q: float, seed: int, most: int
    ) -> None:
        import cupy

        self.module, self.length, self.biased = module_of(_NAME, graph), length, (p, q) != (1.0, 1.0)
        self.starts, self.sums, self.random = to_device(starts.astype(np.int64, copy=False)), None, None
        record = self.record = np.zeros(1, walks_type)
        record["offsets"], record["targets"] = address(graph.out.offsets), address(graph.out.targets)
        if graph.out.weights is not None:
            n, self.sums = graph.num_vertices, graph.out.weights.astype(cupy.float64)
            self.module.launch(
                "sum_rows", grid_for(n, _THREADS), _THREADS, graph.out.offsets, np.int64(n), self.sums
            )  # fmt: skip
            record["sums"] = address(self.sums)
        if self.biased:
            self.random = cupy.empty(most, cupy.uint64)
            record["random"] = address(self.random)
        record["starts"], record["length"] = address(self.starts), length
        record["seed"] = mixed(np.array([seed], np.uint64) + STEP)
        record["back"], record["away"], record["top"] = 1.0 / p, 1.0 / q, max(1.0 / p, 1.0, 1.0 / q)

    def take(self, begin: int, end: int, room: Any) -> None:
        """Write the walks ``begin..end`` to ``room``; biased ones are waited for."""
        import cupy

        record, count = self.record, end - begin
        record["walks"], record["number"], record["count"] = address(room), begin, count
        for done, last in slices(max(self.length, 1), _BIASED_STEPS if self.biased else max(self.length, 1)):
            record["first"], record["last"] = done + 1, min(last, self.length)
            self.module.launch(
                "walk_biased" if self.biased else "walk", grid_for(count, _THREADS), _THREADS, record
            )  # fmt: skip
            if self.biased:
                cupy.cuda.get_current_stream().synchronize()  # where Ctrl-C is heard


def sources() -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernels: name, text, definitions."""
    return [(_NAME, text_of(_NAME), variant) for variant in ID_VARIANTS]
