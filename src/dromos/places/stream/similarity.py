"""Similar vertices of a graph on disk: the rows of some sources, and those of their neighbors, at a time.

Sources are processed in groups whose rows fit. If those of a single source do not, the rows of its neighbors are
counted group by group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines.native.similarity import Counters
from dromos.graph.store.stored import StoredGraph
from dromos.parallel import num_threads
from dromos.places.stream.row_reader import PickedRows, RowReader, ranges_that_fit

__all__ = ["similarity", "similarity_state"]

_VERTEX_BYTES: Final = 12  # per thread: a count and an id
_ALONE_BYTES: Final = 52  # per vertex that may be similar to a source whose neighbors are processed in groups
_ARC_BYTES: Final = 40  # an arc of a row, and while the neighbors of sources are numbered, of which there are fewer
_PAIR_BYTES: Final = 33  # a vertex that may be among the best, its similarity, and copies of those that are


def similarity_state(graph: StoredGraph, options: Mapping[str, Any], threads: int | None) -> int:
    """Bytes of the counters of common neighbors."""
    team = max(1, min(num_threads(threads), len(options["sources"])))
    return graph.num_vertices * (_VERTEX_BYTES * team + _ALONE_BYTES)


def similarity(
    reader: RowReader,
    graph: StoredGraph,
    *,
    sources: Array,
    metric: str,
    k: int,
    threads: int | None,
    progress: Callable[[int, int], Any] | None,
    **_: Any,
) -> Mapping[str, Any]:
    """As :func:`dromos.engines.native.similarity.similarity`."""
    finding = _Finding(reader, graph, metric, k, len(sources), threads)
    found: list[Mapping[str, Array]] = [finding.nothing]
    ids, done = sources.astype(np.int64), 0
    for part in finding.answers(ids):
        found.append(part)
        done += len(part["count"])
        if progress is not None:
            progress(done, len(ids))
    return {name: np.concatenate([part[name] for part in found]) for name in finding.nothing}


class _Finding:
    """Finds similar vertices within the memory that a reader allows."""

    def __init__(
        self, reader: RowReader, graph: StoredGraph, metric: str, k: int, sources: int, threads: int | None
    ) -> None:
        self._reader, self._metric, self._k, self._n = reader, metric, k, graph.num_vertices
        self._out, self._in = graph.out_prefix, str(graph.in_prefix)
        self._degrees, self._back = reader.offsets[self._out], reader.offsets[self._in]
        self._dtype, self._sources, self._threads = graph.targets.dtype, sources, threads
        self._counters: Counters | None = None

    @property
    def nothing(self) -> Mapping[str, Array]:
        """The result if no vertex is similar to any."""
        return {"count": np.empty(0, np.int64), "best": np.empty(0, self._dtype), "score": np.empty(0)}

    def answers(self, sources: Array) -> Iterator[Mapping[str, Array]]:
        """Yield the most similar vertices of all sources, some sources at a time."""
        pair, arc = self._k * _PAIR_BYTES, _ARC_BYTES
        for first, last in self._ranges(sources, self._degrees, pair, self._reader.work // 2):
            chunk = sources[first:last]
            own = self._rows(self._out, np.sort(chunk))
            left = [(0, len(chunk))]
            while left:
                low, high = left.pop()
                rows = _picked(own, chunk[low:high])
                near = np.unique(rows.targets).astype(np.int64)
                size = (high - low) * pair + (len(rows.targets) + _arcs(self._back, near)) * arc
                if size <= self._reader.work:
                    yield self._together(rows, near)
                elif high > low + 1:
                    left += [((low + high) // 2, high), (low, (low + high) // 2)]
                else:
                    yield self._alone(int(chunk[low]), near)

    def _together(self, own: PickedRows, near: Array) -> Mapping[str, Array]:
        """The similar vertices of some sources, with the rows of all their neighbors in memory."""
        back = self._rows(self._in, near)
        if self._counters is None:
            self._counters = Counters(self._n, self._dtype, self._sources, self._threads)
        rows = own.offsets, np.searchsorted(near, own.targets).astype(self._dtype)
        return self._counters.most_similar(
            self._degrees, rows, (back.offsets, back.targets), own.vertices, np.arange(len(own.vertices)),
            self._metric, self._k,
        )  # fmt: skip

    def _alone(self, source: int, near: Array) -> Mapping[str, Array]:
        """The similar vertices of one source, whose neighbors' rows are processed in groups."""
        common = np.zeros(self._n, np.int32)
        for first, last in self._ranges(near, self._back, 0, self._reader.work):
            np.add.at(common, self._rows(self._in, near[first:last]).targets, 1)
        common[source] = 0
        others = np.flatnonzero(common)
        degree = (self._degrees[others + 1] - self._degrees[others]).astype(np.float64)
        shared, own = common[others].astype(np.float64), np.float64(len(near))
        if self._metric == "jaccard":
            value = shared / (own + degree - shared)
        else:
            value = shared / (np.minimum(own, degree) if self._metric == "overlap" else np.sqrt(own * degree))
        best = np.lexsort((others, -value))[: self._k]
        return {"count": np.array([len(best)]), "best": others[best].astype(self._dtype), "score": value[best]}

    def _rows(self, prefix: str, vertices: Array) -> PickedRows:
        size = _arcs(self._reader.offsets[prefix], vertices) * _ARC_BYTES if len(vertices) == 1 else 0
        if size > self._reader.work:
            raise self._reader.too_little("the row of one vertex", size)
        return self._reader.rows_of(prefix, vertices)

    def _ranges(self, vertices: Array, offsets: Array, each: int, work: int) -> Iterator[tuple[int, int]]:
        """Ranges of vertices whose rows, and ``each`` further bytes per vertex, fit; at least one vertex."""
        return ranges_that_fit((offsets[vertices + 1] - offsets[vertices]).astype(np.int64) * _ARC_BYTES + each, work)


def _arcs(offsets: Array, vertices: Array) -> int:
    return int((offsets[vertices + 1] - offsets[vertices]).sum(dtype=np.int64))


def _picked(rows: PickedRows, vertices: Array) -> PickedRows:
    """The rows of some of the vertices, in another order."""
    numbers = np.searchsorted(rows.vertices, vertices)
    begin, lengths = rows.offsets[numbers], np.diff(rows.offsets)[numbers]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    arcs = np.arange(int(offsets[-1])) + np.repeat(begin - offsets[:-1], lengths)
    return PickedRows(vertices, offsets, rows.targets[arcs], None)
