"""Connected components; in a directed graph, weakly connected components.

Returns ``label`` (the smallest vertex id of the component), ``size`` (the number of its vertices, computed on first
use) and the number of components, ``count``. Self-loops and parallel edges change nothing.

The engine's own kernel runs if it has one (Afforest: Sutton, Ben-Nun and Barak, IPDPS 2018). The program spreads labels
along edges and keeps the smallest; on a directed graph labels spread along edges in both directions.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

import numpy as np

import dromos.program as dr
from dromos.algorithms.arguments import sources_of_arcs, symmetric
from dromos.algorithms.verifying import matrix, nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.parallel import in_blocks
from dromos.plan.cost import Cost, SplitCost
from dromos.runner import Options, Result, Session, array_module, on_host

__all__ = ["Components", "ComponentsResult", "component_count", "component_sizes", "connected_components", "verify"]

COST: Final = Cost(
    passes=1,
    split=SplitCost(arcs=0.22, vertices=1.9, steps=3.5, in_turn=True, on_device=18),
    over_pages=30,
    beside=34,
)


class Components(dr.Program):
    """The least id that reaches a vertex."""

    label = dr.field(dr.ID)
    combine = dr.MIN

    def init(self, v: Any) -> Any:
        return v.id

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.label

    def update(self, v: Any, message: Any) -> Any:
        return dr.minimum(v.label, message)


class ComponentsResult(Result):
    """What :func:`connected_components` returns."""

    group_field = "label"
    label: Array
    size: Array
    count: int


def connected_components(graph: Graph, **how: Unpack[Options]) -> ComponentsResult:
    """Weakly connected components: edge directions are ignored.

    Args:
        graph: any.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs the program instead of the kernel.

    >>> import dromos as dr
    >>> result = dr.connected_components(dr.Graph.from_edges([4, 1], [1, 2]))
    >>> result.label.tolist(), result.count, result.size.tolist()
    ([0, 1, 1, 3, 1], 3, [1, 3, 3, 1, 3])
    """
    session = Session("connected_components", graph, **how)
    fields = session.native("components", keep_on_device=True)
    if fields is None:
        fields = session.run(Components(), symmetric(graph), keep_on_device=True).fields
    label = fields["label"]
    count = int(fields["count"]) if "count" in fields else component_count(label)  # a kernel that knows it saves a pass
    return session.result(
        ComponentsResult,
        {"label": label, "size": lambda: component_sizes(on_host(label))},
        values={"count": count},
        vertex_fields={"label"},
        verifier=lambda result: verify(graph, result["label"], count),
    )


def component_sizes(label: Array) -> Array:
    """How many vertices have the same label as each.

    >>> component_sizes(np.array([0, 1, 1])).tolist()
    [1, 2, 2]
    """
    sizes: Array = np.bincount(label, minlength=len(label))[label]
    return sizes


def component_count(label: Array) -> int:
    """How many vertices are labelled with their own id.

    >>> component_count(np.array([0, 1, 1]))
    2
    """
    module = array_module(label)
    if module is not np:  # on a device
        return int((label == module.arange(len(label), dtype=label.dtype)).sum())
    found: list[int] = []  # appending is safe from several threads

    def part(begin: int, end: int) -> None:
        found.append(int(np.count_nonzero(label[begin:end] == np.arange(begin, end, dtype=label.dtype))))

    in_blocks(part, len(label), block=1 << 18)
    return sum(found)


def verify(graph: Graph, label: Array, count: int) -> None:
    """Edges stay within a component, a label is its least vertex, and no component falls apart."""
    ids = np.arange(graph.num_vertices)
    nowhere(label[sources_of_arcs(graph)] != label[graph.targets], "arc {} joins two components")
    nowhere((label < 0) | (label > ids), "the label of vertex {} is not among the vertices up to it")
    nowhere(label[label] != label, "the label of vertex {} is not in its own component")
    require(np.count_nonzero(label == ids) == count, f"there are {np.count_nonzero(label == ids)} labels, not {count}")
    from scipy.sparse.csgraph import connected_components as count_parts

    # no edge between components, and as many of them as there are parts: each is exactly one part
    parts, _ = count_parts(matrix(graph), directed=False) if graph.num_vertices else (0, None)
    require(parts == count, f"the graph has {parts} parts, not {count}")
