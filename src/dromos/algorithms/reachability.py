"""An index of which vertices reach which within some steps.

``reachability_index`` searches ``k`` levels deep from every vertex, up to 512 vertices at a time, and writes the bits
of each group to a file as they are found. The file is mapped, so a query reads one word, whatever the size of the
index. The index takes one bit for each pair of a vertex with out-edges and one with in-edges, and identifies its graph
by a checksum. Answers are exact: a vertex reaches itself in 0 steps, and others along the graph's edges.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of
from dromos.algorithms.many.index_file import IndexFile, IndexWriter, graph_digest
from dromos.algorithms.many.searching import search, width_within
from dromos.algorithms.many.sources import vertex_ids
from dromos.dtypes import Array
from dromos.engines.joint_groups import Found
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.graph import Graph
from dromos.graph.formats.files import atomic_output
from dromos.graph.summary import human_bytes
from dromos.runner import DeviceOptions, Session

__all__ = ["ReachabilityIndex", "reachability_index"]


class ReachabilityIndex:
    """An index that tells whether a vertex reaches another within ``k`` steps.

    >>> import tempfile, dromos as dr
    >>> g = dr.Graph.from_edges(["ada", "bob", "eve"], ["bob", "eve", "zoe"])
    >>> file = Path(tempfile.mkdtemp()) / "g.reach"
    >>> index = dr.reachability_index(g, 2, file)
    >>> index.reachable("ada", "eve"), index.reachable("ada", "zoe")
    (True, False)
    >>> dr.ReachabilityIndex.open(file, g).reachable(["ada", "bob"], ["zoe", "zoe"]).tolist()
    [False, True]
    """

    def __init__(self, file: IndexFile, graph: Graph) -> None:
        self._file, self._graph = file, graph
        self.k: int | None = file.header["k"]
        self._places, self._rows, self._words = file.places, file.rows, file.flat

    @classmethod
    def open(cls, path: str | os.PathLike[str], graph: Graph) -> ReachabilityIndex:
        """Open an index file; raises an error if it is damaged or was built for another graph."""
        file = IndexFile(Path(path))
        if file.header.get("graph") != graph_digest(graph):
            raise InvalidArgumentError(
                f"{path} was built for another graph ({file.header['vertices']:,} vertices); build one for this graph"
            )
        return cls(file, graph)

    def reachable(self, source: Any, target: Any) -> Any:
        """Whether ``source`` reaches ``target``; for two lists of vertices, an array with one answer per pair."""
        if _is_list(source) or _is_list(target):
            return self._many(source, target)
        u, v = self._graph.vertex_id(source), self._graph.vertex_id(target)
        if u == v:
            return True
        place, row = int(self._places[u]), int(self._rows[v])
        if place < 0:
            self._need_source(np.array([u]))
        if place < 0 or row < 0:
            return False
        self._file.check(place >> 6)
        word = int(self._words[(place >> 6) * self._file.row_count + row])
        return bool(word >> (place & 63) & 1)

    def _many(self, source: Any, target: Any) -> Array:
        u, v = np.broadcast_arrays(self._ids(source), self._ids(target))
        place, row = self._places[u], self._rows[v]
        self._need_source(u[place < 0])
        answer = u == v
        known = np.flatnonzero((place >= 0) & (row >= 0))
        at, row = place[known], row[known]
        for block in np.unique(at >> 6).tolist():
            self._file.check(block)
        words = self._words[(at >> 6) * self._file.row_count + row]
        answer[known] |= ((words >> (at & 63).astype(np.uint64)) & np.uint64(1)).astype(bool)
        return np.asarray(answer)

    def _ids(self, given: Any) -> Array:
        graph = self._graph
        if not _is_list(given):
            return np.array(graph.vertex_id(given))
        if graph.labels is not None:
            return np.asarray(graph.labels.ids_of(given), dtype=np.int64)
        ids = np.asarray(given)
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise InvalidArgumentError("vertices must be a one-dimensional list of ids of this graph, whole numbers")
        wrong = (ids < 0) | (ids >= graph.num_vertices)
        if wrong.any():
            graph.vertex_id(int(ids[wrong][0]))
        return ids.astype(np.int64)

    def _need_source(self, lacking: Array) -> None:
        """Refuse vertices that the index was not built from; without out-edges they reach nothing and need no place."""
        if self._file.header["all"] or not len(lacking):
            return
        missing = lacking[self._graph.out_degree[lacking] > 0]
        if len(missing):
            raise InvalidArgumentError(
                f"the index was built from some sources without vertex {missing[0]}; build one that includes it"
            )

    def __repr__(self) -> str:
        steps = "any number of" if self.k is None else f"at most {self.k}"
        size = human_bytes(self._file.path.stat().st_size)
        return f"<ReachabilityIndex: {steps} steps, {np.count_nonzero(self._places >= 0):,} sources, {size}>"


def _is_list(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes)


def reachability_index(
    graph: Graph,
    k: int | None,
    to: str | os.PathLike[str],
    sources: Iterable[Any] | None = None,
    memory: int | str | None = None,
    grouping: str = "auto",
    **how: Unpack[DeviceOptions],
) -> ReachabilityIndex:
    """Build an index of what every vertex reaches within ``k`` steps, write it to the file ``to`` and open it.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways.
        k: the maximum number of steps; None for no limit.
        to: the file to write; it appears under this name only when it is complete.
        sources: only from these vertices, by label (by id if the graph has no labels).
        memory: the limit for one group of sources during its search, in bytes or as text such as ``"2G"``.
        grouping: how to choose the sources that run together: ``auto``, ``random`` or ``by-hubs``.
        how: ``device``, ``path``, ``threads``, ``progress``.
    """
    session = Session("reachability_index", graph, **how)
    limit = None if k is None else count_of(k, "k", low=1)
    chosen = np.arange(graph.num_vertices) if sources is None else vertex_ids(graph, sources, "sources")
    ids = chosen[graph.out_degree[chosen] > 0]
    n, heads = graph.num_vertices, np.flatnonzero(graph.in_degree > 0)
    blocks = -(-len(ids) // 64)
    path = Path(to)
    _need_room(path, 8 * blocks * len(heads) + 16 * n)
    places, rows = np.full(n, -1, "<i8"), np.full(n, -1, "<i8")
    rows[heads] = np.arange(len(heads))
    header = {
        "k": limit, "vertices": n, "blocks": blocks, "rows": len(heads), "all": sources is None,
        "graph": graph_digest(graph),
    }  # fmt: skip
    width = width_within(graph, len(ids), memory)
    with atomic_output(path) as stream:
        writer = IndexWriter(stream, header, places, rows)

        def keep(found: Found) -> None:
            assert found.seen is not None
            first = found.group * 64 * width
            places[ids[found.sources]] = first + np.arange(len(found.sources))
            for word in range(-(-len(found.sources) // 64)):
                writer.write(first // 64 + word, found.seen[heads, word])

        search(session, graph, ids, keep, limit=limit, want_seen=True, grouping=grouping, memory=memory)
        writer.finish()
    return ReachabilityIndex.open(path, graph)


def _need_room(path: Path, size: int) -> None:
    """Refuse before the work what the disk cannot hold."""
    folder = path.parent
    if folder.is_dir() and shutil.disk_usage(folder).free < size:
        raise ResourceError(
            f"the index needs {human_bytes(size)}, more than is free on the disk of {folder}; "
            "index some vertices only with sources="
        )
