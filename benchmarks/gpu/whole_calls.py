"""What a user waits for: the public function by the host's clock, beside the time of its work on the device.

The graph is already on the device. ``kept_ms``: the result stays there (``keep_on_device=True``); ``host_ms``: it is
copied to the host, ``mb`` of it. ``of_must`` is ``kept_ms`` over 1.3 times the device's time plus 0.2 ms, and
``host_of_must`` is ``host_ms`` over that plus a copy at 20 GB/s: the goal is at most 1. Distances of joint searches are
copied to the host in any case. On ``parallel21``, a uniform graph with each edge twice, the first call makes the simple
graph and keeps it, so the device's time is that of the simple graph's kernel. ``first copy`` is copying a graph to the
device, where it is renumbered and its rows are sorted; ``arcs alone`` is the copy without that.

The rows after those are other algorithms, on a smaller graph; their ``device_ms`` is the time in supersteps and kernels
by the trace of the call, so the remainder was spent on the host before, between and after them. A vector that the
caller has on the host must be copied to the device, which may also take as long as at 20 GB/s.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.algorithms import sampled
from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.graphs import make
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import run_native, wall_ms
from benchmarks.gpu.works import WORKS
from benchmarks.record import say
from dromos.engines import Engine
from dromos.graph.graph import Flags

__all__ = ["KEY", "run"]

KEY = ("work", "graph")
GRAPHS = ("kron22",)
_CALLS = 12
_MOST_SECONDS = 0.4  # of the calls of a row with the result in one place
_LABEL_ROUNDS, _JOINT = 10, 64
_LABELS = f"label propagation, {_LABEL_ROUNDS} rounds"
_FROM_HOST = "sparse matrix times a vector of the host"
_COPIED = {
    "level", "parent", "distance", "rank", "label", "core", "triangles", "centrality", "hub", "authority", "y",
    "member", "clustering", "pairs",
}  # fmt: skip

Call = Callable[..., Any]


def _calls(case: Resident) -> dict[str, Call]:
    source = case.sources[0]
    return {
        "bfs, levels and parents": lambda **how: dr.bfs(case.graph, source, **how),
        "sssp": lambda **how: dr.sssp(case.weighted, source, **how),
        "pagerank, an iteration": lambda **how: dr.pagerank(case.graph, max_iter=20, tol=0, on_limit="return", **how),
        "components": lambda **how: dr.connected_components(case.graph, **how),
        "core numbers": lambda **how: dr.core_numbers(case.graph, **how),
        "triangles": lambda **how: dr.triangles(case.graph, **how),
        "betweenness, one source": lambda **how: dr.betweenness(case.graph, sources=[source], normalized=False, **how),
        _LABELS: lambda **how: dr.label_propagation(case.graph, max_iter=_LABEL_ROUNDS, **how),
    }


def _other_calls(case: Resident) -> dict[str, Call]:
    """The calls that are measured by their traces."""
    import cupy as cp

    graph, limit = case.graph, {"tol": 0.0, "on_limit": "return"}
    many = case.random_sources(_JOINT, 1).tolist()
    x = np.random.default_rng(1).random(graph.num_vertices)
    there = cp.asarray(x)
    return {
        "random walk with restart": lambda **how: dr.random_walk_with_restart(graph, case.sources[0], **how),
        "pagerank by weights": lambda **how: dr.pagerank(case.weighted, max_iter=20, **limit, **how),
        "pagerank, residual form": lambda **how: dr.pagerank(graph, method="delta", **how),
        "personalized pagerank, 4 sources": lambda **how: dr.personalized_pagerank(
            graph, case.sources[:4], max_iter=10, **limit, **how
        ),
        "eigenvector, 20 iterations": lambda **how: dr.eigenvector(graph, max_iter=20, **limit, **how),
        "katz, 20 iterations": lambda **how: dr.katz(graph, alpha=1e-5, max_iter=20, **limit, **how),
        "hits, 10 iterations": lambda **how: dr.hits(graph, max_iter=10, **limit, **how),
        "sparse matrix times vector": lambda **how: dr.spmv(graph, there, **how),
        _FROM_HOST: lambda **how: dr.spmv(graph, x, **how),
        "8-core": lambda **how: dr.k_core(graph, 8, **how),
        "strong components": lambda **how: dr.strongly_connected_components(graph, **how),
        "clustering": lambda **how: dr.clustering(graph, **how),
        "transitivity": lambda **how: dr.transitivity(graph, **how),
        "maximal independent set": lambda **how: dr.maximal_independent_set(graph, **how),
        f"{_JOINT} joint searches": lambda **how: dr.multi_source_bfs(graph, many, **how),
        f"closeness from {_JOINT} sources": lambda **how: dr.closeness(graph, sources=many, **how),
        f"harmonic centrality of {_JOINT}": lambda **how: dr.harmonic(graph, nbunch=many, **how),
        f"harmonic centrality from {_JOINT} sources": lambda **how: dr.harmonic(graph, sources=many, **how),
        f"betweenness, {_JOINT} sources": lambda **how: dr.betweenness(graph, sources=many, **how),
    }


def run(quick: bool = False, graphs: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and algorithm."""
    from dromos.runner.devices import engine_for

    engine = engine_for("cuda")
    for name in graphs or (("kron14",) if quick else GRAPHS):
        case = resident(name, 4)
        for work, call in _calls(case).items():
            yield _row(case.name, work, _device_ms(engine, case, work), call)
        yield _joint_row(case)
        yield from _copy_rows(case)
        case.release()
    yield from _parallel_rows("parallel14" if quick else "parallel21")
    case = resident("kron14" if quick else "kron20", 4)
    for work, call in _other_calls(case).items():
        call(device="cuda")  # compiles
        device = statistics.median(1e3 * call(device="cuda").trace.seconds for _ in range(3))
        sent = 8 * case.graph.num_vertices if work == _FROM_HOST else 0
        yield _row(case.name, work, device, call, sent)


def _device_ms(engine: Engine, case: Resident, name: str) -> float:
    if name == _LABELS:
        runs = [run_native("cdlp", case, max_iter=_LABEL_ROUNDS, directed=False).ms for _ in range(4)]
        return statistics.median(runs[1:])
    work = next(work for work in WORKS if work.name == name)
    found: float = sampled(engine, work, Resident(case.csr, case.sources[:1])).summary()["ms"]
    return found


def _row(graph: str, name: str, device: float, call: Call, sent: int = 0) -> dict[str, Any]:
    """``sent``: bytes that the call copies to the device."""
    kept = _median(lambda: call(device="cuda", keep_on_device=True))
    host = _median(lambda: call(device="cuda"))
    result, must = call(device="cuda"), 1.3 * device + 0.2 + sent / 20e6
    size = sum(result[field].nbytes for field in result if field in _COPIED)
    say(f"  {graph}, {name}: {device:.3f} on the device, {kept:.3f} ms in all, {host:.3f} with the copy")
    return {
        "work": name, "graph": graph, "device_ms": device, "kept_ms": kept, "host_ms": host, "mb": size / 1e6,
        "of_must": kept / must, "host_of_must": host / (must + size / 20e6),
    }  # fmt: skip


def _joint_row(case: Resident) -> dict[str, Any]:
    """Distances from a group of sources: a table with a byte per pair is copied to the host."""
    from dromos.engines.cuda.native.joint import Search

    group = case.random_sources(_JOINT, 1)
    search = Search(case.device_graph(), _JOINT, distance=np.int8)
    search.run(0, group)
    device = statistics.median(milliseconds(lambda: search.run(0, group))[0] for _ in range(5))
    sources = group.tolist()
    host = _median(lambda: dr.distances(case.graph, sources, device="cuda"))
    size = _JOINT * case.csr.num_vertices
    name = f"distances, {_JOINT} joint searches"
    say(f"  {case.name}, {name}: {device:.3f} on the device, {host:.3f} ms in all")
    return {
        "work": name, "graph": case.name, "device_ms": device, "host_ms": host, "mb": size / 1e6,
        "host_of_must": host / (1.3 * device + 0.2 + size / 20e6),
    }  # fmt: skip


def _copy_rows(case: Resident) -> Iterator[dict[str, Any]]:
    """Copy a graph on the host, with its memory touched, to the device: renumbered, and its arcs alone."""
    import dromos.jit  # noqa: F401  # as in a process that has built its graph
    from dromos.engines.cuda.device_graph import device_graph, forget
    from dromos.engines.cuda.transfers import to_device

    graph, times = case.csr.host(False), []
    for _ in range(6):
        forget(graph)
        times.append(wall_ms(lambda: device_graph(graph)))
    alone = [wall_ms(lambda: to_device(graph.targets)) for _ in range(6)]
    arcs = graph.targets.nbytes
    for name, measured, size in (
        ("first copy", times, graph.offsets.nbytes + arcs),
        ("first copy, arcs alone", alone, arcs),
    ):
        ms = min(measured[1:])
        say(f"  {case.name}, {name}: {ms:.1f} ms, {size / ms / 1e6:.1f} GB/s")
        yield {"work": name, "graph": case.name, "host_ms": ms, "mb": size / 1e6, "gb_s": size / ms / 1e6}


def _parallel_rows(name: str) -> Iterator[dict[str, Any]]:
    csr = make(name.replace("parallel", "urand"))
    plain = Resident(csr, csr.sources(1))
    devices = {
        kernel: statistics.median([run_native(kernel, plain).ms for _ in range(5)][1:])
        for kernel in ("cores", "triangles")
    }
    host = csr.host(False)
    flags = Flags(directed=False, symmetric=True, sorted=True, parallel_edges=True, self_loops=False)
    twice = dr.Graph._make(2 * host.offsets, np.repeat(host.targets, 2), None, flags=flags)
    plain.release()
    yield _row(name, "core numbers", devices["cores"], lambda **how: dr.core_numbers(twice, **how))
    yield _row(name, "triangles", devices["triangles"], lambda **how: dr.triangles(twice, **how))


def _median(call: Callable[[], Any]) -> float:
    """The median of calls after one that compiles and copies."""
    call()
    times, begin = [wall_ms(call)], time.perf_counter()
    while len(times) < _CALLS and time.perf_counter() - begin < _MOST_SECONDS:
        times.append(wall_ms(call))
    return statistics.median(times)
