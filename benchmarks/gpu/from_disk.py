"""Graphs on disk on a GPU, beside the same graphs on the CPU's engine, in the same run.

A kron graph (R-MAT, edge factor 16, undirected, simple, weights 1 to 255) is written to a store in the order of its
input, plain and packed, and removed at the end. Each call may take 1 GiB of the host's memory. The GPU keeps a quarter
of the arcs, or none; all others are read from disk, past the system's cache, in every superstep that needs them.

Each call runs once on a small graph to compile. Then the best of two counts, or the first if it takes longer than
``_LONG`` seconds. PageRank is in float32, and its time is per iteration, out
of three. ``of_cpu`` is the time over that of the CPU's engine with all threads. ``of_disk`` is the time that the disk
takes for the bytes that were read, over the time of the call. Answers are compared with the CPU's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from benchmarks.streaming import disk_rate, source_of
from dromos.engines.cpu.initial import only_compiled
from dromos.graph.store.paged.ways import READS
from dromos.runner import devices

__all__ = ["KEY", "run"]

KEY = ("graph", "rows", "work", "place")
_FOLDER = Path(__file__).parents[1] / "graphs"
_HOST = "1G"
_ITERATIONS = 3
_LONG = 4.0
_VERTEX_BYTES = 100  # that the GPU's engine reserves
_BUFFER_BYTES = 96 << 20


class _Work(NamedTuple):
    call: Callable[..., dr.Result]
    field: str
    per: int = 1
    weights: bool = False


_WORKS = {
    "bfs": _Work(lambda graph, source, **how: dr.bfs(graph, source, **how), "level"),
    "sssp": _Work(lambda graph, source, **how: dr.sssp(graph, source, **how), "distance", weights=True),
    "pagerank in float32, an iteration": _Work(
        lambda graph, source, **how: dr.pagerank(
            graph, weight=None, max_iter=_ITERATIONS, tol=0, on_limit="return", dtype="float32", **how
        ),
        "rank", _ITERATIONS,
    ),
}  # fmt: skip


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """One row per order of rows, work and place."""
    _FOLDER.mkdir(exist_ok=True)
    there = set(_FOLDER.iterdir())
    try:
        with _arcs_on_disk():
            for packed in (False, True):
                _compile(_store(14, packed), rows)
            for name in graphs or (("kron18",) if quick else ("kron24",)):
                for packed in (False, True):
                    yield from _rows(name, packed, _store(int(name.removeprefix("kron")), packed), rows)
    finally:
        for made in set(_FOLDER.iterdir()) - there:
            made.unlink()


def _rows(name: str, packed: bool, file: Path, rows: Collection[str]) -> Iterator[dict[str, Any]]:
    graph = dr.open(file)
    source, rate = source_of(graph), disk_rate(file)
    for work_name, work in _WORKS.items():
        if not chosen(work_name, rows):
            continue
        on_cpu: dict[str, Any] = {}
        for place, how in _places(graph, work).items():
            seconds, result = _best(work, graph, source, how)
            row = {
                "graph": name, "rows": "packed" if packed else "plain", "work": work_name, "place": place,
                "seconds": seconds / work.per, "read_gb": result.trace.read / 1e9 / work.per, "disk_gb_s": rate / 1e9,
                "of_disk": result.trace.read / rate / seconds, "supersteps": result.trace.supersteps,
                "device": result.device,
            }  # fmt: skip
            answer = np.asarray(result[work.field])
            if place == "cpu":
                on_cpu = {"seconds": seconds, "answer": answer}
            else:
                row |= {"of_cpu": seconds / on_cpu["seconds"], "parts_ms": _parts(result)}
                if not np.allclose(answer, on_cpu["answer"], rtol=1e-3, atol=1e-9):
                    row["differs"] = True
            say(f"  {name}, {row['rows']}, {work_name}, {place}: {row['seconds']:.3f} s, {row['read_gb']:.2f} GB")
            yield row


def _parts(result: dr.Result) -> str:
    """The milliseconds of all supersteps by part; kernels run while the disk is read."""
    found: dict[str, float] = {}
    for row in result.trace:
        for part in filter(None, row.parts.split(", ")):
            name, _, ms = part.rpartition(" ")
            found[name] = found.get(name, 0.0) + float(ms)
    return ", ".join(f"{name} {total:.3g}" for name, total in found.items())


@contextmanager
def _arcs_on_disk() -> Iterator[None]:
    """Leave arcs on disk that would have room on the host, as if they had none."""
    outgrows = devices._outgrows_host
    devices._outgrows_host = lambda graph, memory, host_memory: True
    try:
        yield
    finally:
        devices._outgrows_host = outgrows


def _best(work: _Work, graph: dr.Graph, source: Any, how: dict[str, Any]) -> tuple[float, dr.Result]:
    best: tuple[float, dr.Result] | None = None
    while best is None or best[0] < _LONG:
        start = time.perf_counter()
        result = work.call(graph, source, **how)
        found = time.perf_counter() - start, result
        if best is not None:
            return min(best, found, key=lambda pair: pair[0])
        best = found
    return best


def _compile(file: Path, rows: Collection[str]) -> None:
    graph, given = dr.open(file), os.environ.get(READS)
    os.environ[READS] = given or "compiled"  # as large stores are read
    with only_compiled():
        for name, work in _WORKS.items():
            for how in _places(graph, work).values() if chosen(name, rows) else ():
                work.call(graph, source_of(graph), **how)
    if given is None:
        del os.environ[READS]


def _places(graph: dr.Graph, work: _Work) -> dict[str, dict[str, Any]]:
    """The arguments of each place."""
    arc_bytes = 8 if work.weights else 4
    fixed = _VERTEX_BYTES * graph.num_vertices + _BUFFER_BYTES
    on_gpu = {"device": "cuda", "host_memory": _HOST}
    return {
        "cpu": {"device": "cpu", "memory": _HOST},
        "cuda, a quarter stays": {**on_gpu, "memory": fixed + arc_bytes * graph.num_arcs // 4},
        "cuda, none stays": {**on_gpu, "memory": fixed + (1 << 20)},
    }


def _store(scale: int, packed: bool) -> Path:
    file = _FOLDER / f"weighted{scale}{'-packed' if packed else ''}.drm"
    if not file.exists():
        start = time.perf_counter()
        plain = _FOLDER / f"weighted{scale}.drm"
        if plain.exists():
            graph = dr.read(plain)
        else:
            graph = dr.generators.rmat(scale, 16, dedupe=True, drop_self_loops=True)
            graph = dr.generators.with_random_weights(graph, 1, 255, seed=2)
        dr.write(graph, file, compress=packed)
        os.sync()
        say(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB, made in {time.perf_counter() - start:.1f} s")
    return file
