"""One graph on the CPU and the GPU together, against each of them alone, in the same run.

``ms`` is the time of the supersteps (an iteration's for PageRank), exchange included, without splitting the graph,
copying it to the device and preparing the run; ``cpu_ms`` and ``cuda_ms`` are what each processor worked in that time.
The peers are the GPU alone and the CPU alone, with their own fused kernels and native ones: ``ratio`` is ours over the
better of them, ``over_cpu`` how many times faster than the CPU alone it is. ``stream_ms`` is the GPU alone when as
much of the arcs lies on it as the hybrid leaves it, and the rest in the host's memory. ``predicted_ms`` is the time by
the model, from the rates of this machine, which a row of its own tells; ``predicted_over_cpu`` is the speed-up that
this is over the CPU alone as measured. ``totem_ms`` are figures of TOTEM.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
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
from dromos.places.hybrid import split_graph
from dromos.places.hybrid.model import predicted_run
from dromos.places.hybrid.rates import Rates, measured
from dromos.plan.cost import SplitCost

__all__ = ["KEY", "run"]

KEY = ("graph", "row", "split", "share")
GRAPHS = ("kron24", "kron21")
_QUICK_GRAPHS = ("kron14",)
_ITERATIONS, _ROUNDS = 5, 3
_ONLY = {"max_iter": _ITERATIONS, "tol": 0, "on_limit": "return"}
_LARGE = 1 << 28  # arcs, from which on one cut is measured: splitting takes longer than running
_SHARES, _FEW_SHARES, _SPLITS = (0.05, 0.1, 0.25, 0.5, 0.75), (0.25,), ("high", "low", "random")
WORKS: dict[str, tuple[bool, str, Callable[..., Any]]] = {
    "bfs": (False, "level", lambda graph, source, **how: dr.bfs(graph, source, **how)),
    "pagerank, an iteration": (False, "rank", lambda graph, source, **how: dr.pagerank(graph, **_ONLY, **how)),
    "components": (False, "label", lambda graph, source, **how: dr.connected_components(graph, **how)),
    "sssp": (True, "distance", lambda graph, source, **how: dr.sssp(graph, source, **how)),
}  # fmt: skip
"""Whether it takes weights, the field that is compared, and the call."""
_MODELS: dict[str, SplitCost | None] = {
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
"""For kron24 with a quarter of the edges on the CPU, which takes the hubs; TOTEM's own code, measured once on such a
machine, without splitting."""


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph, algorithm, split and share; before them the rates of the processors."""
    rates = _rates()
    for device, found in zip(("cpu", "cuda"), rates, strict=True):
        yield {"graph": "", "row": f"rates of {device}", "split": "", "share": 0.0, **asdict(found)}
    for name in graphs or (_QUICK_GRAPHS if quick else GRAPHS):
        csr = make(name)
        source = csr.sources(1)[0]
        hosts = {weighted: csr.host(weighted) for weighted in (False, True)}
        del csr
        forget()
        say(f"{name}: {hosts[False].num_vertices:,} vertices, {hosts[False].num_arcs:,} arcs")
        chosen = {row: work for row, work in WORKS.items() if not rows or any(row.startswith(part) for part in rows)}
        large = hosts[False].num_arcs >= _LARGE
        peers = {row: _alone(hosts[work[0]], source, row, work, large) for row, work in chosen.items()}
        for split in _SPLITS[:1] if large else _SPLITS:
            for share in _FEW_SHARES if large else _SHARES:
                for row, (weighted, field, call) in chosen.items():
                    graph = hosts[weighted]
                    ours = _measured(call, graph, source, row, device="cpu+cuda", share=share, split=split)
                    known = {"graph": name, "row": row, "split": split, "share": share}
                    figures = FIGURES[row] if (name, split, share) == ("kron24", "high", 0.25) else {}
                    found = _row(row, field, ours, peers)
                    yield {
                        **known,
                        **found,
                        **_model(graph, share, split, row, rates, found["cpu_alone_ms"]),
                        **figures,
                    }


def _alone(
    graph: dr.Graph, source: int, row: str, work: tuple[bool, str, Callable[..., Any]], streams: bool
) -> dict[str, Any]:
    """Each processor by itself; the device's copies are let go, so that the hybrid has the room."""
    found = {device: _measured(work[2], graph, source, row, device=device) for device in ("cuda", "cpu")}
    forget()
    if streams:
        engine = CudaEngine(CudaOptions(share=1 - _FEW_SHARES[0]))
        found["stream"] = _measured(work[2], graph, source, row, device=engine)
        forget()
    return found


def _measured(call: Callable[..., Any], graph: dr.Graph, source: int, row: str, **how: Any) -> tuple[float, Any]:
    """The least milliseconds of the supersteps over some rounds, after one that compiles and copies."""
    best, result = float("inf"), None
    for number in range(_ROUNDS + 1):
        found = call(graph, source, **how)
        ms = found.trace.seconds * 1e3 / (_ITERATIONS if row.startswith("pagerank") else 1)
        if number and ms < best:
            best, result = ms, found
    say(f"  {row}, {how}: {best:.3f} ms")
    return best, result


def _row(row: str, field: str, ours: tuple[float, Any], peers: dict[str, Any]) -> dict[str, Any]:
    ms, result = ours
    per = _ITERATIONS if row.startswith("pagerank") else 1
    busy: Counter[str] = Counter()
    for step in result.trace:
        for part, taken in re.findall(r"(\S+) ([\d.e+-]+)", step.parts):
            busy[part] += float(taken) / per
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
    from dromos.engines.cpu.part import CpuLeaf
    from dromos.engines.cuda.part import CudaLeaf

    return [measured(CpuLeaf()), measured(CudaLeaf())]


def _model(
    graph: dr.Graph, share: float, split: str, row: str, rates: list[Rates], cpu_alone: float
) -> dict[str, float]:
    """What the model says of a run, or of an iteration."""
    made = split_graph(graph, (share, 1 - share), split)  # type: ignore[arg-type]
    arcs = [part * graph.num_arcs for part in made.shares]
    vertices = np.diff(made.bounds).tolist()
    work = _MODELS[row]
    assert work is not None
    ms = predicted_run(work, arcs, vertices, rates) * 1e3
    sizes = {
        "first_arcs": arcs[0],
        "first_vertices": vertices[0],
        "arcs": graph.num_arcs,
        "vertices": graph.num_vertices,
    }
    return {"predicted_ms": ms, "predicted_over_cpu": cpu_alone / ms, **sizes}
