"""Running programs: ``run(program, graph)``, or ``compile`` once and run often."""

from __future__ import annotations

from typing import Any, Unpack

from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.program import Program
from dromos.program.types import IdType
from dromos.runner.devices import DEVICES, engine_for
from dromos.runner.host import array_module, on_host
from dromos.runner.options import DeviceOptions, Options
from dromos.runner.outcome import Outcome
from dromos.runner.result import Result
from dromos.runner.result_kinds import NumberResult, ProgramResult
from dromos.runner.session import Session
from dromos.runner.trace import Trace, TraceRow
from dromos.whole_numbers import whole_number

__all__ = [
    "DEVICES",
    "DeviceOptions",
    "NumberResult",
    "Options",
    "Outcome",
    "ProgramResult",
    "Result",
    "Runner",
    "Session",
    "Trace",
    "TraceRow",
    "array_module",
    "compile",
    "engine_for",
    "on_host",
    "run",
]


def run(program: Program, graph: Graph, *, max_iter: int | None = None, **how: Unpack[Options]) -> ProgramResult:
    """Run a program on a graph until it ends, or for at most ``max_iter`` supersteps.

    The result has the fields, and the last value of each reduction, as attributes.

    Args:
        program: an instance of a program, with its parameters.
        graph: the graph.
        max_iter: the maximum number of supersteps; ``result.finished`` is empty if the run was cut off there.
        how: ``device``, ``path``, ``threads``, ``checkpoint`` and others; see :class:`Options`.

    >>> import numpy as np
    >>> import dromos as dr
    >>> class Reach(dr.Program):
    ...     source = dr.param(int)
    ...     reached = dr.field(bool)
    ...     combine = dr.OR
    ...     def init(self, v): return v.id == self.source
    ...     def start(self, v): return v.id == self.source
    ...     def compute(self, u, edge, v): return True
    ...     def update(self, v, message): return v.reached | message
    >>> dr.run(Reach(source=1), dr.Graph.from_edges([0, 1], [1, 2])).reached.tolist()
    [False, True, True]
    """
    if isinstance(program, type) and issubclass(program, Program):
        raise InvalidArgumentError(
            f"{program.__name__} is a class; give an instance with its parameters, {program.__name__}(…)"
        )
    if not isinstance(program, Program):
        raise InvalidArgumentError(f"{program!r} is not a dromos.Program; give an instance of a class derived from it")
    if max_iter is not None:
        limit = whole_number(max_iter)
        if limit is None or limit < 0:
            raise InvalidArgumentError(f"max_iter={max_iter!r} is not a number of supersteps; give 0 or more")
        max_iter = limit
    ir = program.ir()
    session = Session(ir.name, graph, **how)
    outcome = session.run(program, max_iter=max_iter, keep_on_device=True, is_answer=True)
    return session.result(
        ProgramResult,
        outcome.fields,
        values=outcome.reductions,
        vertex_fields={spec.name for spec in ir.fields if isinstance(spec.dtype, IdType)},
        edge_fields={spec.name for spec in ir.edge_fields},
    )


class Runner:
    """A program compiled for a graph. Call it to run; keywords replace the parameters of the program."""

    def __init__(self, program: Program, graph: Graph, how: Options) -> None:
        self.program, self.graph, self._how = program, graph, how

    def __call__(self, *, max_iter: int | None = None, **params: Any) -> ProgramResult:
        """Run the program; ``params`` replace the parameters that it was given."""
        program = type(self.program)(**{**self.program.params, **params}) if params else self.program
        return run(program, self.graph, max_iter=max_iter, **self._how)

    def __repr__(self) -> str:
        return f"<Runner: {self.program!r} on {self.graph!r}>"


def compile(program: Program, graph: Graph, **how: Unpack[Options]) -> Runner:
    """Compile a program for a graph now, so that later runs do not wait for it.

    >>> import dromos as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> levels = dr.compile(BFS(source=0), dr.generators.path(4))
    >>> levels().level.tolist(), levels(source=3).level.tolist()
    ([0, 1, 2, 3], [3, 2, 1, 0])
    """
    how["device"] = engine_for(  # one engine keeps what it built
        how.get("device", "auto"),
        how.get("threads"),
        graph,
        slices=how.pop("slices", None),
        parts=how.pop("parts", None),
        memory=how.pop("memory", None),
        share=how.pop("share", None),
        split=how.pop("split", None),
        deal=how.pop("deal", None),
        host_memory=how.pop("host_memory", None),
    )
    unsaved = {name: value for name, value in how.items() if not name.startswith("checkpoint")}
    run(program, graph, max_iter=0, **unsaved)  # type: ignore[arg-type]
    return Runner(program, graph, how)
