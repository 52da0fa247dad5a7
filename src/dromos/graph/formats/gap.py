"""Serialized graphs of the GAP benchmark suite: ``.sg``, and ``.wsg`` with weights.

Little-endian and packed: a byte that says whether the graph is directed, the number of stored arcs and the number of
vertices (``int64`` both), the offsets of the rows (``int64``), and the neighbors (``int32``; in a ``.wsg`` each
followed by its ``int32`` weight). A directed graph has a second set of offsets and neighbors: the transpose.
The format has no checksum, but the two directions of its arcs repeat each other, and that is checked.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import MAX_INT32_VERTICES, Array
from dromos.errors import CorruptFileError, UnsupportedFormatError
from dromos.graph.formats.base import Format, Progress, no_progress
from dromos.graph.formats.files import atomic_output, open_input, strip_compression
from dromos.graph.formats.loss import refuse_loss
from dromos.parallel import num_threads, run_team

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_HEADER = struct.Struct("<?qq")
_BLOCK = 1 << 22  # bytes read or written at once
_SMALL = 1 << 15
_NO_WEIGHTS = np.empty(0, dtype=np.int32)


def _load(path: Path, *, weighted: bool, progress: Progress = no_progress) -> Graph:
    from dromos.graph.graph import Graph
    from dromos.graph.records import Flags

    with _Reader.open(path, progress) as reader:
        head = reader.take(_HEADER.size)
        if head[0] > 1:
            raise CorruptFileError(
                f"the first byte is {head[0]}; it must say directed (1) or undirected (0)", path=path
            )
        directed, arcs, vertices = _HEADER.unpack(head)
        if not (0 <= vertices <= MAX_INT32_VERTICES and arcs >= 0):
            raise CorruptFileError(f"the header promises {vertices:,} vertices and {arcs:,} arcs", path=path)
        parts = 2 if directed else 1
        reader.expect(
            parts * (8 * (vertices + 1) + (8 if weighted else 4) * arcs), f"{vertices:,} vertices, {arcs:,} arcs"
        )
        rows = [_read_rows(reader, vertices, arcs, weighted) for _ in range(parts)]
        reader.expect_end()
    forward, backward = _arc_hashes(*rows[0])
    if directed:
        if backward != _arc_hashes(*rows[1])[0]:
            raise CorruptFileError("the transpose in the file does not hold the same arcs as the rows", path=path)
    elif forward != backward:
        raise CorruptFileError("the graph is marked undirected, and some arc lacks its reverse", path=path)
    flags = Flags(directed=directed, symmetric=None if directed else True)
    graph = Graph._make(*rows[0], flags=flags)
    if directed:
        graph._keep_transpose(Graph._make(*rows[1], flags=flags))
    return graph


def _write(
    graph: Graph, path: Path, *, weighted: bool, allow_loss: bool = False, progress: Progress = no_progress
) -> None:
    title = "GAP .wsg" if weighted else "GAP .sg"
    if weighted and (graph.weights is None or graph.weights.dtype != np.int32):
        given = "no weights" if graph.weights is None else f"{graph.weights.dtype} weights"
        raise UnsupportedFormatError(f"GAP .wsg files hold int32 weights, and the graph has {given}", path=path)
    if graph.targets.dtype != np.int32:
        raise UnsupportedFormatError(
            f"{title} files hold int32 ids: at most {MAX_INT32_VERTICES:,} vertices", path=path
        )
    losses = ["labels"] if graph.labels is not None else []
    if not weighted and graph.weights is not None:
        losses.append("weights (a .wsg file holds int32 ones)")
    refuse_loss(title, losses, allow_loss, path)
    sides = [graph, graph.transpose] if graph.directed else [graph]
    total = len(sides) * (8 * len(graph.offsets) + (8 if weighted else 4) * graph.num_arcs)
    with atomic_output(path) as out:
        out.write(_HEADER.pack(graph.directed, graph.num_arcs, graph.num_vertices))
        done = 0
        for side in sides:
            for block in _row_blocks(side, weighted):
                out.write(block.tobytes())
                done += block.nbytes
                progress(done, total)


def _row_blocks(graph: Graph, weighted: bool) -> Iterator[Array]:
    """The bytes of a graph's rows, a few megabytes at a time."""
    items = _BLOCK // 8
    for begin in range(0, len(graph.offsets), items):
        yield graph.offsets[begin : begin + items].astype("<i8", copy=False)
    for begin in range(0, graph.num_arcs, items):
        targets = graph.targets[begin : begin + items].astype("<i4", copy=False)
        if weighted:
            assert graph.weights is not None
            yield np.stack([targets, graph.weights[begin : begin + items].astype("<i4", copy=False)], axis=1)
        else:
            yield targets


class _Reader:
    """The bytes of a file in order, which are never allocated before they are known to be there."""

    def __init__(self, stream: IO[bytes], path: Path, size: int | None, progress: Progress) -> None:
        self.path = path
        self._stream, self._size, self._progress = stream, size, progress
        self._done = 0

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path, progress: Progress) -> Iterator[_Reader]:
        """Open a file; its size is only known where it is not compressed."""
        with open_input(path) as stream:
            compressed = strip_compression(path)[1] is not None
            yield cls(stream, path, None if compressed else os.fstat(stream.fileno()).st_size, progress)

    def expect(self, length: int, what: str) -> None:
        """Refuse a file that has not exactly ``length`` bytes left for what its header promises."""
        if self._size is not None and self._size - self._done != length:
            raise CorruptFileError(
                f"the header promises {what}: {self._done + length:,} bytes, and the file has {self._size:,}",
                path=self.path,
            )

    def expect_end(self) -> None:
        """Refuse bytes after the last array."""
        if self._stream.read(1):
            raise CorruptFileError("the file goes on after the last array that its header promises", path=self.path)

    def take(self, length: int) -> bytearray:
        """Exactly the next ``length`` bytes; memory grows with what arrives."""
        data = bytearray()
        while len(data) < length:
            more = self._stream.read(min(_BLOCK, length - len(data)))
            if not more:
                raise CorruptFileError(f"the file is cut short after {self._done:,} bytes", path=self.path)
            data += more
            self._done += len(more)
            self._progress(self._done, self._size or 0)
        return data

    def array(self, dtype: Any, count: int) -> Array:
        """The next ``count`` numbers."""
        return np.frombuffer(self.take(np.dtype(dtype).itemsize * count), dtype=dtype)


def _read_rows(reader: _Reader, vertices: int, arcs: int, weighted: bool) -> tuple[Array, Array, Array | None]:
    offsets = reader.array("<i8", vertices + 1)
    if offsets[0] != 0 or offsets[-1] != arcs or np.any(offsets[1:] < offsets[:-1]):
        raise CorruptFileError(f"the offsets do not rise from 0 to the number of arcs, {arcs:,}", path=reader.path)
    if weighted:
        pairs = reader.array(np.dtype([("target", "<i4"), ("weight", "<i4")]), arcs)
        targets, weights = pairs["target"].copy(), pairs["weight"].copy()
    else:
        targets, weights = reader.array("<i4", arcs), None
    low, high = int(targets.min(initial=0)), int(targets.max(initial=-1))
    if low < 0 or high >= vertices:
        outside = low if low < 0 else high
        raise CorruptFileError(f"an arc leads to vertex {outside}, outside 0..{vertices - 1}", path=reader.path)
    return offsets, targets, weights


def _arc_hashes(offsets: Array, targets: Array, weights: Array | None) -> tuple[int, int]:
    """Two numbers that stand for the set of arcs, and for the set of the reversed arcs."""
    from dromos.graph.formats import gap_kernels as kernels

    team = 1 if targets.size < _SMALL else num_threads()
    sums = np.zeros((2, team), dtype=np.uint64)
    values = _NO_WEIGHTS if weights is None else weights
    run_team(kernels.hash_arcs, offsets, targets, values, sums[0], sums[1], threads=team)
    return int(sums[0].sum()), int(sums[1].sum())


FORMATS = tuple(
    Format(name, title, (end,), load=partial(_load, weighted=weighted), write=partial(_write, weighted=weighted))
    for name, title, end, weighted in (
        ("gap-sg", "GAP serialized graph", ".sg", False),
        ("gap-wsg", "GAP serialized weighted graph", ".wsg", True),
    )
)
