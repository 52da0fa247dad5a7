"""The rows of a host's graph in another order, renamed and sorted by a device: piece by piece, there and back.

A device looks up new ids and sorts rows many times faster than all cores of a host, and transfers 50 GB/s in each
direction meanwhile. So the host only copies: the rows of a piece to contiguous memory that the device reads, and
returned rows to their place. The device holds a few pieces at a time, so the graph may be larger than its memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array, as_words, read_only
from dromos.engines.cpu.memory import huge_zeros
from dromos.engines.cuda.compiler import load
from dromos.engines.cuda.residency import free_bytes
from dromos.engines.cuda.rows import RELABELLING, narrow_offsets, types_of
from dromos.engines.cuda.transfers import fetch_later, send_later, to_device, to_host
from dromos.graph import Graph
from dromos.graph.build import CsrArrays, team_size
from dromos.parallel import in_blocks, run_team

__all__ = ["Permuted", "can_permute", "permuted"]

_PIECE: Final = 1 << 23  # arcs
_SLOTS: Final = 3  # the host fills one while the device reads, sorts and returns others
_THREADS: Final = 256
_PAGE, _SMALL_PAGE = 2 << 20, 4 << 10
_BYTES_PER_ARC: Final = 64  # device memory: input, keys, their order, sorted keys, the sort's own, output
_BYTES_PER_VERTEX: Final = 64  # offsets, degrees, their order, new ids


class Permuted(NamedTuple):
    """A graph's rows in another order."""

    old_ids: Array
    new_ids: Array
    rows: CsrArrays


def can_permute(graph: Graph) -> bool:
    """Whether the current device supports it, and has the memory."""
    longest = int(graph.out_degree.max(initial=0))
    needed = _BYTES_PER_VERTEX * graph.num_vertices + _SLOTS * _BYTES_PER_ARC * (_PIECE + longest)
    return graph.targets.dtype == np.int32 and needed < free_bytes() // 2


def permuted(graph: Graph, old_ids: Array | None) -> Permuted:
    """The rows of ``graph`` with vertex ``i`` the old ``old_ids[i]``, sorted; parallel arcs stay in their order.

    ``old_ids`` None: by descending out-degree, vertices of one degree in ascending order.
    """
    import cupy

    offsets, ids = to_device(graph.offsets), graph.targets.dtype
    degrees = cupy.diff(offsets)
    order = cupy.argsort(-degrees, kind="stable").astype(ids) if old_ids is None else to_device(old_ids.astype(ids))
    rank = cupy.empty_like(order)
    rank[order] = cupy.arange(len(order), dtype=ids)
    cupy.cumsum(degrees[order], out=offsets[1:])
    arrays = (order, rank, offsets)
    known, new_ids, starts = (to_host(values, huge_zeros(len(values), values.dtype)) for values in arrays)
    del arrays, order, degrees
    return Permuted(known, new_ids, _rows(graph, known, starts, rank, narrow_offsets(offsets, graph.num_arcs)))


def _rows(graph: Graph, old_ids: Array, starts: Array, rank: Any, offsets: Any) -> CsrArrays:
    """As :func:`permuted`; ``rank`` and ``offsets``: the new ids, and where new rows begin, on the device."""
    from dromos.graph.gather_kernels import gather_piece

    arrays = [graph.targets] if graph.weights is None else [graph.targets, graph.weights]
    given = [read_only(as_words(values)) for values in arrays]
    made = [huge_zeros(len(values), values.dtype) for values in given]
    pieces = list(_pieces(starts))
    most = max((end - begin for _, _, begin, end in pieces), default=0)
    order = [read_only(array) for array in (old_ids, graph.offsets, starts)]
    team = team_size(graph.num_arcs)
    # a separate thread starts the device's work: after a pause the team is asleep, and slow to wake
    with (
        _pinned(2 * _SLOTS * len(given), most * max(values.itemsize for values in given)) as memory,
        ThreadPoolExecutor(1) as helper,
    ):
        slots = [_Slot(most, [values.dtype for values in given], memory, rank, offsets) for _ in range(_SLOTS)]
        begun: list[Future[None] | None] = [None] * _SLOTS
        try:
            for number in range(len(pieces) + _SLOTS):
                slot, before = slots[number % _SLOTS], begun[number % _SLOTS]
                if before is not None:
                    before.result()
                came, at = slot.wait()
                first, last, begin, end = pieces[number] if number < len(pieces) else (0, 0, 0, 0)
                for values, into, staged, found in zip(given, made, slot.staged, came, strict=True):
                    run_team(
                        gather_piece, first, last, *order, values, staged, found, into[at : at + len(found)],
                        threads=team,
                    )  # fmt: skip
                begun[number % _SLOTS] = helper.submit(slot.start, first, last, begin, end) if begin < end else None
        finally:
            helper.shutdown()
            for slot in slots:
                slot.stream.synchronize()  # releases their memory for others
    weights = None if graph.weights is None else made[1].view(graph.weights.dtype)
    return CsrArrays(starts, made[0].view(graph.targets.dtype), weights)


def _pieces(starts: Array) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of rows, and of their arcs: about as many as a piece may have, in whole rows."""
    cuts = np.searchsorted(starts, np.arange(0, int(starts[-1]), _PIECE))
    rows = np.unique(np.append(cuts, len(starts) - 1)).tolist()
    for first, last in zip([0, *rows], rows, strict=False):
        if starts[first] < starts[last]:
            yield first, last, int(starts[first]), int(starts[last])


@contextmanager
def _pinned(count: int, size: int) -> Iterator[Iterator[Array]]:
    """``count`` pieces of memory that the device reads and writes directly, of ``size`` bytes each.

    The system provides huge pages, and registering them with the driver is many times faster than allocating such
    memory through it.
    """
    import cupy

    size = max(-(-size // _PAGE) * _PAGE, _PAGE)
    whole, runtime = huge_zeros(count * size, np.uint8), cupy.cuda.runtime
    in_blocks(lambda begin, end: whole[begin:end:_SMALL_PAGE].fill(0), len(whole), _PAGE)  # allocates the pages
    try:
        runtime.hostRegister(whole.ctypes.data, whole.nbytes, 0)
    except runtime.CUDARuntimeError:  # the system does not allow so much: copies take longer
        yield iter(whole.reshape(count, size))
        return
    try:
        yield iter(whole.reshape(count, size))
    finally:
        runtime.hostUnregister(whole.ctypes.data)


class _Slot:
    """Memory on both sides for a piece in flight, and its stream."""

    def __init__(self, arcs: int, words: list[np.dtype[Any]], memory: Iterator[Array], rank: Any, offsets: Any) -> None:
        import cupy

        self._device, self.stream = cupy.cuda.Device(), cupy.cuda.Stream(non_blocking=True)
        self.staged, self._found = ([next(memory).view(word)[:arcs] for word in words] for _ in range(2))
        self._given = [cupy.empty(arcs, word) for word in words]
        self._keys = cupy.empty(arcs, cupy.uint64)
        self._rank, self._offsets = rank, offsets
        self._begin = self._arcs = 0
        self._module = load(RELABELLING, "relabel", defines=types_of(offsets, rank))
        cupy.cuda.get_current_stream().synchronize()  # earlier writes to it are complete

    def start(self, first: int, last: int, begin: int, end: int) -> None:
        """Rename and sort the staged rows ``first..last``, whose arcs are ``begin..end``."""
        import cupy

        self._begin, self._arcs = begin, end - begin
        arcs, keys = self._arcs, self._keys[: self._arcs]
        blocks = max(1, min(65535, -(-arcs // _THREADS)))
        given = [values[:arcs] for values in self._given]
        with self._device, self.stream:
            for staged, values in zip(self.staged, given, strict=True):
                send_later(staged[:arcs], values, self.stream)
            self._module.launch(
                "keys_of", blocks, _THREADS, self._offsets, given[0], self._rank, np.int32(first), np.int32(last),
                np.int64(begin), np.int64(arcs), keys,
            )  # fmt: skip
            if len(given) == 1:
                keys.sort()
            else:
                order = cupy.argsort(keys, kind="stable")
                keys, weights = keys[order], given[1][order]
                fetch_later(weights, self._found[1][:arcs], self.stream)
            self._module.launch("targets_of", blocks, _THREADS, keys, np.int64(arcs), given[0])
            fetch_later(given[0], self._found[0][:arcs], self.stream)

    def wait(self) -> tuple[list[Array], int]:
        """The returned arrays, and their position among all arcs; empty if nothing was started."""
        self.stream.synchronize()
        came = [found[: self._arcs] for found in self._found]
        self._arcs = 0
        return came, self._begin
