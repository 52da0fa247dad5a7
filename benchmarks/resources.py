"""Costs of algorithms other than time: the first call of a process, memory, and how time grows with the graph.

*First call*: in a fresh process that opens a stored graph, the first call of an algorithm over its second, if an
earlier process has left its compiled code on disk; the import of the compiler is part of it. *Memory*: the most that a
call adds to a fresh process, including the graph's arrays, over the size of the graph's arrays and the result's.
*Growth*: the slope of the logarithm of time over the logarithm of arcs on kron graphs that double in size; 1 is linear.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import Case, make_case
from benchmarks.record import say

_SMALL_SCALE = 12
_FIRST_CALL_S = 1.0
_MEMORY = {"bfs": 1.2, "pagerank": 2.0}
"""PageRank keeps the arcs in a second order, which halves its time."""

CALLS: dict[str, Callable[[dr.Graph, int], Any]] = {
    "bfs": dr.bfs,
    "sssp": lambda graph, source: dr.sssp(graph, source).distance,
    "pagerank": lambda graph, source: dr.pagerank(graph, weight=None, tol=0, max_iter=20, on_limit="return"),
    "connected_components": lambda graph, source: dr.connected_components(graph),
    "betweenness": lambda graph, source: dr.betweenness(graph, sources=[source, source ^ 1]),
    "triangles": lambda graph, source: dr.triangles(graph),
    "core_numbers": lambda graph, source: dr.core_numbers(graph),
}
_GROWING = ("bfs", "sssp", "pagerank", "connected_components", "core_numbers")


KEY = ("what",)


def run(scale: int = 20, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the three kinds of rows; growth is measured from four scales below ``scale`` to two above."""
    if quick:
        scale = min(scale, 14)
    yield from _first_calls()
    yield from _memory(scale)
    yield from _growth(range(scale - 4, scale + 3))


def _first_calls() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "small.drm"
        case = make_case("kron", _SMALL_SCALE)
        case.weighted.write(file)
        for name in CALLS:
            _fresh(_first_and_second, name, file, case.sources[0])  # leaves its compiled code on disk
            first, second = min(_fresh(_first_and_second, name, file, case.sources[0]) for _ in range(3))
            say(f"first call of {name}: {first - second:.3f} s beyond the next")
            yield {
                "what": f"first call of {name} in a second process, beyond the next call", "ours": first - second,
                "unit": "s", "target": f"< {_FIRST_CALL_S:g}", "note": f"{first:.3f} s, then {second:.4f} s",
            }  # fmt: skip


def _first_and_second(name: str, file: Path, source: int) -> tuple[float, float]:
    graph = dr.read(file)
    return _seconds(CALLS[name], graph, source), _seconds(CALLS[name], graph, source)


def _memory(scale: int) -> Iterator[dict[str, Any]]:
    for name, most in _MEMORY.items():
        added, graph_bytes, fields = _fresh(_added_bytes, name, scale)
        ratio = (graph_bytes + added) / (graph_bytes + fields)
        say(f"memory of {name}: {ratio:.3f}")
        yield {
            "what": f"memory of {name} on kron{scale}, over the graph's arrays and the fields", "ours": ratio,
            "unit": "x", "target": f"<= {most:g}",
            "note": f"graph {graph_bytes / 1e6:.0f} MB, fields {fields / 1e6:.0f} MB, added {added / 1e6:.0f} MB",
        }  # fmt: skip


def _added_bytes(name: str, scale: int) -> tuple[int, int, int]:
    """The most that a call adds to the resident memory before it, the size of the graph, and that of the fields."""
    small = make_case("kron", _SMALL_SCALE)
    CALLS[name](small.graph, small.sources[0])  # compile, and start the threads
    case = make_case("kron", scale)
    graph, source = case.graph, case.sources[0]
    del case, small
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = _status("VmRSS")
    result = CALLS[name](graph, source)
    return _status("VmHWM") - before, graph.nbytes, sum(result[field].nbytes for field in result)


def _growth(scales: range) -> Iterator[dict[str, Any]]:
    """Yield one row per algorithm, again after each scale from the second on: the last one stays."""
    taken: dict[str, list[float]] = {name: [] for name in _GROWING}
    arcs: list[int] = []
    for scale in scales:
        case = make_case("kron", scale, sources=8)
        arcs.append(case.graph.num_arcs)
        for name, times in taken.items():
            times.append(_typical(name, case))
        del case
        say(f"growth: scale {scale} done")
        if len(arcs) < 2:
            continue
        for name, times in taken.items():
            slope = float(np.polyfit(np.log(arcs), np.log(times), 1)[0])
            shown = ", ".join(f"{1000 * seconds:.3g}" for seconds in times)
            yield {
                "what": f"growth of {name} from kron{scales[0]}: slope of log time over log arcs", "ours": slope,
                "unit": "", "target": "1", "note": f"to kron{scale}; ms by scale: {shown}",
            }  # fmt: skip


def _typical(name: str, case: Case) -> float:
    """The median over sources of the best of two calls."""
    graph = case.weighted if name == "sssp" else case.graph
    CALLS[name](graph, case.sources[0])
    sources = case.sources if name in ("bfs", "sssp") else case.sources[:1]
    return statistics.median(min(_seconds(CALLS[name], graph, source) for _ in range(2)) for source in sources)


def _fresh(function: Callable[..., Any], *args: Any) -> Any:
    """The result of a call in a new interpreter."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, args)


def _seconds(call: Callable[..., Any], *args: Any) -> float:
    start = time.perf_counter()
    call(*args)
    return time.perf_counter() - start


def _status(field: str) -> int:
    return int(Path("/proc/self/status").read_text().split(f"{field}:")[1].split()[0]) * 1024
