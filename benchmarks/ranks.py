"""Work over MPI ranks, as lines of JSON: ``mpirun -n 16 python -m benchmarks.ranks bfs --scale 22``.

``bfs``: construction (the best of several), searches, and for the last search each superstep with the bytes sent and
the bound: one bit per vertex to every other rank, or one id per new vertex. ``sssp``, ``pagerank``: the same graph.
``latency``: supersteps with next to no work. ``threads``: PageRank on one process with all its threads. ``in_core``:
one rank against the same calls without ranks, with as many threads. ``communities``: Louvain and Leiden on a graph on
disk, of which each rank reads its own rows; on one rank the kernel for whole graphs, in memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dromos as dr
from dromos import parallel
from dromos.algorithms.bfs import BFS
from dromos.graph.generators.rmat import rmat_edges
from dromos.graph500 import shortest_paths
from dromos.graph500.benchmark import search_keys
from dromos.places.cluster import ClusterEngine, RankGraph, world
from dromos.places.cluster import engine as cluster_engine
from dromos.runner.devices import engine_for
from dromos.runner.loop import iterate

ITERATIONS = 20


class PageRank(dr.Program):
    """PageRank as ``dr.pagerank`` runs it, for a graph that no rank has whole."""

    rank = dr.field(np.float64)
    combine = dr.SUM
    update_on = "all"

    @dr.reduction(dr.SUM)
    def lost(self, v: Any) -> Any:
        return dr.where(v.out_degree == 0, v.rank, 0.0)

    @dr.reduction(dr.SUM)
    def change(self, old: Any, new: Any) -> Any:
        return abs(new.rank - old.rank)

    def init(self, v: Any) -> Any:
        return 1 / self.num_vertices

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.rank / u.out_degree

    def update(self, v: Any, message: Any) -> Any:
        return 0.85 * message + (0.15 + 0.85 * self.lost) / self.num_vertices

    def active(self, old: Any, new: Any) -> Any:
        return True


class Ranks:
    """The ranks of the job, and a Kronecker graph distributed over them."""

    def __init__(self, device: str, scale: int, *, weighted: bool = False, builds: int = 3) -> None:
        engine = engine_for(device)
        assert isinstance(engine, ClusterEngine)
        self.engine, self.comm, self.scale, self.device = engine, engine.comm, scale, device
        self.rank, self.size = self.comm.Get_rank(), self.comm.Get_size()
        self.edges = 16 << scale
        first, last = (self.edges * r // self.size for r in (self.rank, self.rank + 1))
        src, dst, _ = rmat_edges(scale, 16, seed=0, first=first, last=last, threads=1)
        weights = shortest_paths.edge_weights(0, first, last) if weighted else None
        times = []
        for _ in range(builds):
            built, seconds = self.timed(
                lambda: RankGraph.from_edges(self.comm, src, dst, 1 << scale, weights, deal=True)
            )
            times.append(seconds)
        self.graph: RankGraph = built
        self.say("construction", seconds=min(times), first=times[0])

    def timed(self, work: Callable[[], Any]) -> tuple[Any, float]:
        """The result of ``work``, and the seconds from when all ranks begin until all are done."""
        self.comm.Barrier()
        begin = time.perf_counter()
        given = work()
        self.comm.Barrier()
        return given, time.perf_counter() - begin

    def say(self, what: str, **values: Any) -> None:
        if self.rank == 0:
            head = {"work": what, "device": self.device, "scale": self.scale, "ranks": self.size}
            print(json.dumps({**head, **values}), flush=True)

    def run(self, program: dr.Program, **options: Any) -> Any:
        return iterate(self.engine.prepare(program, self.graph), **options)

    def bfs(self, searches: int) -> None:
        keys = search_keys(self.graph, searches + 1, 0).tolist()
        self.run(BFS(source=keys[0]))
        gc.freeze()  # a full collection over the compiler's objects takes longer than a search
        times, sent = [], []
        for key in keys[1:]:
            history, seconds = self.timed(lambda key=key: self.run(BFS(source=key)))
            times.append(seconds)
            sent.append(sum(row.after.sent for row in history))
        rate = self.edges / float(np.mean(times))
        self.say("bfs", median=float(np.median(times)), least=min(times), teps=rate, sent=float(np.mean(sent)))
        for row in history:
            self._superstep(row)

    def _superstep(self, row: Any) -> None:
        before, after = row.before, row.after
        new, others = after.frontier, self.size - 1
        bound = min(others * self.graph.num_vertices // 8, self.graph.targets.itemsize * new) if others else 0
        self.say(
            "superstep", number=before.superstep, path=str(row.decision.path), frontier=before.frontier, new=new,
            edges=before.out_degree, seconds=after.seconds, sent=after.sent, bound=bound, **dict(after.parts),
        )  # fmt: skip

    def sssp(self, searches: int) -> None:
        keys = search_keys(self.graph, searches + 1, 0).tolist()
        shortest_paths.search(self.engine, self.graph, keys[0])
        gc.freeze()
        times = [self.timed(lambda key=key: shortest_paths.search(self.engine, self.graph, key))[1] for key in keys[1:]]
        self.say("sssp", median=float(np.median(times)), least=min(times), teps=self.edges / float(np.mean(times)))

    def pagerank(self) -> None:
        self.run(PageRank(), max_iter=2)
        best, sent = np.inf, 0
        for _ in range(3):
            history, seconds = self.timed(lambda: self.run(PageRank(), max_iter=ITERATIONS))
            best, sent = min(best, seconds), sum(row.after.sent for row in history)
        self.say("pagerank", iteration=best / ITERATIONS, sent=sent / ITERATIONS)


def latency(device: str, length: int = 2000) -> None:
    """The time of a superstep with one vertex in the frontier."""
    engine = engine_for(device)
    graph = dr.generators.path(length)
    assert isinstance(engine, ClusterEngine)
    for _ in range(2):
        execution = engine.prepare(BFS(source=0), graph)
        engine.comm.Barrier()
        begin = time.perf_counter()
        iterate(execution)
        seconds = time.perf_counter() - begin
    if engine.comm.Get_rank() == 0:
        ranks = engine.comm.Get_size()
        print(json.dumps({"work": "latency", "ranks": ranks, "superstep": seconds / length}), flush=True)


def in_core(device: str, scale: int, searches: int) -> None:
    """Time whole calls on one rank and without ranks, in turn: the least time of each and their ratio."""
    graph = dr.generators.rmat(scale, 16, seed=0, weights=(1, 255))
    count = parallel.num_threads()
    keys = np.random.default_rng(1).permutation(np.flatnonzero(graph.out_degree))[:searches].tolist()
    works: dict[str, Callable[[int, dict[str, Any]], Any]] = {
        "bfs": lambda key, how: dr.bfs(graph, key, **how),
        "sssp": lambda key, how: dr.sssp(graph, key, **how),
        "pagerank": lambda _, how: dr.pagerank(graph, max_iter=ITERATIONS, tol=0, on_limit="return", **how),
        "components": lambda _, how: dr.connected_components(graph, **how),
    }
    for name, call in works.items():
        times: dict[str, list[float]] = {device: [], "cpu": []}
        for key in [keys[0], *keys]:  # the first calls load kernels
            for where, taken in times.items():
                begin = time.perf_counter()
                call(key, {"device": where, "threads": count})
                taken.append(time.perf_counter() - begin)
        on_rank, without = (sum(taken[1:]) / len(keys) for taken in times.values())
        least, other = (min(taken[1:]) for taken in times.values())
        print(
            json.dumps(
                {"work": f"in_core {name}", "scale": scale, "threads": count, "rank": on_rank, "without": without,
                 "ratio": on_rank / without, "least": least, "least without": other, "ratio of least": least / other}
            ), flush=True,
        )  # fmt: skip


def communities(device: str, scale: int) -> None:
    """Time whole calls, each after one on a small graph that loads kernels."""
    comm = world()
    rank, size = comm.Get_rank(), comm.Get_size()
    with tempfile.TemporaryDirectory() as own:
        folder = Path(comm.bcast(own))
        if rank == 0:
            for name, exponent in (("small", 10), ("large", scale)):
                dr.write(dr.generators.rmat(exponent, 16, seed=0), folder / f"{name}.drm")
        comm.Barrier()
        for find in (dr.louvain, dr.leiden):
            for name in ("small", "large"):
                graph = dr.open(folder / f"{name}.drm") if size > 1 else dr.read(folder / f"{name}.drm")
                comm.Barrier()
                begin = time.perf_counter()
                found = find(graph, device=device if size > 1 else "cpu")
                seconds = time.perf_counter() - begin
            if rank == 0:
                told = {"work": find.__name__, "ranks": size, "threads": parallel.num_threads(), "scale": scale}
                print(json.dumps({**told, "seconds": seconds, "modularity": found.modularity}), flush=True)
        comm.Barrier()


def threads(scale: int) -> None:
    """PageRank with the threads of this process."""
    graph, best = dr.generators.rmat(scale, 16, seed=0), np.inf
    for _ in range(4):
        begin = time.perf_counter()
        dr.pagerank(graph, max_iter=ITERATIONS, tol=0, on_limit="return", device="cpu")
        best = min(best, time.perf_counter() - begin)
    print(json.dumps({"work": "pagerank on threads", "scale": scale, "iteration": best / ITERATIONS}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    works = ("bfs", "sssp", "pagerank", "latency", "threads", "in_core", "communities")
    parser.add_argument("work", nargs="+", choices=works)
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--searches", type=int, default=16)
    parser.add_argument("--device", default="mpi")
    parser.add_argument("--builds", type=int, default=3, help="the best of so many constructions is told")
    parser.add_argument("--apart", action="store_true", help="as if every rank had a machine of its own")
    given = parser.parse_args()
    if given.apart:
        cluster_engine.host_memory = lambda comm: None
    if "threads" in given.work:
        threads(given.scale)
    if "latency" in given.work:
        latency(given.device)
    if "in_core" in given.work:
        in_core(given.device, given.scale, given.searches)
    if "communities" in given.work:
        communities(given.device, given.scale)
    over_ranks = [work for work in given.work if work in ("bfs", "sssp", "pagerank")]
    if not over_ranks:
        return
    ranks = Ranks(given.device, given.scale, weighted="sssp" in over_ranks, builds=given.builds)
    for work in over_ranks:
        if work == "pagerank":
            ranks.pagerank()
        else:
            getattr(ranks, work)(given.searches)


if __name__ == "__main__":
    main()
