"""Our algorithms against other libraries' and against GAP's C++, on kron, urand and grid graphs, in one run.

Every library holds the graph in its own form before anything is timed, and all cores are used by those that can. Ours
is called as a user calls it, after one call that compiles; ``engine_s`` is the part of it that the trace accounts for.
Ours and the peer's calls alternate. A row's time is, for each source, the best of its rounds, and of those the median
over the sources; ``ratio`` is our time over the peer's (below 1: we are faster), ``ratio_median`` the same with the
median round instead of the best. A peer that is slow is called until its budget of seconds is spent, at least once,
and ours is then counted from the same sources. Answers are compared where that is cheap; a difference ends the run.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks import peers
from benchmarks.answers import Disagreement, compare
from benchmarks.cases import GRAPHS, SOURCES, Case, make_case
from dromos.algorithms.pagerank import pagerank_program
from dromos.parallel import num_threads

ITERATIONS = 20
_BC_SOURCES = 4
_ROUNDS = 5
_SETTLE_S = 0.005
"""A pause before a call: threads that another library left spinning go to sleep."""


_compiled: set[tuple[str, str]] = set()
"""Rows and graphs that ours has been called on before: nothing is left to compile."""


class Row(NamedTuple):
    """One algorithm: the calls to make, what ours is, and by what its time is divided."""

    name: str
    peer_row: str
    items: Callable[[Case], list[tuple[Any, ...]]]
    ours: Callable[..., Any]
    per: int = 1
    only: frozenset[str] = frozenset()
    """The peers to compare with; all unless given."""


def _by_source(case: Case) -> list[tuple[Any, ...]]:
    return [(source,) for source in case.sources]


def _once(case: Case) -> list[tuple[Any, ...]]:
    return [()]


def _iterations(case: Case) -> list[tuple[Any, ...]]:
    return [(ITERATIONS,)]


def _few_sources(case: Case) -> list[tuple[Any, ...]]:
    return [(list(case.sources[:_BC_SOURCES]),)]


def _sssp(case: Case, source: int) -> Any:
    result = dr.sssp(case.weighted, source)
    _ = result.distance  # made when first asked for
    return result


def _pagerank(dtype: Any) -> Callable[[Case, int], Any]:
    """A fixed number of iterations: the program of dr.pagerank with a tolerance that is never met."""
    program = pagerank_program(dtype=np.dtype(dtype))(alpha=0.85, tolerance=0.0)
    return lambda case, iterations: dr.run(program, case.graph, max_iter=iterations)


ROWS = (
    Row("bfs", "bfs", _by_source, lambda case, source: dr.bfs(case.graph, source)),
    Row("sssp", "sssp", _by_source, _sssp),
    Row("pagerank, an iteration", "pagerank", _iterations, _pagerank(np.float64), per=ITERATIONS),
    Row("pagerank in float32, an iteration", "pagerank", _iterations, _pagerank(np.float32), per=ITERATIONS,
        only=frozenset({"GAP"})),
    Row("connected_components", "connected_components", _once, lambda case: dr.connected_components(case.graph)),
    Row("betweenness, 4 sources", "betweenness", _few_sources,
        lambda case, sources: dr.betweenness(case.graph, sources=sources)),
    Row("triangles", "triangles", _once, lambda case: dr.triangles(case.graph)),
    Row("core_numbers", "core_numbers", _once, lambda case: dr.core_numbers(case.graph)),
)  # fmt: skip


class Samples(NamedTuple):
    """Seconds of one call, by round."""

    ours: list[float]
    engine: list[float]
    peer: list[float]


def run(scale: int = 20, quick: bool = False, budget: float = 10.0) -> list[dict[str, Any]]:
    """A row for each graph, algorithm and peer; ``quick`` takes small graphs, few sources and little time."""
    if quick:
        scale, budget = min(scale, 12), min(budget, 2.0)
    rows: list[dict[str, Any]] = []
    for kind in GRAPHS:
        case = make_case(kind, scale, 4 if quick else SOURCES)
        _say(f"{case.name}: {case.graph.num_vertices:,} vertices, {case.graph.num_edges:,} edges")
        for name in peers.MODULES:
            rows += _against(name, case, budget)
            gc.collect()
    order = {row.name: number for number, row in enumerate(ROWS)}
    return sorted(rows, key=lambda row: (list(GRAPHS).index(row["graph"].rstrip("0123456789")), order[row["row"]]))


def _against(name: str, case: Case, budget: float) -> list[dict[str, Any]]:
    begin = time.perf_counter()
    try:
        peer = peers.load(name, case, num_threads())
    except peers.Unavailable as reason:
        _say(f"  without {name}: {reason}")
        return []
    _say(f"  {name}: graph made in {time.perf_counter() - begin:.1f} s")
    rows = []
    try:
        for row in ROWS:
            if hasattr(peer, row.peer_row) and (not row.only or name in row.only):
                begin = time.perf_counter()
                rows.append(_measure(row, case, name, peer, budget))
                ratio, note = rows[-1].get("ratio", float("nan")), rows[-1].get("note", "")
                _say(f"    {row.name}: ratio {ratio:.3f}, measured in {time.perf_counter() - begin:.0f} s {note}")
    finally:
        peer.close()
    return rows


def _measure(row: Row, case: Case, name: str, peer: peers.Peer, budget: float) -> dict[str, Any]:
    about = {"graph": case.name, "row": row.name, "peer": name}
    if row.peer_row in peer.skips:
        return {**about, "note": f"not run: {peer.skips[row.peer_row]}"}
    try:
        samples = _paired(row, case, name, peer, budget)
    except Disagreement:
        raise
    except Exception as error:  # a peer that fails is a row without a number, not the end of the run
        return {**about, "note": f"failed: {type(error).__name__}: {error}"}
    ours, engine, theirs = (
        statistics.median(min(taken[part]) for taken in samples) / row.per for part in range(len(Samples._fields))
    )
    middle_ours, middle_theirs = (
        statistics.median(statistics.median(taken[part]) for taken in samples) for part in (0, 2)
    )
    return {
        **about, "ours_s": ours, "engine_s": engine, "peer_s": theirs, "ratio": ours / theirs,
        "ratio_median": middle_ours / middle_theirs, "calls": sum(len(taken.peer) for taken in samples),
        "note": peer.notes.get(row.peer_row, ""),
    }  # fmt: skip


def _paired(row: Row, case: Case, name: str, peer: peers.Peer, budget: float) -> list[Samples]:
    """Calls of ours and the peer's in turn, round after round over all items, while the budget lasts."""
    items = row.items(case)
    call, read = getattr(peer, row.peer_row), getattr(peer, f"read_{row.peer_row}", None)
    if (row.name, case.name) not in _compiled:
        row.ours(case, *items[0])
        _compiled.add((row.name, case.name))
    samples = [Samples([], [], []) for _ in items]
    spent = 0.0
    for number in range(_ROUNDS if len(items) == 1 else 3):
        for item, taken in zip(items, samples, strict=True):
            if spent >= budget and (number or item is not items[0]):
                return [whole for whole in samples if whole.peer]
            seconds, raw = _timed(call, item)
            taken.peer.extend(seconds)
            for _ in seconds:
                answer, ours_s, engine_s = _timed_ours(row, case, item)
                taken.ours.append(ours_s)
                taken.engine.append(engine_s)
            spent += sum(seconds)
            if read is not None and not number:
                compare(row.peer_row, case, answer, read(raw), name)
            del raw
    return samples


def _timed_ours(row: Row, case: Case, item: tuple[Any, ...]) -> tuple[Any, float, float]:
    time.sleep(_SETTLE_S)
    start = time.perf_counter()
    result = row.ours(case, *item)
    taken = time.perf_counter() - start
    return result, taken, result.trace.seconds


def _timed(call: Callable[..., Any], item: tuple[Any, ...]) -> tuple[tuple[float, ...], Any]:
    time.sleep(_SETTLE_S)
    start = time.perf_counter()
    result = call(*item)
    taken = time.perf_counter() - start
    return result if isinstance(result, peers.Reported) else ((taken,), result)


def chart(rows: list[dict[str, Any]], target: Path) -> None:
    """Draw the ratios: a panel a graph, a bar a row and peer."""
    from benchmarks.chart import draw_ratios

    draw_ratios(rows, target, "Our time over the peer's (left of 1: we are faster)")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
