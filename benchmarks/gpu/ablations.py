"""The value of each technique: the same work with parts of the engine switched off, in the form of the papers' tables.

- ``enterprise``: breadth-first search from a queue with one atomic per vertex, then with scheduling, with balancing by
  degree, and with the hub cache (Liu and Huang, "Enterprise", SC 2015);
- ``simdx``: how the next frontier is made (ballot only, online only, just in time), and how many kernels are fused
  (none, selectively, all) (Liu and Huang, "SIMD-X", USENIX ATC 2019); ``simdx_sssp`` the same for shortest paths;
- ``sepgraph``: every fixed path against the planner, with the supersteps at which it switches (Wang and others,
  "SEP-Graph", PPoPP 2019).

A variant is a label, the options of an engine and a path. ``speedup`` is the first variant's time over this one's,
from the sources that both ran from.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.gpu.baseline import plain_bfs
from benchmarks.gpu.graphs import DeviceCsr
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.timing import Samples, Timed
from benchmarks.gpu.works import WORKS, Work
from benchmarks.record import say
from dromos.engines import Engine
from dromos.errors import IllegalPathError, InvalidArgumentError
from dromos.plan.path import PATHS, Path

__all__ = ["KEY", "TABLES", "Table", "Variant", "run"]

KEY = ("work", "graph", "variant")
_SOURCES = 8
_LONG_MS = 500.0
"""A variant that takes longer runs from one source only."""
_LIMIT_S = 8.0
"""A run that takes longer, including compilation, is stopped."""


class _TooLong(BaseException):
    """The time limit was reached; not an ``Exception``, so that no handler on the way catches it."""


@dataclass(frozen=True)
class Variant:
    """A way to run: options of the engine, and a path."""

    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    path: str = "auto"
    without: Callable[[DeviceCsr, int], Timed] | None = None
    """Run this instead of an engine."""


@dataclass(frozen=True)
class Table:
    """Works and graphs, and the variants to run them in."""

    cells: tuple[tuple[str, tuple[str, ...]], ...]
    """The name of a work, and graphs for it."""
    variants: tuple[Variant, ...]


def _engine(options: Mapping[str, Any]) -> Engine:
    from dromos.engines.cuda import CudaEngine

    return CudaEngine(dict(options))


def run(
    table: Table, quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()
) -> Iterator[dict[str, Any]]:
    """A row for each work, graph and variant."""
    works = {work.name: work for work in WORKS}
    wanted = [(name, small(graph) if quick else graph) for name, on in table.cells for graph in on]
    for graph_name in dict.fromkeys(graph for _, graph in wanted):
        names = [name for name, graph in wanted if graph == graph_name]
        names = [name for name in names if not rows or name.startswith(tuple(rows))]
        if not names or (graphs and graph_name not in graphs):
            continue
        case = resident(graph_name, _SOURCES)
        for name in names:
            yield from _cells(works[name], case, table.variants)
        case.release()


def _cells(work: Work, case: Resident, variants: tuple[Variant, ...]) -> Iterator[dict[str, Any]]:
    first: Samples | None = None
    for variant in variants:
        about = {"work": work.name, "graph": case.name, "variant": variant.label}
        try:
            samples = _sampled(work, case, variant)
        except _TooLong:
            yield {**about, "note": f"stopped after {_LIMIT_S:g} s"}
            continue
        except (IllegalPathError, InvalidArgumentError) as error:
            yield {**about, "note": str(error).split(".")[0]}
            continue
        except Exception as error:  # later rows are still useful; the command reports the failure at the end
            yield {**about, "differs": True, "note": f"failed: {type(error).__name__}: {error}"}
            continue
        first = samples if first is None else first
        found, speedup = samples.summary(work.per), first.over(samples)
        say(f"{case.name}, {work.name}, {variant.label}: {found['ms']:.3f} ms, {speedup:.2f}x")
        yield {**about, "ms": found["ms"], "speedup": speedup, "runs": found["runs"], "path": found["path"]}


def _sampled(work: Work, case: Resident, variant: Variant) -> Samples:
    run = _limited(_runner(work, case, variant))
    sources = case.sources if work.by_source else case.sources[:1]
    samples = Samples()
    work.check(case, sources[0], run(sources[0]).fields())
    warm = run(sources[0])
    if warm.ms > _LONG_MS:
        samples.add(sources[0], warm)
        return samples
    for source in sources:
        samples.add(source, run(source))
    return samples


def _limited(run: Callable[[int], Timed]) -> Callable[[int], Timed]:
    """``run``, stopped at the limit: the engine stops at a signal as it does at Ctrl-C."""

    def ring(*_: Any) -> None:
        raise _TooLong

    def limited(source: int) -> Timed:
        before = signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, _LIMIT_S)
        try:
            return run(source)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return limited


def _runner(work: Work, case: Resident, variant: Variant) -> Callable[[int], Timed]:
    if variant.without is not None:
        return partial(variant.without, case.csr)
    engine = _engine(variant.options)
    path = None if variant.path == "auto" else Path.parse(variant.path)
    return lambda source: work.run(engine, case, source, path)


def small(graph: str) -> str:
    """A graph of the same kind that takes almost no time."""
    return {"kron": "kron12", "urand": "urand12", "grid": "grid60"}[graph.rstrip("0123456789")]


_BFS = "bfs, levels and parents"
_SKEWED = ("kron22", "urand22")
_ALL = ("kron22", "urand22", "grid3000")

_NEVER = 1 << 30
"""A row length that no row has."""
_STEP_BY_STEP = {"fusion": "none"}
_NO_BALANCE = {"defines": tuple(f"{name}={_NEVER}" for name in ("BLOCK_ROW", "GRID_ROW", "PROBES"))}
_HUB_CACHE = {"defines": ("HUB_WORDS=512",)}
"""16,384 hubs in 2 KiB of shared memory per block."""
_ONLINE, _BALLOT = {"defines": ("FILTER=1",)}, {"defines": ("FILTER=2",)}
"""How a frontier is made, in ``claiming.cuh``: by appending found vertices, or from the bits of all vertices."""

TABLES: dict[str, Table] = {
    "enterprise": Table(
        ((_BFS, ("kron22", "kron24", "urand22")),),
        (
            Variant("baseline: a thread a vertex, an atomic a vertex", without=plain_bfs),
            Variant("+ scheduling: queues by warps", {**_STEP_BY_STEP, **_NO_BALANCE, "renumber": False}),
            Variant("+ balancing by degree", {**_STEP_BY_STEP, "renumber": False}),
            Variant("+ hubs first: ids by degree, in L2", _STEP_BY_STEP),
            Variant("+ hub cache in shared memory", {**_STEP_BY_STEP, **_HUB_CACHE}),
            Variant("all levels in one kernel, hubs in L2 (the default)"),
            Variant("all levels in one kernel, hub cache in shared memory", _HUB_CACHE),
        ),
    ),
    "simdx": Table(
        ((_BFS, _ALL),),
        (
            Variant("filter: ballot only", _BALLOT),
            Variant("filter: online only", _ONLINE),
            Variant("filter: just in time (the default)"),
            Variant("fusion: none", {"fusion": "none"}),
            Variant("fusion: selective", {"fusion": "selective"}),
            Variant("fusion: all (the default)"),
        ),
    ),
    "simdx_sssp": Table(
        (("sssp", _ALL),),
        (
            Variant("fusion: none", {"fusion": "none"}),
            Variant("fusion: all (the default)"),
            Variant("one bucket: a queue without an order", path="sync-push-dd"),
            Variant("one bucket: scans of all vertices", path="sync-push-td"),
        ),
    ),
    "sepgraph": Table(
        ((_BFS, _ALL), ("sssp", _ALL), ("pagerank in float32, an iteration", _SKEWED)),
        (Variant("auto"), *(Variant(str(path), path=str(path)) for path in PATHS)),
    ),
}

RUNS: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {name: partial(run, table) for name, table in TABLES.items()}
"""The tables as separate benchmarks."""
