"""The algorithms on the device against the target figures, and cuSPARSE beside PageRank, in one run.

Device times are medians over 16 sources (of three rounds each if a run is short); ``benchmarks/gpu/timing.py`` defines
what they include. ``of_must`` and ``of_aim`` are our time over the figure: the goal is at most 1. Answers are checked
in the run, at full size, by certificates and plain algorithms on the device; a wrong one gives a row that says so.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator
from typing import Any

from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.figures import FIGURES
from benchmarks.gpu.references import sparse_matrix
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import Samples, wall_ms
from benchmarks.gpu.works import WORKS, Work
from benchmarks.record import say
from dromos.engines import Engine

__all__ = ["KEY", "order", "run"]

KEY = ("work", "graph")
GRAPHS = ("kron22", "kron24", "urand22", "grid3000")
_QUICK_GRAPHS = ("kron14", "urand14", "grid100")
SPMV = "cuSPARSE SpMV in float32"
_SHORT_MS = 50.0
_ROUNDS = 3


def run(
    quick: bool = False,
    graphs: Collection[str] = (),
    rows: Collection[str] = (),
    done: Collection[tuple[Any, ...]] = (),
) -> Iterator[dict[str, Any]]:
    """Yield a row for each graph and work; graphs by name, works by the beginnings of their names."""
    from dromos.runner.devices import engine_for

    engine = engine_for("cuda")
    for name in graphs or (_QUICK_GRAPHS if quick else GRAPHS):
        wanted = [work for work in WORKS if chosen(work, name, rows) and (work.name, name) not in done]
        if not wanted:
            continue
        case = resident(name, 4 if quick else 16)
        say(f"{name}: {case.csr.num_vertices:,} vertices, {case.csr.num_arcs:,} arcs")
        spmv = None
        for work in wanted:
            if work.figure == "pagerank" and spmv is None:
                spmv = spmv_ms(case)
                yield {"work": SPMV, "graph": name, "ms": spmv, "note": "the matrix has the same rows, and ones"}
            row = measured(engine, work, case, spmv)
            say(f"  {work.name}: {row.get('ms', float('nan')):.3f} ms {row.get('note', '')}")
            yield row
        case.release()


def chosen(work: Work, graph: str, rows: Collection[str]) -> bool:
    """Whether the work is selected, and is for graphs of this kind."""
    kind = graph.rstrip("0123456789x").rstrip("0123456789")
    named = not rows or any(work.name.startswith(part) or work.figure.startswith(part) for part in rows)
    return named and kind in work.graphs


def measured(engine: Engine, work: Work, case: Resident, spmv: float | None) -> dict[str, Any]:
    """The row of one work on one graph."""
    about = {"work": work.name, "graph": case.name}
    try:
        row = {**about, **sampled(engine, work, case).summary(work.per)}
    except Exception as error:  # later rows are still useful; the command reports the failure at the end
        return {**about, "differs": True, "note": f"failed: {type(error).__name__}: {error}"}
    try:
        row["end_to_end_ms"] = end_to_end_ms(engine, work, case)
    except Exception as error:  # as above
        row |= {"differs": True, "note": f"the public function failed: {type(error).__name__}: {error}"}
    if spmv is not None and work.figure == "pagerank":
        row["of_spmv"] = row["ms"] / spmv
    return {**row, **against_figures(work, case.name, row["ms"])}


def sampled(engine: Engine, work: Work, case: Resident) -> Samples:
    """Runs from all sources, after one that compiles and one that estimates the time; some answers are checked."""
    sources = case.sources if work.by_source else case.sources[:1]
    work.run(engine, case, sources[0], None)
    warm = work.run(engine, case, sources[0], None)
    short = warm.ms < _SHORT_MS or not work.by_source
    samples = Samples()
    for number in range(_ROUNDS if short else 1):
        for source in sources:
            taken = work.run(engine, case, source, None)
            samples.add(source, taken)
            if not number and source in sources[:4]:
                work.check(case, source, taken.fields())
            taken.fields = dict  # releases the state's memory on the device
    return samples


def end_to_end_ms(engine: Engine, work: Work, case: Resident) -> float:
    """The host's time for the public function; the first call does not count."""
    sources = case.sources[:6] if work.by_source else case.sources[:1] * 4
    times = [wall_ms(lambda source=source: work.public(engine, case, source)) for source in sources]  # type: ignore[misc]
    return statistics.median(times[1:] or times)


def against_figures(work: Work, graph: str, ms: float) -> dict[str, Any]:
    """The figures, and our time over them."""
    figures = FIGURES.get((work.figure, graph))
    if figures is None:
        return {}
    return {
        **figures._asdict(),
        "of_peer": ms / figures.peer_ms, "of_must": ms / figures.must_ms, "of_aim": ms / figures.aim_ms,
    }  # fmt: skip


def spmv_ms(case: Resident) -> float:
    """The median time of cuSPARSE for the matrix of ones times a vector, both in float32."""
    import cupy as cp

    matrix = sparse_matrix(case.csr, "f4")
    vector = cp.full(case.csr.num_vertices, 1 / case.csr.num_vertices, cp.float32)
    _ = matrix @ vector  # allocates its buffers
    return statistics.median(milliseconds(lambda: matrix @ vector)[0] for _ in range(20))


def order(row: dict[str, Any]) -> tuple[int, str]:
    """By work, then by graph."""
    names = [work.name for work in WORKS]
    place = names.index(row["work"]) if row["work"] in names else names.index("pagerank in float32, an iteration") - 0.5
    return int(2 * place), row["graph"]
