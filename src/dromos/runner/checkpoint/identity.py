"""The identity of a run, as comparable words: its saved state is valid for no other run."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from dromos._version import __version__
from dromos.graph import Graph
from dromos.graph.store.origin import identity
from dromos.program import Program

__all__ = ["GraphDigests", "difference", "words_of"]


class GraphDigests:
    """Digests of graphs, each computed once: an algorithm may run hundreds of programs on one graph."""

    def __init__(self) -> None:
        self._known: list[tuple[Graph, str]] = []

    def of(self, graph: Graph) -> str:
        """The digest of the rows and weights; a store has its own, which is not recomputed from all its arcs."""
        for known, digest in self._known:
            if known is graph:
                return digest
        stored = identity(graph)
        digest = f"store {stored}" if stored is not None else _digest_of_arrays(graph)
        self._known.append((graph, digest))
        return digest


def _digest_of_arrays(graph: Graph) -> str:
    found = hashlib.sha256()
    for array in (graph.offsets, graph.targets, graph.weights):
        found.update(b"none" if array is None else str(array.dtype).encode())
        if array is not None:
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def words_of(
    algorithm: str, engine: str, path: str, program: Program, graph: Graph, max_iter: int | None, graph_digest: str
) -> dict[str, str]:
    """What has to be the same when a run continues."""
    params = hashlib.sha256()
    for name, value in sorted(program.params.items()):
        array = np.ascontiguousarray(value)
        params.update(f"{name} {array.dtype} {array.shape}".encode())
        params.update(array.tobytes())
    return {
        "version of Dromos": __version__,
        "algorithm": algorithm,
        "engine": engine,
        "path": path,
        "program": f"{type(program).__name__} {program.ir().hash}",
        "parameters of the program": params.hexdigest()[:16],
        "limit of supersteps": str(max_iter),
        "number of vertices": str(graph.num_vertices),
        "number of arcs": str(graph.num_arcs),
        "graph": graph_digest,
    }


_DIGESTS = {"parameters of the program": "other parameters of the program", "graph": "another graph"}
"""What is told of a difference in words that are digests, which say nothing to a reader."""


def difference(saved: dict[str, Any], now: dict[str, str]) -> str:
    """The first difference, as a text; empty if there is none.

    >>> difference({"engine": "cpu", "graph": "a1"}, {"engine": "numpy", "graph": "a1"})
    "another engine: 'cpu' when it was saved, 'numpy' now"
    """
    for what, value in now.items():
        if saved.get(what) != value and what in _DIGESTS:
            return _DIGESTS[what]
        if saved.get(what) != value:
            return f"another {what}: {saved.get(what)!r} when it was saved, {value!r} now"
    return ""
