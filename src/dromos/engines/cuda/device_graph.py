"""A graph for a GPU: copied there once, renumbered by degree, and kept as long as the host's graph lives.

Rows that do not fit the device, those of the least degrees, stay in the host's memory, where kernels read them in
place.

Vertices are renumbered by descending in-degree. This has several advantages:

- Vertices of one degree class (the work of a thread, a warp or a block) are a range of ids.
- The values that are gathered most often are adjacent, in few cache lines.
- A row's first neighbors are its greatest hubs, among which a pull finds an active one soonest.
- Vertices without edges come last, where kernels need not look.

Programs never see the new ids: their ``id`` is the given one.
"""

from __future__ import annotations

import os
import threading
import weakref
from functools import cached_property
from typing import Any

import numpy as np

from dromos.engines import GraphLike
from dromos.engines.cuda.compiler import Module
from dromos.engines.cuda.layout import graph_type
from dromos.engines.cuda.out_of_memory import told_when_full
from dromos.engines.cuda.packed_rows import PackedRows, pack_rows
from dromos.engines.cuda.residency import Need, Residency, free_bytes, is_symmetric
from dromos.engines.cuda.row_buffers import RowBuffers, RowPieces
from dromos.engines.cuda.rows import (
    Rows,
    narrow_offsets,
    narrow_weights,
    on_its_way,
    order_by_degree,
    place_rows,
    rows_on_their_way,
    types_of,
)
from dromos.engines.cuda.transfers import forget_shared
from dromos.engines.cuda.vertex_values import gathered
from dromos.errors import DeviceError
from dromos.plan.ways import WayFactors

__all__ = ["CLASS_DEGREES", "DeviceGraph", "Rows", "copy_of", "device_graph", "forget", "keep", "type_defines"]

CLASS_DEGREES = (2048, 256, 32, 16, 8, 4, 2, 1)
"""The least degrees of the classes: one block per row, one warp, then 32, 16, 8, 4, 2 lanes and one lane."""


class DeviceGraph:
    """Rows along out-arcs and in-arcs (one object if the graph is symmetric), and the ids of their vertices.

    ``ids[v]`` is the given id of the device's vertex ``v`` and ``rank`` its inverse; both are None if the given order
    was kept.
    """

    def __init__(
        self,
        out: Rows,
        into: Rows | None,
        *,
        ids: Any = None,
        rank: Any = None,
        residency: Residency | None = None,
        weight_type: np.dtype[Any] | None = None,
    ) -> None:
        """``into`` None: the graph is symmetric. ``residency`` None: all of it is on the device.

        ``weight_type``: the type of the weights, if it is narrower than that of the host's graph.
        """
        self.out, self.into = out, out if into is None else into
        self.residency = Residency() if residency is None else residency
        self.ids, self.rank, self.weight_type = ids, rank, weight_type
        self.num_vertices, self.num_arcs = len(out.offsets) - 1, len(out.targets)
        self.symmetric = into is None
        self.modules: dict[Any, Module] = {}
        """Kernels of programs that ran on it, by their compilation keys."""
        self._pieces: dict[tuple[bool, bool], RowPieces] = {}
        self.ways: dict[Any, WayFactors] = {}
        """How long programs took on it by each way of getting rows over the link (``over_link.py``)."""
        self.idle: dict[Any, Any] = {}
        """Finished runs, whose memory the next ones reuse (``engine.py``)."""

    @classmethod
    def from_host(cls, graph: GraphLike, *, renumber: bool = True, residency: Residency | None = None) -> DeviceGraph:
        """Copy a graph and its transpose to the current device, as much of them as ``residency`` says."""
        import cupy

        try:
            sides = (graph,) if is_symmetric(graph) else (graph, graph.transpose)
            where = Residency() if residency is None else residency
            rows = rows_on_their_way(sides, where.scratch or free_bytes() // 2, early=where.weights_share >= 1)
            return cls._placed(rows, renumber, where)
        except cupy.cuda.memory.OutOfMemoryError as error:
            cupy.get_default_memory_pool().free_all_blocks()
            free, total = cupy.cuda.runtime.memGetInfo()
            raise DeviceError(
                f"the graph does not fit on the GPU, which has {free / 2**30:.2f} GiB free of {total / 2**30:.2f} GiB; "
                "free memory there, give memory= for what it may take, or use device='cpu'"
            ) from error

    @classmethod
    def from_device(
        cls,
        offsets: Any,
        targets: Any,
        weights: Any = None,
        *,
        symmetric: bool = True,
        renumber: bool = True,
        residency: Residency | None = None,
    ) -> DeviceGraph:
        """A symmetric graph from arrays that are on the device already; the arrays are not changed."""
        if not symmetric:
            raise DeviceError("only a symmetric graph can be taken from device arrays: there is no transpose beside it")
        return cls._placed([Rows(narrow_offsets(offsets, len(targets)), targets, weights)], renumber, residency)

    @classmethod
    def _placed(cls, rows: list[Rows], renumber: bool, residency: Residency | None) -> DeviceGraph:
        """A graph from rows whose offsets are on the device and whose arcs may be on the host."""
        where = Residency() if residency is None else residency
        scratch = where.scratch or free_bytes() // 2
        narrow = None
        if rows[0].weights is not None and where.weights_share < 1:  # over the link, bytes count
            found = narrow_weights(rows[0].weights)
            narrow = None if found == rows[0].weights.dtype else found
        first, others = on_its_way(rows[0], scratch), rows[1:]
        names = _order(rows[-1].offsets, first.targets.dtype) if renumber else None
        rows.clear()  # only ``first`` holds arcs that have arrived

        def place(side: Rows) -> Rows:
            return place_rows(
                side.offsets, side.targets, side.weights, names,
                share=where.share, weights_share=where.weights_share, weights_dtype=narrow, scratch=scratch,
                given_offsets=side.given_offsets,
            )  # fmt: skip

        placed = [place(first)]
        del first  # and its staging memory
        placed += [place(on_its_way(side, scratch)) for side in others]
        ids, rank = (None, None) if names is None else names
        into = placed[1] if others else None
        return cls(placed[0], into, ids=ids, rank=rank, residency=where, weight_type=narrow)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """Where the classes of :data:`CLASS_DEGREES` end, as ids; vertices beyond the last have no in-arcs.

        Exact only in the device's own order; in the given order all vertices form one class, a warp's.
        """
        import cupy

        if self.ids is None:
            return (0, *(self.num_vertices,) * (len(CLASS_DEGREES) - 1))
        degrees = cupy.diff(self.into.offsets.astype(cupy.int64))
        least = cupy.asarray(CLASS_DEGREES)
        ends = cupy.searchsorted(-degrees, -least, side="right")
        return tuple(int(end) for end in ends.get())

    @cached_property
    def packed(self) -> PackedRows | None:
        """The in-rows on the host, packed; None if there are none, or the host has no memory for them."""
        if self.ids is None or not self.into.targets_on_host:  # in the given order rows need not ascend
            return None
        try:
            with told_when_full("packs"):
                return pack_rows(self.into, self.classes)
        except DeviceError:  # rows are read unpacked
            return None

    @cached_property
    def _row_buffers(self) -> RowBuffers:
        return RowBuffers(self.residency.buffers)

    def row_pieces(self, into: bool, weights: bool) -> RowPieces:
        """The rows of one direction, with or without their weights, in pieces that can be copied to the device."""
        key = into and not self.symmetric, weights
        if key not in self._pieces:
            self._pieces[key] = RowPieces(self.into if into else self.out, weights, self._row_buffers)
        return self._pieces[key]

    @cached_property
    def max_out_degree(self) -> int:
        """The greatest out-degree."""
        import cupy

        return int(cupy.diff(self.out.offsets.astype(cupy.int64)).max()) if self.num_vertices else 0

    @cached_property
    def mean_weight(self) -> float:
        """The mean magnitude of the weights; 1 without weights."""
        import cupy

        weights = self.out.weights
        if weights is None or len(weights) == 0:
            return 1.0
        sample = cupy.abs(weights[:: max(1, len(weights) >> 16)].astype(cupy.float64))
        finite = sample[cupy.isfinite(sample)]
        return float(finite.mean()) if len(finite) else 1.0

    @cached_property
    def bucket_width(self) -> float:
        """The first width of a bucket of priorities: narrow if there are many arcs to choose from."""
        degree = max(self.num_arcs / max(self.num_vertices, 1), 1.0)
        return max(64 * self.mean_weight / degree**2, 1e-300)

    @cached_property
    def record(self) -> Any:
        """The structure ``Graph`` of the kernels: the addresses of its arrays, without packed rows."""
        record = np.zeros(1, graph_type)
        for names, rows in (
            (("offsets", "targets", "weights"), self.out),
            (("in_offsets", "sources", "in_weights"), self.into),
        ):
            for name, array in zip(names, (rows.offsets, rows.targets, rows.weights), strict=True):
                record[name] = 0 if array is None or array.size == 0 else int(array.data.ptr)
        record["n"], record["max_degree"], record["classes"] = self.num_vertices, self.max_out_degree, self.classes
        return record

    @property
    def nbytes(self) -> int:
        """The graph's size in device memory."""
        packed = self.__dict__.get("packed")  # if a run has used them
        tables = 0 if packed is None else packed.nbytes
        return self.out.nbytes + (0 if self.symmetric else self.into.nbytes) + tables + self._row_buffers.nbytes

    def is_over_link(self, weights: bool) -> bool:
        """Whether some of the arcs are in the host's memory; with ``weights``, or some of the weights."""
        sides = (self.out, self.into)
        return any((rows.on_host if weights else rows.targets_on_host) > 0 for rows in sides)

    def to_device_order(self, values: Any) -> Any:
        """Per-vertex values in the given order, as the device orders them."""
        return values if self.ids is None else gathered(values, self.ids)

    def to_given_order(self, values: Any) -> Any:
        """Per-vertex values of the device, in the given order."""
        return values if self.rank is None else gathered(values, self.rank)


# ---- the graphs that are on a device -------------------------------------------------------------------------------

_Copies = dict[tuple[int, bool], DeviceGraph]  # by device, and by whether vertices were renumbered
_kept: dict[int, tuple[weakref.ref[Any], _Copies]] = {}  # by the id of the host's graph, which may not be hashable
_lock = threading.RLock()  # a graph may be collected, and its copies dropped, while this module runs


def _renew_lock() -> None:
    """Make a new lock in a forked child: a thread that held the old one does not exist there."""
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


def device_graph(graph: GraphLike, *, renumber: bool = True, need: Need | None = None) -> DeviceGraph:
    """``graph`` for the current device: copied by the first call, cached for the next ones.

    ``need`` says how much of the device's memory it may take; by default, any copy will do, or what is free.
    """
    import cupy

    key = (int(cupy.cuda.Device().id), renumber)
    with _lock:
        known = _copies_of(graph)
        found = known.get(key)
        if found is not None and (need is None or need.is_met_by(found.residency, graph, found.nbytes)):
            return found
        if found is not None:
            del known[key], found
            cupy.get_default_memory_pool().free_all_blocks()
        residency = (need or Need()).residency(graph)
        known[key] = DeviceGraph.from_host(graph, renumber=renumber, residency=residency)
        return known[key]


def copy_of(graph: GraphLike, *, renumber: bool = True) -> DeviceGraph | None:
    """The copy of ``graph`` on the current device, if there is one."""
    import cupy

    with _lock:
        return _copies_of(graph).get((int(cupy.cuda.Device().id), renumber))


def keep(graph: GraphLike, copy: DeviceGraph, *, renumber: bool = True) -> None:
    """Use ``copy`` as the form of ``graph`` on the current device."""
    import cupy

    with _lock:
        _copies_of(graph)[int(cupy.cuda.Device().id), renumber] = copy


def forget(graph: GraphLike | None = None, *, others: bool = False) -> None:
    """Release the copies of ``graph`` (of all graphs, if it is None); ``others``: of all the others instead."""
    import cupy

    with _lock:
        for key in list(_kept):
            if graph is None or (key == id(graph)) is not others:
                del _kept[key]
    forget_shared()
    cupy.get_default_memory_pool().free_all_blocks()


# ---- the order of vertices -----------------------------------------------------------------------------------------


def _order(offsets: Any, dtype: np.dtype[Any]) -> tuple[Any, Any] | None:
    """Vertices by descending degree: the given id of each new vertex, and the inverse; None if ids are to stay."""
    n = len(offsets) - 1
    return None if n < 2 or dtype != np.int32 else order_by_degree(offsets, dtype)


def type_defines(graph: DeviceGraph) -> tuple[str, ...]:
    """The types of ids and arc positions, and of weights in the host's memory, for a kernel's compilation."""
    return types_of(graph.out.offsets, graph.out.targets, graph.weight_type)
