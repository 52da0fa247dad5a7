"""Runs cases on many threads until the time is up, and counts what went wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.stress.cases import Case, Fields, answer

__all__ = ["Tally", "background_load", "stress"]


@dataclass
class Tally:
    """What a run came to."""

    cases: int = 0
    runs: int = 0
    faults: list[str] = field(default_factory=list)
    ended: bool = True
    """Whether all cases were run, and not only those for which there was time."""


def stress(
    cases: Sequence[Case], threads: Sequence[int], runs: int, seconds: float = float("inf"), device: str = "cpu"
) -> Tally:
    """Run each case ``runs`` times on each number of threads, and hold it against what one thread of the CPU answers.

    For another device that is NumPy's engine, which need not be compiled. After ``seconds`` no other case is begun.
    """
    tally, end = Tally(), time.monotonic() + seconds
    answers: dict[str, Fields | None] = {}
    for case in cases:
        if time.monotonic() > end:
            tally.ended = False
            break
        if device == "cpu":
            expected = answer(case, "cpu", 1)
        else:
            if case.question not in answers:
                answers[case.question] = answer(case, "numpy", 1)
            expected = answers[case.question]
        if expected is None or (device != "cpu" and answer(case, device, 1) is None):
            continue
        tally.cases += 1
        for count in threads:
            wrong, why = 0, ""
            for _ in range(runs):
                tally.runs += 1
                try:
                    fault = case.fault(case.run(device, count), expected)
                except Exception as error:  # a refused answer is a fault like any other
                    fault = f"{type(error).__name__}: {error}"
                wrong, why = wrong + bool(fault), fault or why
            if wrong:
                tally.faults.append(f"{case.name}, {count} threads: {wrong} of {runs} runs; {why}")
    return tally


@contextmanager
def background_load(processes: int) -> Iterator[None]:
    """Keep cores busy, so that threads are taken off them in the middle of things."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
