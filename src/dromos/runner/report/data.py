"""What a report shows of a run, as plain values that JSON can hold."""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos._version import __version__
from dromos.dtypes import Array
from dromos.graph.summary import facts

if TYPE_CHECKING:
    from dromos.runner.result import Result
    from dromos.runner.trace import Trace, TraceRow

__all__ = ["run_data"]

_MOST_ROWS = 1500
"""Supersteps that are drawn one by one; in a longer run neighbors are joined."""
_BINS = 24
_TOP = 10


def run_data(result: Result) -> dict[str, Any]:
    """One run: the graph, the trace, the fields of the answer.

    >>> import dromos as dr
    >>> run = run_data(dr.bfs(dr.generators.star(5), 0, device="reference"))
    >>> run["name"], run["supersteps"], run["graph"]["degrees"], [field["name"] for field in run["fields"]]
    ('bfs', 2, [[1, 1, 5], [4, 7, 1]], ['level', 'parent'])
    """
    host = result.to_host()
    graph = result.graph
    return {
        "name": result.name,
        "device": result.device,
        "version": __version__,
        "seconds": result.seconds,
        "compileSeconds": result.compile_seconds,
        "stepSeconds": result.trace.seconds,
        "supersteps": result.trace.supersteps,
        "finished": result.finished,
        "paths": result.trace.paths,
        "values": {name: _plain(value) for name, value in result.values_of_graph.items()},
        "graph": {"facts": facts(graph), "degrees": degree_bins(graph.out_degree)},
        "memory": memory_by_place(result),
        "otherPaths": [
            {"phase": c.phase, "path": c.path, "ms": c.seconds * 1e3, "supersteps": c.supersteps, "stopped": c.stopped}
            for c in result.other_paths
        ],
        "sources": [
            {"name": name, "language": language, "text": text}
            for name, language, text in result._explanation.sources(result.device)
        ],
        "trace": _trace(result.trace),
        "fields": [_field(name, host[name]) for name in host],
        "top": _top(host),
    }


def degree_bins(degrees: Array) -> list[list[int]]:
    """The degree distribution in bins that double: the lowest and highest degree of a bin, and how many have it.

    >>> degree_bins(np.array([0, 1, 2, 3, 3, 9]))
    [[0, 0, 1], [1, 1, 1], [2, 3, 3], [8, 15, 1]]
    """
    counts = np.bincount(np.frexp(degrees.astype(np.float64))[1]) if degrees.size else np.zeros(0, np.int64)
    bins = ((0, 0) if power == 0 else (1 << (power - 1), (1 << power) - 1) for power in range(len(counts)))
    return [[low, high, int(count)] for (low, high), count in zip(bins, counts, strict=True) if count]


def memory_by_place(result: Result) -> list[list[Any]]:
    """Where the graph and the answer of a run lie: the place, what is there, and how many bytes.

    >>> import dromos as dr
    >>> memory_by_place(dr.bfs(dr.generators.path(4), 0, device="reference"))
    [['host', 'graph: rows, weights, labels', 64], ['host', 'answer', 32]]
    """
    graph = result.graph
    rows: list[list[Any]] = []
    if graph.on_disk and graph.source_file is not None:
        rows.append(["disk", f"store {Path(graph.source_file).name}", Path(graph.source_file).stat().st_size])
        rows.append(["host", "graph: offsets, labels", graph.offsets.nbytes])
    else:
        rows.append(["host", "graph: rows, weights, labels", graph.nbytes])
    kept = graph.known_transpose
    if kept is not None:
        rows.append(["host", "transpose of the graph", kept.nbytes])
    answer = {"host": 0, "GPU": 0}
    for values in result.values():
        answer["GPU" if hasattr(values, "__cuda_array_interface__") else "host"] += int(values.nbytes)
    rows += [[place, "answer", count] for place, count in answer.items() if count]
    cupy = sys.modules.get("cupy") if "cuda" in result.device else None
    if cupy is not None:
        pool = cupy.get_default_memory_pool()
        rows.append(["GPU", "held by this process now: graphs, state, answers", int(pool.used_bytes())])
    return rows


def _busy(rows: list[TraceRow]) -> dict[str, float]:
    """Milliseconds by processor, and of the exchange between them; on disk by kernels, disk and host."""
    total: Counter[str] = Counter()
    for row in rows:
        total.update(row.busy)
    return dict(total)


def _trace(trace: Trace) -> dict[str, Any]:
    rows = list(trace)
    join = -(-len(rows) // _MOST_ROWS) if rows else 1
    steps = [_step(rows[first : first + join]) for first in range(0, len(rows), join)]
    return {"joined": join, "steps": steps}


def _step(rows: list[TraceRow]) -> dict[str, Any]:
    """One bar: a superstep, or several that are joined because there are too many to draw."""
    first, last = rows[0], rows[-1]
    return {
        "phase": first.phase,
        "first": first.superstep,
        "last": last.superstep + max(last.supersteps, 1) - 1,
        "path": first.path,
        "reason": first.reason,
        "frontier": max(row.frontier for row in rows),
        "edges": sum(row.out_degree for row in rows),
        "messages": sum(row.messages for row in rows),
        "bytes": sum(row.bytes for row in rows),
        "ms": sum(row.seconds for row in rows) * 1e3,
        "read": sum(row.read for row in rows),
        "sent": sum(row.sent for row in rows),
        "parts": _busy(rows),
        "partsMs": sum(row.seconds for row in rows if row.parts) * 1e3,
        "readingMs": sum(row.seconds for row in rows if not row.supersteps and row.read) * 1e3,
        "predicted": None if first.predicted is None or len(rows) > 1 else first.predicted * 1e3,
    }


def _field(name: str, values: Array) -> dict[str, Any]:
    """A field in numbers: its range, its middle, and a histogram of what is finite."""
    flat = values.ravel()
    numbers = flat.astype(np.float64) if flat.dtype.kind in "iufb" else np.zeros(0)
    finite = numbers[np.isfinite(numbers)]
    shown: dict[str, Any] = {"name": name, "dtype": str(values.dtype), "rows": len(values), "finite": len(finite)}
    if finite.size:
        counts, edges = np.histogram(finite, bins=_bins(flat, finite))
        shown |= {
            "min": _plain(finite.min()), "median": _plain(np.median(finite)), "max": _plain(finite.max()),
            "counts": counts.tolist(), "edges": edges.tolist(),
        }  # fmt: skip
    return shown


def _bins(values: Array, finite: Array) -> Any:
    """One bin per value where whole numbers lie close together, else bins of equal width."""
    low, high = finite.min(), finite.max()
    if values.dtype.kind in "iub" and high - low < _BINS:
        return np.arange(low, high + 2)
    return _BINS


def _top(host: Result) -> dict[str, Any] | None:
    """The vertices with the greatest values of the first field that orders them, or the largest groups; None where
    no field orders vertices."""
    if host.group_field is not None:
        return {"field": f"vertices by {host.group_field}", "rows": [[str(key), size] for key, size in host.top(_TOP)]}
    for name in host:
        values = host[name]
        if values.ndim == 1 and values.dtype.kind in "iuf" and name not in host.edge_fields:
            return {"field": name, "rows": [[str(key), _plain(value)] for key, value in host.top(_TOP, by=name)]}
    return None


def _plain(value: Any) -> Any:
    """A number as JSON knows it; what is not finite, or no number, as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
