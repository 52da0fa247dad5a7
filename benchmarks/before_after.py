"""Two versions of Dromos on the CPU, in turn: ``python -m benchmarks.before_after BEFORE [AFTER]``.

Each argument is a folder with the files of a commit (``git archive``); AFTER is this one unless given. A version runs
in a process of its own and only one of them works at a time; they take turns by round, and who begins alternates.
Timed are public calls on ``device="cpu"`` with results on the host, warm; searches from four sources. ``best`` is the
best call of all rounds for each source, of those the median; ``median`` the median of all calls; ``ratio`` is after
over before. The table is printed in Markdown. Other work on the machine makes it worthless.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["main"]

GRAPHS = ("kron20", "urand20", "grid1000")
WORKS = (
    "bfs", "bfs by pushes", "sssp", "pagerank, 10 iterations", "first call of pagerank, 10 iterations",
    "first call of pagerank, 3 iterations", "components", "core numbers", "betweenness", "triangles",
    "distances, 64 sources", "coloring",
)  # fmt: skip
_SOURCES = 4


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    from benchmarks.gpu.before_after import Version

    parser = argparse.ArgumentParser(prog="python -m benchmarks.before_after", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=Path(__file__).parents[1])
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="apart by commas")
    parser.add_argument("--works", default="", help="by the beginnings of their names, apart by commas")
    parser.add_argument("--seconds", type=float, default=4.0, help="for the rounds of one work on one graph")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    args = parser.parse_args(arguments)
    works = [work for work in WORKS if work.startswith(tuple(args.works.split(",")))]
    figures = "".join(f" {figure} before ms | {figure} after ms | ratio |" for figure in ("best", "median"))
    print(f"{args.threads} threads\n\n| graph | call |{figures}")
    print("| --- | --- |" + " ---: |" * 6)
    for graph in args.graphs.split(","):
        versions = [Version(n, f.resolve(), __file__) for n, f in (("before", args.before), ("after", args.after))]
        try:
            for version in versions:
                version.ask(graph=graph, threads=args.threads)
                version.answer()
            for work in works:
                print(_row(graph, work, _rounds(versions, work, args.seconds)), flush=True)
        finally:
            for version in versions:
                version.close()
    return 0


def _rounds(versions: list[Any], work: str, seconds: float) -> dict[str, list[list[float]]]:
    """Milliseconds of a work by version, one list per round, one number per source."""
    times: dict[str, list[list[float]]] = {version.name: [] for version in versions}
    begin = time.perf_counter()
    number = 0
    while number < 3 or time.perf_counter() - begin < seconds:
        for version in versions if number % 2 else versions[::-1]:
            version.ask(work=work)
            times[version.name].append(version.answer())
        number += 1
    return {name: rounds[1:] for name, rounds in times.items()}  # the first one compiles


def _row(graph: str, work: str, times: dict[str, list[list[float]]]) -> str:
    cells = [graph, work]
    for figure in (_best, _median):
        before, after = (figure(times[name]) for name in ("before", "after"))
        cells += [f"{before:.2f}", f"{after:.2f}", f"{after / before:.2f}"]
    return f"| {' | '.join(cells)} |"


def _best(rounds: list[list[float]]) -> float:
    return float(statistics.median(min(by_source) for by_source in zip(*rounds, strict=True)))


def _median(rounds: list[list[float]]) -> float:
    return float(statistics.median(ms for one in rounds for ms in one))


# ---- in the process of a version: only what both versions have is imported here --------------------------------------


class _Worker:
    """Answers requests about one version."""

    def __init__(self) -> None:
        self._calls: dict[str, list[Callable[[], Any]]] = {}

    def graph(self, graph: str, threads: int) -> None:
        """Make a graph and the calls on it."""
        import numpy as np

        import dromos as dr

        kind, size = graph.rstrip("0123456789"), int(graph[len(graph.rstrip("0123456789")) :])
        made = {
            "kron": lambda: dr.generators.rmat(size, seed=1),
            "urand": lambda: dr.generators.uniform(1 << size, 16 << size, seed=1, directed=False),
            "grid": lambda: dr.generators.grid(size, size),
        }[kind]()
        weighted = dr.generators.with_random_weights(made, 1, 255, seed=1)
        random = np.random.default_rng(1)
        reached = np.flatnonzero(made.out_degree)
        sources = [int(v) for v in random.choice(reached, _SOURCES, replace=False)]
        many = [int(v) for v in random.choice(reached, 64, replace=False)]
        how: dict[str, Any] = {"device": "cpu", "threads": threads}
        self._calls = {
            "bfs": [lambda s=s: dr.bfs(made, s, **how) for s in sources],  # type: ignore[misc]
            "bfs by pushes": [lambda s=s: dr.bfs(made, s, path="sync-push-dd", **how) for s in sources],  # type: ignore[misc]
            "sssp": [lambda s=s: dr.sssp(weighted, s, **how) for s in sources],  # type: ignore[misc]
            "pagerank, 10 iterations": [lambda: _to_its_limit(lambda: dr.pagerank(made, max_iter=10, tol=0, **how))],
            **{
                f"first call of pagerank, {count} iterations": [lambda n=count: _of_a_new_graph(weighted, n, how)]
                for count in (10, 3)
            },
            "components": [lambda: dr.connected_components(made, **how)],
            "core numbers": [lambda: dr.core_numbers(made, **how)],
            "betweenness": [lambda: dr.betweenness(made, sources=sources, **how)],
            "triangles": [lambda: dr.triangles(made, **how)],
            "distances, 64 sources": [lambda: dr.distances(made, many, **how)],
            "coloring": [lambda: dr.coloring(made, **how)],
        }

    def times(self, work: str) -> list[float]:
        """Milliseconds of one call for each source."""
        return [_milliseconds(call) for call in self._calls[work]]


def _of_a_new_graph(weighted: Any, iterations: int, how: dict[str, Any]) -> None:
    """PageRank on a graph for which nothing is kept."""
    import dromos as dr

    graph = weighted.with_weights(None)
    _to_its_limit(lambda: dr.pagerank(graph, max_iter=iterations, tol=0, **how))


def _to_its_limit(call: Callable[[], Any]) -> None:
    from dromos.errors import ConvergenceError

    with contextlib.suppress(ConvergenceError):
        call()


def _milliseconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)


def _answer_all() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not mix with the answers
    worker = _Worker()
    for line in sys.stdin:
        question = json.loads(line)
        answer: list[float] = []
        if "graph" in question:
            worker.graph(**question)
        else:
            answer = worker.times(question["work"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    if "--worker" in sys.argv:
        _answer_all()
    else:
        sys.exit(main())
