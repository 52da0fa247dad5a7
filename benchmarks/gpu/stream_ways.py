"""The ways to read rows over the link if a quarter of the arcs is on the device: whole runs of the engine on each.

- *In place*: kernels read rows in the host's pinned memory.
- *Pages*: all rows are copied in pieces while kernels work on the previous pieces (GTS).
- *Gathered*: the host's threads gather the rows of the frontier, which are then copied (Subway); a pull uses pages
there.
- *Packs*: in place, from rows stored as gaps in few bits, if a kernel can read those.
- *Auto*: what the engine chooses in each superstep.

Pages and gathered rows need synchronous paths, so there BFS and SSSP run in the general kernels; the other columns have
the kernels that the planner chooses. Times are the least of two runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.resident import Resident, resident
from benchmarks.record import say
from dromos.algorithms.bfs import BFS
from dromos.algorithms.connected_components import Components
from dromos.algorithms.pagerank import pagerank_program
from dromos.algorithms.sssp import sssp_program
from dromos.program import Program
from dromos.runner.loop import iterate

__all__ = ["KEY", "run"]

KEY = ("work", "graph")
GRAPHS = ("kron22", "kron24")
_SHARE = 0.25
_ITERATIONS = 10
_RUNS = 2
_WAYS: dict[str, dict[str, Any]] = {
    "in_place": {"way": "in place", "packed": False},
    "in_packs": {"way": "in place", "packed": True},
    "pages": {"way": "pages"},
    "gathered": {"way": "gathered"},
    "auto": {},
}


class WeightedSums(dr.Program):
    """Every vertex takes the weighted mean of its neighbors' numbers: rows that cannot be packed."""

    number = dr.field(np.float32, init=1.0)
    combine = dr.SUM
    update_on = "all"

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.number * dr.cast(edge.weight, np.float32)

    def update(self, v: Any, message: Any) -> Any:
        return 0.5 * v.number + 0.5 * message / (255.0 * (v.in_degree + 1))

    def active(self, old: Any, new: Any) -> Any:
        return True


class _Work(NamedTuple):
    name: str
    program: Callable[[int], Program]
    field: str
    weighted: bool = False
    iterations: int | None = None


_WORKS = (
    _Work("weighted sums in float32, an iteration", lambda _: WeightedSums(), "number", weighted=True,
          iterations=_ITERATIONS),
    _Work("pagerank in float32, an iteration",
          lambda _: pagerank_program(dtype=np.dtype("float32"))(alpha=0.85, tolerance=0.0), "rank",
          iterations=_ITERATIONS),
    _Work("sssp", lambda source: sssp_program(np.dtype(np.int64))(source=source), "distance", weighted=True),
    _Work("bfs, levels and parents", lambda source: BFS(source=source), "level"),
    _Work("components, as a program", lambda _: Components(), "label"),
)  # fmt: skip


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and work."""
    for name in graphs or (("kron16",) if quick else GRAPHS):
        case = resident(name, 1)
        partly = Resident(case.csr, case.sources, _SHARE)
        for work in _WORKS:
            if rows and not any(work.name.startswith(part) for part in rows):
                continue
            row: dict[str, Any] = {"work": work.name, "graph": name, "share": _SHARE}
            row |= _timed_ways(work, partly)
            say(f"  {name}, {work.name}: {row}")
            yield row
        partly.release()


def _timed_ways(work: _Work, case: Resident) -> dict[str, Any]:
    """Milliseconds of each way; all must give the answer of the first."""
    found: dict[str, Any] = {}
    expected = None
    for name, options in _WAYS.items():
        if name == "in_packs" and not work.name.startswith("pagerank"):
            continue
        times, answer, ways, expectations = _runs(work, case, options)
        found[f"{name}_ms"] = min(times) / (work.iterations or 1)
        if expected is None:
            expected = answer
        elif not np.allclose(answer, expected, rtol=1e-3):
            found |= {"differs": True, "note": f"{name} gives another answer"}
        if name == "auto":
            found["auto_took"] = ", ".join(f"{way} {count}" for way, count in ways.items())
            found["auto_expected_ms"] = expectations / (work.iterations or 1)
    return found


def _runs(work: _Work, case: Resident, options: dict[str, Any]) -> tuple[list[float], Any, Counter[str], float]:
    from dromos.engines.cuda import CudaEngine

    engine = CudaEngine({"share": _SHARE, **options})
    graph, times, answer = case.weighted if work.weighted else case.graph, [], None
    ways: Counter[str] = Counter()
    expected = 0.0
    for number in range(_RUNS + 1):  # the first one compiles
        execution = engine.prepare(work.program(case.sources[0]), graph)
        ms, history = milliseconds(lambda run=execution: iterate(run, None, max_iter=work.iterations))  # type: ignore[misc]
        ways = Counter(row.after.way for row in history)
        expected = sum(1e3 * (row.after.way_seconds or 0.0) for row in history)
        if number:
            times.append(ms)
        else:
            answer = execution.result()[work.field]
    return times, answer, ways, expected
