"""The place of graphs that stay on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from dromos.compiling import Stopwatch, note_kernels_are_loaded
from dromos.dtypes import Array
from dromos.engines import Engine, Execution, GraphLike, NativeKernel, check_params, graph_types
from dromos.engines.cpu.claiming_part import ClaimingPart
from dromos.engines.cpu.general_part import CpuPart
from dromos.engines.cpu.initial import without_large_arrays
from dromos.engines.direction import along, refuse_direction
from dromos.engines.parts import Leaf
from dromos.errors import ResourceError
from dromos.graph.slices import GraphSlice
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import ByteSource
from dromos.graph.store.paged.pager import Pager
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.stripes import open_source
from dromos.graph.store.stored import StoredGraph
from dromos.parallel import num_threads
from dromos.places.operators import BY_ARC, BY_EDGE, HOLDING, OPERATORS, WEIGHING, Blocks
from dromos.places.stream.budget import (
    MemoryPlan,
    OperatorRoom,
    by_edge_bytes,
    operator_room,
    plan_memory,
    plan_operator,
    state_bytes,
)
from dromos.places.stream.execution import StreamExecution
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.in_memory import InMemoryRuns
from dromos.places.stream.kept_rows import keeps_rows
from dromos.places.stream.row_kernels import ROW_KERNELS, call_row_kernel
from dromos.places.stream.sorted_rows import SortedRows
from dromos.places.stream.stored_form import StoredForms
from dromos.places.stream.target_kernels import TARGET_KERNELS, TargetReader, is_simple, triangles_of
from dromos.places.stream.whole import Mover, WholeGraphs, begins_with_all
from dromos.plan.path import Direction
from dromos.program import Program, TypedProgram, analyse
from dromos.program.expr import reads
from dromos.program.forms import is_claimed
from dromos.sizes import available_memory

__all__ = ["StreamEngine"]


class StreamEngine(InMemoryRuns):
    """Runs programs on a stored graph within ``memory`` bytes, on a leaf engine.

    Args:
        leaf: the engine that computes programs.
        memory: the budget for everything that the run holds on the host; by default half of the free memory.
        page_bytes: the size of a page of targets; by default 16 KiB.
        opener: opens the file; for tests, one that fails.
        otherwise: runs graphs that were derived from a mapped graph and have no file of their own.
        host: the engine for what is no program; by default the leaf. A leaf on a device runs programs alone.
        whole: the engine for graphs that the budget holds whole; without it, they run over pages too.
        budget: the name of the argument that gives ``memory``, for errors.
    """

    streams = True
    reporting = frozenset({"cores", *OPERATORS})
    """The kernels that report their progress: they take long on a graph on disk."""

    def __init__(
        self,
        leaf: Leaf,
        memory: int | None = None,
        *,
        page_bytes: int | None = None,
        opener: Callable[[Origin], ByteSource] = open_source,
        otherwise: Engine | None = None,
        host: Leaf | None = None,
        whole: Engine | None = None,
        budget: str = "memory",
    ) -> None:
        self._otherwise, self._budget = otherwise, budget
        self._whole = None if whole is None else WholeGraphs(whole, opener)
        self._host = leaf if host is None else host
        self.leaf, self.memory, self.page_bytes, self.opener = leaf, memory, page_bytes, opener
        self._beside = self._answer = 0
        self._used: list[str] = []
        self._in_memory = False
        self._forms, self._graph = StoredForms(), None

    @property
    def name(self) -> str:
        """What computed so far: the leaf, or the engine of the host where no program ran; or all of it in memory."""
        if self._in_memory and not self._used:
            return self.leaf.name
        return f"{' and '.join(self._used or [self.leaf.name])}, streamed"

    def _uses(self, leaf: Leaf) -> None:
        if leaf.name not in self._used:
            self._used.append(leaf.name)

    def for_call(
        self, graph: GraphLike, progress: Callable[[int, int], Any] | None, *, over_pages: bool
    ) -> StreamEngine:
        """A copy for one call of an algorithm. ``over_pages``: also runs over pages if the budget holds the graph."""
        engine = copy(self)
        engine._forms, engine._used, engine._in_memory = StoredForms(), [], False
        engine._graph = engine._forms.of(graph)
        if engine._graph is not None and self._host.name == "cpu":
            note_kernels_are_loaded()  # this call will load some, so compiled code reads the file from its first byte
        engine._whole = None if over_pages or self._whole is None else self._whole.reporting_to(progress)
        return engine

    def hold(self, beside: int, answer: int) -> None:
        """Reserve bytes of the budget for the caller of programs, and for a result with one row per edge."""
        self._beside, self._answer = beside, answer

    def limit(self, memory: int) -> None:
        """Set the budget that a caller's ``memory=`` gives: that of the device, if the leaf is on one."""
        if hasattr(self.leaf, "memory"):
            self.leaf.memory = memory
        else:
            self.memory = memory

    def prepare(self, program: Program, graph: GraphLike) -> Execution:
        """Set up the program in its initial state; pages are read from the first superstep on."""
        if self._otherwise is not None and self._forms.of(graph) is None:
            return self._otherwise.prepare(program, graph)
        stored = self._forms.required(graph)
        if stored.directed or program.ir().edge_params:
            refuse_direction(program, "a stream")
        check_params(program, stored)
        typed = program.typed(graph_types(stored))
        mover = self._mover(program, stored, weights=_reads_weights(typed))
        if mover is not None and (begins_with_all(typed) or mover.is_due):
            self._in_memory = True
            return mover.prepare()
        self._uses(self.leaf)
        return self._prepare_over_pages(along(program, stored)[0], stored, mover)

    def _prepare_over_pages(self, program: Program, stored: StoredGraph, mover: Mover | None) -> StreamExecution:
        stored.make_room()
        check_params(program, stored)
        types = graph_types(stored)
        typed = program.typed(types)
        weighted = _reads_weights(typed)
        prefixes = {"push": stored._prefix, "pull": stored.in_prefix}
        by_prefix: dict[str, PagedRows] = {}
        rows: dict[Direction, PagedRows] = {}
        for direction, prefix in prefixes.items():
            if prefix is None or (direction == "pull" and (typed.ir.edge_fields or typed.ir.edge_params)):
                continue
            if prefix not in by_prefix:
                by_prefix[prefix] = stored.paged_rows(prefix, weights=weighted, page_bytes=self.page_bytes)
            rows[direction] = by_prefix[prefix]  # type: ignore[index]
        memory = available_memory() // 2 if self.memory is None else self.memory

        def plan(*, claims: bool) -> MemoryPlan:
            n, arcs, name = stored.num_vertices, stored.num_arcs, self.leaf.name.partition(":")[0]
            needed = state_bytes(program, types, name, n, arcs, claims=claims) + self._beside
            return plan_memory(
                memory, needed, stored.held_bytes(len(by_prefix)), [*by_prefix.values()],
                leaf=name, shelf=claims and "pull" in rows, answer=self._answer,
            )  # fmt: skip

        with self._named_budget():
            planned = plan(claims=self.leaf.name == "cpu" and is_claimed(typed, analyse(typed)))
        part = self.leaf.part(program, stored, types, 0, stored.num_vertices)
        if isinstance(part, CpuPart):
            part.slices_stay = False
        if not isinstance(part, ClaimingPart):  # a claimed program may start from a vertex that is not claimed
            planned = plan(claims=False)
        offsets: dict[Direction, Array] = {
            direction: stored.row_offsets(prefixes[direction] or "") for direction in rows
        }
        pager = Pager(self.opener(stored.origin), planned.room)
        try:
            feed = PageFeed(pager, rows, offsets)
            if keeps_rows(part):
                feed.keep_on(part)
            if isinstance(part, ClaimingPart) and planned.shelf:
                feed.keep_unsettled(planned.shelf, part.wanting_between, pages=mover is not None)
            if isinstance(part, CpuPart) and part.pulls_sorted:
                value_bytes = sum(dtype.itemsize for dtype in typed.accumulators)
                folder = Path(stored.origin.path).parent if stored.origin.stripes is None else None
                threads, n = part.threads, stored.num_vertices
                feed.sort_cached(SortedRows(n, value_bytes, threads, offsets.get("push"), folder))
            with without_large_arrays(stored.num_vertices):
                return StreamExecution(program, stored, types, part, feed, planned, mover)
        except BaseException:
            pager.close()
            raise

    @contextmanager
    def _named_budget(self) -> Iterator[None]:
        """Let a refusal name the argument that gives the budget."""
        try:
            yield
        except ResourceError as error:
            text = str(error).replace("memory=", f"{self._budget}=", 1)
            raise type(error)(text, needed=error.needed) from None

    def native(self, name: str) -> NativeKernel | None:
        """The kernel of this name over pages; None if there is none and a program has to do the work."""
        kernel = TARGET_KERNELS.get(name) if self._host.name == "cpu" else None
        if kernel is not None:
            return cast("NativeKernel", partial(self._of_targets, name, kernel))
        return self._native_in_memory(name)

    def row_kernel(self, name: str) -> NativeKernel | None:
        """The kernel of this name that reads the rows of some vertices of a stored graph; None if there is none."""
        if name not in ROW_KERNELS or (ROW_KERNELS[name].compiled and self._host.name != "cpu"):
            return None
        threads = self._threads

        def kernel(graph: StoredGraph, **options: Any) -> Mapping[str, Any]:
            self._uses(self._host)
            with self._named_budget():
                return call_row_kernel(
                    name, graph, memory=self.memory, threads=threads, page_bytes=self.page_bytes, opener=self.opener,
                    **options,
                )  # fmt: skip

        return kernel

    def needs_compiled_leaf(self, name: str) -> bool:
        """Whether :meth:`row_kernel` has none of this name here, but would have one on the CPU's compiled engine."""
        return name in ROW_KERNELS and self.row_kernel(name) is None

    def _of_targets(self, name: str, kernel: NativeKernel, graph: GraphLike, **options: Any) -> Mapping[str, Any]:
        """Call a kernel that reads targets alone; see :mod:`dromos.places.stream.target_kernels`."""
        stored = self._forms.required(graph)
        in_memory = self._in_memory_result(name, stored, **{key: options[key] for key in options if key != "progress"})
        if in_memory is not None:
            return in_memory
        reader = TargetReader(
            stored, self._threads, memory=self.memory, page_bytes=self.page_bytes, opener=self.opener,
            beside=self._beside, answer=self._answer,
        )  # fmt: skip
        with self._named_budget():
            found = kernel(reader, **options)
        self._uses(self._host)
        return found

    def arc_slices(self, graph: GraphLike, held: int) -> Iterator[GraphSlice]:
        """Yield all arcs of a stored graph in slices, leaving room for ``held`` bytes of the caller."""
        assert isinstance(graph, StoredGraph)
        graph.make_room()
        prefix = graph.out_prefix
        rows = graph.paged_rows(prefix, weights=True, page_bytes=self.page_bytes)
        memory = available_memory() // 2 if self.memory is None else self.memory
        plan = plan_memory(memory, held, graph.held_bytes(), [rows], held="sums and degrees", answer=self._answer)
        with closing(Pager(self.opener(graph.origin), plan.room)) as pager:
            yield from PageFeed(pager, {"push": rows}, {"push": graph.row_offsets(prefix)}).fetch(
                np.arange(rows.num_pages), "push"
            )

    def operator(self, name: str) -> NativeKernel | None:
        """The operator over pages for what cannot be a program; None if there is none."""
        return partial(self._operate, name) if name in OPERATORS and name not in HOLDING else None

    def _operate(
        self,
        name: str,
        graph: GraphLike,
        *,
        directed: bool = False,
        weighted: bool = False,
        progress: Callable[[int, int], None] | None = None,
        **options: Any,
    ) -> Mapping[str, Any]:
        stored = self._forms.required(graph)
        if name == "triangles" and self._host.name == "cpu" and is_simple(stored):
            counted = self._of_targets(name, triangles_of, stored, progress=progress)
            known = stored.kept_graph.graph  # which keeps its degrees
            return {"degree": (stored if known is None else known).out_degree, **counted}
        if name == "cdlp":
            in_memory = self._in_memory_result(name, stored, directed=directed, **options)
            if in_memory is not None:
                return in_memory
        self._uses(self._host)
        stored.make_room()
        with self._named_budget():
            rows, plan, room = self._room_of(name, stored, directed=directed, weighted=weighted)
        pager = Pager(self.opener(stored.origin), plan.room)
        try:
            offsets: dict[Direction, Array] = {way: stored.row_offsets(_prefixes(stored)[way]) for way in rows}
            clock, feed = Stopwatch(), PageFeed(pager, rows, offsets)
            blocks = Blocks(
                stored, [feed], graph_types(stored).id,
                size=room.block_arcs, held=room.held_arcs, directions=tuple(rows), weighted=weighted,
                threads=room.threads, progress=progress,
            )  # fmt: skip
            found = OPERATORS[name](blocks, self._host.name, **options)
            said, seconds = "rows are gathered from the pages on disk", clock.seconds()
            told = feed.seconds_by_part().told(seconds)
            first, *more = found.get("steps") or [(1, stored.num_vertices, said, seconds)]
            return {**found, "steps": [(*first, pager.bytes_read, () if more else told), *more]}
        finally:
            pager.close()

    def require_room(self, name: str, graph: GraphLike, *, directed: bool, weighted: bool) -> None:
        """Refuse now what :meth:`operator` would refuse: a graph without in-edges, or a budget that is too small."""
        with self._named_budget():
            self._room_of(name, self._forms.required(graph), directed=directed, weighted=weighted)

    def _room_of(
        self, name: str, stored: StoredGraph, *, directed: bool, weighted: bool
    ) -> tuple[dict[Direction, PagedRows], MemoryPlan, OperatorRoom]:
        """The rows that an operator reads, and its division of the budget."""
        if directed:
            stored.require_in_edges(self.memory)
        directions: tuple[Direction, ...] = ("push", "pull") if directed else ("push",)
        prefixes = _prefixes(stored)
        rows = {
            way: stored.paged_rows(prefixes[way], weights=weighted, page_bytes=self.page_bytes) for way in directions
        }
        memory = available_memory() // 2 if self.memory is None else self.memory
        degrees = [stored.out_degree, stored.in_degree] if directed else [stored.out_degree]
        longest = sum(int(degree.max(initial=0)) for degree in degrees)
        threads = num_threads(self._threads)
        n, leaf, weighing, by_edge = stored.num_vertices, self._host.name, name in WEIGHING, name in BY_EDGE
        answer = by_edge_bytes(stored.num_edges, graph_types(stored).id.itemsize) if by_edge else self._answer

        def room_in(share: int) -> OperatorRoom:
            if name in BY_ARC:
                return OperatorRoom(self._beside, 1, 1, threads)
            return operator_room(share, n, longest, leaf, threads, weighing=weighing, by_edge=by_edge)

        plan, room = plan_operator(
            memory, room_in, stored.held_bytes(len(directions)), list(rows.values()), leaf, answer=answer
        )
        return rows, plan, room


def _reads_weights(typed: TypedProgram) -> bool:
    return bool(reads(typed.ir.exprs(), "weight"))


def _prefixes(stored: StoredGraph) -> dict[Direction, str]:
    return {"push": stored._prefix, "pull": stored.in_prefix or ""}
