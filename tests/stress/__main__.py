"""``python -m tests.stress``: the long form, with a summary; it fails if one answer differed."""

from __future__ import annotations

import argparse
import itertools
import platform
import random
import sys
import time

from dromos.parallel import num_threads
from tests.stress.cases import Case, algorithm_cases, program_cases
from tests.stress.colliding import SHAPES, graph_of
from tests.stress.running import Tally, background_load, stress


def _cases(arguments: argparse.Namespace) -> list[Case]:
    found: list[Case] = []
    only = tuple(arguments.only.split(",")) if arguments.only else ()
    for shape in SHAPES:
        directed = graph_of(shape, arguments.seed)
        undirected = graph_of(shape, arguments.seed, directed=False)
        found += program_cases(directed, shape, arguments.device, only)
        found += algorithm_cases(directed, undirected, shape, arguments.device, only)
    return found


def main() -> int:
    """Run, print, and tell by the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long [default: 600]")
    parser.add_argument("--runs", type=int, default=20, help="runs of a case in a row [default: 20]")
    parser.add_argument("--seed", type=int, default=1, help="of the graphs and of the order of cases [default: 1]")
    parser.add_argument("--device", default="cpu", help="[default: cpu]")
    parser.add_argument("--load", type=int, default=1, help="busy processes beside it [default: 1]")
    parser.add_argument("--only", default="", help="names of algorithms and programs, with commas [default: all]")
    arguments = parser.parse_args()
    cores = num_threads()
    threads = (max(cores, 2), 2 * max(cores, 2))
    cases = _cases(arguments)
    random.Random(arguments.seed).shuffle(cases)
    began, total = time.monotonic(), Tally()
    print(f"{platform.machine()}, {cores} cores, {threads[0]} and {threads[1]} threads, {len(cases)} cases at most")
    with background_load(arguments.load):
        for number in itertools.count(1):
            left = arguments.seconds - (time.monotonic() - began)
            if left <= 0:
                break
            tally = stress(cases, threads, arguments.runs, left)
            total.cases, total.runs = max(total.cases, tally.cases), total.runs + tally.runs
            total.faults += tally.faults
            print(f"round {number}: {tally.cases} cases, {tally.runs} runs, {len(tally.faults)} with a wrong answer")
    for fault in total.faults:
        print(f"WRONG {fault}")
    print(
        f"{total.runs} runs of {total.cases} cases in {time.monotonic() - began:.0f} s, seed {arguments.seed}: "
        f"{'no answer differed' if not total.faults else f'{len(total.faults)} cases gave a wrong answer'}"
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
