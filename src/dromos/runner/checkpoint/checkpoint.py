"""When a run is saved, and how the same call continues from there."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from dromos.dtypes import Array
from dromos.engines import Engine, Execution
from dromos.engines.saving import ResumableExecution, why_not_saved
from dromos.errors import CheckpointError, InvalidArgumentError
from dromos.graph import Graph
from dromos.plan import History, Row, Stats
from dromos.program import Program
from dromos.runner.checkpoint.folder import Folder
from dromos.runner.checkpoint.identity import GraphDigests, difference, words_of
from dromos.runner.checkpoint.planning import plain_row, plain_stats, row_of
from dromos.runner.loop import ResumableWatch
from dromos.runner.together import OneProcess

__all__ = ["Checkpoint", "Finished"]

_AT_ONCE = 64
"""Supersteps that an engine may fuse in its first step; later steps are adjusted by the measured time."""
_MOST_AT_ONCE = 1 << 20
_WATCH = "watch."


class Finished(NamedTuple):
    """A finished program of the call."""

    fields: Mapping[str, Array]
    told: dict[str, Any]


class Checkpoint:
    """The checkpoint of one call, which may run several programs one after the other."""

    def __init__(
        self, path: str | os.PathLike[str], every: float, algorithm: str, engine: Engine, run_path: str
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InvalidArgumentError(f"checkpoint={path!r} is not the path of a folder to save the run to")
        if isinstance(every, bool) or not isinstance(every, int | float) or not every >= 0:
            raise InvalidArgumentError(f"checkpoint_every={every!r} is not a number of seconds; give 0 or more")
        self._algorithm, self._engine, self._run_path, self._every = algorithm, engine, run_path, every
        self._folder = Folder(path, getattr(engine, "comm", None) or OneProcess())
        self.path = self._folder.path
        self._found: dict[str, Any] = self._folder.manifest
        self._digests = GraphDigests()
        self._done: list[Finished | None] = []  # None: on disk already
        self._told: list[dict[str, Any]] = []
        self._words: dict[str, str] = {}
        self._watch: ResumableWatch | None = None
        self.decisive: list[Row] = []
        """The steps before the restart that the planner continues from."""
        self._saved_at = self._stepped_at = time.monotonic()
        self._at_once = _AT_ONCE if every > 0 else 1

    # ---- going on --------------------------------------------------------------------------------------------------

    def begin(
        self, program: Program, graph: Graph, max_iter: int | None, watch: ResumableWatch | None = None
    ) -> Finished | None:
        """Start the next program of the call; return its outcome if that is known already.

        ``watch`` observes the run; its own state is saved with it.
        """
        self._watch = watch
        number, digest = len(self._done), self._digests.of(graph)
        self._words = words_of(
            self._algorithm, self._engine.name, self._run_path, program, graph, max_iter, digest
        )  # fmt: skip
        finished = self._found.get("finished", [])
        if number < len(finished):
            told = finished[number]
            self._require_same(told["words"])
            fields = self._folder.load_outcome(number, told["bytes"])
            self._done.append(None)
            self._told.append(told)
            return Finished(self._without_watch(fields, fields), told)
        if number == len(finished) and "words" in self._found:
            self._require_same(self._found["words"])
        return None

    def resume(self, execution: Execution) -> int:
        """Restore the saved state into ``execution``; return the supersteps done, 0 if nothing was saved."""
        if why := why_not_saved(execution):
            raise InvalidArgumentError(
                f"checkpoint={str(self.path)!r}: a run on {self._engine.name!r} cannot be saved ({why}); "
                "leave checkpoint out, or use device='cpu'"
            )
        self._saved_at = self._stepped_at = time.monotonic()
        self.decisive = []
        if len(self._done) != len(self._found.get("finished", [])) or "stats" not in self._found:
            return 0
        stats = Stats(**self._found["stats"])
        saved = self._folder.load()
        cast(ResumableExecution, execution).restore(saved, stats)
        if self._watch is not None:
            self._without_watch(saved, execution.state)
        self.decisive = [row_of(told) for told in self._found["decisive"]]
        return stats.superstep

    def _without_watch(self, saved: Mapping[str, Array], state: Mapping[str, Array]) -> dict[str, Array]:
        """Restore the watch from its saved arrays; return the other arrays."""
        if self._watch is not None:
            own = {name[len(_WATCH) :]: values for name, values in saved.items() if name.startswith(_WATCH)}
            self._watch.restore(own, state)
        return {name: values for name, values in saved.items() if not name.startswith(_WATCH)}

    def _watched(self) -> dict[str, Array]:
        found = {} if self._watch is None else self._watch.save()
        return {f"{_WATCH}{name}": values for name, values in found.items()}

    def _require_same(self, saved: dict[str, Any]) -> None:
        if other := difference(saved, self._words):
            raise CheckpointError(
                f"belongs to another run ({other}); remove the folder to start again, or give another name",
                path=self.path,
            )

    # ---- saving ----------------------------------------------------------------------------------------------------

    @property
    def at_once(self) -> int:
        """The most supersteps of the next step, so that it ends about when the next save is due."""
        return self._at_once

    def after_step(self, execution: Execution, stats: Stats, history: History) -> None:
        """Save if it is due, or if a run that was saved before has ended."""
        now = time.monotonic()
        agree = getattr(execution, "agree", lambda seconds: seconds)
        since, took = agree(now - self._saved_at), agree(now - self._stepped_at)
        if took > self._every / 2:
            self._at_once = max(1, self._at_once // 2)
        elif took < self._every / 8:
            self._at_once = min(2 * self._at_once, _MOST_AT_ONCE)
        if since >= self._every or (stats.finished and "stats" in self._folder.manifest):
            self._save(cast(ResumableExecution, execution), stats, history)
            self._saved_at = time.monotonic()
        self._stepped_at = time.monotonic()

    def end(self, fields: Mapping[str, Array], told: dict[str, Any]) -> None:
        """Record that the program is done: :meth:`begin` returns ``fields`` and ``told`` after a restart."""
        found = {**fields, **self._watched()}
        copies = {name: values.copy() for name, values in found.items()}  # the caller may write into the fields
        self._done.append(Finished(copies, {"words": self._words, **told}))

    def _save(self, execution: ResumableExecution, stats: Stats, history: History) -> None:
        for number, finished in enumerate(self._done):
            if finished is not None:
                size = self._folder.save_outcome(number, finished.fields)
                self._told.append({**finished.told, "bytes": size})
                self._done[number] = None
        steps = [plain_row(row) for row in history.decisive()]
        told = {"words": self._words, "stats": plain_stats(stats), "decisive": steps, "finished": self._told}
        self._folder.save({**execution.save(), **self._watched()}, told)
