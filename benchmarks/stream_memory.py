"""Whether runs on disk stay within their budget: peaks of memory at four budgets, as the system reports them.

The largest budget holds the graph and the run, which then reads the graph whole.

Each call runs in a process of its own, which first runs the same algorithm on a small store, so that libraries and
kernels are loaded. *Before* is the memory of the process then, *peak* the most afterwards, and *grown* their
difference: what ``memory=`` promises to bound. *Beyond* is the peak minus the budget: libraries and kernels. All are
resident memory (RSS).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import dromos as dr
from benchmarks.cases import chosen
from benchmarks.record import say
from benchmarks.streaming import CALLS, fresh, source_of, status_bytes, store_of
from dromos.graph.store.paged.ways import READS
from dromos.places.stream.whole import over_pages
from dromos.sizes import as_bytes

__all__ = ["run"]

KEY = ("graph", "algorithm", "memory")


def run(scale: int = 20, quick: bool = False, rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Yield one row per algorithm and budget; the least budget is little more than the vertex fields need."""
    scale = 14 if quick else scale
    megabytes = (8, 16) if quick else tuple(size << max(0, scale - 20) for size in (56, 80, 128, 640))
    tiny, file = store_of(12 if quick else 16, "input"), store_of(scale, "input")
    for name, size in product((name for name in CALLS if chosen(name, rows)), megabytes):
        memory = f"{size}M"
        say(f"kron{scale}, {name} in {memory}")
        before, peak, read = fresh(_measured, name, tiny, file, memory)
        yield {
            "graph": f"kron{scale}", "algorithm": name, "memory": memory, "before_mb": before / 1e6,
            "peak_mb": peak / 1e6, "grown_mb": (peak - before) / 1e6, "beyond_mb": (peak - as_bytes(memory)) / 1e6,
            "read_mb": read / 1e6, "file_mb": file.stat().st_size / 1e6,
        }  # fmt: skip


def _measured(name: str, tiny: Path, file: Path, memory: str) -> tuple[int, int, int]:
    os.environ.setdefault(READS, "compiled")  # as the larger store is read
    small = dr.open(tiny)
    CALLS[name](small, source_of(small), memory="1G")
    with over_pages():
        CALLS[name](small, source_of(small), memory="64M")
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak
    before = status_bytes("VmRSS")
    graph = dr.open(file)
    result = CALLS[name](graph, source_of(graph), memory=memory)
    return before, status_bytes("VmHWM"), result.trace.read
