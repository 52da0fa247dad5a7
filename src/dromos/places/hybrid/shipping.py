"""A host's active vertices, whose messages to a device's vertices the device makes: rows are sent, not messages.

To merge messages by target the host would go to a random place for each arc, list the targets, and gather what was
merged. Rows are read in order, and the device has the places at hand.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.engines.shipping import RowTakingPart
from dromos.graph import Graph
from dromos.graph.partly_held import arrays_within
from dromos.parallel import run_team

__all__ = ["MOST_SHIPPED", "ship_rows"]

MOST_SHIPPED: Final = 1 << 21
"""The most arcs that are sent in a superstep: memory for them is kept on both sides."""
_WORTH_A_TEAM: Final = 1 << 17  # arcs


def ship_rows(graph: Graph, vertices: Array, part: RowTakingPart, threads: int) -> None:
    """Have ``part`` send the messages of ``vertices``, which are another part's, to its own vertices."""
    from dromos.engines.cpu.copy_kernels import gather_rows

    begins = graph.offsets[vertices]
    lengths = graph.offsets[vertices + 1] - begins
    arcs = int(lengths.sum())
    if not arcs:
        return
    targets, weights = arrays_within(graph, int(vertices.min()), int(vertices.max()) + 1)
    stage = part.stage_rows(len(vertices), arcs, None if weights is None else weights.dtype)
    stage.sources[:], stage.starts[0] = vertices, 0
    np.cumsum(lengths, out=stage.starts[1:])
    threads = threads if arcs >= _WORTH_A_TEAM else 1
    for values, into in ((targets, stage.targets), (weights, stage.weights)):
        if values is not None and into is not None:
            run_team(gather_rows, begins, stage.starts, read_only(_words(values)), _words(into), threads=threads)
    part.push_rows(stage)


def _words(values: Array) -> Any:
    return values.view(np.dtype(f"u{values.itemsize}"))
