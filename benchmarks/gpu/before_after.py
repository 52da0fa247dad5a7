"""Two versions of Dromos on one device, in turn: ``python -m benchmarks.gpu.before_after BEFORE [AFTER]``.

Each argument is a folder with the files of a commit (``git archive``); AFTER is this one unless given. A version runs
in a process of its own, on graphs that are made on the device alike, and is timed by the same code, that of its own
``benchmarks/gpu/timing.py``. Only one of them works at a time; they take turns by round, and who begins alternates.
All is done several times, in new processes: where arrays happen to lie on the device shows in the times.
A row's times are the best of all rounds for each of four sources, of those the median; ``ratio`` is after over before.
Work without a source is done several times in each turn: the first time the device changes over to this process, and
the host has just been woken.
``device`` is the time between CUDA events around the run, ``call`` the host's clock around the public function, result
on the host. The table is printed in Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["main"]

GRAPHS = ("kron20", "kron22", "urand22", "grid2000")
BETWEENNESS = "betweenness, four sources"
WORKS = (
    "bfs, levels and parents", "sssp", "pagerank, an iteration", "components", "core numbers", "triangles", BETWEENNESS,
)  # fmt: skip
_SOURCES = 4
_REPEATS = 4
_ROUNDS = 12
_CLOCKS = ("device", "call")

Times: TypeAlias = dict[tuple[str, str, str], dict[int, float]]
"""The best milliseconds from each source, by work, version and clock."""


class Version:
    """One version in a process of its own, which answers one question at a time."""

    def __init__(self, name: str, folder: Path, script: str = __file__) -> None:
        self.name = name
        paths = os.pathsep.join((str(folder / "src"), str(folder)))
        self._process = subprocess.Popen(
            [sys.executable, "-P", script, "--worker"], env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        )  # fmt: skip

    def ask(self, **question: Any) -> None:
        """Send a question."""
        assert self._process.stdin is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        """The answer to it."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of the version {self.name!r} has ended; what it said is above")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.before_after", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path, nargs="?", default=Path(__file__).parents[2])
    parser.add_argument("--graphs", default=",".join(GRAPHS), help="apart by commas")
    parser.add_argument("--seconds", type=float, default=15.0, help="for the rounds on one graph")
    parser.add_argument("--works", default="", help="by the beginnings of their names, apart by commas")
    parser.add_argument("--starts", type=int, default=2, help="how often both are started anew")
    args = parser.parse_args(arguments)
    works = [work for work in WORKS if work.startswith(tuple(args.works.split(",")))]
    folders = {"before": args.before.resolve(), "after": args.after.resolve()}
    print("| graph | work | " + " | ".join(f"{c} before ms | {c} after ms | ratio" for c in _CLOCKS) + " |")
    print("| --- | --- |" + " ---: |" * 3 * len(_CLOCKS))
    for graph in args.graphs.split(","):
        times: Times = {}
        for start in range(args.starts):
            names = reversed(folders) if start % 2 else folders
            _take_turns([(name, folders[name]) for name in names], graph, works, args.seconds / args.starts, times)
        for work in works:
            print(_row(graph, work, times), flush=True)
    return 0


def _take_turns(folders: list[tuple[str, Path]], graph: str, works: list[str], seconds: float, times: Times) -> None:
    """Rounds of works on one graph by both versions, started in this order; the best times go into ``times``."""
    versions: list[Version] = []
    try:
        for name, folder in folders:
            versions.append(Version(name, folder))
            versions[-1].ask(graph=graph, works=works)  # both at once, since this is not timed
        for version in versions:
            version.answer()
        begin = time.perf_counter()
        for number in range(_ROUNDS):
            if number > 2 and time.perf_counter() - begin > seconds:
                break
            for work in works:
                for version in versions if number % 2 else reversed(versions):
                    version.ask(work=work)
                    for clock, by_source in zip(_CLOCKS, version.answer(), strict=True):
                        best = times.setdefault((work, version.name, clock), {})
                        for source, ms in enumerate(by_source):
                            best[source] = min(ms, best.get(source, ms))
    finally:
        for version in versions:
            version.close()


def _row(graph: str, work: str, times: Times) -> str:
    cells = [graph, work]
    for clock in _CLOCKS:
        before, after = (statistics.median(times[work, name, clock].values()) for name in ("before", "after"))
        cells += [f"{before:.3f}", f"{after:.3f}", f"{after / before:.2f}"]
    return f"| {' | '.join(cells)} |"


# ---- in the process of a version: only what both versions have is imported here --------------------------------------


class _Worker:
    """Answers questions about one version."""

    def __init__(self) -> None:
        from benchmarks.gpu.device import compile_less
        from benchmarks.gpu.works import WORKS as OWN
        from dromos.runner.devices import engine_for

        compile_less()
        self._engine = engine_for("cuda")
        self._works = {work.name: work for work in OWN}
        self._case: Any = None

    def graph(self, graph: str, works: list[str]) -> None:
        """Make a graph, and run the works on it twice, so that kernels are compiled and copies made."""
        from benchmarks.gpu.resident import resident

        if self._case is not None:
            self._case.release()
        self._case = resident(graph, _SOURCES)
        for work in works:
            for _ in range(2):
                self.times(work)

    def times(self, name: str) -> tuple[list[float], list[float]]:
        """Milliseconds on the device, and of whole calls, from each source."""
        from benchmarks.gpu.timing import run_native, wall_ms

        case, engine = self._case, self._engine
        if name == BETWEENNESS:
            import dromos as dr

            device = run_native("betweenness", case, sources=case.sources).ms
            call = wall_ms(lambda: dr.betweenness(case.graph, sources=case.sources, device=engine)["centrality"])
            return [device], [call]
        work = self._works[name]
        sources, repeats = (case.sources, 1) if work.by_source else (case.sources[:1], _REPEATS)
        device_ms = [min(work.run(engine, case, s, None).ms / work.per for _ in range(repeats)) for s in sources]
        call_ms = [min(wall_ms(lambda s=s: work.public(engine, case, s)) for _ in range(repeats)) for s in sources]  # type: ignore[misc]
        return device_ms, call_ms


def _answer_all() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries must not mix with the answers
    worker = _Worker()
    for line in sys.stdin:
        question = json.loads(line)
        answer = worker.graph(**question) if "graph" in question else worker.times(question["work"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    if "--worker" in sys.argv:
        _answer_all()
    else:
        sys.exit(main())
