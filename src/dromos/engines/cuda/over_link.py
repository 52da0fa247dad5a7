"""Supersteps on a graph with some rows on the host: how these reach the device, chosen superstep by superstep."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from dromos.engines.cuda.layout import ARRIVALS, HEAD_BYTES, ROW_LISTS
from dromos.engines.cuda.link_rates import link_rates
from dromos.engines.cuda.memory import address
from dromos.engines.cuda.modules import Kernel
from dromos.engines.cuda.row_buffers import Piece, RowPieces
from dromos.plan.ways import Way, WayFactors, bytes_of_push, choose_way

if TYPE_CHECKING:
    from dromos.engines.cuda.execution import CudaExecution

__all__ = ["Choice", "OverLink", "clear_counters"]

_LEAST_PIECE: Final = 1 << 10  # arcs: with smaller buffers nothing is copied
_NAMES: Final = {False: ("offsets", "targets", "weights"), True: ("in_offsets", "sources", "in_weights")}


class Choice(NamedTuple):
    """The way of a superstep, the bytes that it moves, and the expected seconds if there was a choice."""

    way: Way
    moved: int = 0
    expected: float | None = None


class OverLink:
    """The ways of one run, made if rows that the run reads are on the host."""

    def __init__(self, run: CudaExecution) -> None:
        self._run: CudaExecution = weakref.proxy(run)  # weak: a reference cycle would keep device memory

    def choose(self, kernel: Kernel, pull: bool) -> Choice:
        """How the next superstep is to get its rows."""
        run = self._run
        if kernel.skeleton != "supersteps" or run.options.way == "in place":
            return Choice("in place")
        side = self._side(pull)
        if side.most < _LEAST_PIECE or not side.on_host:
            return Choice("in place")
        if run.options.way != "auto":
            way: Way = "pages" if run.options.way == "gathered" and (pull or self._by_arc) else run.options.way
            side.prepare(way)
            return Choice(way)
        moved = self._moved(pull)
        if len(moved) < 2:
            return Choice("in place")
        way, expected = choose_way(moved, link_rates(), self._factors(pull).known)
        side.prepare(way)
        return Choice(way, moved[way], expected)

    def note(self, choice: Choice, pull: bool, seconds: float) -> None:
        """Record the duration of a superstep, for the next choice on this graph."""
        if choice.expected and choice.moved:
            by_rate = choice.moved / link_rates().of(choice.way)
            self._factors(pull).note(choice.way, seconds / by_rate)

    def superstep(self, kernel: Kernel, choice: Choice) -> Any:
        """Run one superstep, sending messages range by range of rows as these arrive; return its record."""
        run, report = self._run, self._run.buffers.report
        run.point_at_messages(kernel)
        clear_counters(report, all_of_them=True)

        def send_rows(first: int, last: int) -> None:
            run.start_kernel(kernel, "send_rows", 1, np.int64(first), np.int64(last))
            if not kernel.pull:  # a pull has no barrier, and no lists
                clear_counters(report, all_of_them=False)

        self._send(kernel, choice, send_rows)
        run.start_kernel(kernel, "run", 1)
        return run.read_record()

    def _send(self, kernel: Kernel, choice: Choice, launch: Callable[[int, int], None]) -> None:
        """Send the messages of a superstep; ``launch(first, last)`` sends those of the rows set in the arguments."""
        pull, graph = kernel.pull, self._run.on_device
        side, record = self._side(pull), self._run.arguments["G"][0]
        offsets, *arrays = _NAMES[pull]
        places = dict(zip(("targets", "weights"), arrays, strict=True))
        ids, compact = self._active_rows(side) if choice.way == "gathered" else (None, None)
        pieces = side.whole if pull or self._run.always or ids is not None else self._active_pieces(side)

        def as_it_lies() -> None:
            for name in (offsets, *arrays, "classes"):
                record[name] = graph.record[0][name]

        def one(piece: Piece, where: dict[str, int]) -> None:
            as_it_lies()
            for name, at in where.items():
                record[places[name]] = at
            if where and compact is not None:
                record[offsets] = address(compact)
            record["classes"] = np.clip(graph.record[0]["classes"], piece.first, piece.last)
            launch(piece.first, piece.last)

        try:
            with side.buffers.lock:
                one(Piece(0, side.first, 0, 0), {})  # while the first piece is on its way
                if ids is not None:
                    side.send_gathered(ids, one)
                else:
                    side.send_pages(pieces, one)
        except BaseException:
            side.buffers.wait()
            raise
        finally:
            as_it_lies()

    def _side(self, pull: bool) -> RowPieces:
        return self._run.on_device.row_pieces(pull, self._run.known.weights)

    def _moved(self, pull: bool) -> dict[Way, int]:
        """The bytes moved by each way that could win."""
        run, side = self._run, self._side(pull)
        if pull:
            if run.analysis.vote or run.analysis.wants is not None:
                return {"in place": 0}  # rows end early or are skipped, so the bytes are known only afterwards
            return {"in place": self._packed_bytes(side) or side.on_host, "pages": side.on_host}
        if run.high_diameter:
            return {"in place": 0}  # supersteps are fused
        stats = run.stats
        moved = bytes_of_push(stats.frontier, stats.out_degree, run.graph.num_arcs, side.on_host)
        if self._by_arc or not side.can_gather:
            del moved["gathered"]
        return moved

    @property
    def _by_arc(self) -> bool:
        """Whether the program has edge values, whose indices do not match those of gathered rows."""
        return bool(self._run.ir.edge_fields or self._run.ir.edge_params)

    def _packed_bytes(self, side: RowPieces) -> int:
        packed = self._run.packed_rows
        if packed is None:
            return 0
        behind = len(side.rows.targets) - int(side.offsets[packed.end])
        return int(packed.words.nbytes + behind * side.rows.targets.itemsize)

    def _factors(self, pull: bool) -> WayFactors:
        run = self._run
        return run.on_device.ways.setdefault((run.known, pull, run.options.packed), WayFactors())

    def _active_pieces(self, side: RowPieces) -> list[Piece]:
        """The pieces that hold a row of the frontier."""
        import cupy

        begins = cupy.asarray([piece.first for piece in side.whole], side.rows.targets.dtype)
        numbers = cupy.searchsorted(begins, self._run.frontier(), side="right")  # 0: before the first one
        active = cupy.unique(numbers).tolist() if len(side.whole) else []
        return [side.whole[number - 1] for number in active if number]

    def _active_rows(self, side: RowPieces) -> tuple[Any, Any]:
        """The rows on the host that are to be pushed, and where each begins among their arcs, by vertex."""
        import cupy

        run, n = self._run, self._run.graph.num_vertices
        lengths = cupy.diff(side.rows.offsets)
        if not run.always:
            member = cupy.zeros(n, cupy.bool_)
            member[run.frontier()] = True
            lengths *= member
        lengths[: side.first] = 0
        compact = cupy.zeros(n + 1, side.rows.offsets.dtype)
        cupy.cumsum(lengths, out=compact[1:], dtype=compact.dtype)
        return cupy.flatnonzero(lengths).get(), compact


def clear_counters(report: Any, *, all_of_them: bool) -> None:
    """Before a launch, clear the barrier counters and the lists of long rows; before a superstep, everything."""
    if all_of_them:
        report.data.memset_async(0, HEAD_BYTES)
        return
    for begin, size in (ARRIVALS, ROW_LISTS):
        (report.data + begin).memset_async(0, size)
