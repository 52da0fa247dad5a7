"""Betweenness of edges where no kernel has the whole graph: on disk, in slices and parts, and over ranks.

For each source the programs of betweenness find levels, path counts and dependencies of the vertices. The shares of
edges follow from those of their ends, so for some sources together all arcs go by once, and one number is held for each
edge of the answer (:mod:`dromos.places.operators.shares`). A field of each arc in a program would be twice as many
numbers, and as many again for the sum over sources; and arcs would go by twice for each source.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dromos.algorithms.betweenness import Paths, dependencies, require_countable
from dromos.dtypes import Array
from dromos.errors import ResourceError
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["OPERATOR", "edge_sums_by_programs"]

OPERATOR: Final = "edge_shares"
_SOURCES: Final = 8  # that arcs go by for together: reading them once more for eight sources hardly shows
_VALUES: Final = 20  # bytes of what is held for each vertex and source
# The way back takes more for its fields than the search. It is asked for before the first search, so that a budget that
# is too small is refused at once.
_WAY_BACK: Final = 40
_SORTED: Final = 24  # bytes for each row while rows are sorted


def edge_sums_by_programs(session: Session, graph: Graph, sources: Array) -> Mapping[str, Array]:
    """``source``, ``target`` and ``through`` of each edge (or arc) of a simple graph, summed over ``sources``."""
    n, back = graph.num_vertices, graph.transpose  # a store without in-edges is refused here
    ids = graph.targets.dtype
    sums: dict[str, Array] = {"through": np.zeros(graph.num_edges)}
    if not len(sources):
        return {"source": np.empty(0, ids), "target": np.empty(0, ids), **sums}
    in_order = graph.directed or graph.sorted
    row_bytes = 2 * ids.itemsize + 8 + (0 if in_order else _SORTED)
    forward, width = _first_search(session, graph, int(sources[0]), min(_SOURCES, len(sources)), row_bytes)
    for begin in range(0, len(sources), width):
        batch = sources[begin : begin + width].tolist()
        level, paths = np.empty((n, len(batch)), np.int32), np.empty((n, len(batch)))
        gain = np.empty((n, len(batch)))
        for column, source in enumerate(batch):
            if begin or column:
                forward = session.run(Paths(source=source), graph).fields
            level[:, column], paths[:, column] = forward["level"], forward["paths"]
            gain[:, column] = _gain(session, back, source, forward)
        given = {**sums, "by_arc": graph.directed, "with_ends": begin + width >= len(sources)}
        del forward, sums  # of the answer there is one in memory
        sums = dict(session.require_native(OPERATOR, graph, level=level, paths=paths, gain=gain, **given))
        del given
    return sums if in_order else _in_order(sums)


def _first_search(
    session: Session, graph: Graph, source: int, width: int, row_bytes: int
) -> tuple[Mapping[str, Array], int]:
    """What a search finds, and for how many sources (up to ``width``) values can be held beside programs."""
    while True:
        session.hold_beside_programs(width * _VALUES + _WAY_BACK, row_bytes)
        try:
            found = session.run(Paths(source=source), graph).fields
        except ResourceError:
            if width == 1:
                raise
            width //= 2
            continue
        session.hold_beside_programs(width * _VALUES, row_bytes)
        return found, width


def _gain(session: Session, back: Graph, source: int, forward: Mapping[str, Array]) -> Array:
    """What each path to a vertex brings to an edge that leads there; 0 where no path does."""
    level, paths = forward["level"], forward["paths"]
    require_countable(
        paths, source, "read the graph into memory (dr.read) and use one device, whose kernel has no such limit"
    )
    gain = session.run(dependencies(level, paths), back).fields["dependency"]
    gain += 1
    return np.divide(gain, paths, out=np.zeros(len(paths)), where=paths > 0)


def _in_order(sums: Mapping[str, Array]) -> Mapping[str, Array]:
    order = np.lexsort((sums["target"], sums["source"]))
    return {name: column[order] for name, column in sums.items()}
