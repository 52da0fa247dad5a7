"""Text lists of edges, read and written, against pyarrow's CSV reader and writer on the same edges.

The file holds the edges of an R-MAT graph, two ids per line, separated by a space. *Columns* is what pyarrow's reader
does: from the file (in the page cache) to columns of numbers. *Graph* continues to what a user needs: sorted rows, by
:func:`dromos.read`. Rounds are interleaved; the best of each counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

import dromos as dr
from dromos.dtypes import Array
from dromos.graph.formats import open_edges
from dromos.graph.generators import rmat_edges

_READ = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
_PARSE = pyarrow.csv.ParseOptions(delimiter=" ")
_WRITE = pyarrow.csv.WriteOptions(include_header=False, delimiter=" ")


def run(scale: int = 20, repeats: int = 5) -> list[dict[str, Any]]:
    """One row per measurement; ``ratio`` is our time over pyarrow's."""
    edges = rmat_edges(scale)
    rng = np.random.default_rng(scale)
    weights = {"": None, ", int32 weights": rng.integers(1, 256, len(edges.src), dtype=np.int32),
               ", float64 weights": rng.random(len(edges.src))}  # fmt: skip
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, values in weights.items():
            rounds = repeats if values is None else min(repeats, 2)  # the target figures are those without weights
            rows += _measured(Path(folder), kind, edges.src, edges.dst, values, 1 << scale, rounds)
    return rows


def _measured(
    folder: Path, kind: str, src: Array, dst: Array, weight: Array | None, vertices: int, repeats: int
) -> list[dict[str, Any]]:
    graph = dr.Graph.from_edges(src, dst, weight, num_vertices=vertices)
    columns = {"src": src, "dst": dst} | ({} if weight is None else {"weight": weight})
    table = pa.table(columns)
    given, written, theirs = folder / "given.txt", folder / "ours.txt", folder / "theirs.txt"
    pyarrow.csv.write_csv(table, given, _WRITE)
    peer_read = "pyarrow.csv.read_csv"
    peer_write = "pyarrow.csv.write_csv"
    actions: dict[str, Callable[[], Any]] = {
        peer_read: lambda: pyarrow.csv.read_csv(given, _READ, _PARSE),
        "columns": lambda: list(open_edges(given).blocks),
        "columns, one thread": lambda: list(open_edges(given, threads=1).blocks),
        "graph": lambda: dr.read(given),
        peer_write: lambda: pyarrow.csv.write_csv(table, theirs, _WRITE),
        "write": lambda: graph.write(written),
    }
    taken = _interleaved(actions, repeats)
    size = given.stat().st_size / 1e6
    return [
        _row(f"text to {name}, {len(src):,} edges{kind}, {size:,.0f} MB", taken[name], peer_read, taken[peer_read])
        for name in ("columns", "columns, one thread", "graph")
    ] + [_row(f"graph to text, {len(src):,} edges{kind}", taken["write"], peer_write, taken[peer_write])]


def _row(name: str, ours: float, peer: str, theirs: float) -> dict[str, Any]:
    return {"name": name, "ours_s": ours, "peer": peer, "peer_s": theirs, "ratio": ours / theirs}


def _interleaved(actions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The best time of each; the first round, which compiles, does not count."""
    best = dict.fromkeys(actions, float("inf"))
    for number in range(repeats + 1):
        for name, action in actions.items():
            start = time.perf_counter()
            result = action()
            if number:
                best[name] = min(best[name], time.perf_counter() - start)
            del result
    return best
