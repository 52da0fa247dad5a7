"""A graph in the memory of a GPU: copied once, renumbered by degree, and kept as long as the host's graph lives.

Vertices are renumbered by falling in-degree. Then vertices of one degree class (a thread's, a warp's, a block's work)
are a range of ids; what is gathered most often lies together, in few cache lines; a row's first neighbours are its
greatest hubs, which is where a pull finds an active one soonest; and vertices without edges come last, where nobody
looks. Programs never see it: their ``id`` is the given one.
"""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dromos.engines import GraphLike
from dromos.engines.cuda.compiler import load
from dromos.errors import DeviceError

__all__ = ["CLASS_DEGREES", "DeviceGraph", "Rows", "device_graph", "forget", "keep", "type_defines"]

CLASS_DEGREES = (2048, 256, 32, 16, 8, 4, 2, 1)
"""The least degrees of the classes: a block a row, a warp a row, then 32, 16, 8, 4, 2 lanes and one lane a row."""

_THREADS = 256


@dataclass(frozen=True)
class Rows:
    """Compressed sparse rows on the device."""

    offsets: Any
    targets: Any
    weights: Any = None

    @property
    def nbytes(self) -> int:
        """What they take of the device's memory."""
        parts = (self.offsets, self.targets, self.weights)
        return sum(int(part.nbytes) for part in parts if part is not None)


class DeviceGraph:
    """Rows along out-arcs and in-arcs (one object where the graph is symmetric), and the names of their vertices.

    ``ids[v]`` is the given id of the device's vertex ``v`` and ``rank`` its inverse; both are None where the given
    order was kept.
    """

    def __init__(self, out: Rows, into: Rows | None, *, ids: Any = None, rank: Any = None) -> None:
        """``into`` None: the graph is symmetric."""
        self.out, self.into = out, out if into is None else into
        self.ids, self.rank = ids, rank
        self.num_vertices, self.num_arcs = len(out.offsets) - 1, len(out.targets)
        self.symmetric = into is None

    @classmethod
    def from_host(cls, graph: GraphLike, *, renumber: bool = True) -> DeviceGraph:
        """Copy a graph and its transpose to the current device."""
        import cupy

        symmetric = graph.transpose is graph or bool(getattr(graph, "symmetric", False))
        _require_room(graph, symmetric)
        try:
            sides = (graph,) if symmetric else (graph, graph.transpose)
            rows = [Rows(*_uploaded(side)) for side in sides]
            return cls._renumbered(rows, renumber)
        except cupy.cuda.memory.OutOfMemoryError as error:
            cupy.get_default_memory_pool().free_all_blocks()
            raise _too_large(graph, symmetric) from error

    @classmethod
    def from_device(
        cls, offsets: Any, targets: Any, weights: Any = None, *, symmetric: bool = True, renumber: bool = True
    ) -> DeviceGraph:
        """A symmetric graph from arrays that are on the device already; the arrays are not changed."""
        if not symmetric:
            raise DeviceError("only a symmetric graph can be taken from device arrays: there is no transpose beside it")
        return cls._renumbered([Rows(_narrow(offsets, len(targets)), targets, weights)], renumber)

    @classmethod
    def _renumbered(cls, rows: list[Rows], renumber: bool) -> DeviceGraph:
        import cupy

        degrees = cupy.diff(rows[-1].offsets.astype(cupy.int64))
        n, dtype = len(degrees), rows[0].targets.dtype
        free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
        sort_bytes = 24 * len(rows[0].targets)
        if not renumber or n < 2 or dtype != np.int32 or sort_bytes > free:
            return cls(rows[0], rows[1] if len(rows) > 1 else None)
        # a stable sort: equal degrees keep their order, and with it the locality that the given ids have
        ids = cupy.argsort(-degrees, kind="stable").astype(dtype)
        rank = cupy.empty_like(ids)
        rank[ids] = cupy.arange(n, dtype=dtype)
        moved = [_renamed(side, ids, rank) for side in rows]
        return cls(moved[0], moved[1] if len(rows) > 1 else None, ids=ids, rank=rank)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """Where the classes of :data:`CLASS_DEGREES` end, as ids; vertices beyond the last have no in-arcs.

        Exact only in the device's own order; in the given order everything is one class, a warp's.
        """
        import cupy

        if self.ids is None:
            return (0, *(self.num_vertices,) * (len(CLASS_DEGREES) - 1))
        degrees = cupy.diff(self.into.offsets.astype(cupy.int64))
        least = cupy.asarray(CLASS_DEGREES)
        ends = cupy.searchsorted(-degrees, -least, side="right")
        return tuple(int(end) for end in ends.get())

    @cached_property
    def max_out_degree(self) -> int:
        """The greatest out-degree."""
        import cupy

        return int(cupy.diff(self.out.offsets.astype(cupy.int64)).max()) if self.num_vertices else 0

    @cached_property
    def mean_weight(self) -> float:
        """The mean of the weights' sizes; 1 without weights."""
        import cupy

        weights = self.out.weights
        if weights is None or len(weights) == 0:
            return 1.0
        sample = cupy.abs(weights[:: max(1, len(weights) >> 16)].astype(cupy.float64))
        finite = sample[cupy.isfinite(sample)]
        return float(finite.mean()) if len(finite) else 1.0

    @property
    def nbytes(self) -> int:
        """What the graph takes of the device's memory."""
        return self.out.nbytes + (0 if self.symmetric else self.into.nbytes)

    def to_device_order(self, values: Any) -> Any:
        """Per-vertex values in the given order, as the device orders them."""
        return values if self.ids is None else values[self.ids]

    def to_given_order(self, values: Any) -> Any:
        """Per-vertex values of the device, in the given order."""
        return values if self.rank is None else values[self.rank]


# ---- the graphs that are on a device -------------------------------------------------------------------------------

_Copies = dict[tuple[int, bool], DeviceGraph]  # by device, and by whether vertices were renumbered
_kept: dict[int, tuple[weakref.ref[Any], _Copies]] = {}  # by the id of the host's graph, which may not be hashable
_lock = threading.RLock()  # a graph may be collected, and its copies dropped, in the middle of what is done here


def _renew_lock() -> None:
    """In a forked child there is nobody who would open the lock that another thread held."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _copies_of(graph: GraphLike) -> _Copies:
    key = id(graph)
    if key not in _kept:
        _kept[key] = (weakref.ref(graph, lambda _: _drop(key)), {})
    return _kept[key][1]


def _drop(key: int) -> None:
    with _lock:
        _kept.pop(key, None)


def device_graph(graph: GraphLike, *, renumber: bool = True) -> DeviceGraph:
    """``graph`` on the current device: copied by the first call, found by the next ones."""
    import cupy

    key = (int(cupy.cuda.Device().id), renumber)
    with _lock:
        known = _copies_of(graph)
        if key not in known:
            known[key] = DeviceGraph.from_host(graph, renumber=renumber)
        return known[key]


def keep(graph: GraphLike, copy: DeviceGraph, *, renumber: bool = True) -> None:
    """Let ``copy`` stand for ``graph`` on the current device."""
    import cupy

    with _lock:
        _copies_of(graph)[int(cupy.cuda.Device().id), renumber] = copy


def forget(graph: GraphLike | None = None, *, others: bool = False) -> None:
    """Free the copies of ``graph`` (of all graphs, if it is None); ``others``: of all the others instead."""
    import cupy

    with _lock:
        for key in list(_kept):
            if graph is None or (key == id(graph)) is not others:
                del _kept[key]
    cupy.get_default_memory_pool().free_all_blocks()


# ---- copying and renaming ------------------------------------------------------------------------------------------


def _uploaded(graph: GraphLike) -> tuple[Any, Any, Any]:
    import cupy

    weights = None if graph.weights is None else cupy.asarray(np.ascontiguousarray(graph.weights))
    offsets = cupy.asarray(np.ascontiguousarray(graph.offsets))
    return _narrow(offsets, graph.num_arcs), cupy.asarray(np.ascontiguousarray(graph.targets)), weights


def _narrow(offsets: Any, arcs: int) -> Any:
    """Offsets of four bytes where they fit: half of what a traversal reads of them."""
    return offsets.astype(np.uint32) if arcs < 2**32 - 2**20 else offsets.astype(np.int64)


def type_defines(graph: DeviceGraph) -> tuple[str, str]:
    """The types of ids and arc positions, for a kernel's compilation."""
    ids = "int" if graph.out.targets.dtype == np.int32 else "long long"
    return f"VID={ids}", "EID=unsigned" if graph.out.offsets.dtype == np.uint32 else "EID=long long"


def _renamed(rows: Rows, ids: Any, rank: Any) -> Rows:
    import cupy

    module = load('#include "relabel.cuh"', "relabel", defines=type_defines(DeviceGraph(rows, None)))
    n, arcs = len(ids), len(rows.targets)
    lengths = cupy.diff(rows.offsets)[ids]
    offsets = cupy.zeros(n + 1, rows.offsets.dtype)
    cupy.cumsum(lengths, out=offsets[1:], dtype=rows.offsets.dtype)
    keys = cupy.empty(arcs, cupy.uint64)
    blocks = max(1, min(65535, -(-arcs // _THREADS)))
    vertex = rows.targets.dtype.type
    module.launch(
        "keys_of", blocks, _THREADS, rows.offsets, rows.targets, rank, vertex(n), np.int64(arcs), keys,
    )  # fmt: skip
    weights = None
    if rows.weights is None:
        keys.sort()
    else:
        order = cupy.argsort(keys, kind="stable")
        keys, weights = keys[order], rows.weights[order]
    targets = cupy.empty_like(rows.targets)
    module.launch("targets_of", blocks, _THREADS, keys, np.int64(arcs), targets)
    return Rows(offsets, targets, weights)


def _bytes_needed(graph: GraphLike, symmetric: bool) -> int:
    arc = graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    one = 8 * (graph.num_vertices + 1) + arc * graph.num_arcs
    return one if symmetric else 2 * one


def _require_room(graph: GraphLike, symmetric: bool) -> None:
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    if _bytes_needed(graph, symmetric) > free:
        raise _too_large(graph, symmetric)


def _too_large(graph: GraphLike, symmetric: bool) -> DeviceError:
    import cupy

    free, total = cupy.cuda.runtime.memGetInfo()
    needed = _bytes_needed(graph, symmetric)
    return DeviceError(
        f"the graph needs {needed / 2**30:.2f} GiB on the GPU, which has {free / 2**30:.2f} GiB free of "
        f"{total / 2**30:.2f} GiB; free memory there, or use device='cpu'"
    )
