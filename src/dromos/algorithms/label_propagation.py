"""Communities by label propagation, deterministic, as LDBC Graphalytics defines it (CDLP).

Returns ``label`` (a vertex id that stands for the community) and the number of communities, ``count``. Every vertex
starts with its own id. In each of ``max_iter`` rounds all vertices at once take the label most frequent among their
neighbors, the smallest on a tie. In a directed graph a neighbor counts once for each edge in either direction. Each
parallel edge counts, and a self-loop counts the vertex's own label. A vertex without neighbors keeps its label.

The engine's own kernel does the counting; see ``dromos/engines/native/cdlp.py``. Over slices and graphs on disk it is
an operator, ``dromos/places/operators/mode``. Raghavan, Albert and Kumara, 2007; Iosup et al., "LDBC Graphalytics",
VLDB 2016.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, sources_of_arcs
from dromos.algorithms.verifying import nowhere
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session, on_host

__all__ = ["LabelPropagationResult", "label_propagation", "verify"]


class LabelPropagationResult(Result):
    """What :func:`label_propagation` returns."""

    group_field = "label"
    label: Array
    count: int


def label_propagation(graph: Graph, max_iter: int = 10, **how: Unpack[Options]) -> LabelPropagationResult:
    """The community of every vertex after ``max_iter`` rounds.

    Args:
        graph: any.
        max_iter: the number of rounds; all of them run.
        how: ``device``, ``threads``; ``path`` is not supported.

    >>> import dromos as dr
    >>> result = dr.label_propagation(dr.Graph.from_edges([0, 1, 2, 3], [1, 2, 0, 4], directed=False), max_iter=5)
    >>> result.label.tolist(), result.count
    ([0, 0, 0, 4, 3], 3)
    """
    session = Session("label_propagation", graph, **how)
    rounds = count_of(max_iter, "max_iter")
    fields = session.require_native("cdlp", keep_on_device=True, max_iter=rounds, directed=graph.directed)
    label, previous = fields["label"], fields["previous"]
    count = int(fields["count"]) if "count" in fields else _in_use(label)  # a kernel that knows it saves a pass
    return session.result(
        LabelPropagationResult,
        {"label": label},
        values={"count": count},
        vertex_fields={"label"},
        verifier=lambda result: verify(graph, result["label"], on_host(previous), rounds),
    )


def _in_use(label: Array) -> int:
    """How many different labels there are."""
    used = np.zeros(len(label), dtype=bool)
    used[label] = True
    return int(used.sum())


def verify(graph: Graph, label: Array, previous: Array, rounds: int) -> None:
    """Each label is the most frequent around its vertex by the labels of the round before, and the least such.

    Labels are counted by sorting pairs of vertex and label.
    """
    if rounds == 0:
        nowhere(label != np.arange(len(label)), "vertex {} has another label than its own before any round")
        return
    here, there = sources_of_arcs(graph), graph.targets
    if graph.directed:
        here, there = np.concatenate([here, there]), np.concatenate([there, here])
    pairs, counts = np.unique(np.stack([here, previous[there]]), axis=1, return_counts=True)
    vertex, name = pairs
    most = np.zeros(len(label), dtype=np.int64)
    np.maximum.at(most, vertex, counts)
    expected = previous.copy()
    winners = np.flatnonzero(counts == most[vertex])[::-1]  # the least label is written last
    expected[vertex[winners]] = name[winners]
    nowhere(label != expected, "the label of vertex {} is not the most frequent one around it")
