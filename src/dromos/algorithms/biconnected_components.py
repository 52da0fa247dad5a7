"""Biconnected components, bridges and articulation points.

- :func:`biconnected_components` returns one row per edge: ``source``, ``target`` and ``component``, and the number of
  components, ``count``. Two edges are in the same component if some cycle contains both. Components are numbered from 0
  in the order of their first rows.
- :func:`bridges` returns the edges whose removal disconnects their ends.
- :func:`articulation_points` returns ``member`` for each vertex: whether its removal disconnects others.

Self-loops are ignored; two parallel edges form a cycle. A directed graph is refused, as in NetworkX.

One depth-first search finds all three. Hopcroft and Tarjan, "Efficient algorithms for graph manipulation", 1973. On an
engine without such a kernel, programs find the same from a spanning forest
(:mod:`dromos.algorithms.biconnected_programs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import chain
from typing import Any, Final, Unpack

import numpy as np

from dromos.algorithms.arguments import weighted
from dromos.algorithms.biconnected_programs import bridges_by_programs, components_by_programs
from dromos.algorithms.triangles import require_undirected
from dromos.algorithms.verifying import nowhere, require
from dromos.dtypes import Array
from dromos.graph import Graph
from dromos.runner import Options, Result, Session

__all__ = [
    "ArticulationPointsResult",
    "BiconnectedComponentsResult",
    "BridgesResult",
    "articulation_points",
    "biconnected_components",
    "bridges",
    "verify",
]

_CHECKED: Final = 32
_BESIDE_ROWS: Final = 32  # bytes that are held for each vertex while rows of the answer are gathered
_BLOCK: Final = 1 << 16  # arcs, or rows of the answer, that are looked at together


class BiconnectedComponentsResult(Result):
    """What :func:`biconnected_components` returns."""

    source: Array
    target: Array
    component: Array
    count: int


def biconnected_components(graph: Graph, **how: Unpack[Options]) -> BiconnectedComponentsResult:
    """Biconnected components: which edges lie on a common cycle.

    Args:
        graph: undirected.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            The CPU kernel uses one thread.

    >>> import dromos as dr
    >>> result = dr.biconnected_components(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.source.tolist(), result.target.tolist(), result.component.tolist()
    ([0, 0, 1, 2], [1, 2, 2, 3], [0, 0, 0, 1])
    """
    session, found, is_whole = _search("biconnected_components", graph, how)
    if "edges" in found:
        rows, count = dict(zip(("source", "target", "component"), found["edges"], strict=True)), found["count"]
    else:
        rows = _rows(graph, found) if is_whole else _gathered_rows(session, graph, found)
        count = _number_by_rows(rows["component"], graph.num_vertices)
    return session.result(
        BiconnectedComponentsResult,
        rows,
        values={"count": count},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify(graph, result["source"], result["target"], result["component"]),
    )


class BridgesResult(Result):
    """What :func:`bridges` returns."""

    source: Array
    target: Array
    count: int


def bridges(graph: Graph, **how: Unpack[Options]) -> BridgesResult:
    """Bridges, the edges that lie on no cycle: ``source`` and ``target``, and their number, ``count``.

    Args:
        graph: undirected.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            The CPU kernel uses one thread.

    >>> import dromos as dr
    >>> result = dr.bridges(dr.Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> result.source.tolist(), result.target.tolist()
    ([2], [3])
    """
    session, found, _ = _search("bridges", graph, how)
    source, target = _bridges(found)
    return session.result(
        BridgesResult,
        {"source": source, "target": target},
        values={"count": len(source)},
        vertex_fields={"source", "target"},
        index="source",
        verifier=lambda result: verify_bridges(graph, result["source"], result["target"]),
    )


class ArticulationPointsResult(Result):
    """What :func:`articulation_points` returns."""

    member: Array
    count: int


def articulation_points(graph: Graph, **how: Unpack[Options]) -> ArticulationPointsResult:
    """Vertices whose removal disconnects others: ``member``, and their number, ``count``.

    Args:
        graph: undirected.
        how: ``device``, ``path``, ``threads``, ``progress``; a fixed ``path`` runs programs instead of the kernel.
            The CPU kernel uses one thread.

    >>> import dromos as dr
    >>> dr.articulation_points(dr.generators.path(4)).member.tolist()
    [False, True, True, False]
    """
    session, found, _ = _search("articulation_points", graph, how)
    cut = found["cut"]

    def check(result: Result) -> None:
        parts = biconnected_components(graph)
        parts.verify()
        ends = np.concatenate([parts.source, parts.target])
        held = np.bincount(np.unique(np.stack([ends, np.tile(parts.component, 2)]), axis=1)[0], minlength=len(cut))
        nowhere(result["member"] != (held > 1), "vertex {} lies in several components and is no member, or the reverse")

    return session.result(
        ArticulationPointsResult, {"member": cut}, values={"count": int(np.count_nonzero(cut))}, verifier=check
    )


def _search(name: str, graph: Graph, how: Options) -> tuple[Session, Mapping[str, Any], bool]:
    """What is known of each vertex, and whether a kernel found it in the whole graph."""
    session = Session(name, graph, **how)
    require_undirected(graph, name)
    by_edge = name == "biconnected_components" and graph.sorted  # else edges are brought in order first
    found = session.native_where_whole("biconnected", by_edge=by_edge)
    if found is not None:
        return session, found, True
    if name == "bridges":
        return session, bridges_by_programs(session, graph), False
    row_bytes = _row_bytes(graph) if name == "biconnected_components" else 0
    return session, components_by_programs(session, graph, bytes_per_edge=row_bytes), False


def _row_bytes(graph: Graph) -> int:
    """What a row of the answer takes, and where rows are not in order yet, while they are sorted."""
    row = 2 * graph.targets.dtype.itemsize + 8
    return row if graph.sorted else row + 24


def _bridges(found: Mapping[str, Array]) -> tuple[Array, Array]:
    """The lesser and the greater end of each bridge, in the order of both."""
    parent = found["parent"]
    vertex = np.flatnonzero(found["bridge"]).astype(parent.dtype)
    source, target = np.minimum(vertex, parent[vertex]), np.maximum(vertex, parent[vertex])
    order = np.lexsort((target, source))
    return source[order], target[order]


def _rows(graph: Graph, found: Mapping[str, Array]) -> dict[str, Array]:
    """The lesser and the greater end of each edge that is no loop, in the order of both, and its component's name."""
    edges = graph.edges()
    source, target = edges.src, edges.dst
    if graph.has_self_loops:
        real = source != target
        source, target = source[real], target[real]
    return _in_order(graph, source, target, _components(found, source, target))


def _gathered_rows(session: Session, graph: Graph, found: Mapping[str, Array]) -> dict[str, Array]:
    """As :func:`_rows`, gathered piece by piece from a graph that may be on disk."""
    count, ids = graph.num_edges - graph.num_self_loops, graph.targets.dtype
    source, target, component = np.empty(count, ids), np.empty(count, ids), np.empty(count, np.int64)
    done = 0
    with closing(session.arc_slices(weighted(graph, None), _BESIDE_ROWS)) as pieces:
        for begin, end in chain.from_iterable(piece.arc_blocks(_BLOCK, ids) for piece in pieces):
            kept = np.flatnonzero(begin < end)
            here = slice(done, done + len(kept))
            source[here], target[here] = begin[kept], end[kept]
            component[here] = _components(found, source[here], target[here])
            done = here.stop
    return _in_order(graph, source, target, component)


def _in_order(graph: Graph, source: Array, target: Array, component: Array) -> dict[str, Array]:
    if not graph.sorted:
        order = np.lexsort((target, source))
        source, target, component = source[order], target[order], component[order]
    return {"source": source, "target": target, "component": component}


def _components(found: Mapping[str, Array], source: Array, target: Array) -> Array:
    """The component of each edge: that of its end with the greater number."""
    number = found["number"]
    later = np.where(number[source] > number[target], source, target)
    return found["component"][later].astype(np.int64)


def _number_by_rows(component: Array, names: int) -> int:
    """Put numbers from 0 on in the place of names (all below ``names``), in the order of first rows; and how many.

    >>> rows = np.array([7, 3, 7, 5])
    >>> _number_by_rows(rows, 8), rows.tolist()
    (3, [0, 1, 0, 2])
    """
    number, first, count = np.full(names, -1, np.int64), np.empty(names, np.int64), 0
    for begin in range(0, len(component), _BLOCK):
        block = component[begin : begin + _BLOCK]
        fresh = block[number[block] < 0]
        places = np.arange(len(fresh))
        first[fresh[::-1]] = places[::-1]  # of equal names the first one is written last
        named = fresh[first[fresh] == places]
        number[named] = np.arange(count, count + len(named))
        count += len(named)
        block[:] = number[block]
    return count


def verify_bridges(graph: Graph, source: Array, target: Array) -> None:
    """Without the bridges there are as many more parts; without any one of the other edges there are not more."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_vertices, graph.edges()
    if n == 0:
        return
    real = edges.src != edges.dst
    src, dst = edges.src[real].astype(np.int64), edges.dst[real].astype(np.int64)
    keys, copies = np.unique(src * n + dst, return_counts=True)
    place = np.searchsorted(keys, source.astype(np.int64) * n + target)
    place[place == len(keys)] = 0
    require(len(source) <= len(keys), "there are more bridges than edges")
    require(bool(np.all(keys[place] == source.astype(np.int64) * n + target)), "a bridge is no edge")
    require(bool(np.all(copies[place] == 1)), "a bridge has a parallel edge")

    def parts(kept: Array) -> int:
        ends = keys[kept] // n, keys[kept] % n
        return int(connected_components(sp.coo_array((np.ones(len(ends[0])), ends), shape=(n, n)), directed=False)[0])

    everything, rest = np.ones(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    rest[place] = False
    whole = parts(everything)
    require(parts(rest) == whole + len(source), "not every bridge disconnects its ends")
    for edge in np.flatnonzero(rest & (copies == 1))[:_CHECKED].tolist():
        everything[edge] = False
        a, b = divmod(int(keys[edge]), n)
        require(parts(everything) == whole, f"the edge {a}-{b} is a bridge that was left out")
        everything[edge] = True


def verify(graph: Graph, source: Array, target: Array, component: Array) -> None:
    """Each edge has one component; with the vertices they form a forest; each one's edges are connected, and, for some,
    also without any one of its vertices.

    A forest of components and vertices means that no cycle goes through two components.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    n, edges = graph.num_vertices, graph.edges()
    real = edges.src != edges.dst
    require(len(source) == np.count_nonzero(real), "there is not one row for each edge")
    ours, theirs = np.lexsort((target, source)), np.lexsort((edges.dst[real], edges.src[real]))
    require(
        bool(np.all(source[ours] == edges.src[real][theirs]) and np.all(target[ours] == edges.dst[real][theirs])),
        "a row is no edge of the graph",
    )
    if not len(source):
        return
    count = int(component.max()) + 1
    member = np.unique(np.stack([np.concatenate([source, target]), np.tile(component, 2)]), axis=1)
    size = n + count
    tree = sp.coo_array((np.ones(member.shape[1]), (member[0], n + member[1])), shape=(size, size))
    parts = connected_components(tree, directed=False)[0]
    require(member.shape[1] == size - parts, "a cycle goes through two components")
    for number in range(min(count, _CHECKED)):
        inner = component == number
        vertices, ends = np.unique(np.stack([source[inner], target[inner]]), return_inverse=True)
        ends = ends.reshape(2, -1)
        for lost in [-1, *range(min(len(vertices), _CHECKED))] if len(vertices) > 2 else [-1]:
            kept = np.all(ends != lost, axis=0)
            links = sp.coo_array((np.ones(kept.sum()), tuple(ends[:, kept])), shape=(len(vertices), len(vertices)))
            pieces = connected_components(links, directed=False)[0] - (lost >= 0)
            require(pieces == 1, f"component {number} falls apart without vertex {vertices[lost]}")
