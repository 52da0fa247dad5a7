"""What the ranks of a cluster tell each other in a superstep, by MPI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np

from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines.array_part import ArrayPart
from dromos.engines.board import Board, PostingPart, can_post, posted_range
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.device_part import CopiesThere, DevicePart
from dromos.engines.parts import Copies, Part, Partial, Phase, fold_reductions, merge_partials
from dromos.places.cluster.boxes import SLOT, WORD, Boxes
from dromos.places.cluster.collectives import gather_all
from dromos.places.cluster.host_memory import HostMemory
from dromos.places.cluster.packing import num_rows, pack_copies, pack_messages, unpack_copies, unpack_messages
from dromos.places.cluster.transport import DeviceTransport
from dromos.places.cluster.world import in_place
from dromos.program import TypedProgram

__all__ = ["MpiExchange"]

_TEXT: Final = 240  # bytes of an overflow's text


class MpiExchange:
    """One part per rank; ``ranges[r]`` are the first and the last vertex of rank ``r`` of ``comm``, without the last.

    Every rank calls the same methods in the same order. What a rank decides from is the same everywhere: the partial
    results of all ranks, merged in the order of the ranks. ``host``: where all ranks run on one machine, the memory
    that they share. ``devices``: where parts lie on GPUs, how these tell each other without the host.
    """

    in_grid = False

    def __init__(
        self,
        comm: Any,
        ranges: Sequence[tuple[int, int]],
        num_vertices: int,
        typed: TypedProgram,
        ids: np.dtype[Any],
        host: HostMemory | None = None,
        devices: DeviceTransport | None = None,
    ) -> None:
        self._devices = devices
        self._comm, self._ranges, self._typed, self._ids, self._host = comm, list(ranges), typed, ids, host
        self._num_vertices = num_vertices
        self._board: Board | None = None
        self._kind = _record(typed)
        self._slots = np.zeros((comm.Get_size(), SLOT), dtype=np.uint8)
        self._rank, self._size = comm.Get_rank(), comm.Get_size()
        # on a tiny graph one rank may own all vertices: nobody else has any that would need to know of them
        self._alone = self._size == 1 or any(last - first == num_vertices for first, last in self._ranges)
        self.sent_bytes = 0
        """Bytes that this rank has sent to others so far; what it wrote once, for all to read, is counted once."""
        self.seconds = 0.0
        """Of this rank in :meth:`refresh` and :meth:`deliver` since the last :meth:`reduce`."""
        self.split = (0.0, 0.0)
        """Of the last superstep: the seconds that the slowest rank computed, and those that the exchange took on the
        rank that waited least there. About what the superstep took, together."""

    # ---- the interface ---------------------------------------------------------------------------------------------

    def refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        clock = Stopwatch()
        self._refresh(parts, phase)
        self.seconds += clock.seconds()

    def _refresh(self, parts: Sequence[Part], phase: Phase) -> None:
        (part,) = parts
        # one board for all costs nothing; copies of all of it are worth it where all of it changes
        on_board = isinstance(part, ArrayPart) and (self._host is not None or part.always)
        if phase == "pull" and on_board and not self._alone and can_post(parts):
            self._post(parts[0])
            return
        if self._devices is not None and not self._alone:
            there = cast(DevicePart, part).copies_there(phase)
            if there is not None:
                self._share_there(cast(DevicePart, part), there, self._devices)
                return
        own = None if self._alone else part.copies(phase)
        if own is None:
            return
        if phase in ("pull", "sources") and isinstance(part, ArrayPart) and part.always:  # so on every rank
            self._swap_rows([part.state[name] for name in own.fields], self._ranges)
            return
        if own.marks is not None and not own.fields:
            self._swap_marks(part, own.marks)
            return
        for rank, data in enumerate(self._to_all(pack_copies(own, self._ids))):
            if rank != self._rank:
                part.refresh(self._copies_of(rank, data, own))

    def deliver(self, parts: Sequence[Part]) -> None:
        """See :class:`dromos.places.exchange.Exchange`."""
        if self._size == 1:
            return
        (part,) = parts
        part.wait()  # what the kernels still take is no time of the exchange
        clock = Stopwatch()
        boxes = Boxes(self._comm, self._slots)
        values: tuple[Array, ...] = ()
        empty: Array | None = None
        for rank in range(self._size):
            if rank == self._rank:
                continue
            messages = part.outbox(*self._ranges[rank])
            values = messages.values
            if messages.ids is None or len(messages.ids):
                boxes.send(rank, pack_messages(messages))
            else:  # most boxes of a thin frontier
                empty = pack_messages(messages) if empty is None else empty
                boxes.send(rank, empty)
        first, last = self._ranges[self._rank]
        for data in boxes.received():
            if num_rows(data):
                part.inbox(unpack_messages(data, first, last, self._ids, values))
        self.sent_bytes += boxes.sent_bytes
        self.seconds += clock.seconds()

    def reduce(self, partials: Sequence[Partial], typed: TypedProgram) -> Partial:
        """See :class:`dromos.places.exchange.Exchange`."""
        (own,) = partials
        if self._size == 1:
            return merge_partials(partials, typed)
        kind = self._kind
        record = np.zeros(1, dtype=kind)
        record["counts"] = own.frontier, own.out_degree, own.in_degree, own.messages, own.sent
        record["seconds"] = own.seconds, self.seconds
        self.seconds = 0.0
        record["overflow"] = own.overflow.encode()[:_TEXT]
        record["reduced"] = bool(own.reductions)
        for number, value in enumerate(own.reductions):
            record[f"r{number}"] = value
        everyone = np.empty(self._size, dtype=kind)
        self._comm.Allgather(record.view(np.uint8), everyone.view(np.uint8))
        frontier, out_degree, in_degree, messages, sent = everyone["counts"].sum(axis=0).tolist()
        overflow = next((text.decode(errors="ignore") for text in everyone["overflow"].tolist() if text), "")
        reductions: tuple[Any, ...] = ()
        if bool(everyone["reduced"].all()):
            columns = [np.ascontiguousarray(everyone[f"r{i}"]) for i in range(len(typed.ir.reductions))]
            reductions = fold_reductions(typed, columns)
        whole, exchanging = everyone["seconds"].T
        self.split = float((whole - exchanging).max()), float(exchanging.min())
        seconds = float(whole.max())
        return Partial(frontier, out_degree, in_degree, messages, reductions, overflow, seconds, sent)

    def largest(self, values: Sequence[float]) -> float:
        """See :class:`dromos.places.exchange.Exchange`."""
        own, everyone = np.array([max(values)]), np.empty(self._size)
        self._comm.Allgather(own, everyone)
        return float(everyone.max())

    def gather(self, parts: Sequence[Part], name: str, *, edges: bool = False) -> Array:
        """See :class:`dromos.places.exchange.Exchange`; every rank gets the whole field."""
        (part,) = parts
        own = part.edge_state[name] if edges else part.state[name][part.first : part.last]
        own = np.ascontiguousarray(own)
        counts = self._comm.allgather(len(own))
        width = own.nbytes // len(own) if len(own) else own.dtype.itemsize * int(np.prod(own.shape[1:], dtype=np.int64))
        whole = reused_empty((sum(counts), *own.shape[1:]), own.dtype)
        sizes = [count * width for count in counts]
        gather_all(self._comm, own.reshape(-1).view(np.uint8), whole.reshape(-1).view(np.uint8), sizes)
        return whole

    def _post(self, part: PostingPart) -> None:
        """Messages that depend on their source alone: each is made by its owner, and read by all from one board."""
        if self._board is None:
            rows = [(self._num_vertices, dtype) for dtype in self._typed.accumulators]
            here = [part.board_rows(*row) for row in rows] if self._host is None else self._host.arrays(rows)
            self._board = Board(here)
        part.post_offers(self._board)
        posted = [posted_range(cast(ArrayPart, part).shape.offsets, first, last) for first, last in self._ranges]
        if self._host is None:
            self._swap_rows(self._board.arrays, [(rows.start, rows.stop) for rows in posted])
        else:
            own = posted[self._rank]
            self.sent_bytes += (own.stop - own.start) * sum(array.itemsize for array in self._board.arrays)
            # nobody writes to it again before all have read it: the partial results are told in between
            self._comm.Barrier()

    def _swap_rows(self, arrays: Sequence[Array], ranges: Sequence[tuple[int, int]]) -> None:
        """Rows of every rank, straight into the fields: where all vertices are always active, all ranks do so."""
        for array in arrays:
            width = array.strides[0]
            sizes = [(last - first) * width for first, last in ranges]
            starts = [first * width for first, _ in ranges]
            gather_all(self._comm, in_place(), array.reshape(-1).view(np.uint8), sizes, starts)
            self.sent_bytes += (self._size - 1) * sizes[self._rank]

    def _swap_marks(self, part: Part, marks: Array) -> None:
        """All frontiers as bits: everyone knows how many, so one operation does it."""
        words = self._words_of_marks()
        whole = np.empty(sum(words), dtype=np.uint64)
        self._comm.Allgatherv(np.ascontiguousarray(marks), [whole, words])
        self._take_marks(part, whole, words, marks.nbytes)

    def _words_of_marks(self) -> list[int]:
        return [-(-last // 64) - first // 64 for first, last in self._ranges]

    def _take_marks(self, part: Part, whole: Any, words: Sequence[int], sent: int) -> None:
        self.sent_bytes += (self._size - 1) * sent
        ends = np.cumsum([0, *words])
        for rank, (first, last) in enumerate(self._ranges):
            if rank != self._rank and last > first:
                part.refresh(Copies(first, last, None, {}, active=True, marks=whole[ends[rank] : ends[rank + 1]]))

    def _share_there(self, part: DevicePart, there: CopiesThere, devices: DeviceTransport) -> None:
        """As :meth:`_swap_rows` and :meth:`_swap_marks`, from device to device."""
        for array in there.fields:
            width = array.strides[0]
            sizes = [(last - first) * width for first, last in self._ranges]
            devices.share(array, sizes, [first * width for first, _ in self._ranges])
            self.sent_bytes += (self._size - 1) * sizes[self._rank]
        if there.marks is None:
            return
        words = self._words_of_marks()
        starts = np.cumsum([0, *words]).tolist()
        whole = part.room_for_marks(there.marks, starts[self._rank], starts.pop())
        devices.share(whole, [8 * count for count in words], [8 * start for start in starts])
        self._take_marks(part, whole, words, there.marks.nbytes)

    # ---- bytes -----------------------------------------------------------------------------------------------------

    def _copies_of(self, rank: int, data: Array, like: Copies) -> Copies:
        first, last = self._ranges[rank]
        return unpack_copies(data, first, last, self._ids, like.fields, active=like.active)

    def _to_all(self, data: Array) -> list[Array]:
        """The bytes of every rank, in the order of the ranks; in one operation where all of them are few."""
        slot = _slot(data)
        slots = np.empty((self._size, SLOT), dtype=np.uint8)
        self._comm.Allgather(slot, slots)
        sizes = slots[:, :WORD].copy().view(np.int64).ravel().tolist()
        self.sent_bytes += (self._size - 1) * len(data)
        if max(sizes) <= SLOT - WORD:
            return [slots[rank, WORD : WORD + size].copy() for rank, size in enumerate(sizes)]
        whole = np.empty(sum(sizes), dtype=np.uint8)
        gather_all(self._comm, data, whole, sizes)
        ends = np.cumsum([0, *sizes])
        return [whole[ends[rank] : ends[rank + 1]] for rank in range(self._size)]


def _slot(data: Array) -> Array:
    """The size of ``data`` and, where it fits behind that, ``data`` itself."""
    slot = np.zeros(SLOT, dtype=np.uint8)
    slot[:WORD].view(np.int64)[0] = len(data)
    if len(data) <= SLOT - WORD:
        slot[WORD : WORD + len(data)] = data
    return slot


def _record(typed: TypedProgram) -> np.dtype[Any]:
    reductions = [(f"r{i}", typed.reduction_type(spec.name)) for i, spec in enumerate(typed.ir.reductions)]
    return np.dtype(
        [
            ("counts", np.int64, 5),
            ("seconds", np.float64, 2),
            ("reduced", np.bool_),
            ("overflow", f"S{_TEXT}"),
            *reductions,
        ]
    )
