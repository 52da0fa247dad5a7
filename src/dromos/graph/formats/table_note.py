"""The note that Dromos leaves in the metadata of a Parquet or Arrow file.

A table of edges does not say whether they are directed, which vertices have no edge, or how vertices are numbered. The
note does, and it has checksums of itself and of the rows, so that damage that the format itself does not notice, or a
change by another program that copied the note along, is noticed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.errors import CorruptFileError, UnsupportedFormatError
from dromos.graph.arrow_numbers import numbers_from_arrow
from dromos.graph.formats.loss import rows_tell_labels
from dromos.graph.labels import Labels

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["RowSums", "TableNote", "make_note", "read_note"]

_NOTE, _CHECK, _LABELS = b"dromos", b"dromos.check", b"dromos.labels"
_VERSION = 1
_MAX_LABEL_BYTES = 1 << 25  # readers of Parquet give up on metadata of 100 MB
_ADVICE = "the file is damaged, or another program changed its rows; pass metadata=False to read the rows as they are"


class RowSums:
    """Checksums of columns that come in batches, whatever the size of these."""

    def __init__(self) -> None:
        self.rows = 0
        self._sums: dict[int, list[int]] = {}

    def add(self, columns: list[Any]) -> None:
        """Take in the next rows, as Arrow arrays."""
        self.rows += len(columns[0])
        for position, column in enumerate(columns):
            sums = self._sums.setdefault(position, [0, 0])
            for part, data in enumerate(_buffers(column)):
                sums[part] = zlib.crc32(data, sums[part])

    def values(self) -> list[list[int]]:
        """The checksums of each column."""
        return [self._sums[position] for position in sorted(self._sums)]


def _buffers(column: Any) -> list[Any]:
    """The bytes of a column's values; for strings their lengths too."""
    import pyarrow as pa

    if not pa.types.is_string(column.type):
        return [np.ascontiguousarray(numbers_from_arrow(column))]
    offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
    data = column.buffers()[2]
    if len(column) == 0 or data is None:
        return [np.diff(offsets) if len(column) else b"", b""]
    return [np.diff(offsets), memoryview(data)[offsets[0] : offsets[-1]]]


@dataclass(frozen=True)
class TableNote:
    """What the metadata tells of the graph."""

    directed: bool
    num_vertices: int
    num_edges: int
    columns: list[str]
    types: list[str]
    labels_kind: str | None
    """``None``, ``"int"`` or ``"str"``; or ``"rows"`` for integers that the rows hold, in ascending order."""
    labels_sum: int
    row_sums: list[list[int]]
    version: int = _VERSION

    def to_metadata(self, label_bytes: bytes) -> dict[bytes, bytes]:
        """The entries for the file's metadata."""
        text = json.dumps(asdict(self), sort_keys=True).encode()
        entries = {_NOTE: text, _CHECK: b"%08x" % zlib.crc32(text)}
        return entries | ({_LABELS: label_bytes} if label_bytes else {})

    def labels(self, metadata: Mapping[bytes, bytes], path: Path) -> Labels | None:
        """The labels that the metadata holds, if any."""
        if self.labels_kind not in ("int", "str"):
            return None
        packed = metadata.get(_LABELS, b"")
        if zlib.crc32(packed) != self.labels_sum:
            raise CorruptFileError("the labels in the metadata are damaged", path=path)
        data = zlib.decompress(packed)
        numbers = np.frombuffer(data[: 8 * self.num_vertices], "<i8")
        if self.labels_kind == "int":
            return Labels.from_values(numbers)
        offsets = np.concatenate([[0], np.cumsum(numbers)])
        return Labels.from_utf8(np.frombuffer(data[8 * self.num_vertices :], np.uint8), offsets)

    def check_columns(self, columns: list[str], types: list[str], path: Path) -> None:
        """Refuse columns that are not those that were written."""
        if columns != self.columns or types != self.types:
            raise CorruptFileError(f"the columns are not those that Dromos wrote: {_ADVICE}", path=path)

    def check_rows(self, sums: RowSums, path: Path) -> None:
        """Refuse rows that are not those that were written."""
        if sums.rows != self.num_edges:
            raise CorruptFileError(
                f"the file has {sums.rows:,} rows, and Dromos wrote {self.num_edges:,}: {_ADVICE}", path=path
            )
        if sums.rows and sums.values() != self.row_sums:
            raise CorruptFileError(f"the rows fail their checksum: {_ADVICE}", path=path)


def read_note(metadata: Mapping[bytes, bytes] | None, path: Path, expected: bool = False) -> TableNote | None:
    """The note in a file's metadata, if Dromos wrote the file."""
    if metadata is None or not any(key in metadata for key in (_NOTE, _CHECK, _LABELS)):
        if expected:
            raise CorruptFileError(f"the metadata of Dromos is missing: {_ADVICE}", path=path)
        return None
    text = metadata.get(_NOTE, b"")
    if metadata.get(_CHECK) != b"%08x" % zlib.crc32(text):
        raise CorruptFileError(f"the metadata of Dromos fails its checksum: {_ADVICE}", path=path)
    fields = json.loads(text)
    if fields.get("version") != _VERSION:
        raise UnsupportedFormatError(f"metadata of version {fields.get('version')}, made by a later Dromos", path=path)
    return TableNote(**fields)


def make_note(graph: Graph, schema: Any, batches: Iterable[Any], path: Path) -> tuple[TableNote, bytes]:
    """The note for a graph that is written as these batches, and the labels that go with it."""
    sums = RowSums()
    for batch in batches:
        sums.add(batch.columns)
    kind, label_bytes = _packed_labels(graph, path)
    note = TableNote(
        directed=graph.directed,
        num_vertices=graph.num_vertices,
        num_edges=sums.rows,
        columns=schema.names,
        types=[str(column) for column in schema.types],
        labels_kind=kind,
        labels_sum=zlib.crc32(label_bytes),
        row_sums=sums.values(),
    )
    return note, label_bytes


def _packed_labels(graph: Graph, path: Path) -> tuple[str | None, bytes]:
    """The kind of a graph's labels, and their bytes for the metadata (none where the rows hold them all)."""
    labels = graph.labels
    if labels is None:
        return None, b""
    if labels.integers is not None:
        if rows_tell_labels(graph):
            return "rows", b""
        raw = labels.integers.astype("<i8", copy=False).tobytes()
    else:
        assert labels.offsets is not None
        assert labels.utf8 is not None
        raw = np.diff(labels.offsets).astype("<i8").tobytes() + labels.utf8.tobytes()
    packed = zlib.compress(raw, 1)
    if len(packed) > _MAX_LABEL_BYTES:
        raise UnsupportedFormatError(
            f"{len(labels):,} labels do not fit the metadata of a table; write a .drm store, or g.to_arrow() by hand",
            path=path,
        )
    return labels.kind, packed
