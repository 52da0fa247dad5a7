"""PageRank in its residual form (``method="delta"``) beside the power iteration, for the same ``tol``.

Each time is the best of a few whole calls, taken in turn. ``ratio`` is the residual form's time over the power
iteration's (below 1: it is faster). ``passes`` is the number of arcs that carried messages, over the arcs of the graph:
a pull looks at all arcs, but only those of the frontier count here. ``paths`` shows how often the planner used each
path.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import dromos as dr
from benchmarks.cases import GRAPHS, Case, chosen, make_case
from benchmarks.record import say

KEY = ("graph", "tol")
_TOLERANCES = (1e-3, 1e-6, 1e-9)
_METHODS: dict[str, dict[str, Any]] = {
    "power": {"method": "power", "max_iter": 1000},
    "delta": {"method": "delta"},
    "delta_sync_pull_td": {"method": "delta", "path": "sync-pull-td"},
    "delta_async_push_dd": {"method": "delta", "path": "async-push-dd"},
}
_ROUNDS = 5


def run(
    scale: int = 20,
    quick: bool = False,
    budget: float = 3.0,
    graphs: Collection[str] = (),
    done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph and tolerance; ``budget`` seconds for each of its methods, or one call."""
    if quick:
        scale, budget = min(scale, 10), min(budget, 0.1)
    for kind in (kind for kind in GRAPHS if chosen(kind, graphs)):
        case = make_case(kind, scale, 1)
        for tol in _TOLERANCES:
            if (case.name, tol) not in done:
                say(f"{case.name}, {tol:g}")
                yield _row(case, tol, budget)


def _row(case: Case, tol: float, budget: float) -> dict[str, Any]:
    best = dict.fromkeys(_METHODS, float("inf"))
    spent = dict.fromkeys(_METHODS, 0.0)
    found: dict[str, Any] = {}
    for number in range(_ROUNDS):
        for name, how in _METHODS.items():
            if spent[name] > budget:
                continue
            begin = time.perf_counter()
            found[name] = dr.pagerank(case.graph, tol=tol, **how)
            taken = time.perf_counter() - begin
            if number:  # the first call compiles
                spent[name] += taken
                best[name] = min(best[name], taken)
    delta = found["delta"]
    for result in (found["power"], delta):
        result.verify()
    paths = Counter(row.path for row in delta.trace)
    return {
        "graph": case.name,
        "tol": tol,
        **{f"{name}_s": seconds for name, seconds in best.items()},
        "ratio": best["delta"] / best["power"],
        "power_passes": found["power"].iterations,
        "delta_passes": sum(row.out_degree for row in delta.trace) / case.graph.num_arcs,
        "supersteps": delta.iterations,
        "paths": ", ".join(f"{path} {count}" for path, count in paths.most_common()),
    }
