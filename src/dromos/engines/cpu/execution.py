"""A program on the CPU between two supersteps: its state, its frontier, and the kernels that advance them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from dromos.codegen.facts import is_always_active
from dromos.compiling import Stopwatch
from dromos.dtypes import Array
from dromos.engines import GraphLike, caps_for, check_params, graph_types, types_read
from dromos.engines.cpu.arc_blocks import BLOCKS_FROM, LEAST_PULLS
from dromos.engines.cpu.claims import Claims
from dromos.engines.cpu.costs import planning
from dromos.engines.cpu.frontier import Frontier
from dromos.engines.cpu.general import GeneralKernels
from dromos.engines.cpu.initial import initialise
from dromos.engines.cpu.launching import BLOCK, LINE, OVERFLOWS, QUEUE, STOP
from dromos.engines.cpu.memory import reused_empty
from dromos.engines.cpu.offers import SPARE_PLACES, Offers
from dromos.engines.cpu.ordering import Ordering
from dromos.engines.cpu.saving import restore, save
from dromos.engines.cpu.skeletons import constants
from dromos.engines.cpu.topology import HUB_LENGTH, NO_VALUES, topology
from dromos.engines.native.components import components
from dromos.engines.parts import fold_reductions
from dromos.engines.saving import Saved
from dromos.engines.skeletons import forms_of, skeleton_for
from dromos.errors import FieldOverflowError, InvalidArgumentError
from dromos.graph import Graph
from dromos.parallel import run_team
from dromos.plan import Caps, Levels, Path, Stats, require_legal
from dromos.program import Program, analyse, evaluate
from dromos.program.expr import FALSE, Expr
from dromos.program.forms import is_claimed, is_offered_in_place, is_ordered, spreads_ids

__all__ = ["CpuExecution"]

# The paths under which statistics of several supersteps are reported.
_SWITCHING, _WHOLE = Path("sync", "push", "dd"), Path("async", "pull", "td")
_CONTRACTION = "ids spread along arcs that all have one back: trees of vertices are hooked together, in one step"


class CpuExecution:
    """See :class:`dromos.engines.Execution`."""

    line = LINE  # int64 words per counter or thread
    queue_counter = QUEUE * LINE

    def __init__(self, program: Program, graph: GraphLike, threads: int) -> None:
        check_params(program, graph)
        self.program, self.graph, self.threads = program, graph, threads
        self.topology = topology(graph)
        self.typed = program.typed(types_read(program, graph_types(graph)))
        self.ir = self.typed.ir
        self.analysis = analyse(self.typed)
        always = is_always_active(self.ir, self.analysis)
        self.caps: Caps = caps_for(
            self.ir,
            self.analysis,
            graph,
            ordered=is_ordered(self.typed, self.analysis),
            in_place=is_offered_in_place(self.ir, self.analysis) and not always,
            **planning(self.typed, self.analysis, several_threads=threads > 1),
        )
        self._degrees = self.ir.operations & {"out_degree", "in_degree"}
        n = graph.num_vertices
        self._state = {spec.name: self._field(spec.name, spec.size, n) for spec in self.ir.fields}
        self._edge_state = {
            spec.name: self._field(spec.name, spec.size, graph.num_arcs) for spec in self.ir.edge_fields
        }
        self._tables = {name: np.zeros_like(self._state[name]) for name in self.ir.tables}
        self._in_edge_params: tuple[Array, ...] | None = None
        self.frontier = Frontier(n, graph.targets.dtype, always)
        self.hubs = reused_empty(n, graph.targets.dtype)
        # a place for each block of vertices and for each hub: which values are folded together depends on the graph
        # alone
        places = -(-n // _FOLD) + graph.num_arcs // HUB_LENGTH + SPARE_PLACES
        self._sums = tuple(np.empty(places, self.typed.reduction_type(r.name)) for r in self.ir.reductions)
        self._reductions: tuple[Any, ...] = tuple(self.typed.reduction_type(r.name).type(0) for r in self.ir.reductions)
        self.superstep = 0
        self.blocks_from = float(BLOCKS_FROM)
        """The first superstep that may go along arcs in blocks."""
        self.claims: Claims | None = None
        self._start()

    def _field(self, name: str, size: int | None, rows: int) -> Array:
        return reused_empty((rows,) if size is None else (rows, size), self.typed.dtype(name))

    # ---- the interface ---------------------------------------------------------------------------------------------

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields."""
        return self._state

    @property
    def reductions(self) -> Mapping[str, Any]:
        """The reductions by name."""
        return {spec.name: value for spec, value in zip(self.ir.reductions, self._reductions, strict=True)}

    def result(self) -> Mapping[str, Array]:
        """The fields and the edge fields (in the order of the arcs); they belong to the caller."""
        return {**self._state, **self._edge_state}

    @property
    def edge_state(self) -> Mapping[str, Array]:
        """The edge fields."""
        return self._edge_state

    why_not_saved = ""

    def save(self) -> Saved:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        return save(self)

    def restore(self, saved: Saved, stats: Stats) -> None:
        """See :class:`dromos.engines.saving.ResumableExecution`."""
        restore(self, saved, stats)

    def set_reductions(self, values: tuple[Any, ...]) -> None:
        """Set the reductions over the current state."""
        self._reductions = values

    def resume_at(self, stats: Stats, reductions: tuple[Any, ...]) -> None:
        """Continue after ``stats.superstep`` supersteps, whose fields and frontier are in place."""
        self.superstep, self.stats, self._reductions = stats.superstep, stats, reductions

    def expect(self, supersteps: int | None) -> None:
        """See :class:`dromos.engines.ExpectingExecution`: arcs are sorted at once, or not at all in a short run."""
        self.blocks_from = 0 if supersteps is None or supersteps >= LEAST_PULLS else math.inf

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """Run a superstep on ``path``, or up to ``horizon`` of them if they can run in one call."""
        require_legal(path, self.analysis, self.ir.name)
        clock = Stopwatch()
        for name, table in self._tables.items():
            np.copyto(table, self._state[name])
        skeleton, pulls = skeleton_for(path, self._forms), path.direction == "pull"
        if skeleton == "claiming":
            claims = cast(Claims, self.claims)
            report, size, supersteps = claims.pull(horizon) if pulls else claims.push(horizon)
            return self._advance(path, report, size, supersteps, claims.levels, clock, stamped=False)
        if skeleton == "ordered" and self._ordering.gave_up:
            skeleton = "asynchronous"
        if skeleton == "ordered":
            report, size, supersteps = self._ordering.push(horizon)
            return self._advance(path, report, size, supersteps, None, clock, stamped=False)
        if skeleton == "offering":
            offers = self._offers
            report, counters = offers.pull(horizon, in_place=path.sync == "async")
            size, self._reductions = int(counters[self.queue_counter]), offers.reductions
            return self._advance(path, report, size, offers.supersteps, offers.levels, clock, stamped=True, folded=True)
        general = self._general
        if skeleton == "supersteps":
            report, counters = general.sync_pull(path) if pulls else general.sync_push(path)
        else:
            report, counters = general.async_pull(path) if pulls else general.async_push(path)
        size, stamped = int(counters[self.queue_counter]), skeleton != "asynchronous"
        return self._advance(path, report, size, 1, None, clock, stamped=stamped)

    def step_switching(self, horizon: int | None = None) -> Stats:
        """Run up to ``horizon`` levels of a traversal that claims vertices, switching the direction on the way; or all
        of a run that has its own kernel."""
        clock = Stopwatch()
        if self.caps.whole and self._spread is not None:
            self._state[self._spread][:] = components(cast(Graph, self.graph), threads=self.threads)["label"]
            return self._advance(_WHOLE, self.report(), 0, 1, None, clock, stamped=False)
        if self.claims is None:
            raise InvalidArgumentError(f"{self.ir.name} does not claim vertices: the caller has to choose its paths")
        report, size, supersteps = self.claims.switch(horizon)
        return self._advance(_SWITCHING, report, size, supersteps, self.claims.levels, clock, stamped=False)

    def _advance(
        self, path: Path, report: Array, size: int, supersteps: int, levels: Levels | None, clock: Stopwatch, *,
        stamped: bool, folded: bool = False,
    ) -> Stats:  # fmt: skip
        """Read the results of a step: the next frontier, the statistics, and reductions that are not folded yet."""
        self.frontier.advance(size, stamped=stamped)
        self.superstep += supersteps - 1
        if self.ir.reductions and not folded:  # then all paths are synchronous, and each superstep folds them
            self._reductions = fold_reductions(self.typed, self._sums)
        finished = self._finish(report)  # a program's stopping rule is about the superstep that has just run
        self.superstep += 1
        self.stats = self._statistics(report, clock.seconds(), finished, levels)
        return self.stats

    # ---- kernels ---------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        report, front = initialise(self), self.frontier
        self.stats = self._statistics(report, 0.0, "" if front.size else "frontier empty")
        self._spread = spreads_ids(self.ir, self.analysis)
        if self._spread is not None and not getattr(self.graph, "symmetric", False):  # which may take a while to find
            self._spread = None
        if self._spread is not None and self.typed.dtype(self._spread) == self.graph.targets.dtype:
            self.caps = replace(self.caps, whole=_CONTRACTION)
        claimed = self._is_claimed()
        self._forms = forms_of(self.typed, self.analysis, claimed=claimed)
        if claimed:
            self.claims = Claims(self)
            self._forms -= {"ordered"}
            self.caps = replace(self.caps, switches=True, ordered=False)

    def _is_claimed(self) -> bool:
        """Whether each vertex receives only one message: by the program's form, and by its initial state."""
        search, claimed, front = self.analysis.search, self.analysis.claimed, self.frontier
        if search is not None:
            return search.fits(self.graph.num_vertices, self.typed.dtype(search.field))
        if claimed is None or not is_claimed(self.typed, self.analysis):
            return False
        return not (self._state[claimed][front.queue[: front.size]] < 0).any()

    @cached_property
    def _ordering(self) -> Ordering:
        return Ordering(self)

    @cached_property
    def _general(self) -> GeneralKernels:
        return GeneralKernels(self)

    @cached_property
    def _offers(self) -> Offers:
        return Offers(self)

    def launch(self, kernel: Any, *args: Any, counters: Array) -> None:
        """Run a kernel on all threads; Ctrl-C sets the stop flag among its ``counters``."""
        run_team(kernel, *args, threads=self.threads, stop=counters[STOP * LINE :])

    # ---- what kernels are given ------------------------------------------------------------------------------------

    def graph_arrays(self) -> tuple[Array, ...]:
        """Offsets, targets and weights of the out-rows, and the offsets of the in-rows."""
        return (*self.weighted(self.topology.rows), self.topology.in_offsets(self.graph))

    def in_graph_arrays(self) -> tuple[Array, ...]:
        """Offsets, sources and weights of the in-rows."""
        return self.weighted(self.topology.in_rows(self.graph))

    def weighted(self, rows: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """The rows, with weights only if the program reads them."""
        return rows if self.typed.types.weight is not None else (*rows[:2], NO_VALUES)

    def fields(self) -> tuple[Array, ...]:
        """The fields, in declaration order."""
        return tuple(self._state.values())

    def edge_fields(self) -> tuple[Array, ...]:
        """The edge fields, and the edge parameters."""
        given = (self.program.params[spec.name] for spec in self.ir.edge_params)
        return (*self._edge_state.values(), *given) or (NO_VALUES,)

    def in_edge_fields(self) -> tuple[Array, ...]:
        """As :meth:`edge_fields`, in the order of in-arcs; programs with edge fields only push."""
        if not self.ir.edge_params:
            return self.edge_fields()
        if self._in_edge_params is None:
            order = self.topology.in_arcs(self.graph)
            self._in_edge_params = tuple(self.program.params[spec.name][order] for spec in self.ir.edge_params)
        return self._in_edge_params

    def context(self) -> tuple[Any, ...]:
        """The values beside fields that a program reads: superstep, counts, degrees, parameters, reductions."""
        return (
            np.int32(self.superstep),
            np.int64(self.graph.num_vertices),
            np.int64(self.graph.num_arcs),
            self.topology.rows[0] if "out_degree" in self._degrees else NO_VALUES,
            self.graph.in_degree if "in_degree" in self._degrees else NO_VALUES,
            *(self.program.params[spec.name] for spec in self.ir.context_params),
            *self._reductions,
            *self._tables.values(),
        )

    def counters(self) -> Array:
        """The shared counters of one call; each has its own cache line."""
        return np.zeros(8 * self.line, dtype=np.int64)

    def report(self) -> Array:
        """The results of each thread: messages, degrees of the next frontier, and more by skeleton."""
        return np.zeros(self.threads * self.line, dtype=np.int64)

    def sums(self) -> tuple[Array, ...]:
        """Where a kernel stores the reductions of each block of vertices, initialized to the identity."""
        for reduction, values in zip(self.ir.reductions, self._sums, strict=True):
            values[:] = reduction.monoid.identity(values.dtype)
        return self.unfilled_sums()

    def unfilled_sums(self) -> tuple[Array, ...]:
        """As :meth:`sums`, uninitialized, for a kernel that writes all places that it folds."""
        return self._sums or (np.zeros(1),)

    def buffer(self) -> Array:
        """A block of ids for each thread, filled before it is appended to a queue."""
        return np.empty(self.threads * BLOCK, dtype=self.graph.targets.dtype)

    def memory(self) -> Array:
        """The memory through which threads publish values to each other at barriers."""
        return np.zeros(3 * self.line * self.threads, dtype=np.int64)

    # ---- after a step ----------------------------------------------------------------------------------------------

    def _finish(self, report: Array) -> str:
        self.check_overflow(report, "update")
        converged = self.ir.converged
        if converged is not FALSE and bool(evaluate(converged, self.typed.typing, self._global)):
            return "converged"
        return "" if self.frontier.size else "frontier empty"

    def _global(self, node: Expr) -> Any:
        """The value of a symbol that belongs to no vertex."""
        match node.op:
            case "reduction":
                return self.reductions[node.attr[0]]
            case "param":
                value = self.program.params[node.attr[0]]
                return value[node.attr[1]] if np.ndim(value) else value
            case "superstep":
                return self.superstep
        return getattr(self.graph, node.op)

    def check_overflow(self, report: Array, function: str) -> None:
        """Raise if a thread reports a value that does not fit its field."""
        if report.reshape(self.threads, self.line)[:, OVERFLOWS].any():
            raise FieldOverflowError(
                f"{self.ir.name}.{function}: a value does not fit the integer type of its field; "
                "declare the field with a wider type"
            )

    def _statistics(self, report: Array, seconds: float, finished: Any, levels: Levels | None = None) -> Stats:
        front = self.frontier
        sums = report.reshape(self.threads, self.line).sum(axis=0)
        graph = self.graph
        out, inn = (graph.num_arcs,) * 2 if front.always else (int(sums[_OUT]), int(sums[_IN]))
        messages = int(sums[_MESSAGES])
        return Stats(
            superstep=self.superstep,
            frontier=front.size,
            out_degree=out,
            in_degree=inn,
            messages=messages,
            bytes=messages * (self.typed.message_bytes + graph.targets.itemsize),
            seconds=seconds,
            finished=finished,
            levels=levels,
        )


(_FOLD,) = constants("common", "FOLD")
_MESSAGES, _OUT, _IN = constants("common", "MESSAGES", "OUT_DEGREES", "IN_DEGREES")
