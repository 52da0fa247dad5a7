"""``python -m tests.faults``: the long form; it fails if one fault was not told, or changed an answer."""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from tests.faults.running import NAMES, Outcome, inject

_SHARE = 250
"""Faults of one process: a crash loses no more, and is seen as such."""


def _inject(first: int, last: int) -> int:
    """The faults ``first..last`` in this process, one line for each."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            found = inject(number // len(NAMES), NAMES[number % len(NAMES)], Path(folder), compiled=True)
            print(found.seed, found.kind, found.result, found.text.replace(folder, "").replace("\t", " "), sep="\t")
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("dromos-read")]
    if left:
        print(0, "threads that are left", "WRONG", ", ".join(left), sep="\t")
    return 0


def _share(first: int, last: int) -> list[Outcome]:
    command = [sys.executable, "-m", "tests.faults", "--between", f"{first}:{last}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    found = []
    for line in done.stdout.splitlines():
        seed, kind, result, text = line.split("\t")
        found.append(Outcome(int(seed), kind, result, text))
    if done.returncode or len(found) < last - first:
        found.append(Outcome(first, "a process", "WRONG", f"ended with {done.returncode} after {len(found)} faults"))
    return found


def main() -> int:
    """Inject, print a table, and tell by the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--faults", type=int, default=1000, help="how many [default: 1000]")
    parser.add_argument("--between", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.between:
        return _inject(*map(int, arguments.between.split(":")))
    began, found = time.monotonic(), list[Outcome]()
    for first in range(0, arguments.faults, _SHARE):
        found += _share(first, min(first + _SHARE, arguments.faults))
    wrong = [outcome for outcome in found if not outcome.fine]
    print(f"{platform.machine()}: {len(found)} faults in {time.monotonic() - began:.0f} s, {len(wrong)} of them wrong")
    for kind in NAMES:
        ends = Counter(outcome.result for outcome in found if outcome.kind == kind)
        print(f"{kind:22}", ", ".join(f"{count} {result}" for result, count in sorted(ends.items())))
    print("\nAn error of each kind:")
    for kind in NAMES:
        text = next((outcome.text for outcome in found if outcome.kind == kind and outcome.text), "")
        if text:
            print(f"{kind}: {text}")
    for outcome in wrong:
        print(f"WRONG seed {outcome.seed}, {outcome.kind}: {outcome.text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
