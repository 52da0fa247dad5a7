"""Betweenness from many sources on the device: one block per source, against one source after the other.

A row is a graph and a number of sources, random vertices with edges. ``ms`` is the device time per source of all of
them at once, on as many ``blocks`` as the device has room for, whether or not the engine would use them: ``chosen`` is
the decision of its own rule. The peer is the engine's other way, every source with the whole device; ``peer_ms`` is its
time per source, over twelve sources. ``ratio`` is our time over the peer's: below 1 blocks are faster. Graphs are
resident before, sums are resident after; each is called once before it is timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.cases import chosen
from benchmarks.gpu import checks
from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.resident import Resident, resident
from benchmarks.record import say
from dromos.engines.cuda.native import betweenness, brandes

__all__ = ["KEY", "run"]

KEY = ("graph", "row")
GRAPHS = ("kron10", "kron12", "kron14", "kron16", "kron18", "kron20", "urand16", "grid100", "grid300")
_QUICK_GRAPHS = ("kron10", "urand10", "grid30")
_COUNTS = (16, 64, 256, 1024)
_FEW = 12
"""Sources one after the other."""
_CHECKED_BLOCKS = 4
"""Blocks for these few sources, so that each block handles several: state that leaks from one to another would show."""
_ROUNDS = 3
_LONG, _TOO_LONG = 1000.0, 3000.0
"""Milliseconds beyond which a call is not repeated, and beyond which larger counts are skipped."""
_TOLERANCE = 1e-9


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and number of sources."""
    for name in graphs or (_QUICK_GRAPHS if quick else GRAPHS):
        case = resident(name)
        say(f"{name}: {case.csr.num_vertices:,} vertices, {case.csr.num_arcs:,} arcs")
        sources = case.random_sources(max(_COUNTS), seed=1).tolist()
        labels = {f"{count} sources": count for count in _COUNTS if count <= len(sources)}
        wanted = {label: count for label, count in labels.items() if chosen(label, rows)}
        if wanted:
            yield from _rows(case, sources, wanted)
        case.release()


def _rows(case: Resident, sources: Sequence[int], counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    graph, few = case.device_graph(), sources[:_FEW]
    differs = _differs(case, few)
    _one_after_the_other(graph, few[:2])
    peer_ms = _typical_ms(partial(_one_after_the_other, graph, few)) / len(few)
    for label, count in counts.items():
        blocks = brandes.blocks_that_fit(graph, count)
        if not blocks:
            say(f"  {label}: no memory for a block")
            return
        _by_blocks(graph, sources[:blocks], blocks)
        call_ms = _typical_ms(partial(_by_blocks, graph, sources[:count], blocks))
        ms = call_ms / count
        say(f"  {label}: {ms:.4f} ms a source, {peer_ms:.3f} one after the other")
        yield {
            "graph": case.name, "row": label, "ms": ms, "peer": "one after the other", "peer_ms": peer_ms,
            "ratio": ms / peer_ms, "blocks": blocks, "chosen": brandes.blocks_for(graph, count) > 0, "differs": differs,
        }  # fmt: skip
        if call_ms > _TOO_LONG:
            return


def _typical_ms(work: Callable[[], Any]) -> float:
    """The median of some rounds, or the first if it is long enough by itself."""
    first = milliseconds(work)[0]
    if first >= _LONG:
        return first
    return statistics.median([first, *(milliseconds(work)[0] for _ in range(_ROUNDS - 1))])


def _one_after_the_other(graph: Any, sources: Sequence[int]) -> Any:
    import cupy as cp

    total = cp.zeros(graph.num_vertices, cp.float64)
    betweenness.one_by_one(graph, sources, total, endpoints=False, progress=None)
    return total


def _by_blocks(graph: Any, sources: Sequence[int], blocks: int) -> Any:
    """As in the engine: a source with too many paths for a block is left to the whole device."""
    total, left = brandes.by_blocks(graph, sources, blocks, endpoints=False, progress=None)
    betweenness.one_by_one(graph, left, total, endpoints=False, progress=None)
    return total


def _differs(case: Resident, sources: Sequence[int]) -> bool:
    """Whether the two ways give different sums; one source is checked against the graph, an error ends the run."""
    graph, source = case.device_graph(), case.sources[0]
    checks.betweenness(case.csr, source, graph.to_given_order(_by_blocks(graph, [source], 1)))
    want = _one_after_the_other(graph, sources)
    found = _by_blocks(graph, sources, min(_CHECKED_BLOCKS, len(sources)))
    return not float(abs(found - want).max()) <= _TOLERANCE * float(want.max())
