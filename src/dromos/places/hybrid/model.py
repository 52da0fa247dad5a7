"""How long a run takes on a split graph: TOTEM's performance model, with rates that are measured once.

In a superstep in which all vertices are active a processor waits for what the others tell of their vertices, and then
takes ``arcs / arc_rate + vertices / vertex_rate``. All work at the same time, so the slowest counts. TOTEM's equation 4
is the case of one rate and a GPU that is never the slowest. By that a share is chosen. A run is compared with other
places by how often an algorithm goes along its arcs and looks at its vertices, which was fitted to measured runs
(``benchmarks/gpu/split_costs.py``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.tiles import LEAST_SEGMENT, SPAN
from dromos.engines.parts import Leaf
from dromos.errors import DeviceError
from dromos.graph import Graph
from dromos.graph.parting import SPLITS, Split, order_of
from dromos.identity_cache import IdentityCache
from dromos.places.hybrid.part_sizes import PartSize
from dromos.places.hybrid.rates import Rates, measured
from dromos.plan.cost import MESSAGE_BYTES, SplitCost

__all__ = ["Choice", "best_choice", "choose", "predicted", "predicted_run", "sizes_of"]

_SHARES: Final = (0.01, 0.02, 0.05, *(0.05 * i for i in range(2, 20)))
_UNTIMED: Final = {"reference"}  # it would take hours to measure
_kept = IdentityCache()


@dataclass(frozen=True)
class Choice:
    """A share and a split, and the seconds of a superstep in which all vertices are active."""

    share: float
    split: Split
    seconds: float


def predicted(
    arcs: Sequence[float], vertices: Sequence[float], rates: Sequence[Rates], crossing: float = MESSAGE_BYTES
) -> float:
    """Seconds of a superstep in which all vertices are active; ``crossing``: the bytes that tell of a vertex.

    >>> slow, fast = Rates(1e9, 1e9, 1e10), Rates(9e9, 9e9, 1e10)
    >>> round(predicted([1e8, 9e8], [0, 0], [slow, fast]), 3), round(predicted([5e8, 5e8], [0, 0], [slow, fast]), 3)
    (0.1, 0.5)
    """
    long = [a > _least(sum(vertices)) * v for a, v in zip(arcs, vertices, strict=True)]
    return _slowest(arcs, vertices, rates, crossing, long)


def predicted_run(work: SplitCost, parts: Sequence[PartSize], rates: Sequence[Rates]) -> float:
    """Seconds of a whole run: ``work`` on parts of these sizes, on processors of these rates.

    A processor takes ``arcs * load / arc_rate + vertices * looked_at / vertex_rate + crossing * elsewhere / link``, of
    which a GPU takes the first two ``on_device`` times. The slowest counts, or all of them if they work in turn. On top
    come ``steps`` supersteps that have nothing to do, and ``shared`` more unless the GPU can end alone.

    >>> def part(arcs: float, vertices: float = 0) -> PartSize:
    ...     return PartSize(arcs, vertices, joined=vertices, across=vertices, within=vertices, hubs=False)
    >>> rates = [Rates(1e9, 1e9, math.inf, step=1e-3), Rates(9e9, 9e9, 1e10)]
    >>> quarter, half = [part(1e8), part(9e8)], [part(5e8), part(5e8)]
    >>> round(predicted_run(SplitCost(2, 0, 10), quarter, rates), 3)
    0.21
    >>> round(predicted_run(SplitCost(2, 0, 10, in_turn=True), quarter, rates), 3)
    0.41
    >>> round(predicted_run(SplitCost(2, 0, 10, inner=1), half, rates), 3)
    0.51
    >>> round(predicted_run(SplitCost(2, 0, 10, shared=5), quarter, rates), 3)
    0.215
    >>> round(predicted_run(SplitCost(0, 1, 0, growth=0.5), [part(0, 1e6), part(0, 3e6)], rates), 4)
    0.002
    """
    on_host = [math.isinf(r.bytes) for r in rates]
    loads, total = [part.arcs for part in parts], max(sum(part.joined for part in parts), 1.0)
    ends_alone = False
    if len(rates) == 2 and sum(on_host) == 1:
        host, device = (0, 1) if on_host[0] else (1, 0)
        ends_alone = parts[host].hubs
        if work.inner:
            across = loads[host] * (1 - math.pow(loads[host] / max(sum(loads), 1.0), work.inner))
            loads[host], loads[device] = loads[host] - across, loads[device] + across
    both = list(zip(parts, on_host, strict=True))
    looked_at = [_looked_at(work, part, total) if is_host else part.joined for part, is_host in both]
    link = min(r.bytes for r in rates)
    long = [work.whole_rows and is_host and p.arcs > _least(total) * p.joined for p, is_host in both]
    seconds = [
        (1.0 if is_host else work.on_device) * r.seconds(load * work.arcs, count * work.vertices, long=is_long)
        + (total - part.joined) * work.crossing / link
        for r, load, count, is_long, (part, is_host) in zip(rates, loads, looked_at, long, both, strict=True)
    ]
    idle = work.steps + (0.0 if ends_alone else work.shared)
    # the host's time in both: of a GPU's the measurement varies more
    step = min((r.step for r in rates if r.step), default=0.0)
    return (sum(seconds) if work.in_turn else max(seconds)) + idle * step


def _looked_at(work: SplitCost, part: PartSize, total: float) -> float:
    """The vertices that a CPU looks at, of ``total`` that have arcs."""
    count = part.across + part.within if work.search else part.joined
    return total * math.pow(count / total, work.growth)


def _least(vertices: float) -> float:
    """Rows of so many arcs, on average, are cut into tiles, in a graph of ``vertices``."""
    return LEAST_SEGMENT * vertices / SPAN


def _slowest(
    arcs: Sequence[float], vertices: Sequence[float], rates: Sequence[Rates], crossing: float, long: Sequence[bool]
) -> float:
    link, total = min(r.bytes for r in rates), sum(vertices)
    return max(
        r.seconds(a, v, long=is_long) + (total - v) * crossing / link
        for a, v, r, is_long in zip(arcs, vertices, rates, long, strict=True)
    )


def choose(
    graph: Graph, leaves: Sequence[Leaf], share: float | None = None, split: Split | None = None
) -> tuple[float, Split]:
    """The first leaf's share of the arcs, and its vertices; what is given stays.

    Leaves of one kind share alike, and so do others with the reference engine among them. Others are measured, and the
    least predicted time wins among shares with which every part fits its memory.

    >>> import dromos as dr
    >>> from dromos.engines.vectorised import VectorisedLeaf
    >>> choose(dr.generators.path(4), [VectorisedLeaf(), VectorisedLeaf()])
    (0.5, 'random')
    """
    if share is not None and split is not None:
        return share, split
    kinds = {leaf.name.partition(":")[0] for leaf in leaves}
    if len(kinds) == 1 or kinds & _UNTIMED:
        return 1 / len(leaves) if share is None else share, split or "random"
    known, key = _kept.of(graph), (tuple(leaf.name for leaf in leaves), share, split)
    if key not in known:
        known[key] = best_choice(graph, leaves, share, split)
    found: Choice = known[key]
    return found.share, found.split


def best_choice(
    graph: Graph,
    leaves: Sequence[Leaf],
    share: float | None = None,
    split: Split | None = None,
    *,
    memory: int | None = None,
) -> Choice:
    """The least predicted time; ``memory``: the bytes of rows that a GPU may hold, instead of what it has free."""
    rates, degree = [measured(leaf) for leaf in leaves], graph.out_degree
    degree = degree[degree > 0]  # vertices without arcs count nowhere
    best: Choice | None = None
    for kind in SPLITS if split is None else (split,):
        before = np.cumsum(degree[order_of(degree, kind)])
        for part in _SHARES if share is None else (share,):
            arcs, vertices = sizes_of(before, part, len(leaves))
            fits = all(_fits(leaf, graph, a, memory) for leaf, a in zip(leaves, arcs, strict=True))
            seconds = predicted(arcs, vertices, rates) + _over_link(leaves, graph, arcs, rates)
            if fits and (best is None or seconds < best.seconds):
                best = Choice(part, kind, seconds)
    if best is None:
        names = "+".join(leaf.name for leaf in leaves)
        raise DeviceError(
            f"device={names!r}: no share of a graph of {graph.num_arcs:,} arcs fits the devices' memory; "
            "use device='cpu', or leave the graph on disk (dromos.open)"
        )
    return best


def sizes_of(before: Array, share: float, parts: int) -> tuple[list[float], list[float]]:
    """Arcs and vertices of each part; those after the first are alike.

    ``before``: the arcs of all vertices up to each, the first part's vertices first.
    """
    n, arcs = len(before), float(before[-1]) if len(before) else 0.0
    first = int(np.searchsorted(before, share * arcs)) if n else 0
    rest = parts - 1
    return (
        [share * arcs, *((1 - share) * arcs / rest,) * rest],
        [float(first), *((n - first) / rest,) * rest],
    )


def _fits(leaf: Leaf, graph: Graph, arcs: float, memory: int | None) -> bool:
    if not leaf.name.startswith("cuda") or getattr(leaf, "memory", None) is not None:
        return True
    if memory is not None:
        return _row_bytes(graph, arcs) <= memory
    from dromos.engines.cuda.availability import fits_part

    return fits_part(int(_row_bytes(graph, arcs)), graph.num_vertices)


def _row_bytes(graph: Graph, arcs: float) -> float:
    both_ways = 1 if graph.known_flags.symmetric else 2
    return both_ways * arcs * (graph.targets.itemsize + (0 if graph.weights is None else graph.weights.itemsize))


def _over_link(leaves: Sequence[Leaf], graph: Graph, arcs: Sequence[float], rates: Sequence[Rates]) -> float:
    """Seconds that the slowest GPU reads arcs in the host's memory, for which it was given no room."""
    seconds = [0.0]
    for leaf, count, rate in zip(leaves, arcs, rates, strict=True):
        if getattr(leaf, "memory", None) is not None:
            from dromos.engines.cuda.availability import room_for_arcs

            room = room_for_arcs(leaf.memory, graph.num_vertices)  # type: ignore[attr-defined]
            both_ways = 1 if graph.known_flags.symmetric else 2  # a superstep goes one way
            seconds.append(max(0.0, _row_bytes(graph, count) - float(room or 0)) / both_ways / rate.bytes)
    return max(seconds)
