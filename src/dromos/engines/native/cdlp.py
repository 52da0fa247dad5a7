"""Community detection by label propagation, as LDBC Graphalytics defines it (CDLP).

No program can say it: the most frequent of many labels is not what a merge of two messages at a time can find without
carrying all of them; it is no monoid on values of fixed size.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["cdlp"]

_SMALL = 1 << 15


def cdlp(graph: Graph, *, max_iter: int, directed: bool, threads: int | None = None) -> Mapping[str, Array]:
    """Labels after ``max_iter`` rounds, and those of the round before; ``directed`` counts in-neighbours too.

    >>> import dromos as dr
    >>> cdlp(dr.generators.path(3), max_iter=1, directed=False)["label"].tolist()
    [1, 0, 1]
    """
    from dromos.engines.native import cdlp_kernels as kernels

    n = graph.num_vertices
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    back = graph.transpose if directed else None
    back_offsets = np.empty(0, np.int64) if back is None else back.offsets
    back_targets = graph.targets[:0] if back is None else back.targets
    previous = np.arange(n, dtype=graph.targets.dtype)
    label, seen = previous, np.zeros((team, n), dtype=np.int64)
    for _ in range(max_iter):
        previous, label = label, np.empty_like(label)
        run_team(
            kernels.relabel, graph.offsets, graph.targets, back_offsets, back_targets, previous, label, seen,
            np.zeros(1, dtype=np.int64), threads=team,
        )  # fmt: skip
    return {"label": label, "previous": previous}
