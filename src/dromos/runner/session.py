"""One call of an algorithm: an engine, the programs that run on it in sequence, and their joint trace."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np

from dromos.compiling import compile_seconds
from dromos.dtypes import Array
from dromos.engines import Engine, Execution, graph_types
from dromos.errors import FileError, InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.slices import GraphSlice
from dromos.plan import Path, Row
from dromos.program import Program
from dromos.runner import first_calls
from dromos.runner.devices import DEVICE_VARIABLE, engine_for
from dromos.runner.explanation import Explanation
from dromos.runner.host import array_module, on_host
from dromos.runner.kernel_calls import GPU, KernelCalls
from dromos.runner.keywords import unknown_argument
from dromos.runner.loop import Progress, Watch, fixed_path, is_over, iterate
from dromos.runner.options import check_graph
from dromos.runner.outcome import Outcome
from dromos.runner.own_rows import OwnRows, cut_columns
from dromos.runner.promises import check_weights
from dromos.runner.result import Column, Result
from dromos.runner.trace import FusedRow, Trace, TraceRow
from dromos.runner.two_tiers import run_in_two_tiers
from dromos.sizes import as_bytes

if TYPE_CHECKING:
    from dromos.places.cluster.execution import RankExecution
    from dromos.runner.checkpoint import Checkpoint
    from dromos.runner.loop import ResumableWatch

__all__ = ["Session"]

Answer = TypeVar("Answer", bound=Result)


class Session(KernelCalls):
    """Runs programs and native kernels on one engine and records their steps.

    >>> import dromos as dr
    >>> session = Session("hops", dr.generators.path(3), device="reference")
    >>> from dromos.algorithms.bfs import BFS
    >>> session.run(BFS(source=0)).fields["level"].tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        name: str,
        graph: Graph,
        *,
        device: str | Engine = "auto",
        path: str | Path = "auto",
        threads: int | None = None,
        progress: Progress | None = None,
        slices: int | None = None,
        parts: int | None = None,
        memory: int | str | None = None,
        keep_on_device: bool = False,
        share: float | Literal["auto"] | None = None,
        split: str | None = None,
        deal: str | None = None,
        host_memory: int | str | None = None,
        gather: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: float = 60.0,
        explain: bool = False,
        **unknown: Any,
    ) -> None:
        for keyword in unknown:
            raise unknown_argument(name, keyword)
        check_graph(graph)
        if progress is not None and not callable(progress):
            raise InvalidArgumentError(
                f"progress={progress!r} is not a function; give one that is called with (supersteps done, total or 0)"
            )
        self.name, self.graph, self.progress, self.threads = name, graph, progress, threads
        self.engine = engine_for(
            device, threads, graph, slices=slices, parts=parts, memory=memory, share=share, split=split, deal=deal,
            host_memory=host_memory,
        )  # fmt: skip
        chosen = checkpoint is None and device == "auto" and not os.environ.get(DEVICE_VARIABLE) and path == "auto"
        cold = chosen and self.engine.name == "cpu" and not explain  # explain compares paths on one engine
        self._may_leave = chosen and self.engine.name == GPU and not keep_on_device
        self._explains, self._explanation = explain, Explanation()
        self._at_once = cold and first_calls.answers_at_once(graph)
        if self._at_once:
            self.engine = engine_for("numpy", threads)
        for_call = getattr(self.engine, "for_call", None)
        if for_call is not None:  # a run that is saved or follows a path stays on disk
            self.engine = for_call(graph, progress, over_pages=checkpoint is not None or path != "auto")
        self._keeps = keep_on_device
        if keep_on_device and hasattr(self.engine, "keeping_results"):
            self.engine = self.engine.keeping_results()
        if not (getattr(self.engine, "streams", False) or getattr(self.engine, "reads_stores", False)):
            graph.require_in_memory()
        self.path: str | Path = path if path == "auto" else Path.parse(path)
        if graph.on_disk:
            self._give_in_edges(graph, _memory_of_host(self.engine.name, memory, host_memory))
        self._checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            from dromos.runner import checkpoint as saving

            self._checkpoint = saving.Checkpoint(checkpoint, checkpoint_every, name, self.engine, str(self.path))
        comm = getattr(self.engine, "comm", None)
        self._ranks = None if comm is None or comm.Get_size() == 1 else comm
        self._gathers, self._is_answer = gather or self._ranks is None, False
        self._own_rows: OwnRows | None = None
        self._rows: list[TraceRow | FusedRow] = []
        self.finished = ""
        self._kernel_calls: Counter[str] = Counter()
        self._begin, self._compiled = time.perf_counter(), compile_seconds()
        self._effort = first_calls.Effort() if self._at_once else None
        self.check_file()
        graph.check_shared_rows()

    def _give_in_edges(self, graph: Any, memory: int | str | None) -> None:
        """Say within which memory in-edges may be made that a graph on disk lacks; a fixed pull needs them at once."""
        graph.making_memory = None if memory is None else as_bytes(memory)
        alone = getattr(self.engine, "comm", None) is None  # ranks would all make them
        if alone and isinstance(self.path, Path) and self.path.direction == "pull":
            graph.require_in_edges()

    @property
    def is_saved(self) -> bool:
        """Whether the call has a checkpoint: the same call then has to run the same programs again."""
        return self._checkpoint is not None

    def keep_between_runs(self) -> None:
        """Keep fields requested with ``keep_on_device`` on the device until the session's result is made.

        For algorithms that pass the fields of one program to the next.
        """
        if self._checkpoint is None and hasattr(self.engine, "keeping_results"):
            self.engine = self.engine.keeping_results()

    def hold_beside_programs(self, bytes_per_vertex: int, bytes_per_edge: int = 0) -> None:
        """Reserve room in the budget of a stream for what an algorithm holds from one program to the next.

        ``bytes_per_edge``: those of a result with one row per edge.
        """
        hold = getattr(self.engine, "hold", None)
        if hold is not None:
            hold(bytes_per_vertex * self.graph.num_vertices, bytes_per_edge * self.graph.num_edges)

    def stay_within(self, memory: int | str | None) -> bool:
        """Have a stream work within ``memory``, unless that is None; whether it is a stream, whose budget is for all.

        For algorithms whose ``memory`` is that of a group of sources where the graph is in memory.
        """
        if not hasattr(self.engine, "hold"):
            return False
        if memory is not None:
            self.engine.limit(as_bytes(memory))  # type: ignore[attr-defined]
        return True

    def program(self, kind: type[Program], **params: Any) -> Program:
        """The program with all its parameters; arrays are not copied, so nobody may change them while it runs."""
        copies = self._checkpoint is None and getattr(self.engine, "copies_params", False)
        return kind.taking(**params) if copies else kind.keeping(**params)

    def placed(self, values: Array) -> Array:
        """Values per vertex in the memory that the engine's programs read: on its device, if it has one."""
        place = getattr(self.engine, "placed", None) if self._checkpoint is None else None
        return values if place is None else place(values)

    def has_not_finite(self, values: Array) -> Callable[[], bool] | None:
        """Start looking for an infinity or NaN among doubles on the engine's device; None if they are not there.

        The returned function waits and returns the answer.
        """
        look = getattr(self.engine, "has_not_finite", None)
        if look is None or array_module(values) is np or not values.flags.c_contiguous:
            return None
        found: Callable[[], bool] = look(values)
        return found

    def shared(self, values: Array) -> Array:
        """Values that belong to the graph and never change, in the memory that the engine's programs read.

        An engine with a device copies them there once, and keeps the copy as long as ``values`` lives.
        """
        share = getattr(self.engine, "shared", None) if self._checkpoint is None else None
        return values if share is None else share(values)

    def for_caller(self, values: Array) -> Array:
        """``values`` where the caller wants them: on the host, unless results stay on the device."""
        return values if self._keeps else on_host(values)

    @property
    def results_module(self) -> Any:
        """The module for arrays that the caller gets: CuPy where results stay on a device, NumPy otherwise."""
        if self._keeps and getattr(self.engine, "copies_params", False):
            import cupy

            return cupy
        return np

    def arc_slices(self, graph: Graph, vertex_bytes: int) -> Generator[GraphSlice, None, None]:
        """Yield all arcs of ``graph`` in the order of their sources; a graph on disk in pieces, within the budget.

        ``vertex_bytes``: what the caller holds per vertex, which the budget has to leave room for.
        """
        find = getattr(self.engine, "arc_slices", None) if graph.on_disk else None
        done = 0
        for piece in graph.arc_slices() if find is None else find(graph, vertex_bytes * graph.num_vertices):
            yield piece
            done += piece.num_arcs
            if self.progress is not None and graph.on_disk:
                self.progress(done, graph.num_arcs)

    def require_room(self, name: str, graph: Graph, *, directed: bool, weighted: bool) -> None:
        """Refuse a budget that is too small for an operator on a graph on disk, before anything is read."""
        require = getattr(self.engine, "require_room", None) if graph.on_disk else None
        if require is not None:
            require(name, graph, directed=directed, weighted=weighted)

    def check_file(self) -> None:
        """Refuse to go on if the store that the graph is mapped from was changed."""
        origin = sys.modules.get("dromos.graph.store.origin")  # if it was never imported, no store is open
        if origin is None:
            return
        changed = origin.changed_file(self.graph)
        if changed is not None:
            raise FileError(
                "the file was changed, replaced or removed after the graph was opened; read it again", path=changed
            )

    def run(
        self,
        program: Program,
        graph: Graph | None = None,
        *,
        max_iter: int | None = None,
        watch: Watch | None = None,
        every: int | None = None,
        keep_on_device: bool = False,
        is_answer: bool = False,
    ) -> Outcome:
        """Run ``program`` to its end or for ``max_iter`` supersteps, on the session's graph unless another is given.

        ``watch`` is called at least every ``every`` supersteps. ``keep_on_device``: fields may stay on a device, if the
        engine was set to leave them there. ``is_answer``: the result has these fields and no others, so each rank may
        keep only its own rows; the outcome then has nothing else.
        """
        self._is_answer = is_answer and not self._gathers and self._checkpoint is None
        on = self.graph if graph is None else graph
        check_weights(program, on)
        if self._checkpoint is not None:
            return self._run_saved(self._checkpoint, program, on, max_iter, watch, every, keep_on_device)
        if watch is None and self._at_once:
            ran = run_in_two_tiers(program, on, self.threads, max_iter=max_iter, progress=self.progress)
            if ran.engine.name == "cpu":
                self._compile_from_now_on()
            return self._outcome(program, on, ran.execution, ran.rows, keep_on_device)
        self._compile_from_now_on()
        steps = len(self._rows)
        outcome = self._run(program, on, max_iter, watch, every, keep_on_device)
        if self._explains and watch is None and self.path == "auto":
            taken = Trace(self._rows[steps:]).seconds
            self._explanation.compare_paths(self.engine, program, on, taken, max_iter)
        return outcome

    def _run_saved(
        self,
        checkpoint: Checkpoint,
        program: Program,
        on: Graph,
        max_iter: int | None,
        watch: Watch | None,
        every: int | None,
        keep_on_device: bool,
    ) -> Outcome:
        """As :meth:`run`, with the outcome from the checkpoint if it is there; otherwise saved during the run."""
        assert watch is None or hasattr(watch, "restore"), self.name
        known = checkpoint.begin(program, on, max_iter, cast("ResumableWatch | None", watch))
        if known is None:
            outcome = self._run(program, on, max_iter, watch, every, keep_on_device, checkpoint)
            fields = {name: on_host(values) for name, values in outcome.fields.items()}
            checkpoint.end(fields, outcome._replace(fields={})._asdict())
            return outcome
        told = known.told
        self.finished = told["finished"]
        self._note_restored(program, told["supersteps"], checkpoint)
        reductions = {name: tuple(v) if isinstance(v, list) else v for name, v in told["reductions"].items()}
        return Outcome(known.fields, self.finished, told["supersteps"], reductions)

    def _note_restored(self, program: Program, supersteps: int, checkpoint: Checkpoint) -> None:
        """Record the supersteps before a restart as one row of the trace."""
        reason = f"restored from {checkpoint.path}"
        phase = type(program).__name__
        self._rows.append(TraceRow(phase, 0, supersteps, 0, 0, 0, "checkpoint", reason, None, 0.0, 0, 0))

    def _run(
        self,
        program: Program,
        on: Graph,
        max_iter: int | None,
        watch: Watch | None,
        every: int | None,
        keep_on_device: bool,
        checkpoint: Checkpoint | None = None,
    ) -> Outcome:
        execution, phase = self.engine.prepare(program, on), type(program).__name__
        self._note_readings(phase)
        try:
            if checkpoint is not None and (done := checkpoint.resume(execution)):
                self._note_restored(program, done, checkpoint)
            path = fixed_path(self.path, execution, program, on, self.engine)
            often: dict[str, Any] = {} if every is None else {"every": every}
            mover = getattr(execution, "mover", None) if watch is None else None
            history = iterate(
                execution, path, max_iter=max_iter, progress=self.progress, watch=watch, checkpoint=checkpoint,
                leave=None if mover is None else mover.pays, **often,
            )  # fmt: skip
            if mover is not None and not is_over(execution.stats, max_iter):
                self._record(phase, history)
                execution = mover.move(execution)
                self._note_readings(phase)
                history = iterate(execution, max_iter=max_iter, progress=self.progress)
        finally:
            close = getattr(execution, "close", None)
            if close is not None:  # reader threads and an open file
                close()
        outcome = self._outcome(program, on, execution, history, keep_on_device)
        recycle = getattr(self.engine, "recycle", None)
        if recycle is not None and path is None:  # the execution is not used any more
            recycle(execution)
        return outcome

    def _record(self, phase: str, rows: Iterable[Row]) -> None:
        """Add steps of the loop to the trace."""
        self._rows += [FusedRow.of(phase, row) for row in rows]

    def _outcome(
        self, program: Program, on: Graph, execution: Execution, rows: Iterable[Row], keep_on_device: bool
    ) -> Outcome:
        """The outcome of a run, whose steps are added to the trace."""
        phase = type(program).__name__
        self._explanation.programs[phase] = type(program), graph_types(on)
        self._record(phase, rows)
        self.finished = execution.stats.finished
        fields: Mapping[str, Any]
        if self._is_answer:
            found = cast("RankExecution", execution)
            fields, self._own_rows = found.own_result(), OwnRows(self._ranks, *found.own_rows)
        else:
            fields = execution.result()
        if not keep_on_device:
            fields = {name: on_host(values) for name, values in fields.items()}
        numbers = {name: np.asarray(value).item() for name, value in execution.reductions.items()}
        reductions = program.ir().whole_reductions(numbers)
        return Outcome(fields, self.finished, execution.stats.superstep, reductions)

    def result(
        self,
        kind: type[Answer],
        fields: Mapping[str, Column],
        *,
        values: Mapping[str, Any] | None = None,
        vertex_fields: frozenset[str] | set[str] = frozenset(),
        edge_fields: frozenset[str] | set[str] = frozenset(),
        index: str | None = None,
        verifier: Callable[[Answer], None] | None = None,
    ) -> Answer:
        """The result of the session, of the result class that declares these fields and values."""
        self.check_file()
        if self._effort is not None and self._at_once:
            first_calls.note(self._effort.seconds())
        if self._ranks is not None:  # a field computed later would need all ranks at that time
            fields = {name: column() if callable(column) else column for name, column in fields.items()}
        own_rows = self._own_rows
        if not self._gathers and own_rows is None:
            fields, own_rows = cut_columns(self._ranks, self.graph, fields, edge_fields, index)
        return kind(
            self.name, self.graph, fields,
            trace=Trace(self._rows), seconds=time.perf_counter() - self._begin - self._explanation.seconds,
            compile_seconds=compile_seconds() - self._compiled - self._explanation.compile_seconds,
            device=self.engine.name,
            finished=self.finished, values=values, vertex_fields=vertex_fields, edge_fields=edge_fields, index=index,
            verifier=verifier, own_rows=own_rows, explanation=self._explanation,
        )  # fmt: skip


def _memory_of_host(engine: str, memory: int | str | None, host_memory: int | str | None) -> int | str | None:
    """The limit for the host's memory: on a GPU, ``memory`` is that of the device.

    >>> _memory_of_host("cpu, streamed", "2G", None), _memory_of_host("cuda, streamed", "80G", "2G")
    ('2G', '2G')
    """
    return host_memory if engine.startswith(GPU) else memory
