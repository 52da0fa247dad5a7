"""What a person waits for: the public function by the host's clock, beside the time of its work on the device.

The graph is on the device before. ``kept_ms``: the result stays there (``keep_on_device=True``); ``host_ms``: it is
copied to the host. ``of_must`` is ``kept_ms`` over 1.3 times the device's time and 0.2 ms: at most 1 is reached.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterator
from typing import Any

import dromos as dr
from benchmarks.gpu.algorithms import sampled
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import wall_ms
from benchmarks.gpu.works import WORKS
from benchmarks.record import say
from dromos.engines import Engine

__all__ = ["KEY", "run"]

KEY = ("work", "graph")
GRAPHS = ("kron22",)
_CALLS = 12

Call = Callable[..., Any]


def _calls(case: Resident) -> dict[str, Call]:
    source = case.sources[0]
    return {
        "bfs, levels and parents": lambda **how: dr.bfs(case.graph, source, **how),
        "sssp": lambda **how: dr.sssp(case.weighted, source, **how),
        "pagerank, an iteration": lambda **how: dr.pagerank(case.graph, max_iter=20, tol=0, on_limit="return", **how),
        "components": lambda **how: dr.connected_components(case.graph, **how),
        "core numbers": lambda **how: dr.core_numbers(case.graph, **how),
        "triangles": lambda **how: dr.triangles(case.graph, **how),
    }


def run(quick: bool = False, graphs: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph and algorithm."""
    from dromos.runner.devices import engine_for

    engine = engine_for("cuda")
    for name in graphs or (("kron14",) if quick else GRAPHS):
        case = resident(name, 4)
        for work, call in _calls(case).items():
            row = _row(engine, case, work, call)
            say(f"  {name}, {work}: {row['device_ms']:.3f} on the device, {row['kept_ms']:.3f} ms in all")
            yield row
        case.release()


def _row(engine: Engine, case: Resident, name: str, call: Call) -> dict[str, Any]:
    work = next(work for work in WORKS if work.name == name)
    device = sampled(engine, work, Resident(case.csr, case.sources[:1])).summary()["ms"]
    kept = _median(lambda: call(device="cuda", keep_on_device=True))
    host = _median(lambda: call(device="cuda"))
    return {
        "work": name, "graph": case.name, "device_ms": device, "kept_ms": kept, "host_ms": host,
        "of_must": kept / (1.3 * device + 0.2),
    }  # fmt: skip


def _median(call: Callable[[], Any]) -> float:
    """The median of calls after one that compiles and copies."""
    call()
    return statistics.median(wall_ms(call) for _ in range(_CALLS))
