"""What each processor does in a second: measured once on a machine, and kept beside the compiled code."""

from __future__ import annotations

import json
import logging
import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from dromos import disk_cache
from dromos.engines import graph_types
from dromos.engines.parts import Leaf
from dromos.graph import Graph, generators
from dromos.graph.parting import Split
from dromos.notices import tell
from dromos.places.driver import EXCHANGE
from dromos.places.hybrid.execution import HybridExecution
from dromos.places.hybrid.split import split_graph
from dromos.plan import Path
from dromos.program import SUM, Program, field

__all__ = ["Rates", "SumsOfNeighbours", "measured", "rates_from"]

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
_log = logging.getLogger("dromos.rates")
_measured: dict[str, Rates] = {}


@dataclass(frozen=True)
class Rates:
    """What a processor does in a second: arcs, vertices, and bytes to or from the host."""

    arcs: float
    vertices: float
    bytes: float
    long_arcs: float = 0.0
    """Arcs of long rows, those of hubs; 0: as others."""
    step: float = 0.0
    """Seconds that a superstep takes which has nothing to do."""

    def seconds(self, arcs: float, vertices: float, *, long: bool = False) -> float:
        """What a part takes for a superstep in which all vertices are active.

        >>> Rates(1e9, 1e9, 1e10).seconds(1e9, 5e8), Rates(1e9, 1e9, 1e10, long_arcs=4e9).seconds(1e9, 0, long=True)
        (1.5, 0.25)
        """
        return arcs / (self.long_arcs if long and self.long_arcs else self.arcs) + vertices / self.vertices


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


def rates_from(seconds: Callable[[Graph], float], link: float, scale: int) -> Rates:
    """Rates by the time of a superstep on two graphs, one with many arcs for its vertices and one with few.

    They have ``1 << scale`` vertices, and four times as many. What a superstep takes that has next to nothing to do is
    taken off.

    >>> rates = rates_from(lambda graph: 1e-3 + graph.num_arcs / 1e9 + graph.num_vertices / 1e8, 1e10, 16)
    >>> round(rates.arcs / 1e9, 1), round(rates.vertices / 1e8, 1)
    (1.0, 1.0)
    """
    graphs = generators.rmat(scale, 32, seed=1, symmetrize=True), generators.path(1 << scale + 2)
    sizes = [(float(graph.num_arcs), float(graph.num_vertices)) for graph in graphs]
    idle, taken = seconds(generators.path(64)), [seconds(graph) for graph in graphs]
    return Rates(*_solved(sizes, [max(found - idle, found / 4) for found in taken]), link)


def _solved(sizes: list[tuple[float, float]], times: list[float]) -> tuple[float, float]:
    """Arcs and vertices in a second, of two measurements."""
    rows, seconds = np.array(sizes), np.array(times)
    arc, vertex = np.linalg.solve(rows, seconds)
    least = seconds.min() / rows.sum() / 10  # a measurement that the equations do not fit still gives rates above zero
    return float(1 / max(arc, least)), float(1 / max(vertex, least))


def measured(leaf: Leaf) -> Rates:
    """The rates of a leaf on this machine: from this process, from the disk, or measured, which takes some seconds."""
    where = f"{platform.node()}-{platform.machine()}-{os.cpu_count()}"
    name = f"rates/large-graphs-{leaf.name.replace(':', '-')}-{getattr(leaf, 'threads', 0)}-{where}.json"
    if name not in _measured:
        kept = disk_cache.read(name)
        if kept is None:
            tell(f"measuring how fast {leaf.name!r} is, for some seconds, once: it is kept for the next time", _log)
            _measured[name] = _measure(leaf)
            disk_cache.save(name, json.dumps(asdict(_measured[name])).encode())
        else:
            _measured[name] = Rates(**json.loads(kept))
    return _measured[name]


def _measure(leaf: Leaf) -> Rates:
    """By two parts of the same kind: one that has hubs alone, and one that has all others."""
    runs = [
        _TwoParts(leaf, generators.rmat(_PART_SCALE, 16, seed=1, symmetrize=True), 0.25, "high"),
        _TwoParts(leaf, generators.path(1 << _THIN_SCALE), 0.5, "random"),
        _TwoParts(leaf, generators.path(64), 0.5, "random"),
    ]
    for _ in range(_TURNS):
        for run in runs:
            run.repeat(_SECONDS)
    (hubs, others, _), (thin, _, _), (nothing, _, idle) = (run.sizes_and_seconds() for run in runs)
    least = nothing[2]  # of a part that has nothing to do
    taken = [max(seconds - least, seconds / 4) for _, _, seconds in (hubs, others, thin)]
    arcs, vertices = _solved([others[:2], thin[:2]], taken[1:])
    long_arcs = hubs[0] / max(taken[0] - hubs[1] / vertices, taken[0] / 4)
    return Rates(arcs, vertices, _link_rate(leaf), long_arcs, idle[2])


class _TwoParts:
    """A graph on two parts of one kind, and the least seconds of each, and of a whole superstep."""

    def __init__(self, leaf: Leaf, graph: Graph, share: float, split: Split) -> None:
        made = split_graph(graph, (share, 1 - share), split)
        types, program = graph_types(graph), SumsOfNeighbours()
        ranges = list(zip(made.bounds, made.bounds[1:], strict=False))
        parts = [leaf.part(program, made.graph, types, first, last) for first, last in ranges]
        self._run = HybridExecution(program, made, types, parts, ["first", "second"])
        offsets = made.graph.offsets
        sizes = [(float(offsets[last] - offsets[first]), float(last - first)) for first, last in ranges]
        self._sizes = [*sizes, (float(graph.num_arcs), float(graph.num_vertices))]
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

    def sizes_and_seconds(self) -> list[tuple[float, float, float]]:
        """Arcs, vertices and seconds of both parts, and of the whole."""
        return [(*size, seconds) for size, seconds in zip(self._sizes, self._best, strict=True)]


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
