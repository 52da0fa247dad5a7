"""Runs of algorithms that the page started: one after the other, each on a thread, with progress and a report."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dromos import algorithms
from dromos.errors import DromosError, InvalidArgumentError
from dromos.graph import Graph
from dromos.runner.report import page
from dromos.serve.menu import arguments_of

__all__ = ["Runs"]

_KEPT = 16
"""The number of reports kept; older ones are dropped."""


class _Stopped(Exception):
    """Raised from a run's progress, so that the run ends."""


@dataclass
class _Run:
    name: str
    state: str = "waiting"
    done: int = 0
    total: int = 0
    message: str = ""
    report: str = ""
    stopping: bool = False
    changes: int = 0


class Runs:
    """Starts runs on a graph and reports their state.

    >>> import dromos as dr
    >>> runs = Runs(dr.generators.path(4), {"device": "reference"})
    >>> number = runs.start("bfs", {"source": "0"})
    >>> shown = {"state": ""}
    >>> while shown["state"] not in ("done", "failed"):
    ...     shown = runs.state(number, shown.get("changes", -1))
    >>> shown["state"], runs.report(number).startswith("<!doctype html>")
    ('done', True)
    """

    def __init__(self, graph: Graph, how: Mapping[str, Any] | None = None) -> None:
        self._graph, self._how = graph, dict(how or {})
        self._runs: dict[int, _Run] = {}
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._last = 0

    def start(self, name: str, words: Mapping[str, str]) -> int:
        """Start a run with arguments as they were typed in, and return its number."""
        given = arguments_of(self._graph, name, words)
        run = _Run(name)
        with self._changed:
            self._last += 1
            number = self._last
            self._runs[number] = run
            for old in [
                n for n in self._runs if n <= number - _KEPT and self._runs[n].state not in ("waiting", "running")
            ]:
                del self._runs[old]
        threading.Thread(target=self._work, args=(run, given), name=f"dromos-serve-{number}", daemon=True).start()
        return number

    def state(self, number: int, seen: int = -1, wait: float = 20.0) -> dict[str, Any]:
        """The state of the run. If it equals what was ``seen``, wait for a change, at most ``wait`` seconds."""
        run = self._run(number)
        with self._changed:
            self._changed.wait_for(lambda: run.changes != seen, timeout=wait)
            return {
                "run": number, "name": run.name, "state": run.state, "done": run.done, "total": run.total,
                "message": run.message, "changes": run.changes,
            }  # fmt: skip

    def stop(self, number: int) -> dict[str, Any]:
        """Ask the run to stop, which it does at its next superstep; a kernel without supersteps runs to its end."""
        self._change(self._run(number), stopping=True)
        return self.state(number)

    def report(self, number: int) -> str:
        """The report page of the run."""
        run = self._run(number)
        if not run.report:
            raise InvalidArgumentError(f"run {number} has no report: it is {run.state}")
        return run.report

    def _run(self, number: int) -> _Run:
        with self._changed:
            if number not in self._runs:
                raise InvalidArgumentError(f"there is no run {number}; the last {_KEPT} are kept")
            return self._runs[number]

    def _change(self, run: _Run, **values: Any) -> None:
        with self._changed:
            for name, value in values.items():
                setattr(run, name, value)
            run.changes += 1
            self._changed.notify_all()

    def _work(self, run: _Run, given: Mapping[str, Any]) -> None:
        def progress(done: int, total: int) -> None:
            self._change(run, done=done, total=total)
            if run.stopping:
                raise _Stopped

        with self._turn:
            try:
                if run.stopping:
                    raise _Stopped
                self._change(run, state="running")
                result = getattr(algorithms, run.name)(self._graph, **given, **self._how, progress=progress)
                self._change(run, state="done", message=repr(result), report=page([result]))
            except _Stopped:
                self._change(run, state="stopped", message="stopped")
            except (DromosError, MemoryError) as error:
                self._change(run, state="failed", message=str(error) or "out of memory")
            except BaseException as error:  # the page must not wait forever
                self._change(run, state="failed", message=f"{type(error).__name__}: {error}")
                raise
