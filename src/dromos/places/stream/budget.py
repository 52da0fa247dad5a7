"""How the memory of a run is divided: fields and offsets first, then buffers, and cached pages with the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dromos.codegen.facts import is_always_active, keeps_old_rows
from dromos.errors import ResourceError
from dromos.graph.store.paged.pager import Room, unpacking_bytes
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.summary import enough_bytes, human_bytes
from dromos.program import GraphTypes, Program, analyse
from dromos.program.expr import reads
from dromos.program.forms import is_offered

__all__ = [
    "WORK_SHARE",
    "MemoryPlan",
    "OperatorRoom",
    "by_edge_bytes",
    "operator_room",
    "plan_memory",
    "plan_operator",
    "plan_rows",
    "state_bytes",
]

# A window costs the host about a millisecond, whatever its size, so buffers grow with everything else.
_BUFFERS: Final = 64 << 20
_BUFFER_SHARE: Final = 8  # a divisor of the budget, used if that gives more
LEAST_BUFFER_SHARE = 16  # a divisor of fields and offsets, the minimum: with a few pages a run takes ten times as long
_SHELF_SHARE: Final = 4  # a divisor of the possible cache: rows without their pages are worth many times their bytes
_BUFFER_WINDOWS: Final = 4  # one is computed on while the others are read
# What a leaf holds beside fields and messages. The CPU: four marks, and lists of ids (vertices with a message, in
# pieces and sorted; the frontier; the next frontier; vertices that want a message). If all vertices are always active
# and updated, only a lock of each, for pushes. NumPy: temporary arrays of 8 bytes.
_MARKS: Final = {"cpu": 4, "numpy": 72, "reference": 400}
_LOCKS: Final = 1
_LISTS: Final = {"cpu": 5}
_CLAIM_MARKS: Final = 1  # four bitmaps
_CLAIM_LISTS: Final = 3  # the frontier, the next frontier, vertices that want a message
# What does not grow with the vertices: temporary arrays; for a GPU, pinned memory for what is copied there.
_FIXED: Final = {"cpu": 2 << 20, "numpy": 24 << 20, "cuda": 112 << 20}
_DEVICE_LISTS: Final = 4  # ids that the host holds for a GPU: active vertices, and those that want a message

# Operators: per vertex, counts or two labels, degrees and sums of them; per arc of a block, NumPy's temporary arrays;
# per arc that is held, its id.
_OPERATOR_VERTEX: Final = 40
_BLOCK_ARC: Final = 80
_HELD_ARC: Final = 8
_LEAST_BLOCK: Final = 1 << 20
# With weights: sums, and degrees of several kinds; per arc that is held, a number too; and the marks of each thread, a
# number per vertex.
_WEIGHING_VERTEX: Final = 64
_WEIGHING_HELD_ARC: Final = 16
_WEIGHING_THREAD: Final = 8
# With one result row per edge: per vertex, its degree, and twice the start of its row and its first edge; while rows
# are made from the previous ones, their lengths and sums of these.
_BY_EDGE_VERTEX: Final = 96

_LEAST_WORK: Final = 2 << 20
"""The least bytes for the working data of a kernel that reads the rows of some vertices."""
WORK_SHARE: Final = 4
"""A divisor of the budget for the same, used if that gives more."""


@dataclass(frozen=True)
class MemoryPlan:
    """The bytes of a run."""

    memory: int
    state: int
    graph: int
    """What the graph itself holds in memory: row offsets, and labels that were asked for."""
    tables: int
    """Metadata of pages, and the buffers from which packed pages are unpacked."""
    room: Room
    shelf: int = 0
    """Bytes for the rows of vertices that a traversal has not settled yet."""

    def __str__(self) -> str:
        parts = {"fields": self.state, "graph": self.graph, "buffers": self.room.buffers, "cache": self.room.cache}
        return ", ".join(f"{name} {human_bytes(size)}" for name, size in parts.items())


def state_bytes(
    program: Program, types: GraphTypes, leaf: str, num_vertices: int, num_arcs: int, *, claims: bool
) -> int:
    """The bytes of a leaf engine for the fields of a program, merged messages, the frontier and intermediate data.

    ``claims``: vertices are written in place, as :class:`dromos.engines.cpu.claiming_part.ClaimingPart` does.
    """
    typed = program.typed(types)
    written = analyse(typed).written_fields
    sizes = {spec.name: typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in typed.ir.fields}
    if leaf == "cuda":  # fields are on the device, and come back as the result
        return num_vertices * (sum(sizes.values()) + types.id.itemsize * _DEVICE_LISTS)
    if claims:
        row = sum(sizes.values()) + _CLAIM_MARKS + types.id.itemsize * _CLAIM_LISTS
    else:
        if leaf == "cpu" and not keeps_old_rows(typed.ir) and not typed.ir.edge_fields:
            written = frozenset()
        row = sum(size * (1 + (name in written) + (name in typed.ir.tables)) for name, size in sizes.items())
        offers = leaf == "cpu" and is_offered(typed.ir, analyse(typed))
        everyone = leaf == "cpu" and is_always_active(typed.ir, analyse(typed)) and typed.ir.update_on == "all"
        marks, lists = (_LOCKS, 0) if everyone else (_MARKS[leaf], _LISTS.get(leaf, 0))
        row += typed.message_bytes * (2 if offers else 1) + marks + types.id.itemsize * lists
    if reads(typed.ir.exprs(), "in_degree"):
        row += 4
    arcs = sum(typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in typed.ir.edge_fields)
    given = sum(int(values.nbytes) for values in program.params.values() if np.ndim(values) and all(values.strides))
    return num_vertices * row + num_arcs * arcs + given


@dataclass(frozen=True)
class OperatorRoom:
    """An operator's part of a run's memory: its total bytes, and the most arcs of its blocks and of what it holds."""

    bytes: int
    block_arcs: int
    held_arcs: int
    threads: int


def by_edge_bytes(num_edges: int, id_bytes: int) -> int:
    """The working memory for a result with one row per edge: per edge, both arcs, a count, the edge index of one of the
    arcs, a list of edges, and a mark. The result itself, two ids and a number of 8 bytes, takes less.

    >>> by_edge_bytes(1000, 4)
    21000
    """
    name_bytes = 4 if num_edges < np.iinfo(np.int32).max else 8
    return num_edges * (3 * id_bytes + 2 * name_bytes + 1)


def operator_room(
    memory: int,
    num_vertices: int,
    longest_row: int,
    leaf: str,
    threads: int,
    *,
    weighing: bool = False,
    by_edge: bool = False,
) -> OperatorRoom:
    """A quarter of the memory for rows that are held, an eighth for a block, which has at least one whole row.

    ``weighing``: rows have weights, and an eighth limits the number of threads, which is at least one.
    ``by_edge``: all rows are held, outside this room.

    >>> operator_room(1 << 30, 1000, 10, "cpu", 2).held_arcs >> 20
    32
    >>> operator_room(1 << 30, 1 << 22, 10, "cpu", 16, weighing=True).threads
    4
    """
    block = max(memory // 8, _LEAST_BLOCK, longest_row * _BLOCK_ARC)
    held = 0 if by_edge else max(memory // 4, _LEAST_BLOCK)
    each = (_BY_EDGE_VERTEX if by_edge else _OPERATOR_VERTEX) + _MARKS[leaf]
    if weighing:
        threads = max(1, min(threads, memory // 8 // max(_WEIGHING_THREAD * num_vertices, 1)))
        each = _WEIGHING_VERTEX + _MARKS[leaf] + _WEIGHING_THREAD * threads
    held_arcs = held // (_WEIGHING_HELD_ARC if weighing else _HELD_ARC)
    return OperatorRoom(num_vertices * each + block + held, block // _BLOCK_ARC, held_arcs, threads)


def plan_memory(
    memory: int,
    state: int,
    graph: Mapping[str, int],
    rows: Sequence[PagedRows],
    *,
    leaf: str = "cpu",
    shelf: bool = False,
    held: str = "the fields of the vertices",
    answer: int = 0,
    later: str = "",
) -> MemoryPlan:
    """Divide ``memory`` bytes; if they are too few for a run at any speed, refuse with what is needed.

    ``graph``: what the graph itself holds in memory, by name (:meth:`StoredGraph.held_bytes`). ``shelf``: some of the
    memory is for rows that are kept without their pages. ``held``: what the state is. ``answer``: bytes of a result
    with one row per edge, which count as state from here on. ``later``: for the message, further needs that become
    known only during the run.
    """
    tables = sum(part.table_bytes + 6 * part.num_pages + unpacking_bytes(part) for part in rows)
    block = max(part.block_pages * part.page_bytes for part in rows)
    of_graph, every = sum(graph.values()), 2 * max(part.num_pages * part.page_bytes for part in rows) + block
    least = min(max(_BUFFER_WINDOWS * block, (state + answer + of_graph) // LEAST_BUFFER_SHARE), every)
    fixed = state + answer + of_graph + tables + _FIXED.get(leaf, 0)
    if memory < fixed + least:
        by_edge = f"{human_bytes(answer)} for an answer with one row per edge, " if answer else ""
        by_graph = "".join(f"{human_bytes(size)} for {name}, " for name, size in graph.items())
        raise ResourceError(
            f"memory={human_bytes(memory)} is too little: this run needs {enough_bytes(fixed + least)} "
            f"({by_edge}{human_bytes(state)} for {held}, {by_graph}"
            f"{human_bytes(fixed + least - state - answer - of_graph)} for buffers){later}; the graph itself "
            "stays on disk",
            needed=fixed + least,
        )
    state += answer
    rest = memory - fixed
    buffers = max(least, min(rest // 3, max(_BUFFERS, memory // _BUFFER_SHARE)))
    shelved = (rest - buffers) // _SHELF_SHARE if shelf else 0
    return MemoryPlan(memory, state, of_graph, tables, Room(buffers, rest - buffers - shelved), shelved)


def plan_operator(
    memory: int,
    room_in: Callable[[int], OperatorRoom],
    graph: Mapping[str, int],
    rows: Sequence[PagedRows],
    leaf: str,
    *,
    answer: int = 0,
) -> tuple[MemoryPlan, OperatorRoom]:
    """As :func:`plan_memory`, for an operator: tries the most of ``room_in(memory)``, half of that and so on.

    So it is refused only if the least room does not fit, and the error reports that.
    """
    share = memory
    while True:
        room = room_in(share)
        try:
            return plan_memory(memory, room.bytes, graph, rows, leaf=leaf, answer=answer), room
        except ResourceError:
            if share == 0:
                raise
            share //= 2


def plan_rows(
    memory: int, state: int, graph: Mapping[str, int], rows: Sequence[PagedRows], later: str = ""
) -> tuple[MemoryPlan, int]:
    """As :func:`plan_memory`, for a kernel that reads the rows of some vertices; also returns its working bytes."""
    plan = plan_memory(memory, state + _LEAST_WORK, graph, rows, held="what is computed", later=later)
    more = min(max(memory // WORK_SHARE - _LEAST_WORK, 0), plan.room.cache // 2)
    room = Room(plan.room.buffers, plan.room.cache - more)
    return replace(plan, state=plan.state + more, room=room), _LEAST_WORK + more
