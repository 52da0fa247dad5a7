"""Growth from disk: the same budget for graphs of increasing size, and the time of each per arc.

Kron graphs (R-MAT, edge factor 16, undirected, simple) of scales 20 to 26 are written to stores, plain and packed;
those that did not exist before are removed at the end. ``--graphs kron24`` runs one of them, ``--orders input-packed``
the packed ones in the order of the input; there is an order by degree, too. Rows of kron24 within 1 GiB follow.

Each call runs after one on a tiny store that compiles. Reads bypass the system's cache. The best of the repeats counts:
short calls are repeated up to eight times within ``_SHORT`` seconds, others twice, and those that take longer than
``_LONG`` seconds run once. PageRank is in float32 (on the plain kron24 also in float64, its default) and its time is
per iteration, out of three. A graph that fits the budget is read only in the first of them, so that iteration is given
too: ``first_s`` is the first superstep of the best call, in which every graph is read whole. All these calls run over
pages, although the budget holds the small graphs; ``called_s`` is the first call on a graph that was just opened, with
no such setting: what a person waits for. A second table has the time per arc at each scale, the largest over the least
of them, and the largest over that of the smallest graph: how much it grows.

Figures of peers, measured once on a machine with 16 cores and such a disk, are given beside the rows of kron24 in 1
GiB.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from benchmarks.streaming import ORDERS, disk_rate, source_of, store_of
from dromos.engines.cpu.initial import only_compiled
from dromos.graph.store.paged.ways import READS
from dromos.places.stream.whole import over_pages

__all__ = ["KEY", "run", "summary"]

KEY = ("graph", "order", "algorithm", "memory")
_FOLDER = Path(__file__).parent / "graphs"
_SCALES = (20, 22, 24, 26)
_GROWTH, _SMALL = "2G", "1G"
_LONG, _SHORT, _MOST_CALLS, _LEAST_FIRST_CALLS = 12.0, 2.0, 8, 3
_ITERATIONS = 3


class _Work(NamedTuple):
    call: Callable[..., dr.Result]
    per: int
    budgets: tuple[str, ...]
    plain_only: bool = False


def _pagerank(dtype: str, graph: dr.Graph, source: Any, **how: Any) -> dr.Result:
    return dr.pagerank(graph, max_iter=_ITERATIONS, tol=0, on_limit="return", dtype=dtype, **how)


_WORKS = {
    "bfs": _Work(lambda graph, source, **how: dr.bfs(graph, source, **how), 1, (_GROWTH, _SMALL)),
    "pagerank, an iteration": _Work(partial(_pagerank, "float32"), _ITERATIONS, (_GROWTH, _SMALL)),
    "connected_components": _Work(
        lambda graph, source, **how: dr.connected_components(graph, **how), 1, (_GROWTH, _SMALL)
    ),
    "pagerank in float64, an iteration": _Work(partial(_pagerank, "float64"), _ITERATIONS, (_SMALL,), plain_only=True),
}  # fmt: skip

# Seconds and GB of Blaze with 16 threads on kron24; the goals of this project.
_PEERS = {
    "bfs": {"peer": "Blaze", "peer_s": 1.86, "peer_gb": 3.5, "must_s": 1.2, "aim_s": 0.4},
    "pagerank, an iteration": {"peer": "Blaze", "peer_s": 0.904, "peer_gb": 1.99, "must_s": 0.85, "aim_s": 0.5},
    "connected_components": {"peer": "Blaze", "peer_s": 1.525, "peer_gb": 4.0, "must_s": 1.2, "aim_s": 0.6},
    "pagerank in float64, an iteration": {},
}


def run(
    quick: bool = False,
    limit: float = 600.0,
    graphs: Collection[str] = (),
    rows: Collection[str] = (),
    orders: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield one row per graph, order, algorithm and budget; no call begins after ``limit`` seconds."""
    begin = time.monotonic()
    _FOLDER.mkdir(exist_ok=True)
    _compile(rows)
    scales = (14, 16) if quick else _SCALES
    stores = [(scale, order, _GROWTH) for order in ORDERS for scale in scales]
    stores += [] if quick else [(24, order, _SMALL) for order in ORDERS]
    there = set(_FOLDER.iterdir())
    try:
        for scale, order, memory in stores:
            if order not in (orders or ORDERS):
                continue
            if chosen(f"kron{scale}", graphs) and time.monotonic() - begin <= limit:
                for row in _rows(scale, order, memory, _store(scale, order), rows):
                    yield row
                    if time.monotonic() - begin > limit:
                        return
    finally:
        for made in set(_FOLDER.iterdir()) - there:
            made.unlink()


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Nanoseconds per arc within the same budget, by scale; the largest over the least, and over the first."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["memory"] != _GROWTH:
            continue
        scale = row["graph"].removeprefix("kron")
        if "first_ns_per_arc" in row:
            read = "pagerank, an iteration that reads all"
            found.setdefault((row["order"], read), {})[scale] = row["first_ns_per_arc"]
        found.setdefault((row["order"], row["algorithm"]), {})[scale] = row["ns_per_arc"]
        if "called_ns_per_arc" in row:
            called = f"{row['algorithm']}: the first call"
            found.setdefault((row["order"], called), {})[scale] = row["called_ns_per_arc"]
    return [
        {
            "order": order,
            "ns per arc": name,
            **dict(sorted(times.items())),
            "largest / least": max(times.values()) / min(times.values()),
            "largest / smallest graph's": max(times.values()) / times[min(times)],
        }
        for (order, name), times in found.items()
    ]


def _store(scale: int, order: str) -> Path:
    """The store of the graph; an existing one is used."""
    start = time.perf_counter()
    file = store_of(scale, order)
    os.sync()
    say(f"kron{scale}, {order}: {file.stat().st_size / 1e6:.0f} MB, made in {time.perf_counter() - start:.1f} s")
    return file


def _rows(scale: int, order: str, memory: str, file: Path, rows: Collection[str]) -> Iterator[dict[str, Any]]:
    graph = dr.open(file)
    source, rate = source_of(graph), disk_rate(file)
    for name, work in _WORKS.items():
        if chosen(name, rows) and memory in work.budgets and (order == "input" or not work.plain_only):
            best, called = _best(work, graph, source, memory), _called(work, file, source, memory) / work.per
            seconds, read, cpu = (value / work.per for value in best[:3])
            say(f"  kron{scale}, {order}, {name} in {memory}: {seconds:.3f} s, {read / 1e9:.2f} GB")
            yield {
                "graph": f"kron{scale}", "order": order, "algorithm": name, "memory": memory, "seconds": seconds,
                "cpu_s": cpu, "ns_per_arc": 1e9 * seconds / graph.num_arcs, "read_gb": read / 1e9,
                "called_s": called, "called_ns_per_arc": 1e9 * called / graph.num_arcs,
                **({"first_s": best[3], "first_ns_per_arc": 1e9 * best[3] / graph.num_arcs} if work.per > 1 else {}),
                "disk_gb_s": rate / 1e9, "arcs": graph.num_arcs,
                **(_PEERS[name] if scale == 24 and memory == _SMALL else {}),
            }  # fmt: skip


def _best(work: _Work, graph: dr.Graph, source: Any, memory: str) -> tuple[float, int, float, float]:
    best, begin, calls = (float("inf"), 0, 0.0, 0.0), time.perf_counter(), 0
    while _again(calls, 2, begin):
        calls += 1
        start, cpu = time.perf_counter(), time.process_time()
        with over_pages():  # the same way for all scales, although the budget holds the small ones whole
            result = work.call(graph, source, memory=memory)
        found = time.perf_counter() - start, result.trace.read, time.process_time() - cpu
        best = min(best, (*found, result.trace[0].seconds))
        if best[0] > _LONG:
            break
    return best


def _called(work: _Work, file: Path, source: Any, memory: str) -> float:
    """The least time of a first call on the opened graph; the very first one compiles what only runs in memory need."""
    times, begin = list[float](), time.perf_counter()
    while _again(len(times), _LEAST_FIRST_CALLS, begin):
        graph = dr.open(file)
        start = time.perf_counter()
        work.call(graph, source, memory=memory)
        times.append(time.perf_counter() - start)
        if times[-1] > _LONG:
            break
    return min(times)


def _again(calls: int, least: int, begin: float) -> bool:
    """Whether to repeat a call that was made ``calls`` times since ``begin``."""
    return calls < least or (calls < _MOST_CALLS and time.perf_counter() - begin < _SHORT)


def _compile(rows: Collection[str]) -> None:
    chosen_way = os.environ.get(READS)
    os.environ.setdefault(READS, "compiled")  # as large stores are read
    graph = dr.generators.rmat(14, 16, dedupe=True, drop_self_loops=True)
    for packed in (False, True):
        file = _FOLDER / "growth14.drm"
        dr.write(graph, file, compress=packed)
        stored = dr.open(file)
        for name, work in _WORKS.items():
            if chosen(name, rows):
                start = time.perf_counter()
                with (
                    only_compiled(),
                    over_pages(),
                ):  # otherwise NumPy runs small graphs until it has taken as long as compiling
                    work.call(stored, source_of(stored), memory="64M")
                say(f"{name} compiled in {time.perf_counter() - start:.1f} s")
        file.unlink()
    if chosen_way is None:
        del os.environ[READS]
