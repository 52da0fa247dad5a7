"""Distances between all pairs of vertices, streamed to a file.

Writes a Parquet file with one row per source. ``source`` is its label, or its id if the graph has no labels.
``distance`` is a list over all vertices in the order of their ids: the number of edges on a shortest path, -1 where
there is no path. With weights it is the sum of the weights as a 64-bit float, infinite where there is no path. Returns
one row per group of sources: the number of sources, the levels, the sharing degree and the seconds.

Memory is bounded by one group of sources, whatever the number of vertices; groups are made as large as the budget
allows. Rows are written as groups finish, so sources come in no particular order. The file appears under its name only
when it is complete.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from dromos.algorithms.arguments import count_of, lightest
from dromos.algorithms.arguments import weighted as with_weight
from dromos.algorithms.distances import weighted_rows
from dromos.algorithms.many.searching import GroupFacts, search
from dromos.algorithms.many.sources import vertex_ids
from dromos.algorithms.verifying import matrix, require
from dromos.dtypes import Array
from dromos.engines.joint_groups import Found
from dromos.errors import FieldOverflowError, MissingDependencyError, UnsupportedFormatError
from dromos.graph import Graph
from dromos.graph.arrow_numbers import numbers_to_arrow
from dromos.graph.formats.files import atomic_output
from dromos.runner import DeviceOptions, Result, Session
from dromos.sizes import as_bytes

__all__ = ["AllPairsResult", "all_pairs", "verify"]

_CHECKED = 16
_SLICE = 1 << 24  # bytes of distances that Arrow encodes at once
_WRITING = 2 * _SLICE  # bytes, while they are
_NARROW = np.iinfo(np.int16).max


class AllPairsResult(Result):
    """What :func:`all_pairs` returns."""

    group: Array
    sources: Array
    levels: Array
    joint: Array
    group_sharing: Array
    group_seconds: Array
    rows: int
    sharing: float
    bytes: int
    file: str


def all_pairs(
    graph: Graph,
    to: Path,
    sources: Iterable[Any] | None = None,
    depth_limit: int | None = None,
    memory: int | str = 1 << 30,
    wide: bool = False,
    grouping: str = "auto",
    weight: str | None = None,
    **how: Unpack[DeviceOptions],
) -> AllPairsResult:
    """Write the distances between all pairs of vertices to a Parquet file.

    Args:
        graph: directed edges are followed from source to target, undirected edges both ways. Weights are ignored
            unless ``weight`` is given.
        to: the file to write, with the extension ``.parquet``.
        sources: only from these vertices, by label (by id if the graph has no labels).
        depth_limit: the greatest distance to search, in edges.
        memory: the limit for one group of sources, in bytes or as text such as ``"2G"``; for a graph on disk, that of
            the whole run.
        wide: write distances in 32 bits instead of 16.
        grouping: how to choose the sources that run together: ``auto``, ``random`` or ``by-hubs``.
        weight: ``"weight"`` adds up the graph's weights, which must not be negative; sources are searched one by one.
        how: ``device``, ``path``, ``threads``, ``progress``.

    >>> import tempfile, dromos as dr
    >>> import pyarrow.parquet
    >>> file = Path(tempfile.mkdtemp()) / "pairs.parquet"
    >>> dr.all_pairs(dr.generators.path(3), file).rows
    3
    >>> sorted(pyarrow.parquet.read_table(file).to_pylist(), key=lambda row: row["source"])[0]
    {'source': 0, 'distance': [0, 1, 2]}
    """
    session = Session("all_pairs", graph, **how)
    file = Path(to)
    if file.suffix != ".parquet":
        raise UnsupportedFormatError(
            f"the extension {file.suffix!r} is not '.parquet'; all_pairs writes Parquet only", path=file
        )
    ids = np.arange(graph.num_vertices) if sources is None else vertex_ids(graph, sources, "sources")
    on = with_weight(graph, weight)
    kind = np.dtype(np.float64 if on.weights is not None else np.int32 if wide else np.int16)
    limit = None if depth_limit is None else min(count_of(depth_limit, "depth_limit"), graph.num_vertices)
    with atomic_output(file) as stream:
        rows = _Rows(stream, graph, ids, kind)
        try:
            if on.weights is not None:
                session.stay_within(memory)
                session.hold_beside_programs(-(-(_WRITING + 2 * _SLICE) // max(graph.num_vertices, 1)))
                facts = _write_weighted(session, on, ids, rows, limit, as_bytes(memory))
            else:
                searched = search(
                    session, graph, ids, rows.write,
                    limit=limit, distance=kind, grouping=grouping, memory=memory, answer=_WRITING,
                )  # fmt: skip
                facts = searched.groups
        except BaseException:
            rows.abandon()
            raise
        rows.close()
    sharing = 1.0 if on.weights is not None else searched.sharing
    return session.result(
        AllPairsResult,
        {name: np.array([getattr(group, of) for group in facts]) for name, of in _COLUMNS.items()},
        values={"rows": len(ids), "sharing": sharing, "bytes": file.stat().st_size, "file": str(file)},
        index="group",
        verifier=lambda result: verify(on, ids, file, limit),
    )


def _write_weighted(
    session: Session, graph: Graph, ids: Array, rows: _Rows, limit: int | None, memory: int
) -> list[GroupFacts]:
    """Search by weight from one source after the other; a group is what is written at once."""
    facts: list[GroupFacts] = []
    begin, clock = 0, time.perf_counter()
    size = max(1, min(memory, _SLICE) // (8 * max(graph.num_vertices, 1)))
    held: list[Array] = []
    for number, row in enumerate(weighted_rows(session, graph, ids, limit), 1):
        held.append(row)
        if len(held) == size or number == len(ids):
            rows.append(np.arange(begin, number), np.array(held))
            seconds = time.perf_counter() - clock
            facts.append(GroupFacts(len(facts), len(held), 0, 0, 0, 1.0, seconds))
            held, begin, clock = [], number, time.perf_counter()
    return facts


_COLUMNS = {
    "group": "group",
    "sources": "sources",
    "levels": "levels",
    "joint": "joint",
    "group_sharing": "sharing",
    "group_seconds": "seconds",
}


class _Rows:
    """A Parquet file that rows of distances are appended to."""

    def __init__(self, stream: Any, graph: Graph, ids: Array, kind: Any) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingDependencyError("all_pairs writes Parquet with pyarrow: pip install pyarrow") from None
        self._pa, self._labels, self._ids = pa, graph.labels, ids
        strings = graph.labels is not None and graph.labels.kind == "str"
        self._schema = pa.schema(
            [("source", pa.string() if strings else pa.int64()), ("distance", pa.list_(pa.from_numpy_dtype(kind)))]
        )
        self._writer = parquet.ParquetWriter(stream, self._schema, compression="zstd")

    def write(self, found: Found) -> None:
        """Append the rows of a group, some at a time."""
        rows = found.distance
        assert rows is not None
        if rows.dtype == np.int16 and found.levels > _NARROW:
            raise FieldOverflowError(
                f"a distance of {found.levels:,} does not fit 16 bits; pass wide=True to write 32 bits"
            )
        self.append(found.sources, rows)

    def append(self, places: Array, rows: Array) -> None:
        """Append rows of the sources at ``places``."""
        pa, n = self._pa, rows.shape[1]
        step = max(1, _SLICE // max(1, n * rows.itemsize))
        for begin in range(0, len(rows), step):
            some = rows[begin : begin + step]
            ids = self._ids[places[begin : begin + step]]
            names = ids if self._labels is None else self._labels.values_of(ids)
            ends = numbers_to_arrow(np.arange(len(some) + 1, dtype=np.int32) * n)
            lists = pa.ListArray.from_arrays(ends, numbers_to_arrow(some.ravel()))
            strings = names.dtype.kind == "O"
            sources = pa.array(names.tolist(), pa.string()) if strings else numbers_to_arrow(names.astype(np.int64))
            self._writer.write_batch(pa.record_batch([sources, lists], schema=self._schema))

    def abandon(self) -> None:
        """Let the writer go, whatever state it is in: what it wrote is thrown away."""
        with contextlib.suppress(Exception):
            self._writer.close()
        self._writer.is_open = False  # else it tries once more when it is collected

    def close(self) -> None:
        """Write what stands at the end of the file."""
        self._writer.close()


def verify(graph: Graph, sources: Array, file: Path, limit: int | None) -> None:
    """The file has a row for every source, and some of them are SciPy's distances."""
    import pyarrow.parquet as parquet
    from scipy.sparse.csgraph import shortest_path

    reader = parquet.ParquetFile(file)
    require(reader.metadata.num_rows == len(sources), f"{file} has not a row for each of {len(sources):,} sources")
    if not len(sources):
        return
    table = next(reader.iter_batches(_CHECKED))
    given = table["source"].to_pylist()
    ids = [graph.vertex_id(vertex) for vertex in given]
    if graph.weights is not None and str(table["distance"].type.value_type) == "double":
        for vertex, row, expected in zip(
            given, table["distance"].to_pylist(), shortest_path(matrix(lightest(graph)), indices=ids), strict=True
        ):
            require(np.allclose(np.asarray(row), expected), f"{file} has other distances from vertex {vertex!r}")
        return
    length = shortest_path(matrix(graph.with_weights(None)), unweighted=True, indices=ids)
    length[~np.isfinite(length) | (length > (np.inf if limit is None else limit))] = -1
    for vertex, row, expected in zip(given, table["distance"].to_pylist(), length, strict=True):
        require(np.array_equal(np.asarray(row), expected), f"{file} has other distances from vertex {vertex!r}")
