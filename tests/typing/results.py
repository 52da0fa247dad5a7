"""What a type checker knows about results; `make lint` and a test run mypy over this file.

A wrong line carries an ignore: if the checker no longer found the mistake, it would complain of an ignore without use.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

import dromos as dr


def right(graph: dr.Graph, program: dr.Program) -> tuple[NDArray[Any], float, int]:
    """Fields are arrays, numbers about the graph are numbers, a program's fields may be anything."""
    level = dr.bfs(graph, 0).level
    parent = dr.sssp(graph, 0).to_host().parent
    share: float = dr.louvain(graph).modularity
    count: int = dr.connected_components(graph).count
    far = float(dr.diameter(graph)) + dr.diameter(graph) / 2
    own = dr.run(program, graph).any_field_of_it
    return level + parent + own, share + far, count


def wrong(graph: dr.Graph) -> None:
    """A field that is not there, or not of that kind, is an error."""
    _ = dr.bfs(graph, 0).levels  # type: ignore[attr-defined]
    _ = dr.sssp(graph, 0).level  # type: ignore[attr-defined]
    _ = dr.diameter(graph).lowest  # type: ignore[attr-defined]
    many: str = dr.connected_components(graph).count  # type: ignore[assignment]
    del many
