"""Community detection by label propagation, as LDBC Graphalytics defines it (CDLP).

No program can express it: the most frequent of many labels cannot be found by merging two messages at a time without
carrying all of them; it is not a monoid on values of fixed size.

Memory: the labels of two rounds, and for each thread up to 40 bytes for each neighbor of the vertex with most.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cpu.memory import huge_zeros
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["cdlp"]

_SMALL = 1 << 15
_APART = 32


def cdlp(graph: Graph, *, max_iter: int, directed: bool, threads: int | None = None) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds, and those of the round before; ``directed`` counts in-neighbors too.

    A round that changes nothing is the last, since none after it would.

    >>> import dromos as dr
    >>> cdlp(dr.generators.path(3), max_iter=1, directed=False)["label"].tolist()
    [1, 0, 1]
    """
    from dromos.engines.native import cdlp_kernels as kernels
    from dromos.jit import LINE

    n, ids = graph.num_vertices, graph.targets.dtype
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    back = graph.transpose if directed else None
    back_offsets = graph.offsets[:0] if back is None else back.offsets
    back_targets = graph.targets[:0] if back is None else back.targets
    room = int((graph.out_degree if back is None else graph.out_degree + back.out_degree).max(initial=0))
    # sections of two threads are two cache lines apart; otherwise they would slow each other down at every store
    room, size = room + _APART, (1 << (2 * room).bit_length()) + _APART
    space, counts = np.empty(team * room, ids), np.empty(team * size, ids)
    table = np.full(team * size, -1, ids)
    label, previous = huge_zeros(n, ids), huge_zeros(n, ids)
    label[:] = np.arange(n)
    previous[:] = label
    stop, changes = np.zeros(1, np.int64), np.ones(team * LINE, np.int64)
    for _ in range(max_iter if graph.num_arcs else 0):
        previous, label = label, previous
        run_team(
            kernels.relabel, graph.offsets, graph.targets, back_offsets, back_targets, previous, label, space, room,
            table, counts, size, np.zeros(1, np.int64), stop, changes, threads=team, stop=stop,
        )  # fmt: skip
        if not changes[::LINE].any():
            break
    return {"label": label, "previous": previous}
