"""The one iteration loop: ask the planner, take a step, record it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from dromos.dtypes import Array
from dromos.engines import Engine, Execution, ExpectingExecution, GraphLike, SwitchingExecution, graph_types
from dromos.errors import InvalidArgumentError
from dromos.graph.summary import human_bytes
from dromos.plan import Decision, History, Path, Row, Stats, choose, require_legal
from dromos.program import Program, analyse

if TYPE_CHECKING:
    from dromos.runner.checkpoint import Checkpoint

__all__ = ["Progress", "ResumableWatch", "Watch", "fixed_path", "is_over", "iterate"]

Progress: TypeAlias = Callable[[int, int], None]
"""Called with ``(supersteps done, most that there can be)``; 0 means "not known"."""
Watch: TypeAlias = Callable[[Execution, Stats], None]
"""Called between two steps of a run; it may end the run by raising."""


class ResumableWatch(Protocol):
    """A watch whose own state can be saved with the run."""

    def __call__(self, execution: Execution, stats: Stats) -> None:
        """See :data:`Watch`."""

    def save(self) -> Mapping[str, Array]:
        """The state of the watch so far, for :meth:`restore`."""

    def restore(self, saved: Mapping[str, Array], state: Mapping[str, Array]) -> None:
        """Continue from the saved state, with a run whose fields are ``state`` again."""


_WATCHED_HORIZON = 64
"""The most supersteps at once while progress is observed."""
_MOST_AT_ONCE = 1 << 30
"""The most supersteps that an engine is asked for at once: engines count in machine words."""


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
    """Run to the end, or for ``max_iter`` supersteps: on ``path``, or as the planner chooses if it is None.

    ``watch`` and ``progress`` are called at least every ``every`` supersteps. ``checkpoint`` saves the run at
    intervals, so engines are not asked for more supersteps at once than fit in an interval. When ``leave`` returns
    true, the run stops as it is, and the caller continues it elsewhere.

    With ``max_iter`` the planner takes synchronous paths: only there is a number of supersteps well defined.
    KeyboardInterrupt propagates: an engine stops its threads, and the state is lost.
    """
    known = [] if checkpoint is None else checkpoint.decisive
    history, stats = History(known), execution.stats
    caps = execution.caps if max_iter is None else execution.caps.in_supersteps()
    if checkpoint is not None:
        caps = replace(caps, whole="")  # a run in one step cannot be saved midway
    fixed = None if path is None else Decision(path, "fixed by the caller", horizon=None)
    watched = progress is not None or watch is not None
    if isinstance(execution, ExpectingExecution):
        execution.expect(max_iter)
    while not is_over(stats, max_iter):
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


def is_over(stats: Stats, max_iter: int | None) -> bool:
    """Whether a run has ended, by itself or by the limit of its supersteps.

    >>> stats = Stats(superstep=3, frontier=1, out_degree=2, in_degree=2)
    >>> is_over(stats, 3), is_over(stats, None)
    (True, False)
    """
    return bool(stats.finished) or (max_iter is not None and stats.superstep >= max_iter)


def fixed_path(
    path: str | Path, execution: Execution, program: Program, graph: GraphLike, engine: Engine
) -> Path | None:
    """The path that the caller fixed; refused with the reason if the program or the engine does not support it."""
    if path == "auto":
        return None
    wanted = Path.parse(path)
    if wanted not in execution.caps.paths:
        require_legal(wanted, analyse(program.typed(graph_types(graph))), type(program).__name__)
        known = ", ".join(map(str, execution.caps.paths))
        why = f" ({execution.caps.why_no_others})" if execution.caps.why_no_others else ""
        raise InvalidArgumentError(f"the engine {engine.name!r} has no path {wanted}{why}; it has {known}")
    return wanted
