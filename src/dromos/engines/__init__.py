"""The interface of engines: prepare a program for a graph, then run one superstep at a time on a given path.

An engine knows no algorithm and makes no plan. The loop in ``dromos.runner`` asks the planner and calls ``step``:

    execution = engine.prepare(program, graph)
    stats = execution.stats
    while not stats.finished:
        decision = choose(stats, history, execution.caps)
        after = execution.step(decision.path, decision.horizon)
        history.append(Row(stats, decision, after)); stats = after
    fields = execution.result()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, UnknownVertexError
from dromos.plan import Caps, Path, Stats
from dromos.program import Analysis, GraphTypes, Program, ProgramIR

__all__ = [
    "Engine",
    "Execution",
    "ExpectingExecution",
    "GraphLike",
    "GraphShape",
    "LeftToHostError",
    "LeftToProgramsError",
    "NativeKernel",
    "SwitchingExecution",
    "Tell",
    "caps_for",
    "check_params",
    "graph_types",
    "types_read",
]

NativeKernel: TypeAlias = Callable[..., Mapping[str, Any]]
"""``kernel(graph, **options) -> fields``: does what no program can express, or does it faster than a program."""

Tell: TypeAlias = Callable[[float], Any]
"""Called from time to time with the share of a kernel's work that is done (0: unknown); may end the run by raising."""


class LeftToHostError(Exception):
    """Raised by a device kernel if the host's kernel of the same name suits the graph better."""


class LeftToProgramsError(Exception):
    """Raised by a kernel that has no room for this call: programs do the work."""


class GraphShape(Protocol):
    """A graph without its arcs, for use where the arcs are elsewhere or come in slices."""

    @property
    def num_vertices(self) -> int: ...
    @property
    def num_arcs(self) -> int: ...
    @property
    def offsets(self) -> Array:
        """The index of each row's first arc; one entry more than there are vertices."""

    @property
    def out_degree(self) -> Array: ...
    @property
    def in_degree(self) -> Array:
        """The in-degrees; parts of a graph ask for them only if a program reads them."""


class GraphLike(GraphShape, Protocol):
    """What an engine needs of a graph: compressed sparse rows of the graph and of its transpose."""

    @property
    def targets(self) -> Array: ...
    @property
    def weights(self) -> Array | None: ...
    @property
    def transpose(self) -> GraphLike: ...


class Execution(Protocol):
    """A program on a graph, between two supersteps."""

    @property
    def caps(self) -> Caps:
        """What the planner may choose from."""

    @property
    def stats(self) -> Stats:
        """The frontier that the next step will run on, and what the last step cost."""

    @property
    def state(self) -> Mapping[str, Array]:
        """The fields as the engine holds them now, possibly on a device; not to be written to."""

    @property
    def reductions(self) -> Mapping[str, Any]:
        """The program's reductions after the last superstep (before the first: over the initial state)."""

    def step(self, path: Path, horizon: int | None = 1) -> Stats:
        """Run one to ``horizon`` supersteps (None: any number) on ``path``; return the new :attr:`stats`."""

    def result(self) -> Mapping[str, Array]:
        """The fields (and edge fields) as arrays on the host that belong to the caller."""


@runtime_checkable
class ExpectingExecution(Protocol):
    """An execution that prepares for the length of a run."""

    def expect(self, supersteps: int | None) -> None:
        """Be told before the first step how many supersteps the run has at most; None: any number.

        It depends on the run alone, not on how many supersteps a caller asks for at a time.
        """


class SwitchingExecution(Execution, Protocol):
    """An execution with ``caps.switches``: it can run without being given a path."""

    def step_switching(self, horizon: int | None = None) -> Stats:
        """As :meth:`step`, switching between push and pull by the rule and constants of :attr:`caps`."""


class Engine(Protocol):
    """A place where programs run."""

    @property
    def name(self) -> str: ...

    def prepare(self, program: Program, graph: GraphLike) -> Execution:
        """Compile what is needed, allocate the state, and put the start vertices into the frontier."""

    def native(self, name: str) -> NativeKernel | None:
        """The engine's own kernel of this name; None if it has none and a program has to run instead."""


def graph_types(graph: GraphLike) -> GraphTypes:
    """The number types of ``graph``, as a program sees them."""
    return GraphTypes(graph.targets.dtype, None if graph.weights is None else graph.weights.dtype)


def types_read(program: Program, types: GraphTypes) -> GraphTypes:
    """``types`` without those that ``program`` does not read: its kernels serve graphs with any weights, or none.

    >>> import dromos as dr
    >>> class Labels(dr.Program):
    ...     label = dr.field(dr.ID)
    ...     combine = dr.MIN
    ...     def init(self, v): return v.id
    ...     def compute(self, u, edge, v): return u.label
    ...     def update(self, v, message): return dr.minimum(v.label, message)
    >>> types_read(Labels(), GraphTypes(weight=np.dtype(np.float32))).weight is None
    True
    """
    return types if "weight" in program.ir().operations else replace(types, weight=None)


def caps_for(
    ir: ProgramIR, analysis: Analysis, graph: GraphShape, *, supported: tuple[Path, ...] | None = None, **options: Any
) -> Caps:
    """The capabilities of ``ir`` on ``graph``: those of its legal paths that the engine supports."""
    paths = tuple(path for path in map(Path.parse, analysis.legal_paths) if supported is None or path in supported)
    always = analysis.activity == "always"
    return Caps(graph.num_vertices, graph.num_arcs, ir.kind, paths, always_active=always, **options)


def check_params(program: Program, graph: GraphShape) -> None:
    """Reject arrays without one row per vertex (or per arc), and vertices that the graph does not have.

    >>> import dromos as dr
    >>> class Marked(dr.Program):
    ...     place = dr.param(dr.ID)
    ...     mark = dr.field(bool)
    ...     combine = dr.OR
    ...     def init(self, v): return v.id == self.place
    ...     def compute(self, u, edge, v): return u.mark
    ...     def update(self, v, message): return v.mark | message
    >>> check_params(Marked(place=3), dr.generators.path(3))
    Traceback (most recent call last):
    dromos.errors.UnknownVertexError: Marked: place=3 is not a vertex of the graph, which has the ids 0..2; ...
    """
    ir = program.ir()
    for name in sorted(ir.vertex_params):
        given = np.atleast_1d(program.params[name])
        if strange := [int(v) for v in given.ravel() if not 0 <= v < graph.num_vertices]:
            has = f"which has the ids 0..{graph.num_vertices - 1}" if graph.num_vertices else "which has none"
            raise UnknownVertexError(
                f"{ir.name}: {name}={strange[0]} is not a vertex of the graph, {has}; "
                "graph.vertex_id(label) finds the id of a label"
            )
    for spec in program.ir().params:
        if spec.name not in program.params:  # supplied by the engine
            continue
        if spec.per_vertex and len(program.params[spec.name]) != graph.num_vertices:
            raise InvalidArgumentError(
                f"{program.ir().name}: {spec.name} has {len(program.params[spec.name]):,} rows, "
                f"but the graph has {graph.num_vertices:,} vertices"
            )
        if spec.per_edge and len(program.params[spec.name]) != graph.num_arcs:
            raise InvalidArgumentError(
                f"{program.ir().name}: {spec.name} has {len(program.params[spec.name]):,} rows, but the graph has "
                f"{graph.num_arcs:,} arcs; give one row per arc in the order of graph.targets (an undirected edge is "
                "two arcs)"
            )
