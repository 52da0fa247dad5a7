"""Graphs of more than 2^31 and 2^32 arcs, and ids of eight bytes: correct answers first, with their times.

``kron27`` has more than 2^31 arcs, which the device still counts in 32 unsigned bits; ``kron27x17`` has more than 2^32
and needs offsets of eight bytes. The host's ids have eight bytes beyond 2^31 vertices; here a smaller graph gets such
ids. Answers are checked on the device as in ``algorithms``: levels, parents and distances by certificates over all
arcs, labels and ranks against plain kernels. Rows of the CPU are whole calls on the same graph, checked the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu.algorithms import chosen, measured
from benchmarks.gpu.graphs import make
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import wall_ms
from benchmarks.gpu.works import WORKS, on_device
from benchmarks.record import say
from dromos.engines import Engine
from dromos.errors import VerificationError

__all__ = ["KEY", "run"]

KEY = ("work", "graph")
LARGE = ("kron27x17", "kron27")
WIDE = ("kron22",)
_QUICK_LARGE, _QUICK_WIDE = ("kron14x17",), ("kron12",)
_NAMES = ("bfs, levels and parents", "components", "pagerank, an iteration", "sssp")
_SOURCES = 2


class WideIds(Resident):
    """A graph whose ids take eight bytes on the host and on the device."""

    def _registered(self, weighted: bool) -> dr.Graph:
        host = self.csr.host(weighted)
        return dr.Graph._make(host.offsets, host.targets.astype(np.int64), host.weights, flags=host._flags)


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph and work; on the first graph also on the CPU."""
    from dromos.runner.devices import engine_for

    engine = engine_for("cuda")
    large = [name for name in (_QUICK_LARGE if quick else LARGE) if not graphs or name in graphs]
    for name in large:
        csr = make(name)
        case = Resident(csr, _ends_of_edges(csr))
        say(f"{name}: {csr.num_vertices:,} vertices, {csr.num_arcs:,} arcs = {csr.num_arcs / 2**31:.2f} * 2^31")
        yield from _each(engine, case, _NAMES, rows)
        if name == large[0]:
            yield from _on_the_cpu(case, rows)
        case.release()
    for name in (_QUICK_WIDE if quick else WIDE) if not graphs else [name for name in graphs if name not in LARGE]:
        given = resident(name, _SOURCES)
        yield from _each(engine, WideIds(given.csr, given.sources), [work.name for work in WORKS], rows)
        given.release()


def _ends_of_edges(csr: Any) -> list[int]:
    """The vertex with the most neighbors, and a random one with neighbors."""
    inside = (csr.degrees > 0).nonzero()[0]
    drawn = np.random.default_rng(csr.seed).integers(len(inside), size=_SOURCES - 1)
    return [int(csr.degrees.argmax()), *(int(inside[int(place)]) for place in drawn)]


def _each(engine: Engine, case: Resident, names: Collection[str], rows: Collection[str]) -> Iterator[dict[str, Any]]:
    for work in WORKS:
        if work.name in names and chosen(work, case.name.partition("x")[0], rows):
            row = measured(engine, work, case, None)
            copy = case.device_graph(work.figure == "sssp")
            row = {
                "work": work.name, "graph": case.name, "arcs": copy.num_arcs,
                "ids": str(copy.out.targets.dtype), "offsets": str(copy.out.offsets.dtype),
                **{name: row.get(name) for name in ("ms", "prepare_ms", "end_to_end_ms", "path", "differs", "note")},
            }  # fmt: skip
            say(f"  {work.name}: {row['ms']} ms, {row['end_to_end_ms']} ms in all {row['note'] or ''}")
            yield row


def _on_the_cpu(case: Resident, rows: Collection[str]) -> Iterator[dict[str, Any]]:
    calls = {
        "bfs, levels and parents": lambda: dr.bfs(case.graph, case.sources[0], device="cpu"),
        "components": lambda: dr.connected_components(case.graph, device="cpu"),
    }
    for work in WORKS:
        if work.name not in calls or not chosen(work, case.name.partition("x")[0], rows):
            continue
        found: dict[str, Any] = {}
        call = calls[work.name]
        wall_ms(lambda call=call, found=found: found.update(call()))  # type: ignore[misc]
        wall = wall_ms(call)
        about = {"work": f"{work.name}, on the CPU", "graph": case.name, "arcs": case.graph.num_arcs,
                 "ids": str(case.graph.targets.dtype), "offsets": str(case.graph.offsets.dtype)}  # fmt: skip
        try:
            work.check(case, case.sources[0], {name: on_device(value) for name, value in found.items()})
            row = {**about, "end_to_end_ms": wall}
        except VerificationError as error:
            row = {**about, "end_to_end_ms": wall, "differs": True, "note": str(error)}
        say(f"  {work.name} on the CPU: {wall:.0f} ms")
        yield row
