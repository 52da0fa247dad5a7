"""Forms of a graph that algorithms need repeatedly, made once and kept as long as the graph lives.

A form that takes more than a quarter of the free memory is not kept, but made at every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dromos.graph.graph import Graph
from dromos.sizes import available_memory

__all__ = ["derived"]

_MOST_OF_FREE: Final = 0.25


def derived(graph: Graph, name: str, make: Callable[[Graph], Graph]) -> Graph:
    """The result of ``make(graph)``, kept under ``name``.

    >>> graph = Graph.from_edges([0], [1], [2.5])
    >>> plain = derived(graph, "without weights", lambda given: given.with_weights(None))
    >>> plain is derived(graph, "without weights", lambda given: given.with_weights(None))
    True
    """
    kept = graph._derived
    found = kept.get(name)
    if found is None:
        found = make(graph)
        if found.targets is graph.targets or found.nbytes <= _MOST_OF_FREE * available_memory():
            found = kept.setdefault(name, found)  # another thread may have been faster
    return found
