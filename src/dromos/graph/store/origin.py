"""Which store a graph was opened from, and whether that file is still the same."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from pathlib import Path

from dromos.graph.graph import Graph
from dromos.graph.store.layout import Header

__all__ = ["Origin", "changed_underneath", "identity", "origin_of", "remember"]


@dataclass(frozen=True)
class Origin:
    """The store behind a graph: its header, and how the file looked when it was opened."""

    path: str
    header: Header
    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: str, header: Header, status: os.stat_result) -> Origin:
        """The origin for an open file's ``status``."""
        return cls(path, header, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


# Graphs are not hashable (== compares their arrays), so they are found by their address while they live.
_origins: dict[int, tuple[weakref.ref[Graph], Origin]] = {}


def remember(graph: Graph, origin: Origin) -> None:
    """Keep the origin of a graph for as long as the graph lives."""
    key = id(graph)
    _origins[key] = (weakref.ref(graph, lambda _: _origins.pop(key, None)), origin)


def origin_of(graph: Graph) -> Origin | None:
    """The store that a graph was opened from; ``None`` where it came from elsewhere."""
    reference, origin = _origins.get(id(graph), (None, None))
    return origin if reference is not None and reference() is graph else None


def identity(graph: Graph) -> str | None:
    """The digest of the store that a graph was opened from: a file made for this graph can tell it from another.

    It is the same for every store with the same arrays, whatever its name. ``None`` for a graph from elsewhere.

    >>> import dromos as dr
    >>> identity(dr.Graph.from_edges([0], [1])) is None
    True
    """
    origin = origin_of(graph)
    return None if origin is None else origin.header.identity.hex()


def changed_underneath(graph: Graph) -> bool:
    """Whether the file that a graph is mapped from was written to, cut, replaced or removed since it was opened.

    A file that was replaced or removed by name is still whole under the map; one that was written to in place is not.

    >>> import dromos as dr
    >>> changed_underneath(dr.Graph.from_edges([0], [1]))
    False
    """
    origin = origin_of(graph)
    if origin is None:
        return False
    try:
        status = Path(origin.path).stat()
    except OSError:
        return True
    return Origin.of(origin.path, origin.header, status) != origin
