"""Betweenness by weighted shortest paths.

As programs it takes three for each source, one of them a shortest-path search; here each thread has its own source, and
paths are counted in Dijkstra's order. Memory: for each thread 48 bytes per vertex.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from dromos.dtypes import Array, read_only
from dromos.errors import FieldOverflowError
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["dependencies_of", "weighted_betweenness"]


def weighted_betweenness(
    graph: Graph,
    *,
    sources: Sequence[int],
    endpoints: bool,
    progress: Callable[[int, int], None] | None = None,
    threads: int | None = None,
) -> Mapping[str, Array]:
    """The sum of the dependencies of all sources on each vertex; weights are above zero, no edges are parallel.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 0, 1], [1, 2, 2], [1.0, 5.0, 1.0])
    >>> weighted_betweenness(g, sources=[0], endpoints=False)["dependency"].tolist()
    [0.0, 1.0, 0.0]
    """
    assert graph.weights is not None
    ids = np.asarray(sources, dtype=np.int64)
    total = dependencies_of(graph.offsets, graph.targets, graph.weights, ids, endpoints, threads)
    if progress is not None:
        progress(len(ids), len(ids))
    return {"dependency": total}


def dependencies_of(
    offsets: Array, targets: Array, weights: Array, sources: Array, endpoints: bool, threads: int | None = None
) -> Array:
    """As :func:`weighted_betweenness`, on rows."""
    from dromos.engines.native import weighted_betweenness_kernels as kernels

    n = len(offsets) - 1
    team = max(1, min(num_threads(threads), len(sources)))
    numbers, stop = [np.zeros(team * n) for _ in range(3)], np.zeros(1, np.int64)
    vertices = [np.full(team * n, kernels.UNSEEN, np.int64) for _ in range(3)]
    rows = map(read_only, (offsets, targets, weights, sources))
    run_team(
        kernels.accumulate, *rows, endpoints, np.full(team * n, np.inf), *numbers, *vertices, np.zeros(1, np.int64),
        stop, threads=team, stop=stop,
    )  # fmt: skip
    total: Array = numbers[-1].reshape(team, n).sum(axis=0)
    if not np.isfinite(total).all():
        raise FieldOverflowError("there are more shortest paths than a 64-bit float can count")
    return total
