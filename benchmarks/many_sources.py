"""Searches from many sources at once: against single ones, against other libraries' closeness, and by grouping.

- ``joint 64`` and ``joint 512``: that many sources in one call of ``multi_source_bfs``, against as many calls of
  ``bfs``; some single calls are timed and extrapolated.
- ``distances 64``: the same with all distances written.
- ``closeness 64``: our sums from 64 sources against SciPy's distances from them, and against NetworKit's estimate from
  as many samples.
- ``grouping``: 4,096 sources in groups of 128 by GroupBy's rules against random groups; ``sharing`` and
  ``sharing_peer`` are the sharing degrees of both.
- ``index 3``: the 3-step reachability index of all vertices of a graph two scales smaller, its bytes, and queries per
  second in arrays and singly.

``ratio`` is our time over the peer's: below 1 we are faster.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.cases import Case, chosen, make_case
from benchmarks.record import say

KEY = ("graph", "row", "peer")
_ROUNDS = 3
_SINGLE = 16
_KINDS = ("kron", "urand")


def run(
    scale: int = 20, quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph and measurement when it is measured."""
    scale = min(scale, 10) if quick else scale
    for kind in (kind for kind in _KINDS if chosen(kind, graphs)):
        case = make_case(kind, scale, 4096)
        say(f"{case.name}: {case.graph.num_vertices:,} vertices, {case.graph.num_edges:,} edges")
        for name, measure in ROWS.items():
            if chosen(name, rows):
                for row in measure(case, kind, scale):
                    yield {"graph": case.name, "row": name, **row}


def _best(call: Callable[[], Any], rounds: int = _ROUNDS) -> float:
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def _interleaved(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int = _ROUNDS) -> tuple[float, float]:
    pairs = [(_best(ours, 1), _best(theirs, 1)) for _ in range(rounds)]
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def _joint(count: int) -> Callable[[Case, str, int], Iterator[dict[str, Any]]]:
    def measure(case: Case, kind: str, scale: int) -> Iterator[dict[str, Any]]:
        sources = list(case.sources[:count])
        for _ in range(2):  # compile, and renumber the graph if necessary
            dr.multi_source_bfs(case.graph, sources)
        dr.bfs(case.graph, sources[0])
        some = sources[:_SINGLE]
        single = lambda: [dr.bfs(case.graph, source) for source in some]  # noqa: E731
        ours, theirs = _interleaved(lambda: dr.multi_source_bfs(case.graph, sources), single)
        result = dr.multi_source_bfs(case.graph, sources)
        theirs *= len(sources) / len(some)
        yield {
            "peer": "single bfs",
            "ours_s": ours,
            "peer_s": theirs,
            "ratio": ours / theirs,
            "sharing": result.sharing,
        }

    return measure


def _distances(case: Case, kind: str, scale: int) -> Iterator[dict[str, Any]]:
    sources = list(case.sources[:64])
    dr.distances(case.graph, sources)
    some = sources[:_SINGLE]
    dr.bfs(case.graph, sources[0])
    ours, theirs = _interleaved(
        lambda: dr.distances(case.graph, sources), lambda: [dr.bfs(case.graph, source) for source in some]
    )
    theirs *= len(sources) / len(some)
    yield {"peer": "single bfs", "ours_s": ours, "peer_s": theirs, "ratio": ours / theirs}


def _closeness(case: Case, kind: str, scale: int) -> Iterator[dict[str, Any]]:
    """Sums of distances from 64 sources: all that a centrality of these sources needs."""
    sources = list(case.sources[:64])
    ours = lambda: dr.multi_source_bfs(case.graph, sources)  # noqa: E731
    ours()
    try:
        from scipy.sparse.csgraph import shortest_path
    except ImportError:
        say("  without SciPy")
    else:
        table, few = case.graph.to_scipy(), sources[:4]
        taken, theirs = _interleaved(ours, lambda: shortest_path(table, unweighted=True, indices=few), 2)
        theirs *= len(sources) / len(few)
        yield {"peer": "SciPy", "ours_s": taken, "peer_s": theirs, "ratio": taken / theirs}
    try:
        import networkit as nk
    except ImportError:
        say("  without NetworKit")
        return
    edges = case.graph.edges()
    ends = (edges.src.astype(np.uint64), edges.dst.astype(np.uint64))
    graph = nk.GraphFromCoo(ends, n=case.graph.num_vertices, weighted=False, directed=False)
    taken, theirs = _interleaved(ours, lambda: nk.centrality.ApproxCloseness(graph, 64).run(), 2)
    yield {"peer": "NetworKit", "ours_s": taken, "peer_s": theirs, "ratio": taken / theirs}


def _grouping(case: Case, kind: str, scale: int) -> Iterator[dict[str, Any]]:
    from dromos.engines.joint_groups import group_bytes

    sources = list(case.sources[:4096])
    memory = group_bytes(case.graph.num_vertices, 2)
    results: dict[str, Any] = {}

    def call(grouping: str) -> None:
        results[grouping] = dr.multi_source_bfs(case.graph, sources, grouping=grouping, seed=1, memory=memory)

    dr.multi_source_bfs(case.graph, sources[:128], memory=memory)
    ours, theirs = _interleaved(lambda: call("by-hubs"), lambda: call("random"), 1)
    yield {
        "peer": "random groups", "ours_s": ours, "peer_s": theirs, "ratio": ours / theirs,
        "sharing": results["by-hubs"].sharing, "sharing_peer": results["random"].sharing,
    }  # fmt: skip


def _index(case: Case, kind: str, scale: int) -> Iterator[dict[str, Any]]:
    if kind != "kron":
        return
    small = make_case(kind, scale - 2, 64)
    n = small.graph.num_vertices
    with tempfile.TemporaryDirectory(prefix="dromos-bench-") as folder:
        file = Path(folder) / "index.reach"
        dr.reachability_index(small.graph, 3, file, sources=small.sources)
        taken = _best(lambda: dr.reachability_index(small.graph, 3, file), 1)
        index = dr.ReachabilityIndex.open(file, small.graph)
        u, v = np.random.default_rng(1).integers(0, n, (2, 1_000_000))
        index.reachable(u, v)
        many = len(u) / _best(lambda: index.reachable(u, v))
        pairs = list(zip(u[:20_000].tolist(), v[:20_000].tolist(), strict=True))
        singly = len(pairs) / _best(lambda: [index.reachable(a, b) for a, b in pairs])
        levels = dr.distances(small.graph, small.sources, depth_limit=3).distance
        wrong = sum(
            not np.array_equal(index.reachable(source, np.arange(n)), row >= 0)
            for source, row in zip(small.sources, levels, strict=True)
        )
        yield {
            "peer": small.name, "ours_s": taken, "bytes": file.stat().st_size, "queries_s": many,
            "single_queries_s": singly, "differs": bool(wrong),
        }  # fmt: skip


ROWS: dict[str, Callable[[Case, str, int], Iterator[dict[str, Any]]]] = {
    "joint 64": _joint(64),
    "joint 512": _joint(512),
    "distances 64": _distances,
    "closeness 64": _closeness,
    "grouping": _grouping,
    "index 3": _index,
}
