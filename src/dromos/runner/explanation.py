"""What a report tells beyond the trace: the programs' generated code, and what other paths would have cost."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from dromos.compiling import compile_seconds
from dromos.engines import Engine, Execution
from dromos.graph import Graph
from dromos.plan import Path, Stats
from dromos.program import GraphTypes, Program, analyse
from dromos.runner.loop import iterate

__all__ = ["AUTO", "Explanation", "PathCost", "other_paths"]

AUTO: Final = "auto"
_MOST_TIMES_AS_LONG: Final = 4
_LEAST_LIMIT: Final = 2.0
"""Seconds that a path may take in any case."""


class PathCost(NamedTuple):
    """What one path would have cost in place of what the planner chose."""

    phase: str
    path: str
    seconds: float
    supersteps: int
    stopped: bool
    """Whether it was stopped, since it took much longer than the run itself."""


@dataclass
class Explanation:
    """What is kept with a result for its report."""

    programs: dict[str, tuple[type[Program], GraphTypes]] = field(default_factory=dict)
    other_paths: list[PathCost] = field(default_factory=list)
    seconds: float = 0.0
    """The time that the other paths took; no part of the run's."""
    compile_seconds: float = 0.0

    def compare_paths(self, engine: Engine, program: Program, graph: Graph, taken: float, max_iter: int | None) -> None:
        """Note what other paths would have cost."""
        begin, compiled = time.perf_counter(), compile_seconds()
        self.other_paths += other_paths(engine, program, graph, taken, max_iter)
        self.seconds += time.perf_counter() - begin
        self.compile_seconds += compile_seconds() - compiled

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, which takes classes by their names: those of functions and notebooks' cells are left out."""
        named = {name: entry for name, entry in self.programs.items() if _can_be_imported(entry[0])}
        return {**self.__dict__, "programs": named}

    def sources(self, device: str) -> Iterator[tuple[str, str, str]]:
        """The code that was generated for each program: its name, the language, the text."""
        on_gpu = "cuda" in device
        for name, (program, types) in self.programs.items():
            typed = program.typed(types)
            if on_gpu:
                from dromos.codegen.cuda import hooks_text as cuda_text

                yield name, "CUDA C++", cuda_text(typed, analyse(typed))
            else:
                from dromos.codegen.python import hooks_text as python_text

                yield name, "Python, compiled", python_text(typed, analyse(typed))


def _can_be_imported(kind: type) -> bool:
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


class _TakesLong(Exception):
    """A path is not worth waiting for."""


def other_paths(
    engine: Engine, program: Program, graph: Graph, taken: float, max_iter: int | None = None
) -> Iterator[PathCost]:
    """Run ``program`` again as planned (``auto``), then on each path that it can take; times without compiling.

    A path that takes more than four times as long as the run itself (``taken`` seconds), and two seconds, is stopped.

    >>> import dromos as dr
    >>> from dromos.algorithms.bfs import BFS
    >>> from dromos.runner.devices import engine_for
    >>> costs = other_paths(engine_for("reference"), BFS(source=0), dr.generators.path(4), 1.0)
    >>> [cost.path for cost in costs][:2]
    ['auto', 'sync-push-dd']
    """
    limit = max(_MOST_TIMES_AS_LONG * taken, _LEAST_LIMIT)
    looked_at = engine.prepare(program, graph)
    _close(looked_at)
    for path in (None, *looked_at.caps.paths):
        first = _cost(engine, program, graph, path, limit, max_iter)
        # the second time everything is loaded and warm, as it was for the run itself
        yield first if first.stopped else min(first, _cost(engine, program, graph, path, limit, max_iter))


def _cost(
    engine: Engine, program: Program, graph: Graph, path: Path | None, limit: float, max_iter: int | None
) -> PathCost:
    execution: Any = engine.prepare(program, graph)
    begin, compiled, stopped = time.perf_counter(), compile_seconds(), False

    def spent() -> float:
        return time.perf_counter() - begin - (compile_seconds() - compiled)

    def watch(_: Execution, stats: Stats) -> None:
        if not stats.finished and execution_agrees(spent()) > limit:
            raise _TakesLong

    def execution_agrees(seconds: float) -> float:
        agree = getattr(execution, "agree", None)  # of several ranks, all stop or none
        return seconds if agree is None else float(agree(seconds))

    try:
        iterate(execution, path, max_iter=max_iter, watch=watch)
    except _TakesLong:
        stopped = True
    finally:
        close = getattr(execution, "close", None)
        if close is not None:
            close()
    return PathCost(
        type(program).__name__, AUTO if path is None else str(path), spent(), execution.stats.superstep, stopped
    )


def _close(execution: Any) -> None:
    close = getattr(execution, "close", None)
    if close is not None:  # threads that read, and an open file
        close()
