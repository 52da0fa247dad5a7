"""Faults at random supersteps of jobs with checkpoints: ``python -m tests.cluster.faults --count 200``.

A run is ended by one fault after another, each on a random rank after a random number of supersteps, and started again
every time, until it gets to its end. Each fault has to end the job within seconds with an error that names the rank,
and leave no result; the answer in the end has to be the bytes of a run that nothing happened to.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.cluster.faulty import KINDS
from tests.cluster.jobs import run_job

WITHIN = 10.0
_JOB = ("-m", "tests.cluster.faulty")


class Faults:
    """Jobs on ``ranks`` ranks, in a folder of their own."""

    def __init__(self, folder: Path, ranks: int) -> None:
        self.folder, self.ranks = folder, ranks
        (folder / "whole").mkdir(parents=True)
        (folder / "run").mkdir()
        self.expected = self._finished("whole")

    def _run(self, name: str, kind: str, rank: int, after: int) -> Any:
        return run_job(*_JOB, str(self.folder / name), kind, str(rank), str(after), ranks=self.ranks, timeout=300)

    def _finished(self, name: str) -> bytes:
        done = self._run(name, "none", 0, 0)
        assert done.returncode == 0, done.stderr[-3000:]
        result = self.folder / name / "ranks.npz"
        with np.load(result) as columns:
            return b"".join(columns[column].tobytes() for column in sorted(columns.files))

    def fault(self, kind: str, rank: int, after: int) -> float | None:
        """One fault; the seconds from it to the end of the job, None if the run was over before."""
        run = self.folder / "run"
        done = self._run("run", kind, rank, after)
        ended = time.time()
        if not (run / "fault").exists():
            assert done.returncode == 0, done.stderr[-3000:]
            (run / "ranks.npz").unlink()
            return None
        began = float((run / "fault").read_text())
        (run / "fault").unlink()
        assert done.returncode != 0, f"{kind}: the job ended as if nothing had happened"
        assert not (run / "ranks.npz").exists(), f"{kind}: a result was left"
        assert not (run / "ranks").exists(), f"{kind}: a data set was left"
        # of a process that leaves without a word the launcher tells its name: [prterun-host-123@job,rank]
        named = re.search(rf"rank\D{{0,3}}{rank}\b|@\d+,{rank}\]", done.stderr)
        assert named, f"{kind}: the error does not name rank {rank}: {done.stderr[-2000:]}"
        return ended - began

    def restarted(self) -> None:
        """Let the run get to its end, and compare."""
        assert self._finished("run") == self.expected, "another answer after the restart"
        shutil.rmtree(self.folder / "run")
        (self.folder / "run").mkdir()


def drawn(draw: np.random.Generator, number: int, ranks: int) -> tuple[str, int, int]:
    """The next fault: its kind in turn, on a random rank after a random number of supersteps."""
    kind = KINDS[number % len(KINDS)]
    rank = 0 if kind == "kill while writing" else int(draw.integers(ranks))
    return kind, rank, int(draw.integers(1, 8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200, help="faults in all")
    parser.add_argument("--chain", type=int, default=len(KINDS), help="faults of one run before it may end")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    draw = np.random.default_rng(given.seed)
    slowest: dict[str, float] = {}
    kinds: Counter[str] = Counter()
    folder = Path(tempfile.mkdtemp())
    number, restarts = 0, 0
    try:
        jobs = {ranks: Faults(folder / str(ranks), ranks) for ranks in (2, 3)}
        while number < given.count:
            run = jobs[2 + restarts % 2]
            for _ in range(min(given.chain, given.count - number)):
                kind, rank, after = drawn(draw, number, run.ranks)
                seconds = run.fault(kind, rank, after)
                while seconds is None:  # the run was over; a new one
                    run.restarted()
                    seconds = run.fault(kind, rank, after)
                assert seconds < WITHIN, f"{kind} on rank {rank}: the job took {seconds:.1f} s to end"
                number += 1
                kinds[kind] += 1
                slowest[kind] = max(slowest.get(kind, 0.0), seconds)
                print(f"{number:4} {kind} on rank {rank} of {run.ranks}, step {after}: {seconds:.2f} s", flush=True)
            run.restarted()
            restarts += 1
    finally:
        shutil.rmtree(folder)
    print(f"{number} faults, {restarts} runs to the end with the same bytes; the longest time from a fault to the end:")
    for kind, count in kinds.items():
        print(f"  {kind}: {count} times, {slowest[kind]:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
