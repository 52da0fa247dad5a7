"""One run of each algorithm under Nsight Compute, and a table that sums up the metrics of each run's kernels.

    ncu --profile-from-start off --nvtx --csv --page raw --print-units base --log-file ncu.csv \\
        --metrics $(python -m benchmarks.gpu.profile --metrics) python -m benchmarks.gpu.profile [GRAPH …]
    python -m benchmarks.gpu.profile --table ncu.csv

Nsight Compute runs every kernel several times, restoring its memory in between, so the time here is that of a device
that does nothing else, without the host's part.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.works import WORKS

__all__ = ["METRICS", "main", "rows_of"]

METRICS = {
    "gpu__time_duration.sum": "ms",
    "dram__bytes.sum": "GB of memory",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory %",
    "lts__t_sectors.sum": "M L2 sectors",
    "lts__t_sector_hit_rate.pct": "L2 hits %",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2 %",
    "l1tex__throughput.avg.pct_of_peak_sustained_elapsed": "L1 %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps %",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue %",
}
_ADDED_UP = {"ms": 1e-6, "GB of memory": 1e-9, "M L2 sectors": 1e-6}  # from nanoseconds, bytes and sectors
_GRAPHS = ("kron22", "urand22", "grid3000")
_LABEL = re.compile(r"<default domain>:([^:]+)")
_SHORT = 0.02  # of a run's time: kernels below this are copies and fills


def main(arguments: Sequence[str]) -> int:
    """Run the algorithms on the named graphs, or print the metrics or the table (see the module docstring)."""
    if arguments[:1] == ["--metrics"]:
        print(",".join(METRICS))
    elif arguments[:1] == ["--table"]:
        with open(arguments[1], newline="") as file:
            lines = [line for line in file if not line.startswith("==")]
        print("| run | kernels | " + " | ".join(METRICS.values()) + " |")
        print("| --- " * (2 + len(METRICS)) + "|")
        for row in rows_of(csv.DictReader(lines)):
            print("| " + " | ".join(str(value) for value in row.values()) + " |")
    else:
        _watch(arguments or _GRAPHS)
    return 0


def _watch(names: Iterable[str]) -> None:
    import cupy as cp
    from cupyx.profiler import time_range

    from dromos.engines.cuda import CudaEngine

    engine = CudaEngine()
    for name in names:
        case = resident(name, 4)
        for label, call in _calls(engine, case):
            call()  # compile, and allocate the memory
            cp.cuda.Device().synchronize()
            cp.cuda.runtime.profilerStart()
            with time_range(f"{label} on {name}"):
                call()
                cp.cuda.Device().synchronize()
            cp.cuda.runtime.profilerStop()
        case.release()


def _calls(engine: Any, case: Resident) -> Iterator[tuple[str, Any]]:
    from dromos.engines.cuda.native.joint import Search

    source, kind = case.sources[1], case.name.rstrip("0123456789")
    for work in WORKS:
        if kind in work.graphs and work.name != "bfs, levels":
            yield work.name, lambda work=work: work.run(engine, case, source, None)
    if kind != "grid":
        search = Search(case.device_graph(), 128)
        group = np.random.default_rng(1).integers(0, case.csr.num_vertices, 128)
        yield "128 searches together", lambda: search.run(0, group)


def rows_of(kernels: Iterable[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """A row for each run: counters are summed over its kernels, percentages are weighted by their times.

    >>> one = {"Ranges": '7 "<default domain>:bfs on kron22:none"', "gpu__time_duration.sum": "2000000"}
    >>> two = {**one, "gpu__time_duration.sum": "1000000", "dram__bytes.sum": "3,000,000,000"}
    >>> [(row["run"], row["kernels"], row["ms"], row["GB of memory"]) for row in rows_of([one, two])]
    [('bfs on kron22', 2, 3.0, 3.0)]
    """
    runs: dict[str, list[dict[str, float]]] = {}
    for kernel in kernels:
        ranges = next((text for key, text in kernel.items() if "range" in key.lower() and text), "")
        label = _LABEL.search(ranges)
        if label is None:
            continue  # the line of units
        found = {said: float(kernel.get(metric, "0").replace(",", "") or 0) for metric, said in METRICS.items()}
        runs.setdefault(label[1], []).append(found)
    for label, found in runs.items():
        longest = max(kernel["ms"] for kernel in found)
        found = [kernel for kernel in found if kernel["ms"] >= _SHORT * longest]
        time = sum(kernel["ms"] for kernel in found)
        row: dict[str, Any] = {"run": label, "kernels": len(found)}
        for said in METRICS.values():
            if said in _ADDED_UP:
                row[said] = round(sum(kernel[said] for kernel in found) * _ADDED_UP[said], 3)
            else:
                row[said] = round(sum(kernel[said] * kernel["ms"] for kernel in found) / max(time, 1e-9), 1)
        yield row


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
