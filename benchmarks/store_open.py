"""Opening a store: the time from 1 MB to 1 GB, beside the time of checking or reading all of it.

Stores are opened mapped, without a check of their data (``verify=False``), so that small and large ones are comparable.
The peer is NumPy reading the same bytes into memory. Rounds go over all sizes in turn; the best of each counts.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dromos.graph import Flags, Graph
from dromos.graph.store import load, verify, write

_DEGREE = 16
_BYTES_A_VERTEX = 8 + 4 * _DEGREE


def run(megabytes: tuple[int, ...] = (1, 8, 64, 256, 1024), repeats: int = 7) -> list[dict[str, Any]]:
    """One row per size.

    ``ratio`` is our time over NumPy's; ``times_the_smallest`` how much longer opening takes than at the smallest size.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder) / f"{size}.drm" for size in megabytes}
        write_s = {size: _timed(lambda size=size: write(_graph(size), files[size])) for size in megabytes}
        actions: dict[str, Callable[[Path], Any]] = {
            "open": lambda file: load(file, verify=False),
            "numpy": lambda file: np.fromfile(file, dtype=np.uint8).size,
            "verify": verify,
        }
        best = {(size, name): float("inf") for size in megabytes for name in actions}
        for number in range(repeats):
            for size, file in files.items():
                for name, action in actions.items():
                    if name == "open" or number < 2:
                        taken = _timed(lambda action=action, file=file: action(file))
                        best[size, name] = min(best[size, name], taken)
        smallest = best[megabytes[0], "open"]
        return [
            {
                "name": f"open a store of {files[size].stat().st_size / 1e6:,.0f} MB",
                "ours_s": best[size, "open"],
                "times_the_smallest": best[size, "open"] / smallest,
                "peer": "numpy.fromfile",
                "peer_s": best[size, "numpy"],
                "ratio": best[size, "open"] / best[size, "numpy"],
                "verify_s": best[size, "verify"],
                "write_s": write_s[size],
            }
            for size in megabytes
        ]


def _graph(megabytes: int) -> Graph:
    """A graph whose store has about that size; every vertex has arcs to the first sixteen."""
    vertices = max(_DEGREE, megabytes * 10**6 // _BYTES_A_VERTEX)
    offsets = np.arange(vertices + 1, dtype=np.int64) * _DEGREE
    targets = np.tile(np.arange(_DEGREE, dtype=np.int32), vertices)
    flags = Flags(directed=True, symmetric=False, sorted=True, parallel_edges=False, self_loops=True)
    return Graph._make(offsets, targets, flags=flags)


def _timed(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start
