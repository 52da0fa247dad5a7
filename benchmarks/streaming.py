"""Graphs larger than memory: time, bytes read and memory against the same algorithm in memory and against the disk.

A kron graph (R-MAT, edge factor 16, undirected, simple) is written once to stores in ``benchmarks/graphs``, in the
order of its input and in that of ``dromos convert --order degree``, each plain and packed (``--compress``). Each call
runs in a process of its own, after a first one that compiles, and the best of two counts.

- *In memory*: the CPU engine on the same graph, read into memory.
- *Sliced*: the same engine over slices in memory, as a stream drives it. The ratio of the two is the cost of slices;
  the rest is the disk. Core numbers and triangles have other ways on disk than over slices.
- *Last*: the last superstep alone, streamed and in memory; for PageRank within a budget that holds all arcs, one that
  reads nothing.
- *Disk*: the time for the bytes read at the rate of sequential direct reads of 1 MiB on four threads.
- *Memory*: how much the process grew at its peak during the calls.
- *Of disk*, for PageRank: the disk's time for the pages that a superstep reads without sorted rows, over the time of
  the last superstep; it may exceed 1, since sorted rows take fewer bytes than pages.

All runs are over pages; :mod:`benchmarks.stream_whole` measures budgets that hold the graph.

A full run takes more than ten minutes. ``--graphs``, ``--orders`` and ``--rows`` run a part of it and keep the rows
measured before: ``python -m benchmarks streaming --graphs kron22 --orders degree,degree-packed``.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Collection, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from dromos.places.stream.whole import over_pages

__all__ = ["CALLS", "disk_rate", "fresh", "run", "source_of", "status_bytes", "store_of"]

_FOLDER = Path(__file__).parent / "graphs"
_REPEATS = 2
_RATE_BYTES = 2 << 30
_ITERATIONS, _MANY = 3, 12  # with the latter, rows are sorted


def _pagerank(graph: dr.Graph, iterations: int, **how: Any) -> dr.Result:
    return dr.pagerank(graph, max_iter=iterations, tol=0, on_limit="return", **how)


CALLS: dict[str, Callable[..., dr.Result]] = {
    "bfs": lambda graph, source, **how: dr.bfs(graph, source, **how),
    "connected_components": lambda graph, source, **how: dr.connected_components(graph, **how),
    f"pagerank, {_ITERATIONS} iterations": lambda graph, source, **how: _pagerank(graph, _ITERATIONS, **how),
    f"pagerank, {_MANY} iterations": lambda graph, source, **how: _pagerank(graph, _MANY, **how),
    f"pagerank in float32, {_MANY} iterations": lambda graph, source, **how: _pagerank(
        graph, _MANY, dtype="float32", **how
    ),
    "core_numbers": lambda graph, source, **how: dr.core_numbers(graph, **how),
    "triangles": lambda graph, source, **how: dr.triangles(graph, **how),
}
_NOT_SLICED = ("core_numbers", "triangles")

KEY = ("graph", "order", "algorithm", "memory")
ORDERS = ("input", "input, packed", "degree", "degree, packed")


def run(
    scale: int = 20,
    quick: bool = False,
    graphs: Collection[str] = (),
    rows: Collection[str] = (),
    orders: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """One row per order, algorithm and budget, at ``scale`` and two above."""
    budgets = {14: ("16M",)} if quick else {scale: ("64M", "1G"), scale + 2: ("256M",)}
    for (size, memories), order in product(budgets.items(), ORDERS):
        if not chosen(f"kron{size}", graphs) or order not in (orders or ORDERS):
            continue
        file = store_of(size, order)
        rate = disk_rate(file)
        for name in (name for name in CALLS if chosen(name, rows)):
            inside = fresh(_in_memory, name, file)
            for memory in memories:
                say(f"kron{size} in the order of {order}, {name} in {memory}")
                seconds, read, grown, cpu, last, pages = fresh(_streamed, name, file, memory)
                row = {
                    "graph": f"kron{size}", "order": order, "algorithm": name, "memory": memory,
                    "ours_s": seconds, "cpu_s": cpu,
                    "read_mb": read / 1e6, "disk_s": read / rate, "disk_gb_s": rate / 1e9,
                    "in_memory_s": inside[0][0], "sliced_s": inside[-1][0] if len(inside) > 1 else None, "last_s": last,
                    "in_memory_last_s": inside[0][1], "grown_mb": grown / 1e6,
                    "file_mb": file.stat().st_size / 1e6,
                }  # fmt: skip
                if name.startswith("pagerank") and pages:
                    row["of_disk"] = pages / rate / last
                yield row


def store_of(scale: int, order: str) -> Path:
    """The store of a kron graph, written if it does not exist."""
    parts = [part for part in order.split(", ") if part != "input"]
    file = _FOLDER / ("-".join([f"kron{scale}", *parts]) + ".drm")
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        plain = _FOLDER / file.name.replace("-packed", "")
        if plain.exists():
            graph = dr.read(plain)
        else:
            graph = dr.generators.rmat(scale, 16, dedupe=True, drop_self_loops=True)
            graph = graph.relabel_by_degree(named=True).graph if "degree" in parts else graph
        dr.write(graph, file, compress="packed" in parts)
    return file


def source_of(graph: dr.Graph) -> Any:
    """The same vertex in every order, by its label."""
    if graph.labels is None:
        return int(np.flatnonzero(graph.out_degree)[1000])
    names = np.asarray(graph.labels.values_of(np.flatnonzero(graph.out_degree)))
    return int(np.sort(names)[1000])


def _streamed(name: str, file: Path, memory: str) -> tuple[float, int, int, float, float, int]:
    graph = dr.open(file)
    source, before = source_of(graph), 0
    best: tuple[float, int, float] = (float("inf"), 0, 0.0)
    last = float("inf")
    for number in range(_REPEATS + 1):
        if number == 1:
            Path("/proc/self/clear_refs").write_text("5")
            before = status_bytes("VmRSS")
        start, cpu = time.perf_counter(), time.process_time()
        with over_pages():
            result = CALLS[name](graph, source, memory=memory)
        taken = time.perf_counter() - start, result.trace.read, time.process_time() - cpu
        if number:
            best, last = min(best, taken), min(last, result.trace[-1].seconds)
        del result
    grown, pages = status_bytes("VmHWM") - before, 0
    if name.startswith("pagerank"):
        dtype = "float32" if "float32" in name else "float64"
        with over_pages():
            pages = _pagerank(graph, _ITERATIONS, memory=memory, dtype=dtype).trace[-1].read
    return best[0], best[1], grown, best[2], last, pages


def _in_memory(name: str, file: Path) -> list[tuple[float, float]]:
    """For the whole-graph engine and over one slice: the time of a call, and of its last superstep."""
    graph = dr.read(file, mmap=False)
    source = source_of(graph)
    times = []
    for how in ({"path": "auto"}, {"slices": 1})[: 1 if name in _NOT_SLICED else 2]:
        best = last = float("inf")
        for _ in range(_REPEATS + 1):
            start = time.perf_counter()
            result = CALLS[name](graph, source, device="cpu", **how)
            best, last = min(best, time.perf_counter() - start), min(last, result.trace[-1].seconds)
        times.append((best, last))
    return times


def disk_rate(file: Path) -> float:
    """Bytes per second of sequential direct reads by the stream's own reader; the best of two passes over 2 GB."""
    from dromos.graph.store.paged.file import StoreFile
    from dromos.graph.store.paged.memory import SparseMemory
    from dromos.graph.store.paged.pool import ReadPool

    graph = dr.open(file)
    section = graph.header.section("targets")
    assert section is not None
    piece, size = 1 << 20, min(section.nbytes, _RATE_BYTES)
    memory, pool, best = SparseMemory(size), ReadPool(4), 0.0
    with graph.reading(StoreFile) as source:
        for _ in range(_REPEATS):
            start = time.perf_counter()
            pool.submit(
                [
                    lambda begin=begin: source.read_into(  # type: ignore[misc]
                        memory.view(begin, min(begin + piece, len(memory.bytes))), section.offset + begin
                    )
                    for begin in range(0, size, piece)
                ]
            ).wait()
            best = max(best, size / (time.perf_counter() - start))
    pool.close()
    return best


def status_bytes(name: str) -> int:
    """A value from the system's status of this process, such as ``VmRSS``."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0


def fresh(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)
