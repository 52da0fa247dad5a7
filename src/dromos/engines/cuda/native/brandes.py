"""Dependencies of many sources at once, where one search does not fill the device: one block per source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import LeftToHostError
from dromos.engines.cuda.compiler import Module
from dromos.engines.cuda.device_graph import DeviceGraph
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.native.launching import ID_VARIANTS, module_of, slices, text_of
from dromos.engines.cuda.records import number_of, record_of
from dromos.engines.cuda.residency import free_bytes

__all__ = ["batch_type", "blocks_for", "blocks_that_fit", "by_blocks", "is_too_deep", "sources", "too_deep"]

_NAME: Final = "native_brandes"
_THREADS: Final = 512
_MOST_ARCS: Final = 1 << 26
_ARCS_A_BLOCK: Final = 1 << 18
"""A block walks about so many in the time that the whole device takes for a search; all blocks have to gain by it."""
_ARCS_A_LAUNCH: Final = 1 << 22
"""Of one block, about 20 ms."""
_DEEP, _THIN, _TOO_DEEP = (number_of(_NAME, name) for name in ("DEEP", "THIN", "TOO_DEEP"))
batch_type: Final = record_of(_NAME, "Batch")
"""The structure ``Batch`` of the kernel."""


def blocks_for(graph: DeviceGraph, sources: int, *, edges: bool = False) -> int:
    """How many blocks to give a source each; 0 where it does not pay."""
    if not _pays(graph, sources):  # asked first: nothing is compiled for what is not run
        return 0
    blocks = blocks_that_fit(graph, sources, edges=edges)
    return blocks if _pays(graph, blocks) else 0


def blocks_that_fit(graph: DeviceGraph, sources: int, *, edges: bool = False) -> int:
    """How many blocks the device can run at once, and has memory for, up to one a source; whether it pays or not."""
    each = graph.num_vertices * (4 + 3 * 8 + 2 * graph.out.targets.dtype.itemsize + 2 * 4) + 16
    if edges:
        each += 8 * graph.num_arcs
    most = _module(graph, edges).cooperative_grid("by_blocks", _THREADS)
    return int(min(sources, most, free_bytes() // 2 // each))


def is_too_deep(graph: DeviceGraph, deepest: int) -> bool:
    """Whether the host is sooner done with searches of so many levels, where no thread waits for another."""
    return deepest >= _DEEP and graph.num_vertices < _THIN * deepest


def too_deep() -> LeftToHostError:
    """What is raised then."""
    return LeftToHostError(f"a search has {_DEEP} levels and more, of fewer than {_THIN} vertices each")


def _pays(graph: DeviceGraph, blocks: int) -> bool:
    """Whether so many blocks together are faster than searches with the whole device, one after the other."""
    return graph.num_arcs <= _MOST_ARCS and blocks >= max(2, graph.num_arcs // _ARCS_A_BLOCK)


def by_blocks(
    graph: DeviceGraph,
    sources: Sequence[int],
    blocks: int,
    endpoints: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    *,
    edges: bool = False,
) -> tuple[Any, list[int]]:
    """The sum of the dependencies of ``sources`` (given ids), and the sources from which there are too many paths.

    They are by vertex, or with ``edges`` by arc in the device's order. Then searches that are too deep and thin for a
    device are left to the host by :class:`~dromos.engines.LeftToHostError`.
    """
    import cupy

    n, ids = graph.num_vertices, graph.out.targets.dtype
    chosen = cupy.asarray(np.asarray(sources, np.int64))
    starts = (chosen if graph.rank is None else graph.rank[chosen]).astype(ids)
    arrays = {
        "level": cupy.full(blocks * n, -1, cupy.int32), "order": cupy.empty(blocks * n, ids),
        "paths": cupy.zeros(blocks * n), "spread": cupy.empty(blocks * n),
        "hubs": cupy.empty(blocks * n, ids), "bounds": cupy.empty(blocks * (n + 2), cupy.uint32),
        "scaled": cupy.empty(blocks * (n + 2), cupy.uint32),
    }  # fmt: skip
    sums = "through" if edges else "sum"
    arrays[sums] = cupy.zeros((blocks, graph.num_arcs if edges else n))
    failed = cupy.zeros(len(starts), cupy.uint32)
    record: Array = np.zeros(1, batch_type)
    for name, array in arrays.items():
        record[name] = address(array)
    record["offsets"], record["targets"] = address(graph.out.offsets), address(graph.out.targets)
    record["n"], record["arcs"], record["max_degree"] = n, graph.num_arcs, graph.max_out_degree
    record["on_path"] = float(endpoints)
    module = _module(graph, edges)
    for begin, end in slices(len(starts), blocks * max(1, _ARCS_A_LAUNCH // max(graph.num_arcs, 1))):
        record["count"] = end - begin
        record["sources"], record["failed"] = address(starts[begin:]), address(failed[begin:])
        module.launch("by_blocks", blocks, _THREADS, record)
        cupy.cuda.get_current_stream().synchronize()  # where Ctrl-C is heard
        if progress is not None:
            progress(end, len(starts))
    why = failed.get()
    if (why == _TOO_DEEP).any():
        raise too_deep()
    lost = np.flatnonzero(why).tolist()
    return arrays[sums].sum(axis=0), [int(sources[place]) for place in lost]


def _module(graph: DeviceGraph, edges: bool) -> Module:
    return module_of(_NAME, graph, *_defines(edges))


def _defines(edges: bool) -> tuple[str, ...]:
    return ("EDGES=1",) if edges else ()


def sources(*, edges: bool = False) -> list[tuple[str, str, tuple[str, ...]]]:
    """Every variant of the kernel: name, text, definitions."""
    return [(_NAME, text_of(_NAME), (*variant, *_defines(edges))) for variant in ID_VARIANTS]
