"""Answers in one call that are not a table by vertex: a graph, or yes and no."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from dromos.algorithms.bfs import bfs
from dromos.algorithms.connected_components import connected_components
from dromos.algorithms.strongly_connected_components import strongly_connected_components
from dromos.graph import Graph
from dromos.runner import Options, on_host

__all__ = ["has_path", "largest_component"]


def largest_component(graph: Graph, strong: bool = False, **how: Unpack[Options]) -> Graph:
    """The subgraph of the component with the most vertices; on a tie, the one with the smallest vertex id.

    Args:
        graph: any; edge directions are ignored unless ``strong`` is given.
        strong: the largest strongly connected component instead.
        how: ``device``, ``path``, ``threads``, ``progress``.

    The labels of the new graph are the vertices of the old one.

    >>> import dromos as dr
    >>> dr.largest_component(dr.Graph.from_edges([0, 2, 3], [1, 3, 4])).labels
    <3 int labels: 2, 3, 4>
    """
    find = strongly_connected_components if strong else connected_components
    label = on_host(find(graph, **how).label)
    return graph.subgraph(label == np.bincount(label, minlength=1).argmax())


def has_path(graph: Graph, source: Any, target: Any, **how: Unpack[Options]) -> bool:
    """Whether a path leads from ``source`` to ``target``.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        source, target: vertices, by label (by id if the graph has no labels).
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import dromos as dr
    >>> g = dr.Graph.from_edges([0, 1], [1, 2])
    >>> dr.has_path(g, 0, 2), dr.has_path(g, 2, 0)
    (True, False)
    """
    end = graph.vertex_id(target)
    return bool(bfs(graph, source, **how).level[end] >= 0)
