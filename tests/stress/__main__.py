"""``python -m tests.stress``: the long form, with a summary; it fails if one answer differed."""

from __future__ import annotations

import argparse
import itertools
import platform
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from dromos.graph import Graph
from dromos.parallel import num_threads
from tests.stress.cases import Case, Kind, algorithm_cases, answer, program_cases
from tests.stress.colliding import SHAPES, acyclic, graph_of
from tests.stress.running import Tally, background_load, stress


def cases_of(arguments: argparse.Namespace, shapes: tuple[str, ...]) -> list[Case]:
    """The cases of this process: those of every n-th algorithm or program, since what compiles is theirs alone."""
    only = tuple(arguments.only.split(",")) if arguments.only else ()
    found: list[Case] = []
    for shape in shapes:
        directed = graph_of(shape, arguments.seed)
        graphs: dict[Kind, Graph] = {
            "directed": directed,
            "undirected": graph_of(shape, arguments.seed, directed=False),
            "acyclic": acyclic(directed),
        }
        found += program_cases(directed, shape, only)
        found += algorithm_cases(graphs, shape, only)
    number, of = map(int, arguments.shard.split("/"))
    subjects = sorted({case.subject for case in found})
    random.Random(arguments.seed).shuffle(subjects)  # those that compile long are neighbours in the alphabet
    return [case for case in found if subjects.index(case.subject) % of == number]


def _in_shards(arguments: argparse.Namespace, count: int, *more: str) -> Iterator[str]:
    """The same command in ``count`` processes, one part of the cases each; the lines that they print."""
    command = [sys.executable, "-m", "tests.stress", *sys.argv[1:], "--processes", "1", "--load", "0", *more]
    parts = [
        subprocess.Popen([*command, "--shard", f"{number}/{count}"], stdout=subprocess.PIPE, text=True)
        for number in range(count)
    ]
    try:
        for part in parts:
            text, _ = part.communicate()
            yield from text.splitlines()
            if part.returncode not in (0, 1):
                yield f"WRONG a process ended with {part.returncode}"
    finally:
        for part in parts:
            part.kill()
            part.wait()


def _compile(arguments: argparse.Namespace) -> None:
    """Run each case of one shape once, so that all kernels are on disk."""
    for case in cases_of(arguments, SHAPES[:1]):
        answer(case, arguments.device, 2)


def _stress(arguments: argparse.Namespace, seconds: float) -> Tally:
    """Rounds over the cases of this process until the time is up."""
    cores = arguments.threads or max(num_threads(), 2)
    threads = (cores, 2 * cores) if arguments.device == "cpu" else (1,)
    cases = cases_of(arguments, SHAPES)
    random.Random(arguments.seed).shuffle(cases)
    began, total = time.monotonic(), Tally()
    for number in itertools.count(1):
        left = seconds - (time.monotonic() - began)
        if left <= 0 or number > arguments.rounds > 0:
            break
        tally = stress(cases, threads, arguments.runs, left, arguments.device)
        if number == 1:
            total.cases, total.ended = tally.cases, tally.ended
        total.runs += tally.runs
        total.faults += tally.faults
    return total


def main() -> int:
    """Run, print, and tell by the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long [default: 600]")
    parser.add_argument("--rounds", type=int, default=0, help="stop after so many rounds [default: when time is up]")
    parser.add_argument("--runs", type=int, default=20, help="runs of a case in a row [default: 20]")
    parser.add_argument("--seed", type=int, default=1, help="of the graphs and of the order of cases [default: 1]")
    parser.add_argument("--device", default="cpu", help="[default: cpu]")
    parser.add_argument("--threads", type=int, default=0, help="threads, and twice as many [default: all cores]")
    parser.add_argument("--load", type=int, default=1, help="busy processes beside it [default: 1]")
    parser.add_argument("--only", default="", help="names of algorithms and programs, with commas [default: all]")
    parser.add_argument("--compilers", type=int, default=0, help="processes that compile first [default: none]")
    parser.add_argument("--processes", type=int, default=1, help="processes that share the cases [default: 1]")
    parser.add_argument("--shard", default="0/1", help=argparse.SUPPRESS)
    parser.add_argument("--compile-only", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # and with it the processes that were started
    if arguments.compile_only:
        _compile(arguments)
        return 0
    began, total = time.monotonic(), Tally()
    if arguments.shard == "0/1":
        cores = num_threads()
        count = len(cases_of(arguments, SHAPES))
        print(f"{platform.machine()}, {cores} cores, device {arguments.device}, {count} cases at most")
    if arguments.compilers:
        for line in _in_shards(arguments, arguments.compilers, "--compilers", "0", "--compile-only"):
            print(line)
        print(f"compiled in {time.monotonic() - began:.0f} s by {arguments.compilers} processes", flush=True)
    left = max(1.0, arguments.seconds - (time.monotonic() - began))
    with background_load(arguments.load):
        if arguments.processes == 1:
            total = _stress(arguments, left)
        else:
            for line in _in_shards(arguments, arguments.processes, "--compilers", "0", "--seconds", str(left)):
                words = line.split()
                if line.startswith("WRONG"):
                    total.faults.append(line.removeprefix("WRONG "))
                elif words[-1:] in (["ended"], ["stopped"]):
                    total.runs, total.cases = total.runs + int(words[0]), total.cases + int(words[3])
                    total.ended &= words[-1] == "ended"
    for fault in total.faults:
        print(f"WRONG {fault}")
    if arguments.shard != "0/1":
        print(f"{total.runs} runs of {total.cases} cases, {'ended' if total.ended else 'stopped'}")
        return 1 if total.faults else 0
    verdict = f"{len(total.faults)} cases gave a wrong answer" if total.faults else "no answer differed"
    whole = "all cases that are possible" if total.ended else "the cases for which there was time"
    print(
        f"{total.runs} runs of {total.cases} cases ({whole}) in {time.monotonic() - began:.0f} s, "
        f"seed {arguments.seed}: {verdict}"
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
