"""The one iteration loop: ask the planner, take a step, remember it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from dromos.dtypes import Array
from dromos.engines import Engine, Execution, GraphLike, SwitchingExecution, graph_types
from dromos.errors import InvalidArgumentError
from dromos.graph.summary import human_bytes
from dromos.plan import Decision, History, Path, Row, Stats, choose, require_legal
from dromos.program import Program, analyse

if TYPE_CHECKING:
    from dromos.runner.checkpoint import Checkpoint

__all__ = ["Progress", "ResumableWatch", "Watch", "fixed_path", "iterate"]

Progress: TypeAlias = Callable[[int, int], None]
"""Told ``(supersteps done, most that there can be)``; 0 stands for "not known"."""
Watch: TypeAlias = Callable[[Execution, Stats], None]
"""Looks at a run between two steps; it may end the run by raising."""


class ResumableWatch(Protocol):
    """A watch whose own findings can be saved with the run."""

    def __call__(self, execution: Execution, stats: Stats) -> None:
        """See :data:`Watch`."""

    def save(self) -> Mapping[str, Array]:
        """What it has found so far, for :meth:`restore`."""

    def restore(self, saved: Mapping[str, Array], state: Mapping[str, Array]) -> None:
        """Go on from there, with a run whose fields are ``state`` again."""


_WATCHED_HORIZON = 64
"""The most supersteps at once while progress is observed."""
_MOST_AT_ONCE = 1 << 30
"""The most supersteps that an engine is asked for at once: they count in machine words."""


def iterate(
    execution: Execution,
    path: Path | None = None,
    *,
    max_iter: int | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    every: int = _WATCHED_HORIZON,
    checkpoint: Checkpoint | None = None,
    leave: Callable[[Execution, Stats], bool] | None = None,
) -> History:
    """Run to the end, or for ``max_iter`` supersteps: on ``path``, or where that is None as the planner says.

    ``watch`` and ``progress`` are called after ``every`` supersteps at the latest. ``checkpoint`` saves the run now and
    then, so engines are not asked for more supersteps at once than pass in that time. Where ``leave`` answers that it
    is true, the run ends as it is, and the caller goes on with it elsewhere.

    The planner takes synchronous paths where there is a limit: only there do so many supersteps have a meaning.
    KeyboardInterrupt goes through: an engine stops its threads, and the state is lost.
    """
    known = [] if checkpoint is None else checkpoint.decisive
    history, stats = History(known), execution.stats
    caps = execution.caps if max_iter is None else execution.caps.in_supersteps()
    if checkpoint is not None:
        caps = replace(caps, whole="")  # a run in one step cannot be saved on its way
    fixed = None if path is None else Decision(path, "fixed by the caller", horizon=None)
    watched = progress is not None or watch is not None
    while not stats.finished and (max_iter is None or stats.superstep < max_iter):
        decision = choose(stats, history, caps) if fixed is None else fixed
        horizon = decision.horizon
        if watched:
            horizon = min(horizon or every, every)
        if checkpoint is not None:
            horizon = min(horizon or checkpoint.at_once, checkpoint.at_once)
        if max_iter is not None:
            left = min(max_iter - stats.superstep, _MOST_AT_ONCE)
            horizon = left if horizon is None else min(horizon, left)
        if decision.switching:
            after = cast(SwitchingExecution, execution).step_switching(horizon)
        else:
            after = execution.step(decision.path, horizon)
        history.append(Row(stats, decision, after))
        stats = after
        if progress is not None:
            progress(stats.superstep, max_iter or 0)
            if stats.read and hasattr(progress, "note"):
                rate = stats.read / max(stats.seconds, 1e-9)
                progress.note(f"{human_bytes(stats.read)} read, {human_bytes(rate)}/s")
        if watch is not None:
            watch(execution, stats)
        if checkpoint is not None:
            checkpoint.after_step(execution, stats, history)
        if leave is not None and not stats.finished and leave(execution, stats):
            break
    return History(history[len(known) :]) if known else history


def fixed_path(
    path: str | Path, execution: Execution, program: Program, graph: GraphLike, engine: Engine
) -> Path | None:
    """The path that the caller fixed, refused with the reason if the program or the engine cannot take it."""
    if path == "auto":
        return None
    wanted = Path.parse(path)
    if wanted not in execution.caps.paths:
        require_legal(wanted, analyse(program.typed(graph_types(graph))), type(program).__name__)
        known = ", ".join(map(str, execution.caps.paths))
        why = f" ({execution.caps.why_no_others})" if execution.caps.why_no_others else ""
        raise InvalidArgumentError(f"the engine {engine.name!r} has no path {wanted}{why}; it has {known}")
    return wanted
