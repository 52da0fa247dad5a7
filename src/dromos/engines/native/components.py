"""Weakly connected components by Afforest (Sutton, Ben-Nun, Barak: IPDPS 2018).

No program can say it: union-find follows chains of pointers through vertices that are not neighbours, and hooks a root
that no edge of the vertex at hand touches. A program says the same by spreading labels, a superstep for each edge of
the longest path.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["components"]

_SMALL = 1 << 15
_SAMPLED_NEIGHBOURS = 2
_SAMPLES = 1024


def components(graph: Graph, *, threads: int | None = None) -> Mapping[str, Array]:
    """The least id of each vertex's component; arcs count in both directions.

    >>> import dromos as dr
    >>> components(dr.Graph.from_edges([3, 1], [1, 2]))["label"].tolist()
    [0, 1, 1, 1]
    """
    from dromos.engines.native import components_kernels as kernels

    n, offsets, targets = graph.num_vertices, graph.offsets, graph.targets
    team = 1 if graph.num_arcs < _SMALL else num_threads(threads)
    label = np.arange(n, dtype=targets.dtype)

    def each(kernel: object, *args: object) -> None:
        run_team(kernel, *args, np.zeros(1, dtype=np.int64), threads=team)  # type: ignore[arg-type]

    if not graph.symmetric:  # an arc is seen from one end only, so no vertex may be left out
        each(kernels.link_rest, offsets, targets, label, 0, -1)
        each(kernels.compress, label)
        return {"label": label}
    for nth in range(_SAMPLED_NEIGHBOURS):
        each(kernels.link_nth, offsets, targets, label, nth)
        each(kernels.compress, label)
    each(kernels.link_rest, offsets, targets, label, _SAMPLED_NEIGHBOURS, _most_frequent(label))
    each(kernels.compress, label)
    return {"label": label}


def _most_frequent(label: Array) -> int:
    """The label of what is probably the largest component so far: its vertices' other edges can be skipped."""
    if len(label) == 0:
        return -1
    sample = label[np.random.default_rng(len(label)).integers(0, len(label), _SAMPLES)]
    found, counts = np.unique(sample, return_counts=True)
    return int(found[counts.argmax()])
