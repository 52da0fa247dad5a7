"""Supersteps on two parts of one kind, repeated: where the rates of a processor come from."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from dromos.engines import graph_types
from dromos.engines.parts import Leaf
from dromos.graph import Graph, generators
from dromos.graph.parting import Split
from dromos.places.driver import EXCHANGE
from dromos.places.hybrid.execution import HybridExecution
from dromos.places.hybrid.part_sizes import part_sizes
from dromos.places.hybrid.rates import Timings
from dromos.places.hybrid.split import split_graph
from dromos.plan import Path
from dromos.program import SUM, Program, field

__all__ = ["SumsOfNeighbours", "timings_of"]

_PART_SCALE: Final = 21
_THIN_SCALE: Final = 22
"""Graphs on which 16 cores and a GPU take several times as long as for a superstep that has nothing to do, which is
taken off: with a quarter of the size the rate of arcs varied by a fifth between measurements, now by 2 %."""
_COPIES: Final = 3
_SECONDS: Final = 0.06
_TURNS: Final = 15
"""Each superstep is repeated for so long, so many times in turn. For tenths of a second at a time all take up to twice
as long, by where the system has put the threads: the least of three in a row varies, that of many turns hardly."""
_PATH: Final = Path.parse("sync-pull-td")


class SumsOfNeighbours(Program):
    """Every vertex adds up a number from each neighbour: what a superstep costs where all vertices are active."""

    total = field(np.float64, init=1.0)
    combine = SUM
    update_on = "all"

    def compute(self, u, edge, v):  # type: ignore[no-untyped-def]
        return u.total / (u.out_degree + 1)

    def update(self, v, message):  # type: ignore[no-untyped-def]
        return 0.5 + 0.5 * message

    def active(self, old, new):  # type: ignore[no-untyped-def]
        return True


def timings_of(leaf: Leaf) -> Timings:
    """By two parts of the same kind: one that has hubs alone, and one that has all others."""
    runs = [
        _TwoParts(leaf, generators.rmat(_PART_SCALE, 16, seed=1, symmetrize=True), 0.25, "high"),
        _TwoParts(leaf, generators.path(1 << _THIN_SCALE), 0.5, "random"),
        _TwoParts(leaf, generators.path(64), 0.5, "random"),
    ]
    for _ in range(_TURNS):
        for run in runs:
            run.repeat(_SECONDS)
    ((hubs, others), _), ((thin, _), _), (((_, nothing), _), idle) = (run.found() for run in runs)
    parts = (hubs, others, thin)
    sizes, seconds = tuple(size for size, _ in parts), tuple(seconds for _, seconds in parts)
    return Timings(sizes, seconds, nothing, idle, _link_rate(leaf))


class _TwoParts:
    """A graph on two parts of one kind; the least seconds of each, and of a whole superstep."""

    def __init__(self, leaf: Leaf, graph: Graph, share: float, split: Split) -> None:
        made = split_graph(graph, (share, 1 - share), split)
        types, program = graph_types(graph), SumsOfNeighbours()
        ranges = list(zip(made.bounds, made.bounds[1:], strict=False))
        parts = [leaf.part(program, made.graph, types, first, last) for first, last in ranges]
        self._run = HybridExecution(program, made, types, parts, ["first", "second"])
        sizes = part_sizes(np.diff(made.graph.offsets), made.bounds)
        self._sizes = [(part.arcs, part.joined) for part in sizes]
        for _ in range(2):  # the first one compiles, and copies the graph
            self._run.step(_PATH)
        self._best = [float("inf")] * 3

    def repeat(self, seconds: float) -> None:
        """Run supersteps for so long."""
        begin = time.perf_counter()
        end = begin + seconds
        while begin < end:
            busy = [taken for name, taken in self._run.step(_PATH).parts if name != EXCHANGE]
            now = time.perf_counter()
            self._best = list(map(min, self._best, [*busy, now - begin]))
            begin = now

    def found(self) -> tuple[list[tuple[tuple[float, float], float]], float]:
        """Arcs, vertices that have any, and seconds of both parts; then the seconds of a whole superstep."""
        return list(zip(self._sizes, self._best[:2], strict=True)), self._best[2]


def _link_rate(leaf: Leaf) -> float:
    """Bytes in a second from a part to the host's memory, in the way that parts copy."""
    if not leaf.name.startswith("cuda"):
        return float("inf")  # it is there
    size = 1 << 25
    import cupy

    from dromos.engines.cuda.transfers import fetch_later, pinned_empty

    on_device, out = cupy.zeros(size, cupy.uint8), pinned_empty(size, np.dtype(np.uint8))
    stream = cupy.cuda.get_current_stream()

    def copy() -> None:
        fetch_later(on_device, out, stream)
        stream.synchronize()

    return size / min(_timed(copy) for _ in range(_COPIES))


def _timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin
