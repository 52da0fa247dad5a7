"""Our algorithms against other libraries' and against GAP's C++, on kron, urand and grid graphs, in one run.

Every library holds the graph in its own form before anything is timed, and those that can use all cores. Ours is called
as a user calls it, after a call that compiles; ``engine_s`` is the part of it that the trace accounts for. Our calls
and the peer's alternate. A row's time is the best round of each source, and of those the median over the sources;
``ratio`` is our time over the peer's (below 1: we are faster), ``ratio_median`` the same with the median round instead
of the best. A slow peer is called until its budget of seconds is spent, at least once, and ours is then counted from
the same sources. Answers are compared where that is cheap; the table names a difference, and the run then fails at its
end.

Each graph and peer have a process of their own, so that no library is affected by the threads and the memory of
another. A cell that takes longer than the limit is stopped with its process; the remaining rows get a new one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.cases import GRAPHS, SOURCES, chosen, make_case, save_case
from benchmarks.record import say
from benchmarks.rows import ROWS
from benchmarks.watched import Holder, Plan
from dromos.parallel import num_threads

KEY = ("graph", "row", "peer")


def run(
    scale: int = 20,
    quick: bool = False,
    budget: float = 4.0,
    limit: float = 90.0,
    rows: Collection[str] = (),
    against: Collection[str] = (),
    graphs: Collection[str] = (),
    done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph, algorithm and peer when it is measured.

    ``rows``, ``against`` and ``graphs`` select by the beginning of a name (default: all); rows in ``done`` are skipped.
    ``quick`` uses small graphs, few sources and little time.
    """
    if quick:
        scale, budget, limit = min(scale, 12), min(budget, 2.0), min(limit, 60.0)
    wanted = [row for row in ROWS if chosen(row, rows)]
    for kind in (kind for kind in GRAPHS if chosen(kind, graphs)):
        with tempfile.TemporaryDirectory(prefix="dromos-bench-") as name:
            folder = Path(name)
            case = make_case(kind, scale, 4 if quick else SOURCES)
            save_case(case, folder)
            graph = case.name
            say(f"{graph}: {case.graph.num_vertices:,} vertices, {case.graph.num_edges:,} edges")
            del case
            for peer in (peer for peer in peers.MODULES if chosen(peer, against)):
                left = [row for row in wanted if (graph, row, peer) not in done]
                plan = Plan(kind, folder, peer, num_threads(), budget, limit)
                for row, cell in _cells(plan, left):
                    yield {"graph": graph, "row": row, "peer": peer, **cell}


def order(row: dict[str, Any]) -> tuple[int, int, int]:
    """The position of a row in the table: by graph, then algorithm, then peer."""
    kind = row["graph"].rstrip("0123456789")
    return list(GRAPHS).index(kind), list(ROWS).index(row["row"]), list(peers.MODULES).index(row["peer"])


def _cells(plan: Plan, wanted: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each of the wanted rows that the peer has, with its numbers; a new process after one that was stopped."""
    left = wanted
    while left:
        begin = time.perf_counter()
        try:
            holder = Holder(plan)
        except peers.Unavailable as reason:
            say(f"  without {plan.peer}: {reason}")
            return
        with holder:
            say(f"  {plan.peer}: graph made in {time.perf_counter() - begin:.1f} s")
            left = [row for row in left if row in holder.rows]
            while left and not holder.lost:
                row, begin = left.pop(0), time.perf_counter()
                cell = holder.measure(row)
                ratio, taken = cell.get("ratio", float("nan")), time.perf_counter() - begin
                say(f"    {row}: ratio {ratio:.3f}, measured in {taken:.0f} s {cell.get('note', '')}")
                yield row, cell


def chart(rows: list[dict[str, Any]], target: Path) -> None:
    """Draw the ratios: one panel per graph, one bar per row and peer."""
    from benchmarks.chart import draw_ratios

    draw_ratios(rows, target, "Our time over the peer's (left of 1: we are faster)")
