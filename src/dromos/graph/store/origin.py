"""Which store a graph was opened from, and whether that file is still the same."""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from dromos.dtypes import Array
from dromos.graph.graph import Graph
from dromos.graph.store.layout import Header
from dromos.graph.store.mapped import map_of

__all__ = [
    "OpenedFile", "Origin", "StoredRows", "Stripes", "changed_file", "changed_underneath", "identity", "origin_of",
    "remember", "rows_of",
]  # fmt: skip


@dataclass(frozen=True)
class OpenedFile:
    """A file, as it looked when it was opened."""

    path: str
    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: str, status: os.stat_result, **more: Any) -> Self:
        """Make it from an open file's ``status``."""
        return cls(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, **more)

    def is_same(self, status: os.stat_result) -> bool:
        """Whether ``status`` is that of this file, not written to since."""
        seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        return seen == (self.device, self.inode, self.size, self.modified_ns)

    @property
    def is_current(self) -> bool:
        """Whether the file of this name is still the one that was opened."""
        try:
            return self.is_same(Path(self.path).stat())
        except OSError:
            return False


@dataclass(frozen=True)
class Stripes:
    """Where the bytes of a striped store lie; see :mod:`dromos.graph.store.striped`."""

    stripe: int
    size: int
    files: tuple[OpenedFile, ...]


@dataclass(frozen=True, kw_only=True)
class Origin(OpenedFile):
    """The store behind a graph: its header, and how the file looked when it was opened."""

    header: Header
    stripes: Stripes | None = field(default=None, compare=False)


class StoredRows(NamedTuple):
    """Where the rows of a graph are stored."""

    origin: Origin
    prefix: str
    """Of the names of their sections."""
    weighted: bool
    """Whether the graph has the weights of the store."""


# Graphs are not hashable (== compares their arrays), so they are found by address while they live.
_origins: dict[int, tuple[weakref.ref[Graph], Origin]] = {}
# A transpose, or the graph without its weights, is another graph around the same map: the map is what identifies it.
_maps: dict[int, tuple[weakref.ref[mmap], Origin]] = {}
# The rows of a store in memory, by the address of their offsets, as long as these are in memory.
_rows: dict[int, tuple[weakref.ref[Array], int, int | None, StoredRows]] = {}


def remember(graph: Graph, origin: Origin) -> None:
    """Keep the origin of a graph while the graph lives, and that of its map while the map is held."""
    _keep(_origins, graph, origin)
    mapped = map_of(graph._offsets)  # not the property, which would check all rows
    if mapped is not None:
        _keep(_maps, mapped, origin)
    for prefix, each in (("", graph), ("transpose_", graph.known_transpose)):
        if each is not None:
            _keep_rows(each, StoredRows(origin, prefix, weighted=each._weights is not None))


def _keep_rows(graph: Graph, stored: StoredRows) -> None:
    key, holder = _address(graph._offsets), _holder(graph._offsets)
    weights = None if graph._weights is None else _address(graph._weights)
    _rows[key] = (weakref.ref(holder, lambda _: _rows.pop(key, None)), _address(graph._targets), weights, stored)


def _keep(origins: dict[int, tuple[weakref.ref[Any], Origin]], thing: Any, origin: Origin) -> None:
    key = id(thing)
    origins[key] = (weakref.ref(thing, lambda _: origins.pop(key, None)), origin)


def origin_of(graph: Graph) -> Origin | None:
    """The store that a graph was opened from; ``None`` if it came from elsewhere."""
    if graph.on_disk:  # a graph on disk stores its origin
        return graph.origin  # type: ignore[attr-defined, no-any-return]
    reference, origin = _origins.get(id(graph), (None, None))
    return origin if reference is not None and reference() is graph else None


def rows_of(graph: Graph) -> StoredRows | None:
    """The store that holds the rows of a graph in memory: also for its transpose, and for a graph without its weights.

    >>> import dromos as dr
    >>> rows_of(dr.Graph.from_edges([0], [1])) is None
    True
    """
    holder, targets, weights, stored = _rows.get(_address(graph._offsets), (None, 0, None, None))
    if holder is None or stored is None or holder() is None or targets != _address(graph._targets):
        return None
    if graph._weights is None:
        return stored._replace(weighted=False)
    return stored if weights == _address(graph._weights) else None


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0]) if array.size else 0


def _holder(array: Array) -> Array:
    """The array of which ``array`` is a view, through any number of views: it lives as long as one of them."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def identity(graph: Graph) -> str | None:
    """The digest of the store that a graph was opened from: a file made for this graph can identify the graph by it.

    It is the same for every store with the same arrays, whatever its name. ``None`` for a graph from elsewhere.

    >>> import dromos as dr
    >>> identity(dr.Graph.from_edges([0], [1])) is None
    True
    """
    origin = origin_of(graph)
    return None if origin is None else origin.header.identity.hex()


def changed_underneath(graph: Graph) -> bool:
    """Whether the file that a graph is mapped from was written to, cut, replaced or removed since it was opened.

    A file that was replaced or removed by name is still intact under the map; one that was written to in place is not.
    A graph that was read into memory (``mmap=False``) no longer depends on its file.

    >>> import dromos as dr
    >>> changed_underneath(dr.Graph.from_edges([0], [1]))
    False
    """
    return changed_file(graph) is not None


def changed_file(graph: Graph) -> str | None:
    """The changed file under one of the graph's arrays; None if no file changed.

    >>> import dromos as dr
    >>> changed_file(dr.Graph.from_edges([0], [1])) is None
    True
    """
    if graph.on_disk:
        stored: Origin = graph.origin  # type: ignore[attr-defined]
        return None if stored.is_current else stored.path
    for array in (graph._offsets, graph._targets, graph._weights):
        mapped = None if array is None else map_of(array)
        _, origin = _maps.get(id(mapped), (None, None))
        if mapped is not None and origin is not None and not origin.is_current:
            return origin.path
    return None
