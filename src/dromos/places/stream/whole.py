"""Stores that a budget holds whole: when they are read into memory, and what a run takes there.

In memory, a run has the fused kernels of the engine, and the next call on the same opened graph reads nothing. But a
search may need a thousandth of the pages. So the graph is read at once only if it is small, if the run begins with all
of its rows, or if earlier runs have read half as much. Otherwise a run begins over pages, and moves into memory once it
has lost as much time over pages as reading the rest would take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from dromos.codegen.facts import is_always_active
from dromos.compiling import Stopwatch
from dromos.engines import Engine, Execution, graph_types
from dromos.engines.cpu.initial import without_large_arrays
from dromos.engines.saving import ResumableExecution, state_of
from dromos.graph import Graph
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.stored import StoredGraph
from dromos.graph.store.whole import bytes_on_disk, read_whole, whole_bytes
from dromos.graph.summary import human_bytes
from dromos.places.stream.free_memory import release_free_memory
from dromos.plan import Stats
from dromos.program import GraphTypes, Program, TypedProgram, analyse
from dromos.program.expr import TRUE
from dromos.program.forms import is_offered, is_ordered
from dromos.sizes import available_memory

if TYPE_CHECKING:
    from dromos.places.stream.execution import StreamExecution
    from dromos.places.stream.feed import PageFeed

__all__ = ["Derived", "Mover", "Reading", "WholeGraphs", "begins_with_all", "gathers", "over_pages", "run_bytes"]

_SMALL: Final = 32 << 20  # bytes of a file: read within some 20 ms
FIXED: Final = 24 << 20  # what does not grow with the graph: counters, levels, tables of each thread
# Per vertex, in ids: the frontier, the next one, marks and lists; and the bins of delta-stepping.
_LISTS: Final = 6
_BINS: Final = 34
_MARKS: Final = 12  # bytes
# Per arc: arcs sorted by blocks, which are kept with the graph, and while they are sorted.
_KEPT_BLOCK_BYTES: Final = 4
BLOCK_BYTES: Final = 7
# A superstep over pages costs as much as reading so many bytes.
_SUPERSTEP_BYTES: Final = 1 << 20
# What a move costs beyond what is read: copies of states and offsets, in bytes per vertex.
_MOVING_BYTES: Final = 48


_over_pages = False


@contextmanager
def over_pages() -> Iterator[None]:
    """Run over pages inside this context whatever the budget: to measure that, or to have those kernels on disk."""
    global _over_pages
    before, _over_pages = _over_pages, True
    try:
        yield
    finally:
        _over_pages = before


class Reading(NamedTuple):
    """A graph that was read into memory, for the trace."""

    bytes: int
    seconds: float
    reason: str


class Derived(NamedTuple):
    """What a run may derive from the graph and leave with it."""

    kind: str
    bytes: int
    reserved: int
    """The bytes of this kind that the run's own needs include: it makes them, unless an earlier run has left them."""


class WholeGraphs:
    """Reads graphs into memory for ``engine``."""

    def __init__(
        self,
        engine: Engine,
        opener: Callable[[Origin], ByteSource],
        progress: Callable[[int, int], Any] | None = None,
    ) -> None:
        self.engine, self._opener, self._progress = engine, opener, progress
        self.superstep = 0
        """How many supersteps the run had over pages, for progress reports: they never go back."""
        self.readings: list[Reading] = []

    def reporting_to(self, progress: Callable[[int, int], Any] | None) -> WholeGraphs:
        """The same for a call with this progress function."""
        return WholeGraphs(self.engine, self._opener, progress)

    def spare(self, stored: StoredGraph, budget: int | None, held: int, *, weights: bool) -> int | None:
        """The bytes that ``budget`` leaves beside the graph and ``held``; None if it has no room for these."""
        if _over_pages:
            return None
        kept = stored.kept_graph.nbytes
        memory = (available_memory() + kept) // 2 if budget is None else budget
        room = memory - held - FIXED
        if room < stored.num_arcs * stored.targets.itemsize:
            return None
        room -= whole_bytes(stored, weights=weights)
        return room if room >= 0 else None

    def is_due(self, stored: StoredGraph, *, weights: bool) -> bool:
        """Whether the graph is in memory, or is to be read now."""
        kept, size = stored.kept_graph, bytes_on_disk(stored, weights=weights)
        return size <= _SMALL or 2 * kept.bytes_read >= size or kept.view_of(stored, weights=weights) is not None

    def graph(
        self,
        stored: StoredGraph,
        spare: int,
        *,
        weights: bool,
        derived: Derived | None = None,
        known: Mapping[str, PagedRows] | None = None,
    ) -> Graph:
        """The graph in memory, for a run that leaves ``spare`` bytes of its budget; ``known``: see :func:`read_whole`.

        What earlier runs have left with the graph is released if there is no room for it.
        """
        with stored.kept_graph.turn:
            return self._graph(stored, spare, weights=weights, derived=derived, known=known)

    def _graph(
        self,
        stored: StoredGraph,
        spare: int,
        *,
        weights: bool,
        derived: Derived | None,
        known: Mapping[str, PagedRows] | None,
    ) -> Graph:
        stored.make_room(keep_graph=True)
        kept = stored.kept_graph
        reserved = {} if derived is None else {derived.kind: derived.reserved}
        if sum(max(0, size - reserved.get(kind, 0)) for kind, size in kept.derived.items()) > spare:
            kept.forget_derived()
        found = kept.view_of(stored, weights=weights)
        if found is None:
            stored.make_room()
            release_free_memory()
            clock = Stopwatch()
            read = read_whole(stored, weights=weights, opener=self._opener, known=known, told=self._tell)
            told = f"memory= holds the graph ({human_bytes(kept.nbytes)}): all of it is read, once"
            self.readings.append(Reading(read, clock.seconds(), told))
            found = kept.view_of(stored, weights=weights)
        assert found is not None
        if derived is not None:
            kept.derived[derived.kind] = max(kept.derived.get(derived.kind, 0), derived.bytes)
        return found

    def _tell(self, done: int, total: int) -> None:
        if self._progress is None:
            return
        self._progress(self.superstep, 0)
        if hasattr(self._progress, "note"):
            self._progress.note(f"{human_bytes(done)} of {human_bytes(total)} read")


@dataclass(frozen=True)
class Mover:
    """Moves a run over pages into memory, which has room for it."""

    whole: WholeGraphs
    program: Program
    stored: StoredGraph
    spare: int
    weights: bool

    def pays(self, execution: StreamExecution, stats: Stats) -> bool:
        """Whether the run has lost as much over pages as moving it costs."""
        pager = execution.feed.pager
        lost = stats.superstep * _SUPERSTEP_BYTES
        moving = self.stored.num_vertices * _MOVING_BYTES
        if lost + pager.bytes_read < moving:
            return False
        whole, missing = execution.feed.whole_bytes()
        again = max(0, pager.bytes_read + missing - whole)
        return lost + again >= moving + missing

    @property
    def is_due(self) -> bool:
        """Whether to run in memory from the start."""
        return self.whole.is_due(self.stored, weights=self.weights)

    def prepare(self, feed: PageFeed | None = None) -> Execution:
        """The program in its initial state in memory, where the pages of a closed ``feed`` stay."""
        known = None if feed is None else feed.rows_by_prefix()
        derived, arcs = None, self.stored.num_arcs
        if gathers(self.program, graph_types(self.stored)):
            derived = Derived("sorted arcs", _KEPT_BLOCK_BYTES * arcs, BLOCK_BYTES * arcs)
        graph = self.whole.graph(self.stored, self.spare, weights=self.weights, derived=derived, known=known)
        with without_large_arrays(self.stored.num_vertices):
            return self.whole.engine.prepare(self.program, graph)

    def move(self, execution: StreamExecution) -> Execution:
        """A run over pages in memory, where it continues."""
        state, stats, feed = state_of(execution, self.stored), execution.stats, execution.feed
        execution.close()
        self.whole.superstep = stats.superstep
        found = cast(ResumableExecution, self.prepare(feed))
        found.restore(state, replace(stats, read=0, push_read=None, pull_read=None, push_cost=None, pull_cost=None))
        return found


def gathers(program: Program, types: GraphTypes) -> bool:
    """Whether a program may have its arcs sorted."""
    typed = program.typed(types)
    analysis = analyse(typed)
    return is_offered(typed.ir, analysis) and is_always_active(typed.ir, analysis)


def begins_with_all(typed: TypedProgram) -> bool:
    """Whether the first superstep reads all rows."""
    return typed.ir.start is TRUE


def run_bytes(program: Program, types: GraphTypes, num_vertices: int, num_arcs: int) -> int:
    """What the CPU's engine takes beside the graph, at most: fields, their copies, messages, the frontier and lists.

    >>> import dromos as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> run_bytes(BFS(source=0), GraphTypes(np.dtype(np.int32), None), 1000, 9000) // 1000
    64
    """
    typed = program.typed(types)
    analysis = analyse(typed)
    size = types.id.itemsize
    sizes = {spec.name: typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in typed.ir.fields}
    row = sum(each * (2 + (name in typed.ir.tables)) for name, each in sizes.items())
    row += 3 * typed.message_bytes + size * _LISTS + _MARKS
    if is_ordered(typed, analysis):
        row += size * _BINS
    arc = sum(typed.dtype(spec.name).itemsize * (spec.size or 1) for spec in typed.ir.edge_fields)
    if gathers(program, types):
        arc += BLOCK_BYTES
    given = sum(int(values.nbytes) for values in program.params.values() if np.ndim(values) and all(values.strides))
    return num_vertices * row + num_arcs * arc + given
