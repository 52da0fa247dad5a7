"""Graphs on disk within a budget that holds them: the first call, the next one, and the same call in memory.

A kron graph (R-MAT, edge factor 16, undirected, simple) and a lattice with weights lie in stores. Each algorithm runs
in a process of its own, on two threads or as many as there are, after a call on a small store that compiles.

- *First*: the first call on an opened graph. It reads the file past the system's cache.
- *Next*: the best of two calls on the same opened graph, after one that reads nothing either: everything is cached.
- *In memory*: the best of two calls on the same graph from ``dr.read``, after one that is not counted.
- *Over pages*: the first call within the same budget if graphs are never read whole.
- *Grown*: how much the process grew at its peak during the first call and the next ones.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from benchmarks.streaming import fresh, source_of, status_bytes, store_of
from dromos.engines.cpu.arc_blocks import blocks_on_any_graph
from dromos.graph.store.paged.ways import READS
from dromos.places.stream.whole import over_pages

__all__ = ["KEY", "run"]

KEY = ("graph", "algorithm", "memory")
_FOLDER = Path(__file__).parent / "graphs"
# Calls that are counted, after one that is not: at least so many, and for so long.
_REPEATS = 2
_SECONDS = 2.0

CALLS: dict[str, Callable[..., dr.Result]] = {
    "bfs": lambda graph, source, **how: dr.bfs(graph, source, **how),
    "sssp": lambda graph, source, **how: dr.sssp(graph, source, **how),
    "pagerank, 12 iterations": lambda graph, source, **how: dr.pagerank(
        graph, weight=None, max_iter=12, tol=0, on_limit="return", **how
    ),
    "connected_components": lambda graph, source, **how: dr.connected_components(graph, **how),
    "core_numbers": lambda graph, source, **how: dr.core_numbers(graph, **how),
    "triangles": lambda graph, source, **how: dr.triangles(graph, **how),
    "label_propagation": lambda graph, source, **how: dr.label_propagation(graph, max_iter=3, **how),
    "betweenness, 2 sources": lambda graph, source, **how: dr.betweenness(graph, sources=[source, 7], **how),
}

_NOT_COUNTABLE = ("betweenness, 2 sources",)
"""A lattice has more shortest paths than the programs can count."""


def run(scale: int = 20, quick: bool = False, rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield one row per graph and algorithm."""
    side = 100 if quick else 2000
    stores = {f"kron{14 if quick else scale}": store_of(14 if quick else scale, "input"), "lattice": _lattice(side)}
    tiny = store_of(12 if quick else 17, "input"), _lattice(64)  # several tiles: hubs come first in blocks of arcs, too
    memory = f"{1 << max(0, scale - 20)}G"
    for (graph, file), small in zip(stores.items(), tiny, strict=True):
        for name in (name for name in CALLS if chosen(name, rows)):
            if graph == "lattice" and name in _NOT_COUNTABLE:
                continue
            say(f"{graph}, {name} in {memory}")
            first, later, read, device, grown = fresh(_on_disk, name, small, file, memory)
            pages = fresh(_over_pages, name, small, file, memory)
            inside = fresh(_in_memory, name, small, file)
            yield {
                "graph": graph, "algorithm": name, "memory": memory, "first_s": first, "next_s": later,
                "in_memory_s": inside, "over_pages_s": pages, "next/in_memory": later / inside,
                "first/over_pages": first / pages, "read_mb": read / 1e6, "file_mb": file.stat().st_size / 1e6,
                "grown_mb": grown / 1e6, "device": device,
            }  # fmt: skip


def _lattice(side: int) -> Path:
    """The store of a square lattice, written if it does not exist."""
    file = _FOLDER / f"lattice{side}.drm"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        dr.write(dr.generators.grid(side, side, weights=(1, 100), seed=1), file)
    return file


def _prepare(name: str, small: Path, setting: Callable[[], AbstractContextManager[None]]) -> None:
    """Compile what a call needs."""
    os.environ.setdefault(READS, "compiled")  # as large stores are read
    graph = dr.open(small)
    with setting():
        CALLS[name](graph, source_of(graph), memory="1G", device="cpu")
    with setting(), blocks_on_any_graph():
        CALLS[name](dr.open(small), source_of(graph), memory="1G", device="cpu")


def _on_disk(name: str, small: Path, file: Path, memory: str) -> tuple[float, float, int, str, int]:
    _prepare(name, small, nullcontext)
    _prepare(name, small, over_pages)
    graph = dr.open(file)
    source = source_of(graph)
    Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmRSS")
    start = time.perf_counter()
    result = CALLS[name](graph, source, memory=memory, device="cpu")
    first, read, device = time.perf_counter() - start, result.trace.read, result.device
    while result.trace.read:
        del result
        result = CALLS[name](graph, source, memory=memory, device="cpu")
    del result
    later = _least(lambda: CALLS[name](graph, source, memory=memory, device="cpu"))
    return first, later, read, device, status_bytes("VmHWM") - before


def _over_pages(name: str, small: Path, file: Path, memory: str) -> float:
    _prepare(name, small, over_pages)
    graph = dr.open(file)
    source, start = source_of(graph), time.perf_counter()
    with over_pages():
        CALLS[name](graph, source, memory=memory, device="cpu")
    return time.perf_counter() - start


def _in_memory(name: str, small: Path, file: Path) -> float:
    _prepare(name, small, nullcontext)
    graph = dr.read(file, mmap=False)
    source = source_of(graph)
    return _least(lambda: CALLS[name](graph, source, device="cpu"))


def _least(call: Callable[[], dr.Result]) -> float:
    """The least time of a call, of several."""
    call()
    begin, times = time.perf_counter(), list[float]()
    while len(times) < _REPEATS or time.perf_counter() - begin < _SECONDS:
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        del result
    return min(times)
