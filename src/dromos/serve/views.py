"""What the page shows of a graph, as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, UnknownVertexError
from dromos.graph import Graph
from dromos.graph.summary import facts
from dromos.graph.words import as_vertex
from dromos.runner.report.data import degree_bins

__all__ = ["egonet", "graph_facts", "search", "vertex"]

_FOUND = 20
"""The most vertices that a search shows."""
_SEARCHED = 1 << 22
"""The most labels that a search looks at: enough for most graphs, and still under a second."""
_CHUNK = 1 << 16
_NEIGHBOURS = 100
_DRAWN = 48


def graph_facts(graph: Graph) -> dict[str, Any]:
    """The graph as a whole: its facts and its degrees.

    >>> import dromos as dr
    >>> graph_facts(dr.generators.star(5))["degrees"]
    [[1, 1, 5], [4, 7, 1]]
    """
    return {"facts": facts(graph), "degrees": degree_bins(graph.out_degree), "directed": graph.directed}


def search(graph: Graph, text: str) -> list[str]:
    """The names of some vertices: the one named ``text``, then others that contain it.

    >>> import dromos as dr
    >>> search(dr.Graph.from_edges(["ada", "bob"], ["adam", "eve"]), "AD")
    ['ada', 'adam']
    >>> search(dr.generators.path(40), "3")[:4]
    ['3', '13', '23', '30']
    """
    wanted = text.strip()
    found: list[str] = []
    with suppress(InvalidArgumentError, UnknownVertexError):
        found.append(_names(graph, np.array([graph.vertex_id(as_vertex(graph, wanted))]))[0])
    for name in _all_names(graph):
        if len(found) >= _FOUND:
            break
        if wanted.lower() in name.lower() and name not in found:
            found.append(name)
    return found


def vertex(graph: Graph, text: str) -> dict[str, Any]:
    """A vertex: its degrees, and its first neighbors with the weights of the edges.

    >>> import dromos as dr
    >>> shown = vertex(dr.Graph.from_edges(["ada", "eve"], ["bob", "ada"], [2.5, 1.0]), "ada")
    >>> shown["out"], shown["in"], shown["outgoing"], shown["incoming"]
    (1, 1, [['bob', 2.5]], [['eve', 1.0]])
    """
    row = graph.vertex_id(as_vertex(graph, text))
    shown = {"vertex": text, "id": row, "out": int(graph.out_degree[row]), "outgoing": _neighbours(graph, row)}
    if graph.directed:
        shown |= {"in": int(graph.in_degree[row]), "incoming": _neighbours(graph.transpose, row, graph)}
    return shown


def egonet(graph: Graph, text: str, hops: int = 1) -> dict[str, Any]:
    """The surroundings of a vertex to draw: the nearest vertices, preferring those with most edges, and their edges.

    The first vertex is the requested one. ``left_out`` is the number of vertices that are too many to draw.

    >>> import dromos as dr
    >>> drawn = egonet(dr.generators.cycle(5), "0")
    >>> drawn["vertices"], drawn["hops"], drawn["edges"], drawn["left_out"]
    (['0', '1', '4'], [0, 1, 1], [[0, 1], [0, 2]], 0)
    """
    if hops not in (1, 2):
        raise InvalidArgumentError(f"hops={hops} cannot be drawn; give 1 or 2")
    centre = graph.vertex_id(as_vertex(graph, text))
    chosen, distance, left_out = np.array([centre]), [0], 0
    ring = chosen
    for hop in range(1, hops + 1):
        around = np.setdiff1d(np.concatenate([_both_ways(graph, v) for v in ring.tolist()]), chosen)
        room = _DRAWN - len(chosen)
        by_degree = np.lexsort((around, -graph.out_degree[around]))
        ring, left_out = around[np.sort(by_degree[:room])], left_out + max(len(around) - room, 0)
        chosen = np.concatenate([chosen, ring])
        distance += [hop] * len(ring)
        if not len(ring):
            break
    return {
        "vertices": _names(graph, chosen),
        "hops": distance,
        "edges": _edges_among(graph, chosen),
        "left_out": left_out,
    }


def _both_ways(graph: Graph, row: int) -> Array:
    out = _row(graph, row)
    return np.concatenate([out, _row(graph.transpose, row)]) if graph.directed else out


def _edges_among(graph: Graph, chosen: Array) -> list[list[int]]:
    """The edges between chosen vertices, by their positions among them; no self-loops, undirected edges once."""
    order = np.argsort(chosen)
    ordered = chosen[order]
    edges = []
    for place, v in enumerate(chosen.tolist()):
        near = np.unique(_row(graph, v))
        there = order[np.searchsorted(ordered, near[np.isin(near, ordered)])]
        edges += [
            [place, other] for other in sorted(there.tolist()) if (other != place if graph.directed else other > place)
        ]
    return edges


def _neighbours(graph: Graph, row: int, named: Graph | None = None) -> list[list[Any]]:
    first, last = int(graph.offsets[row]), int(graph.offsets[row + 1])
    last = min(last, first + _NEIGHBOURS)
    names = _names(graph if named is None else named, graph.targets[first:last])
    weights = [None] * len(names) if graph.weights is None else graph.weights[first:last].tolist()
    return [list(pair) for pair in zip(names, weights, strict=True)]


def _row(graph: Graph, row: int) -> Array:
    return graph.targets[int(graph.offsets[row]) : int(graph.offsets[row + 1])]


def _names(graph: Graph, ids: Array) -> list[str]:
    return [str(name) for name in (ids if graph.labels is None else graph.labels.values_of(ids)).tolist()]


def _all_names(graph: Graph) -> Iterator[str]:
    count = min(graph.num_vertices, _SEARCHED)
    for first in range(0, count, _CHUNK):
        yield from _names(graph, np.arange(first, min(first + _CHUNK, count)))
