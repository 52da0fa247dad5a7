"""How long a superstep takes on a split graph: TOTEM's performance model, with rates that are measured once.

A processor takes ``arcs / arc_rate + vertices / vertex_rate``. All work at the same time, so the slowest counts. Then
what crosses the cut is exchanged: merged at the source, so at most one message for each vertex and processor. TOTEM's
equation 4 is the case of one rate and a GPU that is never the slowest.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from dromos import disk_cache
from dromos.dtypes import Array
from dromos.engines import graph_types
from dromos.engines.parts import Leaf
from dromos.errors import DeviceError
from dromos.graph import Graph, generators
from dromos.identity_cache import IdentityCache
from dromos.places.driver import PlacedExecution
from dromos.places.exchange import CopyExchange
from dromos.places.feed import MemoryFeed
from dromos.places.hybrid.split import SPLITS, Split, order_of
from dromos.plan import Path
from dromos.program import SUM, Program, field

__all__ = ["Rates", "SumsOfNeighbours", "choose", "measured", "predicted", "rates_from"]

_SHARES: Final = (0.01, 0.02, 0.05, *(0.05 * i for i in range(2, 20)))
_MESSAGE_BYTES: Final = 12  # a value of 8 bytes, and an id
_SCALE: Final = 16
_REPEATS: Final = 3
_kept = IdentityCache()
_measured: dict[str, Rates] = {}


@dataclass(frozen=True)
class Rates:
    """What a processor does in a second: arcs, vertices, and bytes to or from the host."""

    arcs: float
    vertices: float
    bytes: float


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


def predicted(
    arcs: Sequence[float], vertices: Sequence[float], rates: Sequence[Rates], crossing: float = _MESSAGE_BYTES
) -> float:
    """Seconds of a superstep in which all vertices are active; ``crossing``: the bytes of a message to another part.

    >>> slow, fast = Rates(1e9, 1e9, 1e10), Rates(9e9, 9e9, 1e10)
    >>> round(predicted([1e8, 9e8], [0, 0], [slow, fast]), 3), round(predicted([5e8, 5e8], [0, 0], [slow, fast]), 3)
    (0.1, 0.5)
    """
    work = max(a / r.arcs + v / r.vertices for a, v, r in zip(arcs, vertices, rates, strict=True))
    link = min(r.bytes for r in rates)
    return work + sum(vertices) * crossing / link


def choose(
    graph: Graph, leaves: Sequence[Leaf], share: float | None = None, split: Split | None = None
) -> tuple[float, Split]:
    """The first leaf's share of the arcs, and its vertices; what is given stays.

    Leaves of one kind share alike. Others are measured, and the least predicted time wins among shares with which every
    part fits its memory.

    >>> import dromos as dr
    >>> from dromos.engines.vectorised import VectorisedLeaf
    >>> choose(dr.generators.path(4), [VectorisedLeaf(), VectorisedLeaf()])
    (0.5, 'random')
    """
    if share is not None and split is not None:
        return share, split
    if len({leaf.name.partition(":")[0] for leaf in leaves}) == 1:
        return 1 / len(leaves) if share is None else share, split or "random"
    known, key = _kept.of(graph), (tuple(leaf.name for leaf in leaves), share, split)
    if key not in known:
        known[key] = _best(graph, leaves, share, split)
    found: tuple[float, Split] = known[key]
    return found


def _best(graph: Graph, leaves: Sequence[Leaf], share: float | None, split: Split | None) -> tuple[float, Split]:
    rates, degree = [measured(leaf) for leaf in leaves], graph.out_degree
    best: tuple[float, float, Split] | None = None
    for kind in SPLITS if split is None else (split,):
        before = np.cumsum(degree[order_of(degree, kind)])
        for part in _SHARES if share is None else (share,):
            arcs, vertices = _sizes(before, part, len(leaves))
            fits = all(_fits(leaf, graph, a, v) for leaf, a, v in zip(leaves, arcs, vertices, strict=True))
            seconds = predicted(arcs, vertices, rates)
            if fits and (best is None or seconds < best[0]):
                best = (seconds, part, kind)
    if best is None:
        names = "+".join(leaf.name for leaf in leaves)
        raise DeviceError(
            f"device={names!r}: no share of a graph of {graph.num_arcs:,} arcs fits the devices' memory; "
            "use device='cpu', or leave the graph on disk (dromos.open)"
        )
    return best[1], best[2]


def _sizes(before: Array, share: float, parts: int) -> tuple[list[float], list[float]]:
    """Arcs and vertices of each part; those after the first are alike."""
    n, arcs = len(before), float(before[-1]) if len(before) else 0.0
    first = int(np.searchsorted(before, share * arcs)) if n else 0
    rest = parts - 1
    return (
        [share * arcs, *((1 - share) * arcs / rest,) * rest],
        [float(first), *((n - first) / rest,) * rest],
    )


def _fits(leaf: Leaf, graph: Graph, arcs: float, vertices: float) -> bool:
    if not leaf.name.startswith("cuda"):
        return True
    from dromos.engines.cuda.availability import fits_part

    both_ways = 1 if graph.known_flags.symmetric else 2
    size = graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize)
    return fits_part(int(both_ways * arcs * size), graph.num_vertices)


# ---- rates ---------------------------------------------------------------------------------------------------------


def measured(leaf: Leaf) -> Rates:
    """The rates of a leaf on this machine: from this process, from the disk, or measured, which takes some seconds."""
    where = f"{platform.node()}-{platform.machine()}-{os.cpu_count()}"
    name = f"rates/{leaf.name.replace(':', '-')}-{getattr(leaf, 'threads', 0)}-{where}.json"
    if name not in _measured:
        kept = disk_cache.read(name)
        if kept is None:
            _measured[name] = _measure(leaf)
            disk_cache.save(name, json.dumps(asdict(_measured[name])).encode())
        else:
            _measured[name] = Rates(**json.loads(kept))
    return _measured[name]


def _measure(leaf: Leaf) -> Rates:
    return rates_from(lambda graph: _seconds(leaf, graph), _link_rate(leaf))


def rates_from(seconds: Callable[[Graph], float], link: float) -> Rates:
    """Rates by the time of a superstep on two graphs, one with many arcs for its vertices and one with few.

    >>> rates = rates_from(lambda graph: graph.num_arcs / 1e9 + graph.num_vertices / 1e8, 1e10)
    >>> round(rates.arcs / 1e9, 3), round(rates.vertices / 1e8, 3)
    (1.0, 1.0)
    """
    dense = generators.rmat(_SCALE, 32, seed=1, symmetrize=True)
    thin = generators.path(1 << _SCALE + 2)
    rows = np.array([[graph.num_arcs, graph.num_vertices] for graph in (dense, thin)], dtype=float)
    times = np.array([seconds(graph) for graph in (dense, thin)])
    arc, vertex = np.linalg.solve(rows, times)
    least = times.min() / rows.sum() / 10  # a measurement that the equations do not fit still gives rates above zero
    return Rates(float(1 / max(arc, least)), float(1 / max(vertex, least)), link)


def _seconds(leaf: Leaf, graph: Graph) -> float:
    types, n = graph_types(graph), graph.num_vertices
    program = SumsOfNeighbours()
    part = leaf.part(program, graph, types, 0, n)
    run = PlacedExecution(program, graph, types, [part], [MemoryFeed(graph, 0, n, 1)], CopyExchange())
    path, times = Path.parse("sync-pull-td"), []
    for _ in range(_REPEATS + 1):  # the first one compiles, and copies the graph
        begin = time.perf_counter()
        run.step(path)
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def _link_rate(leaf: Leaf) -> float:
    """Bytes in a second from a part to the host's memory."""
    size = 1 << 25
    if not leaf.name.startswith("cuda"):
        values = np.zeros(size, np.uint8)
        times = [_timed(values.copy) for _ in range(_REPEATS)]
    else:
        import cupy

        from dromos.engines.cuda.transfers import to_host

        on_device = cupy.zeros(size, cupy.uint8)
        times = [_timed(lambda: to_host(on_device)) for _ in range(_REPEATS)]
    return size / min(times)


def _timed(call: object) -> float:
    begin = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - begin
