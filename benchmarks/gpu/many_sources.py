"""Searches from many sources at once on the device: against single ones, against iBFS's figures, and by grouping.

``joint N``: N searches of one group, the median over groups of random sources; the device's time from a resident graph
and a list of sources to resident sums (``ms``), and within it the kernel that goes through the levels (``kernel_ms``).
``GTEPS`` counts every arc once per search, as iBFS does. ``ratio`` is ``ms`` over the time of as many of our single
searches (some are timed and extrapolated). ``grouping``: 4,096 sources in groups of 128 by GroupBy's rules against
random groups, by the host's clock, and ``ratio`` by the kernels' time; ``sharing`` and ``sharing_peer`` are the sharing
degrees of both.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu import checks
from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import run_program, wall_ms
from benchmarks.gpu.works import LevelsOnly
from benchmarks.record import say
from dromos.engines.joint_groups import group_bytes

__all__ = ["KEY", "run"]

KEY = ("graph", "row")
GRAPHS = ("kron22", "urand22", "kron24")
_QUICK_GRAPHS = ("kron12", "urand12")
_COUNTS = (64, 128, 256, 512)
_GROUPS, _ROUNDS, _MANY = 4, 3, 4096
FIGURES: dict[tuple[str, int], dict[str, float]] = {
    ("kron22", 128): {"peer_ms": 8.94, "must_ms": 8.9, "aim_ms": 3.0},
    ("urand22", 128): {"must_ms": 11.7},
}
"""Milliseconds on one H200; the peer is iBFS's own code there."""


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and measurement."""
    for name in graphs or (_QUICK_GRAPHS if quick else GRAPHS):
        case = resident(name)
        say(f"{name}: {case.csr.num_vertices:,} vertices, {case.csr.num_arcs:,} arcs")
        single = statistics.median(_single_ms(case, source) for source in [case.sources[0], *case.sources][1:])
        for count in _COUNTS:
            if not rows or any(f"joint {count}".startswith(part) for part in rows):
                yield {"graph": name, "row": f"joint {count}", **_joint(case, count, single)}
        if not rows or "grouping" in rows:
            yield {"graph": name, "row": "grouping", **_grouping(case, 256 if quick else _MANY)}
        case.release()


def _single_ms(case: Resident, source: int) -> float:
    from dromos.runner.devices import engine_for

    return run_program(engine_for("cuda"), LevelsOnly(source=source), case.graph).ms


def _joint(case: Resident, count: int, single: float) -> dict[str, Any]:
    from dromos.engines.cuda.native.joint import Search

    search = Search(case.device_graph(), count)
    times, inside, founds = [], [], []
    for seed in range(_GROUPS):
        group = case.random_sources(count, seed)
        founds.append(search.run(seed, group))
        rounds = [(milliseconds(lambda group=group: search.place(group))[0], milliseconds(search.launch)[0])  # type: ignore[misc]
                  for _ in range(_ROUNDS)]  # fmt: skip
        times.append(statistics.median(placed + taken for placed, taken in rounds))
        inside.append(statistics.median(taken for _, taken in rounds))
    ms = statistics.median(times)
    figures = FIGURES.get((case.name, count), {})
    say(f"  {count} searches: {ms:.3f} ms")
    return {
        "ms": ms, "kernel_ms": statistics.median(inside), "GTEPS": count * case.csr.num_arcs / ms / 1e6,
        "peer": "single bfs", "ratio": ms / (count * single), "sharing": founds[0].sharing,
        "levels": founds[0].levels, "pulled": founds[0].pulled, **figures,
        **{f"of_{name.removesuffix('_ms')}": ms / figure for name, figure in figures.items()},
        "differs": _differs(case, count),
    }  # fmt: skip


def _differs(case: Resident, count: int) -> bool:
    """Whether the distances of some searches, or sums over them, are wrong for the graph."""
    import cupy as cp

    from dromos.engines.cuda.native.joint import Search

    group = case.random_sources(count, 99)
    search = Search(case.device_graph(), count, distance=np.int8)
    found = search.run(0, group)
    assert search.distance is not None
    for place in (0, count // 2, count - 1):
        level = search.distance[place].astype(cp.int32)
        checks.levels(case.csr, int(group[place]), level)
        beyond = level[level > 0]
        if (int(found.reached[place]), int(found.distance_sum[place])) != (
            len(beyond),
            int(beyond.sum(dtype=cp.int64)),
        ):
            return True
    return False


def _grouping(case: Resident, count: int) -> dict[str, Any]:
    sources = case.random_sources(min(count, case.csr.num_vertices // 4), 7).tolist()
    memory = group_bytes(case.csr.num_vertices, 2)
    results: dict[str, Any] = {}

    def call(grouping: str) -> None:
        results[grouping] = dr.multi_source_bfs(
            case.graph, sources, grouping=grouping, seed=1, memory=memory, device="cuda"
        )

    dr.multi_source_bfs(case.graph, sources[:128], memory=memory, device="cuda")
    ours, theirs = wall_ms(lambda: call("by-hubs")), wall_ms(lambda: call("random"))
    groups = {name: sum(step.seconds for step in result.trace) * 1e3 for name, result in results.items()}
    say(f"  grouping: {ours:.1f} ms against {theirs:.1f}")
    return {
        "ms": ours, "kernel_ms": groups["by-hubs"], "peer": "random groups", "peer_ms": theirs,
        "peer_kernel_ms": groups["random"], "ratio": groups["by-hubs"] / groups["random"],
        "sharing": results["by-hubs"].sharing, "sharing_peer": results["random"].sharing,
    }  # fmt: skip
