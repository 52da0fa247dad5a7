"""Our algorithms on the CPU with 1, 2, 4, … threads, against GAP's C++ with as many.

Calls are timed as in ``algorithms`` (for each source the best of a few rounds, and of those the median), but follow
each other without a pause, as GAP's trials do. ``speed_up`` is the time on one thread over that on all; ``ratio`` is
our time on all threads over GAP's (below 1: we are faster). On fewer threads GAP runs one trial from each of two
sources, and none if that is expected to take long; GAP is skipped if ``GAPBS_DIR`` names no folder with its programs.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.cases import GRAPHS, Case, chosen, kept_case, make_case
from benchmarks.record import say
from benchmarks.rows import ROWS, Row
from dromos.parallel import THREADS_VARIABLE, num_threads
from dromos.runner.devices import DEVICE_VARIABLE

KEY = ("graph", "row")
_SOURCES = 4
_WARM_SCALE = 10
_ROUNDS = 5
_LEAST_ROUNDS = 2
"""On all threads, whatever they take; GAP has three trials there."""
_LONG_S = 0.5
"""On fewer threads a longer call counts at once: earlier calls have left memory to reuse."""
_LONGEST_S = 8.0
"""A row that is expected to take longer on few threads is not measured there."""
_LONGEST_OF_GAP_S = 4.0
"""Likewise for GAP."""
_SOURCES_OF_GAP = 2
"""On fewer threads than all."""


def run(
    scale: int = 20,
    quick: bool = False,
    budget: float = 1.0,
    graphs: Collection[str] = (),
    rows: Collection[str] = (),
    threads: Collection[int] = (),
    done: Collection[tuple[Any, ...]] = (),
    cases: Path | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph and algorithm; ``budget`` seconds, or one call, for each number of ``threads``.

    Graphs are kept in the folder ``cases``, if given, for other runs.
    """
    if quick:
        scale, budget = min(scale, 10), min(budget, 0.1)
    most = num_threads()
    powers = [1 << k for k in range(most.bit_length()) if 1 << k <= most]
    counts = sorted({most, *(threads or powers)}, reverse=True)
    for kind in (kind for kind in GRAPHS if chosen(kind, graphs)):
        case = kept_case(kind, scale, _SOURCES, cases)
        small = make_case(kind, min(scale, _WARM_SCALE), _SOURCES)
        gap = _gap(case, most)
        of_gap: dict[str, dict[int, float]] = {}  # both rows of PageRank have one of GAP's
        for row in ROWS.values():
            if not chosen(row.name, rows) or (case.name, row.name) in done:
                continue
            with _environment(most):
                # compile, or load compiled code from disk: some kernels are for large graphs only
                row.ours(small, *row.items(small)[0])
                row.ours(case, *row.items(case)[0])
            cell = {"graph": case.name, "row": row.name, **_measured(row, case, counts, budget)}
            if gap is not None and hasattr(gap, row.peer_row):
                if row.peer_row not in of_gap:
                    of_gap[row.peer_row] = _of_gap(gap, row, case, counts)
                cell |= _against(of_gap[row.peer_row], cell[f"{most}_s"])
            say(f"{case.name}, {row.name}: {cell}")
            yield cell
        if gap is not None:
            gap.close()


def _measured(row: Row, case: Case, counts: list[int], budget: float) -> dict[str, Any]:
    taken: dict[int, float] = {}
    for count in counts:
        if taken and min(taken.values()) * len(row.items(case)) * min(taken) / count > _LONGEST_S:
            break
        taken[count] = _time(row, case, count, budget, is_most=count == counts[0])
    cell: dict[str, Any] = {f"{count}_s": taken.get(count, float("nan")) for count in reversed(counts)}
    cell["speed_up"] = taken.get(1, float("nan")) / taken[counts[0]]
    return cell


def _time(row: Row, case: Case, count: int, budget: float, *, is_most: bool) -> float:
    with _environment(count):
        items = row.items(case)
        best = [float("inf")] * len(items)
        first = _seconds(row, case, items[0])
        if first > max(budget, _LONG_S) and len(items) == 1 and not is_most:
            return first / row.per
        begin = time.perf_counter()
        for number in range(_ROUNDS):
            for place, item in enumerate(items):
                if number >= (_LEAST_ROUNDS if is_most else 1) and time.perf_counter() - begin > budget:
                    break
                best[place] = min(best[place], _seconds(row, case, item))
        return statistics.median(best) / row.per


def _seconds(row: Row, case: Case, item: tuple[Any, ...]) -> float:
    begin = time.perf_counter()
    row.ours(case, *item)
    return time.perf_counter() - begin


@contextlib.contextmanager
def _environment(threads: int) -> Iterator[None]:
    """Run algorithms on this many threads of the CPU within the block."""
    wanted = {THREADS_VARIABLE: str(threads), DEVICE_VARIABLE: "cpu"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _gap(case: Case, threads: int) -> peers.Peer | None:
    try:
        return peers.load("GAP", case, threads)
    except peers.Unavailable as reason:
        say(f"without GAP: {reason}")
        return None


def _of_gap(gap: peers.Peer, row: Row, case: Case, counts: list[int]) -> dict[int, float]:
    """GAP's times by number of threads, the largest number first."""
    call, items = getattr(gap, row.peer_row), row.items(case)
    found: dict[int, float] = {}
    for count in counts:
        if found:
            items = items[:_SOURCES_OF_GAP]
        if found and found[counts[0]] * row.per * len(items) * counts[0] / count > _LONGEST_OF_GAP_S:
            break
        gap.threads, gap.trials = count, None if count == counts[0] else 1
        found[count] = statistics.median(min(call(*item).seconds) for item in items) / row.per
    return found


def _against(theirs: dict[int, float], ours: float) -> dict[str, Any]:
    most = max(theirs)
    cell = {f"gap_{count}_s": theirs[count] for count in sorted(theirs) if count != most}
    return {**cell, "gap_s": theirs[most], "ratio": ours / theirs[most]}
