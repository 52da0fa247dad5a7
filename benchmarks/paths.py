"""Every program on every legal fixed path against ``path="auto"``, on kron and the grid.

Each program and path runs once on a small graph of the same kind, so that compilation is not timed, and then several
rounds over all paths on the large one; the best round counts. A run is stopped at the limit, or if it is far from the
best: past four times what ``auto`` took, but not before two seconds. ``over_auto`` is a path's time over that of
``auto`` (0 if auto itself was stopped); the row of ``auto`` states how far it is from the best fixed path.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import Case, chosen, make_case
from benchmarks.record import say
from dromos.algorithms.connected_components import Components
from dromos.algorithms.pagerank import pagerank_program
from dromos.errors import FieldOverflowError, IllegalPathError
from dromos.plan.path import PATHS

_ROUNDS, _ROUNDS_OF_SHORT = 3, 7
_WARM_SCALE = 12
"""Large enough to go through all phases of a composition that a large graph goes through."""
_LONG_S, _SHORT_S = 5.0, 0.3
"""Longer runs are measured once; shorter ones more often."""
_SLACK, _SLACK_S = 4.0, 2.0
"""A fixed path is stopped at this multiple of ``auto``'s time, or after this many seconds: it is not the best then."""


def _pagerank(case: Case, path: str) -> Any:
    program = pagerank_program(dtype=np.dtype(np.float64))(alpha=0.85, tolerance=0.0)
    return dr.run(program, case.graph, max_iter=20, path=path)


def _beliefs(case: Case, path: str) -> Any:
    n = case.graph.num_vertices
    prior = np.zeros((n, 2))
    prior[list(case.sources)] = (0.5, -0.5)
    coupling = np.array([[1, -1], [-1, 1]]) * 1e-6  # small enough to converge around the largest hub
    return dr.belief_propagation(case.graph, prior, coupling, tol=1e-12, path=path)


PROGRAMS: dict[str, Callable[[Case, str], Any]] = {
    "bfs": lambda case, path: dr.bfs(case.graph, case.sources[0], path=path),
    "sssp": lambda case, path: dr.sssp(case.weighted, case.sources[0], path=path),
    "pagerank, 20 iterations": _pagerank,
    "connected components, the program": lambda case, path: dr.run(Components(), case.graph, path=path),
    "strongly_connected_components": lambda case, path: dr.strongly_connected_components(case.graph, path=path),
    "betweenness, 1 source": lambda case, path: dr.betweenness(
        case.graph, sources=case.sources[:1], normalized=False, path=path
    ),
    "k_core, k=3": lambda case, path: dr.k_core(case.graph, 3, path=path),
    "belief_propagation, 2 classes": _beliefs,
    "spmv": lambda case, path: dr.spmv(case.weighted, np.ones(case.graph.num_vertices), path=path),
}


class _TooLong(BaseException):
    """The time limit of a cell was reached; not an ``Exception``, so that no handler on the way catches it."""


KEY = ("graph", "program", "path")


def run(
    scale: int = 20,
    quick: bool = False,
    limit: float = 20.0,
    rows: Collection[str] = (),
    graphs: Collection[str] = (),
    done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph, program and path, ``auto`` first; ``limit`` is in seconds per run.

    ``rows`` and ``graphs`` select by the beginning of a name; a program whose ``auto`` is in ``done`` is skipped.
    """
    if quick:
        scale, limit = min(scale, 12), min(limit, 3.0)
    for kind in (kind for kind in ("kron", "grid") if chosen(kind, graphs)):
        warm, case = make_case(kind, _WARM_SCALE), make_case(kind, scale)
        for name, program in PROGRAMS.items():
            if not chosen(name, rows) or (case.name, name, "auto") in done:
                continue
            begin = time.perf_counter()
            table = _table(name, program, warm, case, limit)
            yield from table
            say(f"{case.name}, {name}: {table[0]['note']} ({time.perf_counter() - begin:.0f} s)")


def _table(
    name: str, program: Callable[[Case, str], Any], warm: Case, case: Case, limit: float
) -> list[dict[str, Any]]:
    paths = ["auto"]
    program(warm, "auto")
    for path in map(str, PATHS):
        try:
            program(warm, path)
        except IllegalPathError:
            continue
        paths.append(path)
    best = dict.fromkeys(paths, float("inf"))
    stopped: dict[str, float] = {}
    for number in range(_ROUNDS_OF_SHORT):
        for path in paths:
            if path in stopped or not _again(number, best[path]):
                continue
            patience = limit if path == "auto" else min(limit, max(_SLACK_S, _SLACK * best["auto"]))
            taken = _limited(program, case, path, patience)
            if taken is not None:
                best[path] = min(best[path], taken)
            elif best[path] == float("inf"):
                stopped[path] = patience
    return [{"graph": case.name, "program": name, **row} for row in _rows(best, stopped)]


def _again(number: int, best: float) -> bool:
    """Whether to run round ``number`` of a call that has taken ``best`` seconds so far."""
    if best == float("inf"):
        return number == 0
    return best <= _LONG_S if number < _ROUNDS else best <= _SHORT_S


def _rows(best: dict[str, float], stopped: dict[str, float]) -> list[dict[str, Any]]:
    """The row of each path: seconds against auto, or that it was stopped."""
    fixed = {path: seconds for path, seconds in best.items() if path != "auto"}
    winner = min(fixed, key=fixed.__getitem__)
    rows: list[dict[str, Any]] = []
    for path, seconds in best.items():
        if path in stopped:
            rows.append({"path": path, "note": f"stopped after {stopped[path]:.3g} s"})
        elif path != "auto":
            rows.append({"path": path, "seconds": seconds, "over_auto": seconds / best["auto"]})
        elif winner in stopped:
            rows.append({"path": path, "seconds": seconds, "note": "every fixed path was stopped"})
        else:
            over = seconds / fixed[winner]
            side = "over" if over >= 1 else "under"
            note = f"{100 * abs(over - 1):.0f}% {side} the best fixed path, {winner}"
            rows.append({"path": path, "seconds": seconds, "over_best": over, "note": note})
    return rows


def _limited(program: Callable[[Case, str], Any], case: Case, path: str, limit: float) -> float | None:
    """Seconds of one run; None if it was stopped at the limit, or if the program cannot count that far.

    An engine stops at a signal as it does at Ctrl-C.
    """

    def ring(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        start = time.perf_counter()
        program(case, path)
        return time.perf_counter() - start
    except (_TooLong, FieldOverflowError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
