"""What happened in a run: one row per step, always recorded."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from dromos.graph.summary import digits
from dromos.plan import Levels, Row

__all__ = ["FusedRow", "Trace", "TraceRow", "parts_text"]

_SHOWN = 20
"""Rows of a trace that its repr shows; a longer one loses its middle."""


class TraceRow(NamedTuple):
    """One step of a run."""

    phase: str
    """The program that ran: a composition runs several."""
    superstep: int
    """The number of the first superstep of this step."""
    supersteps: int
    """How many supersteps ran in this step; more than one where the engine fused them."""
    frontier: int
    out_degree: int
    in_degree: int
    path: str
    reason: str
    predicted: float | None
    """Seconds that the planner expected, or a GPU of the way that it took, where a prediction was made."""
    seconds: float
    messages: int
    bytes: int
    read: int = 0
    """Bytes read from disk."""
    sent: int = 0
    """Bytes that ranks sent each other."""
    parts: str = ""
    """The milliseconds that each of several processors worked, and those of the exchange between them, such as
    ``cpu 1.5, cuda 0.9, exchange 0.2``. They work at the same time, so together they may be more than the step took.
    Of a graph on disk: those of the kernels, those that they waited for the disk, and those of the host, which chooses
    what to read and what to keep, such as ``kernels 8.1, disk 2.5, host 0.4``."""
    way: str = ""
    """How rows in the host's memory reached a GPU: ``in place``, ``pages`` or ``gathered``."""
    directions: str = ""
    """The direction of each processor, where they took different ones in a superstep: ``cpu push, cuda pull``."""

    @property
    def busy(self) -> dict[str, float]:
        """:attr:`parts` as numbers, by name; processors of one name together.

        >>> TraceRow("", 0, 1, 1, 1, 1, "", "", None, 0.0, 0, 0, parts="cpu 1.5, cuda 0.9").busy
        {'cpu': 1.5, 'cuda': 0.9}
        """
        found: dict[str, float] = {}
        for part in filter(None, self.parts.split(", ")):
            name, _, taken = part.rpartition(" ")
            found[name] = found.get(name, 0.0) + float(taken)
        return found

    @classmethod
    def of(cls, phase: str, row: Row) -> TraceRow:
        """The row of a trace for a step of the loop."""
        before, decision, after = row.before, row.decision, row.after
        predicted = decision.predicted if after.way_seconds is None else after.way_seconds
        return cls(
            phase, before.superstep, after.superstep - before.superstep,
            before.frontier, before.out_degree, before.in_degree,
            str(decision.path), decision.reason, predicted, after.seconds, after.messages, after.bytes,
            after.read, after.sent, parts_text(after.parts), after.way, after.directions,
        )  # fmt: skip


def parts_text(parts: Iterable[tuple[str, float]]) -> str:
    """Seconds by name as :attr:`TraceRow.parts` has them.

    >>> parts_text([("kernels", 0.25), ("disk", 0.001)])
    'kernels 250, disk 1'
    """
    return ", ".join(f"{name} {digits(seconds * 1e3)}" for name, seconds in parts)


class FusedRow(NamedTuple):
    """A step that fused several supersteps, with what the engine knows of each one."""

    whole: TraceRow
    levels: Levels

    @classmethod
    def of(cls, phase: str, row: Row) -> FusedRow | TraceRow:
        """What to keep of a step of the loop: as it is where nothing is known of its parts."""
        whole, levels = TraceRow.of(phase, row), row.after.levels
        return whole if levels is None else cls(whole, levels)

    def rows(self) -> Iterator[TraceRow]:
        """A row for each superstep; the first has the time that none took (starting the kernel), and that of parts."""
        whole, levels = self
        count, edges = len(levels.frontier), max(int(levels.out_degree.sum()), 1)
        in_degree = whole.in_degree
        seconds = levels.seconds.tolist()
        seconds[0] += whole.seconds - sum(seconds)
        columns = zip(levels.frontier.tolist(), levels.out_degree.tolist(), seconds, strict=True)
        paths = _paths(whole.path, levels)
        for number, (frontier, out_degree, taken) in enumerate(columns):
            yield whole._replace(
                path=paths[number], parts=whole.parts if number == 0 else "",
                superstep=whole.superstep + number, supersteps=1, frontier=frontier, out_degree=out_degree,
                in_degree=in_degree if number == 0 else 0, predicted=whole.predicted if count == 1 else None,
                seconds=taken, messages=whole.messages * out_degree // edges, bytes=whole.bytes * out_degree // edges,
            )  # fmt: skip


def _paths(path: str, levels: Levels) -> list[str]:
    """The path of each superstep: as decided, but in the direction that the engine took."""
    if levels.pulled is None:
        return [path] * len(levels.frontier)
    push, pull = (path.replace("-pull-", "-push-"), path.replace("-push-", "-pull-"))
    return [pull if pulled else push for pulled in levels.pulled.tolist()]


class Trace(Sequence[TraceRow]):
    """The steps of a run, in order: one row per superstep.

    Supersteps that the engine fused have separate rows if the engine can tell them apart. Their times are read from
    the clock between them, or are shares of the whole by work (a superstep of a few vertices is shorter than reading a
    clock). Their messages and bytes are shares too, and in-degrees are known for the first of them only.

    >>> import dromos as dr
    >>> trace = dr.bfs(dr.generators.path(4), 0, path="sync-push-dd", device="reference").trace
    >>> [row.frontier for row in trace], trace.supersteps, trace.paths
    ([1, 1, 1, 1], 4, {'sync-push-dd': 4})
    """

    def __init__(self, steps: Iterable[TraceRow | FusedRow] = ()) -> None:
        self._steps = list(steps)
        self._told: list[TraceRow] | None = None

    @property
    def _rows(self) -> list[TraceRow]:
        """The rows, expanded lazily: there may be thousands of them in a run of milliseconds."""
        if self._told is None:
            parts = (step.rows() if isinstance(step, FusedRow) else (step,) for step in self._steps)
            self._told = [row for part in parts for row in part]
        return self._told

    @overload
    def __getitem__(self, index: int) -> TraceRow: ...
    @overload
    def __getitem__(self, index: slice) -> Trace: ...
    def __getitem__(self, index: int | slice) -> TraceRow | Trace:
        return Trace(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[TraceRow]:
        return iter(self._rows)

    def __eq__(self, other: object) -> bool:
        return self._rows == other._rows if isinstance(other, Trace) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def _whole(self) -> Iterator[TraceRow]:
        return (step.whole if isinstance(step, FusedRow) else step for step in self._steps)

    @property
    def supersteps(self) -> int:
        """How many supersteps ran."""
        return sum(step.supersteps for step in self._whole)

    @property
    def seconds(self) -> float:
        """The time spent in the steps, without preparation and planning."""
        return sum(step.seconds for step in self._whole)

    @property
    def read(self) -> int:
        """The bytes read from disk."""
        return sum(step.read for step in self._whole)

    @property
    def sent(self) -> int:
        """The bytes that ranks sent each other."""
        return sum(step.sent for step in self._whole)

    @property
    def paths(self) -> dict[str, int]:
        """Supersteps by path, in the order of first use."""
        taken: Counter[str] = Counter()
        for step in self._steps:
            if isinstance(step, FusedRow):
                taken.update(_paths(step.whole.path, step.levels))
            elif step.supersteps:
                taken[step.path] += step.supersteps
        return dict(taken)

    def columns(self) -> dict[str, list[Any]]:
        """The trace as columns."""
        return {name: [getattr(row, name) for row in self._rows] for name in TraceRow._fields}

    def to_arrow(self) -> Any:
        """The trace as a ``pyarrow.Table``."""
        from dromos.runner.tables import arrow

        return arrow().table(self.columns())

    def to_pandas(self) -> Any:
        """The trace as a ``pandas.DataFrame``."""
        from dromos.runner.tables import pandas

        return pandas().DataFrame(self.columns())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a ``.parquet``, ``.csv``, ``.json`` or ``.npz`` file; a missing prediction is NaN."""
        from dromos.runner.writing import write_columns

        columns = self.columns()
        columns["predicted"] = [math.nan if value is None else value for value in columns["predicted"]]
        write_columns(path, {name: np.array(column) for name, column in columns.items()})

    def plot(self, ax: Any = None) -> Any:
        """Draw seconds and frontier per step, colored by path, with matplotlib; returns the axes."""
        from dromos.runner.plot import plot

        return plot(self, ax)

    def _repr_html_(self) -> str:
        from dromos.runner.report.notebook import trace_html

        return trace_html(self)

    def __repr__(self) -> str:
        shown: list[TraceRow | None] = list(self._rows)
        if len(shown) > _SHOWN:
            shown[_SHOWN // 2 : -_SHOWN // 2] = [None]
        phases = len({row.phase for row in self._rows}) > 1
        disk = any(row.read for row in self._rows)
        shared = any(row.parts for row in self._rows)
        sent = any(row.sent for row in self._rows)
        ways, mixed = any(row.way for row in self._rows), any(row.directions for row in self._rows)
        more = [*(["MiB read"] if disk else []), *(["kB sent"] if sent else []), *(["ms by part"] if shared else [])]
        more += [*(["directions"] if mixed else []), *(["way", "ms expected"] if ways else [])]
        head = ["superstep", "frontier", "out-edges", "path", "ms", *more, "reason"]
        head = [*(["phase"] if phases else []), *head]
        columns = phases, disk, sent, shared, mixed, ways
        lines = [head, *(_cells(row, *columns) if row else ["…"] * len(head) for row in shown)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head) - 1)]
        left = {"path", "phase", "ms by part", "directions", "way"}
        text = [
            "  ".join(
                [cell.ljust(w) if name in left else cell.rjust(w) for cell, w, name in zip(line, widths, head)]  # noqa: B905
                + [line[-1]]
            )
            for line in lines
        ]
        return "\n".join(
            [f"<Trace: {_counted(self.supersteps, 'superstep')} in {_counted(len(self._steps), 'step')}>", *text]
        )


def _cells(row: TraceRow, phases: bool, disk: bool, sent: bool, shared: bool, mixed: bool, ways: bool) -> list[str]:
    last = row.superstep + row.supersteps - 1
    number = f"{row.superstep}" if row.supersteps <= 1 else f"{row.superstep}..{last}"
    expected = "" if row.predicted is None else digits(row.predicted * 1e3)
    return [
        *([row.phase] if phases else []),
        number, f"{row.frontier:,}", f"{row.out_degree:,}", row.path, digits(row.seconds * 1e3),
        *([digits(row.read / 2**20)] if disk else []), *([f"{row.sent / 1e3:.4g}"] if sent else []),
        *([row.parts] if shared else []), *([row.directions] if mixed else []),
        *([row.way, expected] if ways else []), row.reason,
    ]  # fmt: skip


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
