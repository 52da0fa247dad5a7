"""Tables of edges: Parquet, Arrow IPC (Feather), and CSV with a header line.

A row is an edge; columns are found by :func:`dromos.graph.columns.choose_columns`, or given as ``src=``, ``dst=`` and
``weight=``. Parquet and Arrow files that Dromos wrote carry a note in their metadata and come back exactly, isolated
vertices, direction and labels included; other tables are read as directed edges. See :mod:`.csv_table` for CSV.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dromos.errors import CorruptFileError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Format, Progress, no_progress
from dromos.graph.formats.csv_table import stream_csv, write_csv
from dromos.graph.formats.files import atomic_output, open_input
from dromos.graph.formats.table_note import RowSums, TableNote, make_note, read_note
from dromos.graph.formats.table_rows import (
    ROWS_A_BATCH,
    arrow_errors,
    block_of,
    check_ids_option,
    columns_of,
    edge_batches,
    edge_schema,
)

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["FORMATS"]

_ARROW_MAGIC = b"ARROW1"
_FEATHER1_MAGIC = b"FEA1"
_FIELD_ID, _FIELD_MARK = b"PARQUET:field_id", b"1685220207"


class _Table:
    """An open file of record batches: its schema, its metadata, and the batches of chosen columns."""

    schema: Any
    metadata: Any
    marked = False
    """Whether the columns bear the mark of Dromos, so that its note must be in the metadata."""

    def batches(self, columns: list[str]) -> Iterator[tuple[Any, int]]:
        """Record batches, each with about how many bytes of the file are done."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""
        raise NotImplementedError


class _ParquetTable(_Table):
    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self._size = path.stat().st_size
        # A buffer instead of whole column chunks keeps the memory bounded, whatever the size of the row groups.
        self._file = pq.ParquetFile(path, page_checksum_verification=True, buffer_size=1 << 20, pre_buffer=False)
        self.schema, self.metadata = self._file.schema_arrow, self._file.metadata.metadata
        self.marked = any((field.metadata or {}).get(_FIELD_ID) == _FIELD_MARK for field in self.schema)

    def batches(self, columns: list[str]) -> Iterator[tuple[Any, int]]:
        rows, done = max(1, self._file.metadata.num_rows), 0
        for batch in self._file.iter_batches(ROWS_A_BATCH, columns=columns):
            done += len(batch)
            yield batch.select(columns), self._size * done // rows

    def close(self) -> None:
        self._file.close()


class _ArrowTable(_Table):
    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        with open_input(path) as stream:
            head = stream.read(len(_ARROW_MAGIC))
        if head.startswith(_FEATHER1_MAGIC):
            raise UnsupportedFormatError("a Feather file of version 1; save it as version 2 (Arrow IPC)", path=path)
        # Mapped, so that a damaged length cannot have memory allocated for it.
        self._map = pa.memory_map(str(path))
        self._is_file = head == _ARROW_MAGIC
        self._reader: Any = pa.ipc.open_file(self._map) if self._is_file else pa.ipc.open_stream(self._map)
        self.schema, self.metadata = self._reader.schema, self._reader.schema.metadata
        if self._is_file:  # the schema stands at both ends of the file
            self._map.seek(8)
            if not pa.ipc.open_stream(self._map).schema.equals(self.schema, check_metadata=True):
                raise CorruptFileError("the schemas at the two ends of the file differ", path=path)

    def batches(self, columns: list[str]) -> Iterator[tuple[Any, int]]:
        count = self._reader.num_record_batches if self._is_file else None
        done = 0
        for batch in self._reader if count is None else map(self._reader.get_batch, range(count)):
            batch.validate(full=True)
            done += batch.nbytes
            for begin in range(0, len(batch), ROWS_A_BATCH):
                yield batch.slice(begin, ROWS_A_BATCH).select(columns), done

    def close(self) -> None:
        self._map.close()


def _stream(
    opener: Callable[[Path], _Table],
    path: Path,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    ids: str = "auto",
    num_vertices: int | None = None,
    metadata: bool = True,
    progress: Progress = no_progress,
    threads: int | None = None,
) -> EdgeSource:
    """The edges of a table.

    Args:
        src, dst, weight: the names of the columns.
        ids: ``"dense"`` takes the ids as 0..n-1, ``"names"`` as texts; ``"auto"`` makes labels of integers that leave
            some of 0..largest out, and of texts.
        num_vertices: how many vertices there are.
        metadata: ``False`` passes over the note of Dromos and reads the rows alone.
    """
    check_ids_option(ids)
    open_input(path).close()  # a missing, empty or forbidden file is told of in our words
    with arrow_errors(path):
        table = opener(path)
    try:
        with arrow_errors(path):
            note = read_note(table.metadata, path, table.marked) if metadata else None
            columns = columns_of(table.schema.names, src, dst, weight, path)
            if note is None:
                source = EdgeSource(iter(()), num_vertices=num_vertices, sparse_ids=ids == "auto")
            else:
                source = _noted(note, table, columns, path, ids, num_vertices)
    except BaseException:
        table.close()
        raise
    source.blocks = _blocks(table, columns, ids, note, path, progress)
    return source


def _noted(
    note: TableNote, table: _Table, columns: list[str], path: Path, ids: str, num_vertices: int | None
) -> EdgeSource:
    """A source for a file that Dromos wrote: its note says everything."""
    if ids != "auto" or num_vertices not in (None, note.num_vertices):
        raise InvalidArgumentError("the file says itself what its ids are; pass metadata=False to read it otherwise")
    note.check_columns(columns, [str(table.schema.field(name).type) for name in columns], path)
    rows_hold = note.labels_kind == "rows"
    return EdgeSource(
        iter(()),
        directed=note.directed,
        num_vertices=None if rows_hold else note.num_vertices,
        num_edges=note.num_edges,
        sparse_ids=rows_hold,
        labels=note.labels(table.metadata, path),
    )


def _blocks(
    table: _Table, columns: list[str], ids: str, note: TableNote | None, path: Path, progress: Progress
) -> Iterator[EdgeBlock]:
    import pyarrow as pa

    sums = RowSums()
    size = path.stat().st_size
    with contextlib.closing(table), arrow_errors(path):
        empty = [pa.nulls(0, table.schema.field(name).type) for name in columns]
        yield block_of(empty, columns, ids)  # a table without rows still has types
        for batch, done in table.batches(columns):
            batch.validate(full=True)
            if note is not None:
                sums.add(batch.columns)
            yield block_of(batch.columns, columns, ids)
            progress(min(done, size), size)
        if note is not None:
            note.check_rows(sums, path)


def _write_parquet(
    graph: Graph, path: Path, *, compression: str | None = "zstd", progress: Progress = no_progress
) -> None:
    import pyarrow.parquet as pq

    codec = _check_compression(compression, ("zstd", "snappy", "gzip", "lz4", "brotli")) or "none"
    schema = _schema(graph, path)
    # Nothing guards the list of metadata itself: a mark in the list of columns tells that there must be a note.
    schema = schema.set(0, schema.field(0).with_metadata({_FIELD_ID: _FIELD_MARK}))
    options: Any = {"compression": codec, "write_page_checksum": True}
    with atomic_output(path) as out, pq.ParquetWriter(out, schema, **options) as writer:
        _write_batches(graph, writer.write_batch, progress)


def _write_arrow(graph: Graph, path: Path, *, compression: str | None = None, progress: Progress = no_progress) -> None:
    import pyarrow as pa

    codec = _check_compression(compression, ("lz4", "zstd"))
    schema = _schema(graph, path)
    with atomic_output(path) as out:
        sink: Any = out
        with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            _write_batches(graph, writer.write_batch, progress)


def _check_compression(compression: str | None, known: tuple[str, ...]) -> Any:
    if compression is not None and compression not in known:
        raise InvalidArgumentError(f"compression={compression!r} is neither None nor one of {', '.join(known)}")
    return compression


def _schema(graph: Graph, path: Path) -> Any:
    note, label_bytes = make_note(graph, edge_schema(graph), edge_batches(graph), path)
    return edge_schema(graph).with_metadata(note.to_metadata(label_bytes))


def _write_batches(graph: Graph, write: Callable[[Any], None], progress: Progress) -> None:
    done, total = 0, graph.num_edges
    for batch in edge_batches(graph):
        write(batch)
        done += len(batch)
        progress(done, total)


FORMATS = (
    Format("parquet", "Parquet table", (".parquet", ".pq"), partial(_stream, _ParquetTable), None, _write_parquet,
           compressed=False, requires="pyarrow"),
    Format("arrow", "Arrow table", (".arrow", ".feather"), partial(_stream, _ArrowTable), None, _write_arrow,
           compressed=False, requires="pyarrow"),
    Format("csv", "CSV table", (".csv",), stream_csv, None, write_csv, requires="pyarrow"),
)  # fmt: skip
