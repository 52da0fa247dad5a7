"""Kernels for whole graphs on the GPU beside those of the CPU, as a caller sees them.

A row is a graph and an algorithm. ``ms`` is the time of a whole call with ``device="cuda"`` up to arrays on the host,
the graph already on the device: the median of some. ``first_ms`` is that of the first call on the graph, which copies
it, and loads or compiles kernels that no earlier row has used. The peer is ``device="cpu"`` on all cores: the median as
well, or the first call where that takes seconds. ``ratio`` is our time over the peer's. ``differs``: whether the
answers do.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.gpu.graphs import make
from benchmarks.record import say

__all__ = ["KEY", "run"]

KEY = ("graph", "row")
_ROUNDS = 5
_LONG = 3000.0
"""Milliseconds of a call that stands for itself."""


class _Row(NamedTuple):
    call: Callable[..., dr.Result]
    field: str
    graphs: tuple[str, ...]


ROWS = {
    "truss_numbers": _Row(dr.truss_numbers, "truss", ("kron16", "kron18", "kron20", "grid2000", "grid1x1000000")),
    "coloring": _Row(dr.coloring, "color", ("kron18", "kron20", "kron22", "grid2000", "grid1x1000000")),
    "coloring in random order": _Row(
        partial(dr.coloring, order="random"), "color", ("kron18", "kron20", "kron22", "grid2000", "grid1x1000000")
    ),
}
_QUICK_GRAPHS = ("kron10", "grid30")


def run(
    quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = (), device: str = "cuda"
) -> Iterator[dict[str, Any]]:
    """A row for each graph and algorithm."""
    wanted = {label: row for label, row in ROWS.items() if chosen(label, rows)}
    every = dict.fromkeys(name for row in wanted.values() for name in row.graphs)
    for name in graphs or (_QUICK_GRAPHS if quick else every):
        graph = make(name).host()
        say(f"{name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges")
        for label, row in wanted.items():
            if graphs or quick or name in row.graphs:
                yield {"graph": name, "row": label, **_measured(row, graph, device)}


def _measured(row: _Row, graph: dr.Graph, device: str) -> dict[str, Any]:
    first_ms, found = _timed(row, graph, device)
    ms = statistics.median(_timed(row, graph, device)[0] for _ in range(_ROUNDS))
    peer_ms, peer = _timed(row, graph, "cpu")
    if peer_ms < _LONG:
        peer_ms = statistics.median(_timed(row, graph, "cpu")[0] for _ in range(_ROUNDS))
    return {
        "ms": ms, "peer": "cpu", "peer_ms": peer_ms, "ratio": ms / peer_ms, "first_ms": first_ms,
        "differs": not np.array_equal(found[row.field], peer[row.field]),
    }  # fmt: skip


def _timed(row: _Row, graph: dr.Graph, device: str) -> tuple[float, dr.Result]:
    """Milliseconds by the host's clock, and the answer."""
    begin = time.perf_counter()
    found = row.call(graph, device=device)
    return 1e3 * (time.perf_counter() - begin), found
