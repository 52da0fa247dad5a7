"""Similar vertices: those that share many neighbors.

Returns one row per pair: ``source``, ``target`` and ``similarity``. Each source has at most ``k`` rows, the most
similar first and ties by id; pairs without a common neighbor are left out. With A and B the out-neighbors of the two
vertices:

- ``jaccard`` is ``|A ∩ B| / |A ∪ B|``,
- ``overlap`` is ``|A ∩ B| / min(|A|, |B|)``,
- ``cosine`` is ``|A ∩ B| / sqrt(|A| |B|)``.

A self-loop makes a vertex its own neighbor; parallel edges count once. Weights are ignored.

All vertices two edges away are counted. Liben-Nowell and Kleinberg, "The link-prediction problem for social networks",
2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError
from dromos.graph import Graph
from dromos.graph.derived import derived
from dromos.runner import Options, Result, Session

__all__ = ["NodeSimilarityResult", "node_similarity", "verify"]

_METRICS = ("jaccard", "overlap", "cosine")
_CHECKED = 64
_FEW_SOURCES = 16  # a GPU has to have the graph first


class NodeSimilarityResult(Result):
    """What :func:`node_similarity` returns."""

    source: Array
    target: Array
    similarity: Array


def node_similarity(
    graph: Graph,
    sources: Iterable[Any] | None = None,
    k: int = 10,
    metric: str = "jaccard",
    **how: Unpack[Options],
) -> NodeSimilarityResult:
    """The vertices most similar to each vertex.

    Args:
        graph: any; in a directed graph out-neighbors are compared.
        sources: only for these vertices (labels, or ids if the graph has no labels).
        k: the maximum number of rows for each source.
        metric: ``"jaccard"``, ``"overlap"`` or ``"cosine"``.
        how: ``device``, ``threads``; ``path`` is not supported. A GPU finds the same pairs; without an explicit
            ``device``, a few sources run on the CPU. From a graph on disk (:func:`dromos.open`) the rows of sources
            and of their neighbors are read within ``memory``, for some sources at a time.

    >>> import dromos as dr
    >>> result = dr.node_similarity(dr.generators.path(4), sources=[0, 1])
    >>> result.source.tolist(), result.target.tolist(), result.similarity.tolist()
    ([0, 1], [2, 3], [0.5, 0.5])
    """
    session = Session("node_similarity", graph, **how)
    if metric not in _METRICS:
        raise InvalidArgumentError(f"metric={metric!r} is not one of {', '.join(map(repr, _METRICS))}")
    most = count_of(k, "k", 1)
    ids = np.arange(graph.num_vertices) if sources is None else vertex_ids(graph, sources, "sources")
    on = _without_parallels(graph)
    most = min(most, max(graph.num_vertices, 1))
    if len(ids) < _FEW_SOURCES:
        session.little_to_do()
    fields = session.host_native("similarity", on, sources=ids, metric=metric, k=most)
    source = np.repeat(ids.astype(graph.targets.dtype), fields["count"])
    return session.result(
        NodeSimilarityResult,
        {"source": source, "target": fields["best"], "similarity": fields["score"]},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(on, ids, most, metric, result["source"], result["target"], result["similarity"]),
    )


def _without_parallels(graph: Graph) -> Graph:
    if graph.on_disk and graph.has_parallel_edges:
        raise InvalidArgumentError(
            "this store has parallel edges, which must count once here; make a store without them with `dromos "
            "convert --dedupe IN OUT.drm`, or use dr.read(path)"
        )
    return derived(graph, "without parallel edges", _deduped) if graph.has_parallel_edges else graph


def _deduped(graph: Graph) -> Graph:
    edges = graph.edges()
    return Graph.from_edges(edges.src, edges.dst, num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True)


def verify(graph: Graph, sources: Array, k: int, metric: str, source: Array, target: Array, similarity: Array) -> None:
    """The rows of some sources are the best that SciPy's product of the neighborhoods has."""
    import scipy.sparse as sp

    n = graph.num_vertices
    require(len(source) == len(target) == len(similarity), "the columns are of different lengths")
    nowhere(source == target, "row {} is of a vertex with itself")
    if n == 0:
        return
    near = sp.csr_array((np.ones(graph.num_arcs), graph.targets, graph.offsets), shape=(n, n))
    degree = graph.out_degree.astype(np.float64)
    for u in sources[:: max(1, len(sources) // _CHECKED)].tolist():
        shared = np.asarray((near[[u]] @ near.T).todense()).ravel()
        others = np.flatnonzero((shared > 0) & (np.arange(n) != u))
        common, a, b = shared[others], degree[u], degree[others]
        if metric == "jaccard":
            value = common / (a + b - common)
        else:
            value = common / (np.minimum(a, b) if metric == "overlap" else np.sqrt(a * b))
        first = np.lexsort((others, -value))[:k]
        rows = source == u
        require(
            np.array_equal(np.sort(value[first])[::-1].round(12), similarity[rows].round(12)),
            f"the rows of vertex {u} have other similarities",
        )
        place = np.searchsorted(others, target[rows])
        require(
            bool(np.all(place < len(others)) and np.allclose(value[place], similarity[rows])),
            f"a row of vertex {u} has another target",
        )
