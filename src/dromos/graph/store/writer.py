"""Writing a store: section by section under a temporary name, renamed when it is complete and on disk."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats.base import Progress, no_progress
from dromos.graph.formats.files import atomic_output, strip_compression
from dromos.graph.graph import Flags, Graph
from dromos.graph.store.checksums import as_bytes, chunk_checksums
from dromos.graph.store.header_page import pack_header
from dromos.graph.store.label_sections import label_arrays
from dromos.graph.store.layout import ALIGNMENT, CHUNK_BYTES, Header, Section, aligned
from dromos.graph.store.packs import PACK_ARCS, PackWriter, check_pack_arcs
from dromos.graph.store.striped import without_old_stripes

__all__ = ["SectionWriter", "in_chunks", "pieces_of", "true_flags", "write"]

_PIECE_BYTES = 32 << 20


class SectionWriter:
    """Writes the sections of a store in turn, and finally the header, which makes the file a store."""

    def __init__(
        self,
        out: IO[bytes],
        num_vertices: int,
        *,
        total: int = 0,
        progress: Progress = no_progress,
        chunk_bytes: int = CHUNK_BYTES,
        pack_arcs: int = 0,
    ) -> None:
        self._out, self._num_vertices, self._chunk_bytes, self._pack_arcs = out, num_vertices, chunk_bytes, pack_arcs
        self._total, self._progress = total, progress
        self._sections: list[Section] = []
        self._checksums: list[Array] = []
        self._position = 0
        self._put(bytes(ALIGNMENT))  # the header comes last: an unfinished file has no signature

    def add(self, name: str, dtype: np.dtype[Any], pieces: Iterable[Array]) -> None:
        """Write a section, which comes in pieces of any length; targets are packed if the store has packs."""
        if not self._pack_arcs or not name.endswith("targets"):
            self._add(name, dtype, pieces)
            return
        packs = PackWriter(self._num_vertices, self._pack_arcs)
        targets = (piece.view(dtype) for piece in in_chunks(pieces, self._pack_arcs * dtype.itemsize))
        self._add(name, dtype, packs.packed(targets), packed=True)
        self._add(name.replace("targets", "packs"), packs.index.dtype, pieces_of(packs.index))

    def _add(self, name: str, dtype: np.dtype[Any], pieces: Iterable[Array], *, packed: bool = False) -> None:
        begin = self._position
        for data in in_chunks(pieces, self._chunk_bytes):
            self._checksums.append(chunk_checksums(data, self._chunk_bytes))
            self._put(data.data)
            self._progress(self._position, self._total)
        self._sections.append(Section(name, dtype, begin, self._position - begin, packed))
        self._put(bytes(aligned(self._position) - self._position))

    def finish(self, *, num_arcs: int, num_edges: int, flags: Flags) -> Header:
        """Write the checksum table and the header, and flush everything to disk."""
        table = b"".join(sums.tobytes() for sums in self._checksums)
        header = Header(
            self._num_vertices, num_arcs, num_edges, flags, tuple(self._sections), self._position, zlib.crc32(table),
            b"", self._chunk_bytes, self._pack_arcs,
        )  # fmt: skip
        header = replace(header, identity=header.computed_identity(table))
        self._put(table)
        self._out.seek(0)
        self._out.write(pack_header(header))
        self._out.flush()
        os.fsync(self._out.fileno())
        self._progress(self._position, self._position)
        return header

    def _put(self, data: bytes | memoryview) -> None:
        self._out.write(data)
        self._position += len(data)


def write(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    transpose: bool = False,
    progress: Progress = no_progress,
    chunk_bytes: int = CHUNK_BYTES,
    compress: bool = False,
    pack_arcs: int = PACK_ARCS,
) -> None:
    """Write a graph as a store.

    All flags are determined first and stored. ``transpose=True`` stores the in-edges too, so that no reader has to
    build them (a symmetric graph needs none). On an error, Ctrl-C or a full disk nothing is left behind, and an older
    file of that name stays as it was. ``chunk_bytes`` (a divisor of 32 MiB) is how much of a section shares a checksum:
    the smallest first read from a graph on disk (:func:`dromos.open`).

    ``compress=True`` stores the targets as gaps in few bits, in packs of ``pack_arcs`` arcs (a power of two from 256 to
    65,536): one to two and a half bytes per target instead of four. Weights are not compressed. Streaming a graph from
    disk then reads fewer bytes; loading it into memory unpacks the targets instead of mapping them.

    >>> import dromos as dr, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.drm"
    >>> write(dr.Graph.from_edges([0, 1], [1, 2]), file)
    >>> from dromos.graph.store import load
    >>> load(file)
    <Graph: 3 vertices, 2 edges, directed>
    >>> write(dr.Graph.from_edges([0, 1], [1, 2]), file, compress=True)
    >>> load(file).targets.tolist()
    [1, 2]
    """
    path = Path(path)
    if chunk_bytes < 1 or _PIECE_BYTES % chunk_bytes:
        raise InvalidArgumentError(f"chunk_bytes={chunk_bytes} is not a divisor of {_PIECE_BYTES}")
    check_pack_arcs(pack_arcs)
    compression = strip_compression(path)[1]
    if compression is not None:
        raise UnsupportedFormatError(f"a store is mapped, so it is not written through {compression}", path=path)
    flags = true_flags(graph)
    arrays = list(_arrays_of(graph, transpose and not flags.symmetric))
    total = ALIGNMENT + sum(aligned(array.nbytes) for _, array in arrays)
    with without_old_stripes(path), atomic_output(path) as out:
        writer = SectionWriter(
            out, graph.num_vertices,
            total=total, progress=progress, chunk_bytes=chunk_bytes, pack_arcs=pack_arcs if compress else 0,
        )  # fmt: skip
        for name, array in arrays:
            writer.add(name, array.dtype, pieces_of(array))
        writer.finish(num_arcs=graph.num_arcs, num_edges=graph.num_edges, flags=flags)


def true_flags(graph: Graph) -> Flags:
    """All flags of a graph; usually finds that a directed graph is not symmetric without building its transpose."""
    if graph.known_flags.symmetric is None and graph.num_arcs:
        from dromos.graph.store.rows import arc_sums

        forward, backward = arc_sums(graph)
        if forward != backward:
            graph._flags = replace(graph.known_flags, symmetric=False)
    return graph.flags


def _arrays_of(graph: Graph, with_transpose: bool) -> Iterator[tuple[str, Array]]:
    for prefix, rows in (("", graph), *((("transpose_", graph.transpose),) if with_transpose else ())):
        yield f"{prefix}offsets", rows.offsets
        yield f"{prefix}targets", rows.targets
        if rows.weights is not None:
            yield f"{prefix}weights", rows.weights
    yield from label_arrays(graph.labels)


def pieces_of(array: Array) -> Iterator[Array]:
    """An array in pieces for :meth:`SectionWriter.add`."""
    data = as_bytes(array)
    for begin in range(0, data.size, _PIECE_BYTES):
        yield data[begin : begin + _PIECE_BYTES]


def in_chunks(pieces: Iterable[Array], chunk_bytes: int) -> Iterator[Array]:
    """Cut pieces of any length anew, as bytes, so that all but the last are a whole number of chunks long.

    >>> [piece.tolist() for piece in in_chunks([np.array([1, 2, 3], np.uint8), np.array([4, 5], np.uint8)], 2)]
    [[1, 2], [3, 4], [5]]
    """
    rest = np.empty(0, dtype=np.uint8)
    for piece in pieces:
        data = as_bytes(piece)
        if len(rest):
            data = np.concatenate((rest, data))
        whole = len(data) // chunk_bytes * chunk_bytes
        if whole:
            yield data[:whole]
        rest = data[whole:].copy()  # the caller may reuse the memory of its pieces
    if len(rest):
        yield rest
