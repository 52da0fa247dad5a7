"""The rows of the table: what runs, from which sources, how its answer is checked, and how a user calls it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dromos as dr
from benchmarks.gpu import checks
from benchmarks.gpu.resident import Resident
from benchmarks.gpu.timing import Timed, run_native, run_program
from dromos.algorithms.betweenness import Dependencies, Paths
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.algorithms.sssp import sssp_program
from dromos.engines import Engine
from dromos.engines.cuda.native.searching import LevelsOnly
from dromos.plan import Path

__all__ = ["ITERATIONS", "WORKS", "LevelsOnly", "Work"]

ITERATIONS = 20
_ALPHA = 0.85


@dataclass(frozen=True)
class Work:
    """One algorithm."""

    name: str
    figure: str
    """The figures to compare it with."""
    run: Callable[[Engine, Resident, int, Path | None], Timed]
    check: Callable[[Resident, int, Any], None]
    """Ends the benchmark if the fields are wrong."""
    public: Callable[[Engine, Resident, int], Any]
    """The call that a user makes, up to arrays on the host."""
    by_source: bool = True
    per: int = 1
    """The divisor of the times."""
    graphs: tuple[str, ...] = field(default=("kron", "urand", "grid"))
    """The kinds of graphs that it is measured on."""


def _levels(engine: Engine, case: Resident, source: int, path: Path | None) -> Timed:
    return run_program(engine, LevelsOnly(source=source), case.graph, path)


def _bfs(engine: Engine, case: Resident, source: int, path: Path | None) -> Timed:
    return run_program(engine, BFS(source=source), case.graph, path)


def _check_bfs(case: Resident, source: int, fields: Any) -> None:
    level = on_device(fields["level"])
    checks.levels(case.csr, source, level)
    if "parent" in fields:
        checks.parents(case.csr, source, level, on_device(fields["parent"]))


def _sssp(engine: Engine, case: Resident, source: int, path: Path | None) -> Timed:
    # the type that dr.sssp uses for whole weights: int32 while the longest possible path fits
    narrow = case.csr.num_vertices * 255 < np.iinfo(np.int32).max
    program = sssp_program(np.dtype(np.int32 if narrow else np.int64))
    return run_program(engine, program(source=source), case.weighted, path)


def _check_sssp(case: Resident, source: int, fields: Any) -> None:
    checks.distances(case.csr, source, on_device(fields["distance"]))


def _pagerank(dtype: str) -> Callable[[Engine, Resident, int, Path | None], Timed]:
    def run(engine: Engine, case: Resident, source: int, path: Path | None) -> Timed:
        program = pagerank_program(dtype=np.dtype(dtype))(alpha=_ALPHA, tolerance=0.0)
        return run_program(engine, program, case.graph, path, max_iter=ITERATIONS)

    return run


def _check_pagerank(case: Resident, source: int, fields: Any) -> None:
    checks.ranks(case.csr, ITERATIONS, on_device(fields["rank"]))


def _public_pagerank(dtype: str) -> Callable[[Engine, Resident, int], Any]:
    program = pagerank_program(dtype=np.dtype(dtype))

    def call(engine: Engine, case: Resident, source: int) -> Any:
        return dr.run(program(alpha=_ALPHA, tolerance=0.0), case.graph, max_iter=ITERATIONS, device=engine)["rank"]

    return call


def _betweenness(engine: Engine, case: Resident, source: int, path: Path | None) -> Timed:
    if path is None:
        return run_native("betweenness", case, sources=[source])
    forward = run_program(engine, Paths(source=source), case.graph, path)
    found = forward.fields()
    back = run_program(engine, Dependencies(level=found["level"], paths=found["paths"]), case.graph, path)
    return Timed(forward.ms + back.ms, forward.prepare_ms + back.prepare_ms, back.fields, [*forward.steps, *back.steps])


def _check_betweenness(case: Resident, source: int, fields: Any) -> None:
    checks.betweenness(case.csr, source, on_device(fields["dependency"]))


def _native(name: str) -> Callable[[Engine, Resident, int, Path | None], Timed]:
    return lambda engine, case, source, path: run_native(name, case)


def on_device(values: Any) -> Any:
    """An array of the host or the device, on the device."""
    import cupy as cp

    return cp.asarray(values)


WORKS: tuple[Work, ...] = (
    Work("bfs, levels", "bfs", _levels, _check_bfs,
         lambda engine, case, source: dr.run(LevelsOnly(source=source), case.graph, device=engine)["level"]),
    Work("bfs, levels and parents", "bfs", _bfs, _check_bfs,
         lambda engine, case, source: dr.bfs(case.graph, source, device=engine)["level"]),
    Work("sssp", "sssp", _sssp, _check_sssp,
         lambda engine, case, source: dr.sssp(case.weighted, source, device=engine)["distance"]),
    Work("pagerank in float32, an iteration", "pagerank", _pagerank("float32"), _check_pagerank,
         _public_pagerank("float32"), by_source=False, per=ITERATIONS),
    Work("pagerank, an iteration", "pagerank", _pagerank("float64"), _check_pagerank,
         _public_pagerank("float64"), by_source=False, per=ITERATIONS),
    Work("betweenness, one source", "betweenness", _betweenness, _check_betweenness,
         lambda engine, case, source: dr.betweenness(
             case.graph, sources=[source], normalized=False, device=engine)["centrality"],
         graphs=("kron", "urand")),
    Work("components", "components", _native("components"),
         lambda case, source, fields: checks.components(case.csr, on_device(fields["label"])),
         lambda engine, case, source: dr.connected_components(case.graph, device=engine)["label"], by_source=False),
    Work("core numbers", "cores", _native("cores"),
         lambda case, source, fields: checks.cores(case.csr, on_device(fields["core"])),
         lambda engine, case, source: dr.core_numbers(case.graph, device=engine)["core"], by_source=False),
    Work("triangles", "triangles", _native("triangles"),
         lambda case, source, fields: checks.triangles(case.csr, on_device(fields["triangles"])),
         lambda engine, case, source: dr.triangles(case.graph, device=engine)["triangles"], by_source=False),
)  # fmt: skip
