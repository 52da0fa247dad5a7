"""Programs that a user might write, against the equivalent built-in algorithm.

Both are called in turn through the public functions; for each source the best round counts, then the median over
sources.
``ratio`` is the user's time over the built-in's: below 1 the user's is faster.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import GRAPHS, SOURCES, Case, chosen, make_case
from benchmarks.record import say

KEY = ("graph", "program")
_ROUNDS = 5
_BUDGET_S = 6.0
_TARGET = 1.1


class Hops(dr.Program):
    """Breadth-first search, written differently from the built-in one."""

    origin = dr.param(int)
    hops = dr.field(np.int32)
    before = dr.field(dr.ID)
    combine = dr.ANY

    def init(self, v: Any) -> Any:
        first = v.id == self.origin
        return {"hops": dr.where(first, 0, -1), "before": dr.where(first, v.id, -1)}

    def start(self, v: Any) -> Any:
        return v.id == self.origin

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.id

    def update(self, v: Any, message: Any) -> Any:
        seen = v.hops >= 0
        return {"hops": dr.where(seen, v.hops, self.superstep + 1), "before": dr.where(seen, v.before, message)}


class Roads(dr.Program):
    """Shortest paths over whole weights."""

    origin = dr.param(int)
    length = dr.field(np.int32)
    combine = dr.MIN
    priority = "length"

    def init(self, v: Any) -> Any:
        return dr.where(v.id == self.origin, 0, np.iinfo(np.int32).max)

    def start(self, v: Any) -> Any:
        return v.id == self.origin

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.length + edge.weight

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.length, message)


class Surfer(dr.Program):
    """PageRank with the mass of dead ends redistributed."""

    enough = dr.param(float)
    mass = dr.field(np.float64)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def stuck(self, v: Any) -> Any:
        return dr.where(v.out_degree == 0, v.mass, 0.0)

    @dr.reduction(dr.SUM)
    def moved(self, old: Any, new: Any) -> Any:
        return abs(new.mass - old.mass)

    def init(self, v: Any) -> Any:
        return 1 / self.num_vertices

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.mass / u.out_degree

    def update(self, v: Any, message: Any) -> Any:
        return 0.85 * (message + self.stuck / self.num_vertices) + 0.15 / self.num_vertices

    def active(self, old: Any, new: Any) -> Any:
        return True

    def converged(self) -> Any:
        return self.moved < self.enough


_TOL = 1e-6  # of the sum of changes, as in the built-in

Call = Callable[[Case, int], Any]
PAIRS: dict[str, tuple[Call, Call]] = {
    "bfs": (
        lambda case, source: dr.run(Hops(origin=source), case.graph).hops,
        lambda case, source: dr.bfs(case.graph, source).level,
    ),
    "sssp": (
        lambda case, source: _lengths(dr.run(Roads(origin=source), case.weighted).length),
        lambda case, source: dr.sssp(case.weighted, source).distance,
    ),
    "pagerank": (
        lambda case, _: dr.run(Surfer(enough=_TOL), case.graph).mass,
        lambda case, _: dr.pagerank(case.graph, tol=_TOL, weight=None).rank,
    ),
}
"""By the built-in's name: the user's call and the built-in's, which return the same array."""


def _lengths(length: Any) -> Any:
    """Lengths as ``dr.sssp`` returns them: float64, infinite if there is no path."""
    return np.where(length == np.iinfo(np.int32).max, np.inf, length)


def run(
    scale: int = 20,
    quick: bool = False,
    graphs: Collection[str] = (),
    rows: Collection[str] = (),
    done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:
    """A row for each graph and program."""
    scale = min(scale, 12) if quick else scale
    for kind in (kind for kind in GRAPHS if chosen(kind, graphs)):
        case = make_case(kind, scale, 4 if quick else SOURCES)
        for name, pair in PAIRS.items():
            if chosen(name, rows) and (case.name, name) not in done:
                row = {"graph": case.name, "program": name, **_compared(pair, case, name)}
                say(f"{case.name}, {name}: {row['ratio']:.3f}")
                yield row


def _compared(pair: tuple[Call, Call], case: Case, name: str) -> dict[str, Any]:
    sources = case.sources if name != "pagerank" else case.sources[:1]
    users, ours = (call(case, sources[0]) for call in pair)  # compiled here
    if not np.allclose(users, ours, rtol=1e-6, atol=1e-12):
        return {"ratio": float("nan"), "note": "answers differ", "differs": True}
    best = {(source, which): float("inf") for source in sources for which in range(2)}
    begin = time.perf_counter()
    for number in range(_ROUNDS):
        for source in sources:
            for which, call in enumerate(pair):
                start = time.perf_counter()
                call(case, source)
                best[source, which] = min(best[source, which], time.perf_counter() - start)
        if number and time.perf_counter() - begin > _BUDGET_S:
            break
    user, built_in = (statistics.median(best[source, which] for source in sources) for which in range(2))
    return {"user_s": user, "built_in_s": built_in, "ratio": user / built_in, "target": f"<= {_TARGET:g}"}
