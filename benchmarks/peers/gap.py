"""The GAP benchmark suite's C++ programs (OpenMP), run on the same graph written as ``.sg`` and ``.wsg``.

They keep their own time ("Trial Time"), without loading. PageRank there is in float32 and in place (Gauss-Seidel).
Betweenness takes one source by ``-r``, so that the times of a run a source are added.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from benchmarks.cases import Case
from benchmarks.peers import Peer, Reported, Unavailable
from dromos import Graph

_TRIALS = 3
_DELTAS = (2, 8, 32, 128, 256)
_SLOWER = 1.3


class Gap(Peer):
    notes = {"pagerank": "GAP's ranks are float32", "betweenness": "sum of four runs"}  # noqa: RUF012

    def __init__(self, case: Case, threads: int) -> None:
        super().__init__(case, threads)
        self.folder = Path(os.environ["GAPBS_DIR"])
        if not (self.folder / "bfs").is_file():
            raise Unavailable(f"GAPBS_DIR={self.folder} holds no program named bfs")
        self.graphs = case.folder or Path(tempfile.mkdtemp(prefix="dromos-gap-"))
        self._write(case.graph, "g.sg")

    def close(self) -> None:
        if self.case.folder is None:
            shutil.rmtree(self.graphs)

    def bfs(self, source: int) -> Reported:
        return self._run("bfs", "-r", source)

    def read_bfs(self, raw: str) -> dict[str, Any]:
        return {"reached": _number(r"BFS Tree has (\d+) nodes", raw)}

    def sssp(self, source: int) -> Reported:
        self.notes = {**self.notes, "sssp": f"the best delta for GAP, {self._delta}"}
        return self._run("sssp", "-r", source, "-d", self._delta, file="g.wsg")

    def read_sssp(self, raw: str) -> dict[str, Any]:
        return {"reached": _number(r"SSSP Tree reaches (\d+) nodes", raw)}

    def pagerank(self, iterations: int) -> Reported:
        return self._run("pr", "-i", iterations, "-t", 0)

    def connected_components(self) -> Reported:
        return self._run("cc")

    def read_connected_components(self, raw: str) -> dict[str, Any]:
        return {"count": _number(r"There are (\d+) components", raw)}

    def betweenness(self, sources: list[int]) -> Reported:
        runs = [self._run("bc", "-i", 1, "-r", source).seconds for source in sources]
        return Reported(tuple(map(sum, zip(*runs, strict=True))), None)

    def triangles(self) -> Reported:
        return self._run("tc", trials=1)

    def read_triangles(self, raw: str) -> dict[str, Any]:
        return {"total": _number(r"(\d+) triangles", raw)}

    @cached_property
    def _delta(self) -> int:
        """The width of buckets that suits GAP best on this graph, by a run from one source each.

        Narrower ones are tried until they are slower: on a lattice the narrowest takes 30 times as long as the best.
        """
        self._write(self.case.weighted, "g.wsg")
        source, taken = self.case.sources[0], dict[int, float]()
        for delta in sorted(_DELTAS, reverse=True):
            seconds = self._run("sssp", "-r", source, "-d", delta, file="g.wsg", trials=2).seconds
            taken[delta] = min(seconds)
            if taken[delta] > _SLOWER * min(taken.values()):
                break
        return min(taken, key=taken.__getitem__)

    def _write(self, graph: Graph, file: str) -> None:
        """Leave a graph for GAP's programs; one that is kept with the case is written once."""
        if not (self.graphs / file).exists():
            graph.write(self.graphs / file)

    def _run(self, program: str, *options: object, file: str = "g.sg", trials: int = _TRIALS) -> Reported:
        command = [self.folder / program, "-f", self.graphs / file, "-n", self.trials or trials, "-a", *options]
        environment = {**os.environ, "OMP_NUM_THREADS": str(self.threads)}
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, env=environment)
        return Reported(tuple(map(float, re.findall(r"Trial Time:\s+(\S+)", done.stdout))), done.stdout)


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"GAP's output has no line like {pattern!r}")
    return int(found[1])


create = Gap
