"""Graph 500 by the rules: an R-MAT graph made and built over the ranks, searches from random keys, each validated."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dromos.algorithms.bfs import BFS
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, VerificationError
from dromos.graph.generators.rmat import rmat_edges
from dromos.graph500 import shortest_paths
from dromos.graph500.shortest_paths import edge_weights, find_distance_fault
from dromos.graph500.validation import find_fault, traversed_edges
from dromos.places.cluster import ClusterEngine, RankGraph
from dromos.runner.loop import iterate

__all__ = ["Outcome", "Searches", "run"]


@dataclass(frozen=True)
class Searches:
    """The searches of one kernel: the time of each, the edges it traversed, and the time of its validation."""

    times: list[float] = field(default_factory=list)
    edges: list[int] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)

    @property
    def harmonic_mean(self) -> float:
        """Traversed edges per second, as Graph 500 averages them."""
        return len(self.times) / sum(t / max(m, 1) for t, m in zip(self.times, self.edges, strict=True))

    def lines(self, name: str) -> list[tuple[str, str]]:
        """The lines that the benchmark's rules require."""
        rates, prefix = [m / t for t, m in zip(self.times, self.edges, strict=True)], f"{name:<5}"
        return [
            *_spread(prefix, "_time", self.times),
            *_spread(prefix, "_nedge", [float(m) for m in self.edges]),
            *_spread(prefix, "_TEPS", rates, mean=False),
            (f"{prefix}harmonic_mean_TEPS", f"!  {self.harmonic_mean:.6g}"),
            (f"{prefix}harmonic_stddev_TEPS", f"{_harmonic_deviation(rates):.6g}"),
            (f"{prefix}mean_validate", f"{np.mean(self.validation):.6g}"),
        ]


@dataclass(frozen=True)
class Outcome:
    """The measurements, and the official output."""

    scale: int
    edge_factor: int
    ranks: int
    generation: float
    construction: float
    bfs: Searches = field(default_factory=Searches)
    sssp: Searches = field(default_factory=Searches)
    """Empty unless shortest paths were requested."""

    def text(self) -> str:
        """The lines that the benchmark's rules require.

        >>> searches = Searches([0.5, 0.25], [100, 100], [0.1, 0.1])
        >>> print(Outcome(4, 16, 1, 0.1, 0.2, searches).text().splitlines()[-3])
        bfs  harmonic_mean_TEPS:     !  266.667
        """
        lines = [
            ("SCALE", f"{self.scale}"),
            ("edgefactor", f"{self.edge_factor}"),
            ("NBFS", f"{len(self.bfs.times)}"),
            ("graph_generation", f"{self.generation:.6g}"),
            ("num_mpi_processes", f"{self.ranks}"),
            ("construction_time", f"{self.construction:.6g}"),
            *self.bfs.lines("bfs"),
            *(self.sssp.lines("sssp") if self.sssp.times else []),
        ]
        return "\n".join(f"{name + ':':<28} {value}" for name, value in lines)


def run(
    engine: ClusterEngine,
    scale: int,
    edge_factor: int = 16,
    *,
    searches: int = 64,
    seed: int = 0,
    sssp: bool = False,
    validate: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Outcome:
    """Run the benchmark; every rank of ``engine`` must call this. A wrong tree raises ``VerificationError`` on all
    ranks.

    Args:
        engine: the ranks, and the leaf engine that each of them runs.
        scale: the logarithm of the number of vertices.
        edge_factor: edges per vertex.
        searches: the number of search keys; fewer if fewer vertices have an edge.
        seed: of the graph and of the keys.
        sssp: search for shortest paths too, from the same keys; edges then have weights.
        validate: check every answer by the rules.
        progress: called with ``(searches done, searches)``.
    """
    comm = engine.comm
    if scale < 1 or searches < 1:
        raise InvalidArgumentError(f"scale={scale}, searches={searches}: both have to be 1 or more")
    _load_construction(comm, sssp)
    begin = _now(comm)
    total = edge_factor << scale
    rank, size = comm.Get_rank(), comm.Get_size()
    first, last = total * rank // size, total * (rank + 1) // size
    src, dst, _ = rmat_edges(scale, edge_factor, seed=seed, first=first, last=last, threads=1)
    weights = edge_weights(seed, first, last) if sssp else None
    generated = _now(comm)
    graph = RankGraph.from_edges(comm, src, dst, 1 << scale, weights, deal=True)
    built = _now(comm)
    del src, dst, weights
    outcome = Outcome(scale, edge_factor, size, generated - begin, built - generated)
    keys = search_keys(graph, searches, seed)
    kernels: list[tuple[Searches, Any, Any]] = [(outcome.bfs, _bfs, find_fault)]
    if sssp:
        kernels.append((outcome.sssp, shortest_paths.search, find_distance_fault))
    for done, (found, search, check) in enumerate(kernels):
        search(engine, graph, int(keys[0]))  # compile kernels and touch memory before anything is timed
        # A full collection traverses all objects of the compiler for 100 ms, on another rank in each search.
        gc.collect()
        gc.freeze()
        for number, root in enumerate(keys.tolist()):
            begin = _now(comm)
            *given, own = search(engine, graph, root)
            told = _in_old_ids(graph, own)
            found.times.append(_now(comm) - begin)
            parent = _in_new_ids(graph, told)
            begin = _now(comm)
            fault = check(graph, root, parent, *given) if validate else ""
            found.validation.append(_now(comm) - begin)
            if fault:
                raise VerificationError(f"the search from {root} is wrong: {fault}")
            found.edges.append(traversed_edges(graph, parent))
            if progress is not None:
                progress(done * len(keys) + number + 1, len(kernels) * len(keys))
    return outcome


def _load_construction(comm: Any, sssp: bool) -> None:
    """Build a graph of one edge, so that kernels are compiled, or read from the cache, before anything is timed."""
    rank = comm.Get_rank()
    src, dst, _ = rmat_edges(1, 1, seed=0, first=0, last=1 if rank == 0 else 0, threads=1)
    weights = edge_weights(0, 0, len(src)) if sssp else None
    RankGraph.from_edges(comm, src, dst, 2, weights, deal=True)


def search_keys(graph: RankGraph, count: int, seed: int) -> Array:
    """Distinct vertices that have an edge to another vertex, the same on every rank."""
    own = graph.own_sources()
    others = np.zeros(graph.num_vertices, dtype=np.uint8)
    others[own[own != graph.targets]] = 1
    everyone = np.zeros_like(others)
    graph.comm.Allreduce(others, everyone)
    linked = np.flatnonzero(everyone)
    if not linked.size:
        raise InvalidArgumentError("no vertex has an edge to another one; there is nothing to search")
    return np.random.default_rng(seed).permutation(linked)[:count]


def _in_old_ids(graph: RankGraph, parent: Array) -> Array:
    """The parents of the rank's own vertices, in the ids of the input edges."""
    if graph.old_ids is None:
        return parent
    told: Array = np.where(parent < 0, parent, graph.old_ids[parent])
    return told


def _in_new_ids(graph: RankGraph, told: Array) -> Array:
    """The parents of all vertices, in the graph's ids, on every rank."""
    counts = np.diff(graph.bounds)
    whole = np.empty(graph.num_vertices, dtype=told.dtype)
    graph.comm.Allgatherv(told, [whole, counts])
    if graph.old_ids is None:
        return whole
    new_ids = np.empty_like(graph.old_ids)
    new_ids[graph.old_ids] = np.arange(graph.num_vertices, dtype=new_ids.dtype)
    found: Array = np.where(whole < 0, whole, new_ids[whole])
    return found


def _bfs(engine: ClusterEngine, graph: RankGraph, root: int) -> tuple[Array, ...]:
    """The parents of the rank's own vertices."""
    execution = engine.prepare(BFS(source=root), graph)
    iterate(execution)
    return (execution.parts[0].state["parent"][graph.first : graph.last],)


def _now(comm: Any) -> float:
    comm.Barrier()
    return time.perf_counter()


def _spread(prefix: str, suffix: str, values: list[float], *, mean: bool = True) -> list[tuple[str, str]]:
    quartiles = np.percentile(values, [0, 25, 50, 75, 100])
    names = ("min", "firstquartile", "median", "thirdquartile", "max")
    lines = [(f"{prefix}{name}{suffix}", f"{value:.6g}") for name, value in zip(names, quartiles, strict=True)]
    if mean:
        deviation = np.std(values, ddof=1) if len(values) > 1 else 0.0
        lines += [
            (f"{prefix}mean{suffix}", f"{np.mean(values):.6g}"),
            (f"{prefix}stddev{suffix}", f"{deviation:.6g}"),
        ]
    return lines


def _harmonic_deviation(rates: list[float]) -> float:
    """The standard deviation of a harmonic mean, by the benchmark's formula."""
    if len(rates) < 2:
        return 0.0
    inverse = 1 / np.array(rates)
    mean = 1 / inverse.mean()
    return float(inverse.std(ddof=1) / np.sqrt(len(rates) - 1) * mean**2)
