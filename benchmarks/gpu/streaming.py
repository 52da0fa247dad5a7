"""Graphs that are only partly on the device: the other arcs are read in place in the host's memory, over the link.

Times are those of ``algorithms``; ``over_in_core`` is the time over that with all arcs on the device, in the same run.
``peer_ms`` is the best of EMOGI, Liberator and Subway, measured once on such a machine and graph (kron24, a quarter of
the edges on the device); it and the target figures are given beside the rows of that graph and share. The rate of the
link is a row, too: a copy of pinned memory, and a kernel that reads it in place.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from benchmarks.gpu.algorithms import sampled
from benchmarks.gpu.device import milliseconds
from benchmarks.gpu.resident import Resident, resident
from benchmarks.gpu.works import WORKS, Work
from benchmarks.record import say

__all__ = ["KEY", "run"]

KEY = ("work", "graph", "share", "rows")
GRAPHS = ("kron24",)
SHARES = (1.0, 0.5, 0.25, 0.0)
_WORKS = ("bfs, levels and parents", "sssp", "pagerank in float32, an iteration", "components", "core numbers")
_LINK_BYTES = 1 << 30
_ROWS = {False: "as they are", True: "in packs"}


class _Figures(NamedTuple):
    """Milliseconds."""

    peer: str
    peer_ms: float
    must_ms: float
    aim_ms: float


_FIGURES = {
    ("bfs", "kron24", 0.25): _Figures("EMOGI", 72, 30, 6),
    ("sssp", "kron24", 0.25): _Figures("Liberator", 261, 200, 90),
    ("pagerank", "kron24", 0.25): _Figures("EMOGI", 53.5, 40, 18),
    ("components", "kron24", 0.25): _Figures("EMOGI", 118, 60, 20),
}


def run(quick: bool = False, graphs: Collection[str] = (), rows: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """A row for each graph, work and share."""
    from dromos.engines.cuda import CudaEngine

    yield from _link()
    for name in graphs or (("kron16",) if quick else GRAPHS):
        case = resident(name, 4)
        in_core: dict[str, float] = {}
        for share in SHARES:
            partly = Resident(case.csr, case.sources, share)
            for work, packed in _choices(rows, share):
                engine = CudaEngine({"share": share, "packed": packed})
                row: dict[str, Any] = {"work": work.name, "graph": name, "share": share, "rows": _ROWS[packed]}
                try:
                    row |= sampled(engine, work, partly).summary(work.per)
                except Exception as error:  # later rows are still useful; the command reports the failure
                    yield {**row, "differs": True, "note": f"failed: {type(error).__name__}: {error}"}
                    continue
                in_core.setdefault(work.name, row["ms"])
                row["over_in_core"] = row["ms"] / in_core[work.name]
                figures = _FIGURES.get((work.figure, name, share))
                if figures is not None:
                    ms = row["ms"]
                    row |= figures._asdict()
                    row |= {"of_peer": ms / figures.peer_ms, "of_must": ms / figures.must_ms}
                say(f"  {name}, {share:.0%} on the device, {work.name}, {_ROWS[packed]}: {row['ms']:.3f} ms")
                yield row
            partly.release()


def _choices(rows: Collection[str], share: float) -> Iterator[tuple[Work, bool]]:
    """The selected works; those that read all rows in every superstep also with packed rows."""
    for work in WORKS:
        if work.name in _WORKS and (not rows or any(work.name.startswith(part) for part in rows)):
            yield work, False
            if share < 1 and work.figure == "pagerank":
                yield work, True


def _link() -> Iterator[dict[str, Any]]:
    """The throughput of the link for the two ways of reading the host's memory."""
    import cupy as cp

    from dromos.engines.cuda.spanning import spanning_array

    on_host = spanning_array(_LINK_BYTES // 4, cp.float32, 0)
    on_device = cp.zeros(_LINK_BYTES // 4, cp.float32)
    add = cp.ElementwiseKernel("float32 x", "float32 y", "y = x + 1", "read_and_add")
    add(on_device, on_host)
    for name, work in (
        ("the link: a copy", lambda: cp.cuda.runtime.memcpyAsync(
            on_device.data.ptr, on_host.data.ptr, _LINK_BYTES, cp.cuda.runtime.memcpyDefault,
            cp.cuda.get_current_stream().ptr)),
        ("the link: read in place", lambda: add(on_host, on_device)),
    ):  # fmt: skip
        ms = statistics.median(milliseconds(work)[0] for _ in range(5))
        yield {"work": name, "graph": "-", "share": 0.0, "rows": "-", "ms": ms, "gb_per_s": _LINK_BYTES / ms / 1e6}
