"""Building CSR from edges against SciPy's coo -> csr, its memory, and R-MAT edges per second.

Both builders get the same arcs: the edges of an R-MAT graph in both directions, as int32 columns. SciPy sums parallel
edges, so that ``dedupe=True`` is the like-for-like row; without it ours keeps them all. SciPy always carries values,
one byte each here; the weighted rows carry four on both sides. Rounds are interleaved; the best of each counts.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dromos.graph.build import build_csr
from dromos.graph.generators import rmat_edges
from dromos.parallel import num_threads

EDGES_A_SECOND_A_CORE = 20e6


def run(scale: int = 20, repeats: int = 5) -> list[dict[str, Any]]:
    """One row per measurement; ``ratio`` is our time (or memory) over the peer's."""
    return [*_building(scale, repeats), *_generating(scale, repeats), _memory(scale)]


def _building(scale: int, repeats: int) -> list[dict[str, Any]]:
    edges, n = rmat_edges(scale), 1 << scale
    src, dst = np.concatenate([edges.src, edges.dst]), np.concatenate([edges.dst, edges.src])
    ones, weights = np.ones(len(src), dtype=np.int8), np.ones(len(src), dtype=np.float32)
    plain, weighted = "SciPy coo -> csr, int8 values", "SciPy coo -> csr, float32 values"
    peers = {
        plain: lambda: sp.coo_matrix((ones, (src, dst)), shape=(n, n)).tocsr(),
        weighted: lambda: sp.coo_matrix((weights, (src, dst)), shape=(n, n)).tocsr(),
    }
    ours = {
        "arcs to CSR, parallel edges merged": (plain, lambda: build_csr(src, dst, None, n, dedupe=True)),
        "arcs to CSR, all kept": (plain, lambda: build_csr(src, dst, None, n)),
        "arcs to CSR, all kept, one thread": (plain, lambda: build_csr(src, dst, None, n, threads=1)),
        "edges to symmetric CSR, all kept": (plain, lambda: build_csr(edges.src, edges.dst, None, n, mirror=True)),
        "weighted arcs to CSR, weights summed": (
            weighted,
            lambda: build_csr(src, dst, weights, n, dedupe=True, merge_weights="sum"),
        ),
    }
    taken = _interleaved({**peers, **{name: action for name, (_, action) in ours.items()}}, repeats)
    return [
        {"name": f"{name}, {len(src):,}", "ours_s": taken[name], "peer": peer, "peer_s": taken[peer],
         "ratio": taken[name] / taken[peer]}
        for name, (peer, _) in ours.items()
    ]  # fmt: skip


def _generating(scale: int, repeats: int) -> list[dict[str, Any]]:
    """Edges per second of processor time: the rate of one core, whatever else the machine is doing."""
    teams = sorted({1, num_threads()})
    actions = {team: lambda team=team: rmat_edges(scale, threads=team) for team in teams}
    taken = _interleaved(actions, repeats, clock=time.process_time)
    count = 16 << scale
    goal = count / EDGES_A_SECOND_A_CORE
    return [
        {"name": f"R-MAT edges, {count:,}, {team} thread{'s' if team > 1 else ''}: "
                 f"{count / taken[team] / 1e6:.1f} M edges/s a core",
         "ours_s": taken[team], "peer": "20 M edges/s a core", "peer_s": goal, "ratio": taken[team] / goal}
        for team in teams
    ]  # fmt: skip


def _memory(scale: int) -> dict[str, Any]:
    with multiprocessing.get_context("spawn").Pool(1) as fresh:
        peak, given = fresh.apply(_peak_bytes, (scale,))
    return {"name": f"peak memory of edges to symmetric CSR: {peak / given:.2f} x the edges given, result included",
            "peer": "3 x the edges given", "ratio": peak / (3 * given)}  # fmt: skip


def _peak_bytes(scale: int) -> tuple[int, int]:
    """The peak memory that building adds to this process, including the given columns, and their size."""
    few = np.arange(1000, dtype=np.int32)
    build_csr(few, few, None, 1 << scale, mirror=True)  # compile, and start the threads
    edges = rmat_edges(scale)
    given = edges.src.nbytes + edges.dst.nbytes
    before = _peak() - given
    build_csr(edges.src, edges.dst, None, 1 << scale, mirror=True)
    return _peak() - before, given


def _peak() -> int:
    """The peak resident memory of this process; ``ru_maxrss`` would count its parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _interleaved(
    actions: dict[Any, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[Any, float]:
    """The best of ``repeats`` rounds of each, after one to compile and warm up."""
    best = dict.fromkeys(actions, float("inf"))
    for attempt in range(repeats + 1):
        for name, action in actions.items():
            start = clock()
            action()
            if attempt:
                best[name] = min(best[name], clock() - start)
    return best
