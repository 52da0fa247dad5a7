"""One graph on the CPU and the GPU together, against each of them alone, in the same run.

``ms`` is the time of the supersteps (of an iteration for PageRank), including the exchange, but without splitting the
graph, copying it to the device and preparing the run; ``cpu_ms`` and ``cuda_ms`` are the working times of each
processor within it. The peers are the GPU alone and the CPU alone, with their own fused and native kernels: ``ratio``
is ours over the better of them, ``over_cpu`` how many times faster than the CPU alone it is. ``stream_ms`` is the GPU
alone with the same share of the arcs on it as in the hybrid, and the rest in the host's memory.

``predicted_ms`` is the time by the model, from the rates of this machine, which have a row of their own;
``predicted_over_cpu`` is that prediction's speed-up over the CPU alone as measured. ``totem_ms`` are figures of TOTEM.
The rows "splitting" give the cost of splitting a graph: ``gb_per_s`` of ids and weights, and ``again_ms`` if it was
split that way before.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.graphs import make
from benchmarks.record import say
from dromos.algorithms.costs import cost_of
from dromos.algorithms.pagerank import ITERATION
from dromos.engines.cuda.device_graph import forget
from dromos.engines.cuda.engine import CudaEngine
from dromos.engines.cuda.options import CudaOptions
from dromos.graph.parting import Split
from dromos.places.hybrid import split_graph
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.part_sizes import PartSize, part_sizes
from dromos.places.hybrid.rates import Rates, measured_again
from dromos.plan.cost import SplitCost

__all__ = ["KEY", "run"]

KEY = ("graph", "row", "split", "share")
GRAPHS = ("kron21", "kron24")
_QUICK_GRAPHS = ("kron14",)
_ITERATIONS, _ROUNDS = 5, 40
_ONLY = {"max_iter": _ITERATIONS, "tol": 0, "on_limit": "return"}
_MOST_SECONDS = 1.0  # after which a call is not repeated
_LARGE = 1 << 28  # arcs from which a stream is measured too, and only one way to split
_RESIDENT = 0.75  # the share of the arcs on the device then
_SHARES: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 0.75)
_SPLITS: tuple[Split, ...] = ("high", "low", "random")
WORKS: dict[str, tuple[bool, str, Callable[..., Any]]] = {
    "bfs": (False, "level", lambda graph, source, **how: dr.bfs(graph, source, **how)),
    "pagerank, an iteration": (False, "rank", lambda graph, source, **how: dr.pagerank(graph, **_ONLY, **how)),
    "components": (False, "label", lambda graph, source, **how: dr.connected_components(graph, **how)),
    "sssp": (True, "distance", lambda graph, source, **how: dr.sssp(graph, source, **how)),
}  # fmt: skip
"""Whether it needs weights, the field that is compared, and the call."""
MODELS: dict[str, SplitCost | None] = {
    "bfs": cost_of("bfs").split,
    "pagerank, an iteration": ITERATION,
    "components": cost_of("connected_components").split,
    "sssp": cost_of("sssp").split,
}
FIGURES: dict[str, dict[str, float]] = {
    "bfs": {"totem_ms": 4.3, "must_ms": 4.3, "aim_ms": 2.0},
    "pagerank, an iteration": {"totem_ms": 44.6, "must_ms": 30.0, "aim_ms": 12.0},
    "components": {"totem_ms": 174.0, "must_ms": 80.0, "aim_ms": 25.0},
    "sssp": {"totem_ms": 251.0, "must_ms": 200.0, "aim_ms": 80.0},
}
"""For kron24 with a quarter of the edges on the CPU, including the hubs; TOTEM's own code, measured once on such a
machine, without splitting."""


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph, algorithm, split and share, and the rates of the processors.

    Rates are measured before each graph and after the last, as in several processes elsewhere: the best counts. Only
    then are the predictions known, so all rows come at the end.
    """
    names = graphs or (_QUICK_GRAPHS if quick else GRAPHS)
    found = [row for name in names for row in _rows(name, rows)]
    rates = _rates()
    for device, told in zip(("cpu", "cuda"), rates, strict=True):
        yield {"graph": "", "row": f"rates of {device}", "split": "", "share": 0.0, **asdict(told)}
    for row, parts in found:
        yield {**row, **({} if parts is None else _predicted(row, parts, rates))}


def _rows(name: str, rows: Collection[str]) -> Iterator[tuple[dict[str, Any], list[PartSize] | None]]:
    """The measurements on a graph, and for runs the sizes of the parts."""
    _rates()
    csr = make(name)
    source = csr.sources(1)[0]
    hosts = {weighted: csr.host(weighted) for weighted in (False, True)}
    del csr
    forget()
    say(f"{name}: {hosts[False].num_vertices:,} vertices, {hosts[False].num_arcs:,} arcs")
    chosen = {row: work for row, work in WORKS.items() if not rows or any(row.startswith(part) for part in rows)}
    peers = {row: _alone(hosts[work[0]], source, row, work) for row, work in chosen.items()}
    ways: Iterable[tuple[Split, float]] = itertools.product(_SPLITS, _SHARES)
    if hosts[False].num_arcs >= _LARGE:
        ways = [("high", 1 - _RESIDENT)]
    for (split, share), weighted in itertools.product(ways, (False, True)):
        works = {row: work for row, work in chosen.items() if work[0] == weighted}
        if works:
            known = {"graph": name, "split": split, "share": share}
            for row, parts in _on_both(hosts[weighted], source, works, split, share, peers):
                yield {**known, **row}, parts


def _on_both(
    graph: dr.Graph, source: int, works: dict[str, Any], split: Split, share: float, peers: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], list[PartSize] | None]]:  # fmt: skip
    """A graph that is split in one way: the cost of splitting, then each algorithm."""
    # splits are kept with their graph: all of them together would not fit in memory
    graph = dr.Graph._make(graph.offsets, graph.targets, graph.weights, flags=graph.known_flags)
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        made = split_graph(graph, (share, 1 - share), split, device=0, stay=(1,))
        times.append(time.perf_counter() - begin)
    size = graph.targets.nbytes + (0 if graph.weights is None else graph.weights.nbytes)
    what = "splitting" if graph.weights is None else "splitting, weighted"
    yield {"row": what, "ms": times[0] * 1e3, "gb_per_s": size / times[0] / 1e9, "again_ms": times[1] * 1e3}, None
    parts = part_sizes(np.diff(made.graph.offsets), made.bounds)
    sizes = {**_flat(parts), "arcs": graph.num_arcs, "vertices": graph.num_vertices}
    for row, (_, field, call) in works.items():
        ours = _measured(call, graph, source, row, device="cpu+cuda", share=share, split=split)
        figures = FIGURES[row] if graph.num_arcs >= _LARGE and (split, share) == ("high", 1 - _RESIDENT) else {}
        yield {"row": row, **_row(row, field, ours, peers), **sizes, **figures}, parts
    forget()


def _alone(graph: dr.Graph, source: int, row: str, work: tuple[bool, str, Callable[..., Any]]) -> dict[str, Any]:
    """Each processor by itself; the device's copies are released, so that the hybrid has the room."""
    found = {device: _measured(work[2], graph, source, row, device=device) for device in ("cuda", "cpu")}
    forget()
    if graph.num_arcs >= _LARGE:
        engine = CudaEngine(CudaOptions(share=_RESIDENT))
        found["stream"] = _measured(work[2], graph, source, row, device=engine)
        forget()
    return found


def _measured(call: Callable[..., Any], graph: dr.Graph, source: int, row: str, **how: Any) -> tuple[float, Any]:
    """The least milliseconds of the supersteps over some rounds, after one that compiles and copies."""
    call(graph, source, **how)
    best, result, begin = float("inf"), None, time.perf_counter()
    for number in range(_ROUNDS):
        if number and time.perf_counter() - begin > _MOST_SECONDS:
            break
        found = call(graph, source, **how)
        ms = found.trace.seconds * 1e3 / (_ITERATIONS if row.startswith("pagerank") else 1)
        if ms < best:
            best, result = ms, found
    say(f"  {row}, {how}: {best:.3f} ms")
    return best, result


def _row(row: str, field: str, ours: tuple[float, Any], peers: dict[str, Any]) -> dict[str, Any]:
    ms, result = ours
    per = _ITERATIONS if row.startswith("pagerank") else 1
    busy: Counter[str] = Counter()
    for step in result.trace:
        for part, taken in step.busy.items():
            busy[part] += taken / per
    cuda, cpu = (peers[row][device][0] for device in ("cuda", "cpu"))
    expected = peers[row]["cuda"][1][field]
    same = (
        np.allclose(result[field], expected, rtol=1e-4) if field == "rank" else np.array_equal(result[field], expected)
    )
    better = "cuda" if cuda <= cpu else "cpu"
    stream = {"stream_ms": peers[row]["stream"][0]} if "stream" in peers[row] else {}
    return {
        "ms": ms, **{f"{part}_ms": taken for part, taken in busy.items()}, "cuda_alone_ms": cuda, "cpu_alone_ms": cpu,
        "peer": better, "ratio": ms / min(cuda, cpu), "over_cpu": cpu / ms, "supersteps": result.trace.supersteps,
        "differs": not same, **stream,
    }  # fmt: skip


def _rates() -> list[Rates]:
    """The rates of the processors, after another measurement."""
    from dromos.engines.cpu.part import CpuLeaf
    from dromos.engines.cuda.part import CudaLeaf

    return [measured_again(CpuLeaf()), measured_again(CudaLeaf())]


def _predicted(row: dict[str, Any], parts: Sequence[PartSize], rates: list[Rates]) -> dict[str, float]:
    """The model's prediction for a run, or for an iteration."""
    work = MODELS[row["row"]]
    assert work is not None
    ms = predicted_run(work, parts, rates) * 1e3
    return {"predicted_ms": ms, "predicted_over_cpu": row["cpu_alone_ms"] / ms}


def _flat(parts: Sequence[PartSize]) -> dict[str, Any]:
    """The sizes of two parts as columns of a row.

    >>> _flat([PartSize(4, 1, 1, 1, 1, True), PartSize(2, 3, 2, 2, 1, False)])["second_joined"]
    2
    """
    both = zip(("first", "second"), parts, strict=True)
    return {f"{which}_{name}": value for which, part in both for name, value in asdict(part).items()}
