"""Betweenness from many sources: batches against sweeps one at a time, and against NetworKit.

A row is a graph and a number of sources, ``all`` or random ones. ``ours_s`` is the kernel of ``dr.betweenness``, which
uses batches if its rule says so (``width``: sources in a batch, 0 without batches). ``first_s`` is its first call on a
graph, which may renumber it; the renumbered graph is kept, and ``ours_s`` does not include it. ``ratio`` is our time
over the peer's: below 1 we are faster. NetworKit's estimate draws its own sources; ``timed`` of them are timed, and
extrapolated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import GRAPHS, chosen
from benchmarks.record import say
from dromos.algorithms.arguments import simple
from dromos.engines.native.betweenness import betweenness
from dromos.engines.native.betweenness_batches import width_for

KEY = ("graph", "row", "peer")
_ROUNDS = 3
_ENOUGH = 3.0  # seconds of single sweeps after which there is no third round
_PEER_ARCS = 1 << 27  # the most arcs times sources for NetworKit
_DATA = Path(__file__).parent.parent / "tests" / "data"
_REAL: dict[str, tuple[str, dict[str, Any]]] = {
    "votes": ("wiki-Vote.txt.gz", {}),
    "friends": ("ego-Facebook.txt.gz", {"directed": False}),
    "trust": ("PGPgiantcompo.graph.gz", {}),
    "mail": ("email-Enron.txt.gz", {}),
    "mesh": ("4elt.graph.gz", {}),
}


def run(
    scale: int = 20, quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph, number of sources and peer when it is measured."""
    scale = min(scale, 12) if quick else scale
    _compile()
    for name, (make, counts) in _cases(scale).items():
        if chosen(name, graphs):
            graph = simple(make())
            say(f"{name}: {graph.num_vertices:,} vertices, {graph.num_edges:,} edges")
            for count in counts[:1] if quick else counts:
                row = "all sources" if count is None else f"{count} sources"
                if chosen(row, rows):
                    for found in _measure(graph, count):
                        yield {"graph": name, "row": row, **found}


def _cases(scale: int) -> dict[str, tuple[Callable[[], dr.Graph], tuple[int | None, ...]]]:
    made: dict[str, tuple[Callable[[], dr.Graph], tuple[int | None, ...]]] = {}
    for kind, size, counts in (
        ("kron", scale - 4, (16, 64, 1000)), ("kron", scale - 2, (16, 64)), ("kron", scale, (4, 16, 64)),
        ("urand", scale, (16, 64)),
    ):  # fmt: skip
        made[f"{kind}{size}"] = partial(GRAPHS[kind], size), counts
    for side, counts in ((300, (16, 64)), (1000, (16,))):
        made[f"grid{side}"] = partial(dr.generators.grid, side, side), counts
    for name, (file, options) in _REAL.items():
        made[name] = partial(dr.read, _DATA / file, **options), (64, 1000 if name == "mail" else None)
    return made


def _compile() -> None:
    for directed in (False, True):
        edges = dr.generators.rmat(10, 8, dedupe=True, drop_self_loops=True).edges()
        graph = dr.Graph.from_edges(edges.src, edges.dst, directed=directed)
        graph.relabel_by_degree()
        for batch in (0, 8, 16):
            betweenness(graph, sources=range(64), batch=batch)


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    answer = call()
    return time.perf_counter() - begin, answer


def _measure(graph: dr.Graph, count: int | None) -> Iterator[dict[str, Any]]:
    sources = range(graph.num_vertices) if count is None else _draw(graph, count)
    fresh = dr.Graph.from_csr(graph.offsets, graph.targets, directed=graph.directed)
    batched = partial(betweenness, fresh, sources=sources)
    first, answer = _timed(batched)
    together, singly, differs = [], [], False
    while len(singly) < 2 or (len(singly) < _ROUNDS and sum(singly) < _ENOUGH):
        together.append(_timed(batched)[0])
        taken, expected = _timed(partial(batched, batch=0))
        singly.append(taken)
        differs |= not np.allclose(answer["dependency"], expected["dependency"], rtol=1e-9)
    ours, one = min(together), min(singly)
    yield {
        "peer": "one at a time", "width": width_for(graph, len(sources)), "ours_s": ours, "peer_s": one,
        "ratio": ours / one, "first_s": first, "timed": len(sources), "differs": differs,
    }  # fmt: skip
    try:
        import networkit as nk
    except ImportError:
        say("  without NetworKit")
        return
    edges = graph.edges()
    ends = (edges.src.astype(np.uint64), edges.dst.astype(np.uint64))
    other = nk.GraphFromCoo(ends, n=graph.num_vertices, weighted=False, directed=graph.directed)
    samples = max(4, min(len(sources), _PEER_ARCS // graph.num_arcs))
    estimate = nk.centrality.EstimateBetweenness(other, samples, normalized=False, parallel=True)
    theirs = _timed(estimate.run)[0] * len(sources) / samples
    yield {"peer": "NetworKit", "ours_s": ours, "peer_s": theirs, "ratio": ours / theirs, "timed": samples}


def _draw(graph: dr.Graph, count: int) -> list[int]:
    connected = np.flatnonzero(graph.out_degree)
    drawn: list[int] = np.random.default_rng(27).choice(connected, min(count, len(connected)), replace=False).tolist()
    return drawn
