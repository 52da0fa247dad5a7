"""Three ways to bring rows to the device over the link, where a quarter of the arcs lies there.

*In place*: kernels read rows in the host's pinned memory, which is what the engine does; the whole run is timed.
*Pages*: every page of 64 KiB that holds an active row is copied (GTS). *Gathered*: the host's threads gather the active
rows into pinned buffers, which are copied while the next are filled (Subway). Of the last two only the moving of bytes
is timed, in each superstep of a synchronous run, and no kernel: what a run takes is more than that. A search may take
the rows of its frontier or of all who wait, whichever are fewer bytes. Times are of one source, the mean of two.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.gpu.algorithms import sampled
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.works import WORKS
from benchmarks.record import say
from dromos.algorithms.bfs import BFS
from dromos.algorithms.connected_components import Components
from dromos.algorithms.sssp import sssp_program
from dromos.plan import Path
from dromos.program import Program

__all__ = ["KEY", "run"]

KEY = ("work", "graph")
GRAPHS = ("kron22", "kron23", "kron24")
_SHARE = 0.25
_WORKS = ("bfs, levels and parents", "sssp", "pagerank in float32, an iteration", "components")
_PUSH = Path.parse("sync-push-dd")
_PAGE = 1 << 14  # arcs
_READ_OVER = 4  # pages that are copied rather than begin another copy
_PIECE = 1 << 24  # arcs that are gathered, or copied at most, at a time


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and work."""
    from dromos.engines.cuda import CudaEngine

    for name in graphs or (("kron16",) if quick else GRAPHS):
        case = resident(name, 2)
        partly = Resident(case.csr, case.sources, _SHARE)
        mover: _Mover | None = None
        for work in WORKS:
            if work.name not in _WORKS or (rows and not any(work.name.startswith(part) for part in rows)):
                continue
            row: dict[str, Any] = {"work": work.name, "graph": name, "share": _SHARE}
            for key, packed in (("in_place_ms", False), ("in_packs_ms", True)):
                if not packed or work.figure == "pagerank":
                    engine = CudaEngine({"share": _SHARE, "packed": packed})
                    row[key] = sampled(engine, work, partly).summary(work.per)["ms"]
            if mover is None:
                mover = _Mover.of(partly)
            row |= mover.moved(work.figure, partly)
            say(f"  {name}, {work.name}: " + ", ".join(f"{key} {row[key]:.4g}" for key in row if key not in _TEXTS))
            yield row
        del mover
        partly.release()


_TEXTS = ("work", "graph")


@dataclass
class _Mover:
    """The rows that do not lie on the device, in pinned memory that the host's threads can read, too."""

    first: int
    offsets: Any
    """Of the rows from ``first`` on, relative to the first of them; on the host."""
    targets: Any
    buffers: list[Any]
    room: Any
    streams: list[Any]

    @classmethod
    def of(cls, case: Resident) -> _Mover:
        import cupy as cp

        rows = case.device_graph().out
        on_device = (rows.targets.nbytes - rows.targets_on_host) // 4
        offsets = rows.offsets.get().astype(np.int64)
        first = int(np.searchsorted(offsets[1:], on_device, side="right"))
        base = int(offsets[first])
        targets = _pinned(int(offsets[-1]) - base)
        for begin in range(0, len(targets), _PIECE):
            piece = rows.targets[base + begin : base + begin + _PIECE] + 0  # a copy that lies on the device
            piece.get(out=targets[begin : begin + _PIECE])
        buffers = [_pinned(_PIECE + int(np.diff(offsets[first:]).max(initial=0))) for _ in range(2)]
        room = cp.empty((2, len(buffers[0])), cp.int32)
        streams = [cp.cuda.Stream(non_blocking=True) for _ in range(2)]
        _gather_kernel()
        return cls(first, offsets[first:] - base, targets, buffers, room, streams)

    def moved(self, figure: str, case: Resident) -> dict[str, Any]:
        """Milliseconds and gigabytes of the two ways that copy."""
        if figure == "pagerank":
            everything = [[np.ones(len(self.offsets) - 1, bool)]]
            found = [self._both_ways(everything, 1) for _ in range(2)]
        else:
            sources = case.sources if figure != "components" else [0]
            found = [self._both_ways(_supersteps(figure, case, s, self.first), 1 + (figure == "sssp")) for s in sources]
        return {key: statistics.mean(row[key] for row in found) for key in found[0]}

    def _both_ways(self, supersteps: Any, arrays: int) -> dict[str, float]:
        """``arrays``: how many there are, targets or targets and weights."""
        total = dict.fromkeys(("supersteps", "pages_ms", "pages_gb", "gathered_ms", "gathered_gb"), 0.0)
        for choices in supersteps:
            total["supersteps"] += 1
            runs = min((self._runs(mask) for mask in choices), key=lambda runs: sum(end - begin for begin, end in runs))
            ids = min((self._active(mask) for mask in choices), key=lambda ids: int(self._lengths(ids).sum()))
            total["pages_ms"] += arrays * self._copy(runs)
            total["pages_gb"] += arrays * sum(end - begin for begin, end in runs) * 4e-9
            total["gathered_ms"] += arrays * self._gather(ids)
            total["gathered_gb"] += arrays * float(self._lengths(ids).sum()) * 4e-9
        return total

    def _active(self, mask: Any) -> Any:
        return np.flatnonzero(mask & (np.diff(self.offsets) > 0))

    def _lengths(self, ids: Any) -> Any:
        return self.offsets[ids + 1] - self.offsets[ids]

    def _runs(self, mask: Any) -> list[tuple[int, int]]:
        """Ranges of arcs: the pages that hold active rows, with short gaps between them."""
        ids = self._active(mask)
        if not len(ids):
            return []
        pages = -(-len(self.targets) // _PAGE)
        marks = np.zeros(pages + 1, np.int64)
        np.add.at(marks, self.offsets[ids] // _PAGE, 1)
        np.add.at(marks, (self.offsets[ids + 1] - 1) // _PAGE + 1, -1)
        wanted = np.flatnonzero(np.cumsum(marks) > 0)
        cuts = np.flatnonzero(np.diff(wanted) > _READ_OVER + 1)
        begins, ends = wanted[np.concatenate([[0], cuts + 1])], wanted[np.concatenate([cuts, [len(wanted) - 1]])] + 1
        found = []
        for begin, end in zip(
            (begins * _PAGE).tolist(), np.minimum(ends * _PAGE, len(self.targets)).tolist(), strict=True
        ):
            found += [(at, min(at + _PIECE, end)) for at in range(begin, end, _PIECE)]
        return found

    def _copy(self, runs: list[tuple[int, int]]) -> float:
        import cupy as cp

        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        for number, (begin, end) in enumerate(runs):
            side = number % 2
            self.room[side, : end - begin].set(self.targets[begin:end], self.streams[side])
        cp.cuda.Device().synchronize()
        return 1e3 * (time.perf_counter() - start)

    def _gather(self, ids: Any) -> float:
        import cupy as cp

        lengths = self._lengths(ids)
        ends = np.cumsum(lengths)
        first = number = 0
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        while first < len(ids):
            before = int(ends[first] - lengths[first])
            last = max(first + 1, int(np.searchsorted(ends, before + _PIECE, side="right")))
            side, size = number % 2, int(ends[last - 1]) - before
            self.streams[side].synchronize()  # the buffer is free again
            _gather_kernel()(self.offsets, self.targets, ids[first:last], ends[first:last] - before, self.buffers[side])
            self.room[side, :size].set(self.buffers[side][:size], self.streams[side])
            first, number = last, number + 1
        cp.cuda.Device().synchronize()
        return 1e3 * (time.perf_counter() - start)


def _supersteps(figure: str, case: Resident, source: int, first: int) -> Iterator[list[Any]]:
    """For each superstep of a synchronous push: which of the rows from ``first`` on could be looked at."""
    from dromos.engines.cuda import CudaEngine

    program, name, graph = _program(figure, case, source)
    execution = CudaEngine({"share": _SHARE}).prepare(program, graph)
    values = execution.memory.fields[name]
    before = values.copy()
    active = before == (before if figure == "components" else 0)  # who starts
    while not execution.stats.finished:
        choices = [active[first:].get()]
        if figure == "bfs":
            choices.append((before < 0)[first:].get())
        yield choices
        execution.step(_PUSH, 1)
        active, before = values != before, values.copy()


def _program(figure: str, case: Resident, source: int) -> tuple[Program, str, Any]:
    if figure == "bfs":
        return BFS(source=source), "level", case.graph
    if figure == "sssp":
        return sssp_program(np.dtype(np.int64))(source=source), "distance", case.weighted
    return Components(), "label", case.graph


def _pinned(count: int) -> Any:
    import cupyx

    return cupyx.empty_pinned((count,), np.int32)


_compiled: Any = None


def _gather_kernel() -> Any:
    """Rows one behind the other, by all of the host's threads; compiled by the first call."""
    global _compiled
    if _compiled is None:
        import numba

        @numba.njit(parallel=True, nogil=True)  # type: ignore[untyped-decorator]
        def gather(offsets: Any, targets: Any, ids: Any, ends: Any, out: Any) -> None:
            for block in numba.prange((len(ids) + 255) // 256):
                for i in range(256 * block, min(256 * block + 256, len(ids))):
                    begin, end = offsets[ids[i]], offsets[ids[i] + 1]
                    at = ends[i] - (end - begin)
                    for arc in range(begin, end):
                        out[at + arc - begin] = targets[arc]

        nothing = np.zeros(1, np.int64)
        gather(np.zeros(2, np.int64), np.zeros(1, np.int32), nothing, nothing, np.zeros(1, np.int32))
        _compiled = gather
    return _compiled
