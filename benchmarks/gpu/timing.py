"""How a run is timed: from a resident graph and an initial state to a resident result.

The device time includes all supersteps of the program, the planner's decisions between them, every launch and every
wait of the host in the loop. It is the time between two CUDA events, so gaps in which the device waits for the host
count. It does not include compiling, allocating memory and writing the initial state (``prepare_ms``, by the host's
clock), or copying the result to the host. A native kernel has no state of its own before it runs, so its preparation is
included. The end-to-end time is the host's clock around the public function: the graph is on the device before, the
result is on the host after.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import groupby
from typing import Any

import numpy as np

from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.resident import Resident
from dromos.engines import Engine
from dromos.plan import History, Path
from dromos.program import Program
from dromos.runner.loop import iterate

__all__ = ["Samples", "Timed", "run_native", "run_program", "switches", "wall_ms"]


@dataclass
class Timed:
    """One run."""

    ms: float
    prepare_ms: float
    fields: Callable[[], Mapping[str, Any]]
    """The result in the given order of the vertices, on the device or on the host; made on demand."""
    steps: list[tuple[str, int]] = field(default_factory=list)
    """Path and supersteps of each step."""
    kernel_ms: float | None = None
    """The part of ``ms`` in which supersteps ran, by the device's clock, if one launch ran them all."""


def run_program(
    engine: Engine, program: Program, graph: Any, path: Path | None = None, max_iter: int | None = None
) -> Timed:
    """Time a program on ``path``, or as the planner decides."""
    import cupy as cp

    begin = time.perf_counter()
    execution = engine.prepare(program, graph)
    cp.cuda.Device().synchronize()
    prepared = 1e3 * (time.perf_counter() - begin)
    ms, history = milliseconds(lambda: iterate(execution, path, max_iter=max_iter))
    inside = _rows(history, execution)
    kernel_ms = None if inside is None else float(inside["nanoseconds"].sum()) / 1e6
    return Timed(ms, prepared, execution.result, steps_of(history, inside), kernel_ms)


def run_native(name: str, case: Resident, **options: Any) -> Timed:
    """Time the engine's own kernel called ``name`` on the graph without weights."""
    kernel = getattr(import_module(f"dromos.engines.cuda.native.{name}"), name)
    graph = case.device_graph()
    ms, fields = milliseconds(lambda: kernel(graph, **options))
    arrays = {name: value for name, value in fields.items() if getattr(value, "ndim", 0)}
    return Timed(ms, 0.0, lambda: {name: graph.to_given_order(a) for name, a in arrays.items()}, [("native", 1)])


def _rows(history: History, execution: Any) -> Any:
    """The device's record of each superstep, if one step ran them all; else None."""
    rows = getattr(execution, "rows", None)
    whole = len(history) == 1 and rows is not None and 0 < len(rows) == history[-1].after.superstep
    return rows if whole else None


def steps_of(history: History, rows: Any) -> list[tuple[str, int]]:
    """Path and number of supersteps of each step; the chosen directions if the device chose them itself."""
    if rows is not None and 0 < np.count_nonzero(rows["pulled"]) < len(rows):
        return [("sync-pull-dd" if pulled else "sync-push-dd", 1) for pulled in rows["pulled"]]
    return [(str(row.decision.path), row.after.superstep - row.before.superstep) for row in history]


def switches(steps: list[tuple[str, int]]) -> str:
    """The paths taken with the superstep at which each begins, as in ``sync-push-dd @0, sync-pull-td @2``."""
    said, at = [], 0
    for path, group in groupby(steps, key=lambda step: step[0]):
        said.append(f"{path} @{at}")
        at += sum(count for _, count in group)
    return ", ".join(said) + (f"; {at} supersteps" if at > 1 else "")


def wall_ms(work: Callable[[], Any]) -> float:
    """The time of ``work`` by the host's clock."""
    import cupy as cp

    cp.cuda.Device().synchronize()
    begin = time.perf_counter()
    work()
    cp.cuda.Device().synchronize()
    return 1e3 * (time.perf_counter() - begin)


@dataclass
class Samples:
    """Runs from several sources, in rounds."""

    runs: dict[Any, list[Timed]] = field(default_factory=dict)

    def add(self, item: Any, run: Timed) -> None:
        """Add a run from ``item``."""
        self.runs.setdefault(item, []).append(run)

    @property
    def by_item(self) -> dict[Any, float]:
        """The median of each item's runs."""
        return {item: statistics.median(run.ms for run in runs) for item, runs in self.runs.items()}

    def over(self, other: Samples) -> float:
        """Our time over the other's, from the items that both ran from."""
        ours, theirs = self.by_item, other.by_item
        both = [item for item in ours if item in theirs]
        return statistics.median(ours[item] for item in both) / statistics.median(theirs[item] for item in both)

    def summary(self, per: int = 1) -> dict[str, Any]:
        """The median over the items, the best and the worst, and the steps of the median run."""
        times = sorted(self.by_item.values())
        middle = statistics.median_low(times)
        typical = next(runs[0] for runs in self.runs.values() if statistics.median(run.ms for run in runs) == middle)
        return {
            "ms": statistics.median(times) / per,
            "best_ms": times[0] / per,
            "worst_ms": times[-1] / per,
            "kernel_ms": None if typical.kernel_ms is None else typical.kernel_ms / per,
            "prepare_ms": statistics.median(run.prepare_ms for runs in self.runs.values() for run in runs),
            "runs": sum(map(len, self.runs.values())),
            "path": switches(typical.steps),
        }
