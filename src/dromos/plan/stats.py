"""The planner's inputs: numbers only, so that it is tested without a graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, overload

import numpy as np

from dromos.dtypes import Array
from dromos.plan.path import Path
from dromos.program.ir import Kind

__all__ = ["Caps", "Constants", "Decision", "History", "Levels", "Row", "Stats"]


@dataclass(frozen=True, slots=True)
class Levels:
    """The supersteps of a step that fused several: the frontier of each, the arcs that left it, and its seconds."""

    frontier: Array
    out_degree: Array
    seconds: Array
    pulled: Array | None = None
    """Which of them were pulls, where the engine switched by itself."""

    @classmethod
    def of(cls, frontier: Array, out_degree: Array, clock: Array) -> Levels:
        """From a clock in nanoseconds, read at the start of each superstep and at the end; 0: it was not read.

        The time between two readings is divided in proportion to the frontier and its arcs.

        >>> Levels.of(np.array([1, 1, 8]), np.array([1, 3, 5]), np.array([5, 0, 11, 41])).seconds.tolist()
        [2e-09, 4e-09, 3e-08]
        """
        read = np.flatnonzero(clock)
        if len(read) == len(clock):
            return cls(frontier, out_degree, np.diff(clock) / 1e9)
        work = np.concatenate([np.zeros(1), np.cumsum(frontier + out_degree)])
        moments = np.interp(work, work[read], clock[read] - clock[read[0]]) if len(read) else work * 0.0
        return cls(frontier, out_degree, np.diff(moments) / 1e9)

    def then(self, following: Levels) -> Levels:
        """These supersteps and those of the step after it, as of one step."""
        pulled = None
        if self.pulled is not None and following.pulled is not None:
            pulled = np.concatenate([self.pulled, following.pulled])
        return Levels(
            np.concatenate([self.frontier, following.frontier]),
            np.concatenate([self.out_degree, following.out_degree]),
            np.concatenate([self.seconds, following.seconds]),
            pulled,
        )


@dataclass(frozen=True, slots=True)
class Stats:
    """The frontier that the next superstep will run on, and what the last one cost."""

    superstep: int
    """How many supersteps have run."""
    frontier: int
    """Vertices in the frontier."""
    out_degree: int
    """Sum of their out-degrees: the edges that a push would look at."""
    in_degree: int
    """Sum of their in-degrees."""
    messages: int = 0
    """Edges along which a message went in the last superstep."""
    bytes: int = 0
    """Bytes that the last superstep moved, as the engine counts them."""
    seconds: float = 0.0
    """The seconds of the last superstep."""
    read: int = 0
    """Bytes that the last superstep read from disk."""
    sent: int = 0
    """Bytes that ranks sent to each other in the last superstep."""
    push_read: int | None = None
    """Bytes that a push of the next superstep would read from disk; None where nothing is on disk."""
    pull_read: int | None = None
    """The same for a pull; None also where the frontier is too small for it to be computed."""
    push_cost: float | None = None
    """The cost of a push of the next superstep on the slowest of several processors; None if unknown."""
    pull_cost: float | None = None
    """The same for a pull, in the same unit."""
    parts: tuple[tuple[str, float], ...] = ()
    """The processors that shared the last superstep, with the seconds that each worked; for ranks, the seconds that
    they computed and exchanged."""
    way: str = ""
    """How rows in the host's memory reached the device in the last superstep; empty if none did."""
    way_seconds: float | None = None
    """The seconds expected of that way, where there was a choice."""
    directions: str = ""
    """The direction of each processor in the last superstep, if they differed; else empty."""
    finished: Literal["", "frontier empty", "converged"] = ""
    """Why there is no next superstep; empty while there is one."""
    switches: bool = False
    """Whether the engine can continue from here without a given path: see :attr:`Caps.switches`."""
    levels: Levels | None = field(default=None, compare=False, repr=False)
    """The individual supersteps of the last step, where it fused several and the engine distinguishes them."""


@dataclass(frozen=True, slots=True)
class Constants:
    """The thresholds of the switching rules.

    ``alpha``: push turns to pull when the frontier's out-edges exceed the untouched edges / alpha. ``beta``: pull turns
    back when the frontier is below |V| / beta. ``gamma`` >= 1 scales the edge count for programs that visit an edge
    more than once. ``delta``: a graph with an average degree below this is assumed to have a high diameter, and is
    always pushed. These four are SEP-Graph's, with the values of its evaluation.
    """

    alpha: float = 15.0
    beta: float = 2.0
    gamma: float = 1.0
    delta: float = 5.0


@dataclass(frozen=True, slots=True)
class Caps:
    """A run's options: the paths that the program and the engine allow, and the graph's totals."""

    num_vertices: int
    num_arcs: int
    kind: Kind
    paths: tuple[Path, ...]
    always_active: bool = False
    """Every vertex is in every frontier, so a queue of them carries no information."""
    dominated: tuple[Path, ...] = ()
    """Paths that the engine knows to lose against another one, whatever the frontier; they are not tried."""
    in_place: bool = False
    """An asynchronous pull over all vertices costs as much as a synchronous one, and new values spread further."""
    push_cost: float | None = None
    """The time of an arc in a push relative to one in a pull; None if the engine does not know it."""
    ordered: bool = False
    """The engine settles vertices in the order of a field when it pushes asynchronously."""
    switches: bool = False
    """The engine switches between push and pull by itself, by the rule and constants given here, within one step."""
    whole: str = ""
    """What the engine's kernel for a whole run does, if it has one: then it is not given a path."""
    why_no_others: str = ""
    """Why the engine has no other paths, where the reason is not just that the program allows none."""
    constants: Constants = field(default_factory=Constants)

    @property
    def average_degree(self) -> float:
        return self.num_arcs / max(self.num_vertices, 1)

    def in_supersteps(self) -> Caps:
        """The same without asynchronous paths: for a run with a limit, since only synchronous paths count supersteps.

        >>> from dromos.plan.path import PATHS
        >>> [str(path) for path in Caps(10, 90, "iterative", PATHS, ordered=True).in_supersteps().paths]
        ['sync-push-dd', 'sync-push-td', 'sync-pull-dd', 'sync-pull-td']
        """
        paths = tuple(path for path in self.paths if path.sync == "sync")
        return replace(self, paths=paths, ordered=False, in_place=False, whole="")


@dataclass(frozen=True, slots=True)
class Decision:
    """The path to take, the reason, and the planner's expectation."""

    path: Path
    reason: str
    predicted: float | None = None
    """Seconds expected, where a prediction was made."""
    untouched: float | None = None
    """Algorithm 2's E' at this decision; the next decision continues from it."""
    horizon: int | None = 1
    """Supersteps to run before the next decision; None: to the end, in one kernel if the engine can."""
    switching: bool = False
    """Whether the engine switches direction by itself within the step."""


@dataclass(frozen=True, slots=True)
class Row:
    """One step of a run: the frontier it ran on, the decision, and the statistics after it."""

    before: Stats
    decision: Decision
    after: Stats

    @property
    def seconds(self) -> float:
        return self.after.seconds


class History(Sequence[Row]):
    """The steps of a run so far, and for each path the last step that took it."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._rows: list[Row] = []
        self._latest: dict[Path, Row] = {}
        for row in rows:
            self.append(row)

    def append(self, row: Row) -> None:
        self._rows.append(row)
        self._latest[row.decision.path] = row

    def latest(self, path: Path) -> Row | None:
        """The last step on ``path``."""
        return self._latest.get(path)

    def decisive(self) -> list[Row]:
        """The rows that a planner considers, in order: the last step on each path, and so the last step of all."""
        latest = self._latest.values()
        return sorted(latest, key=lambda row: row.before.superstep)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        return self._rows[index]
