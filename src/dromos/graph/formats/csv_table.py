"""Tables of edges as CSV with a header line.

CSV says nothing but the rows: a file is read as directed edges, its weights as ``int32`` or ``float64``, and integers
that leave some of 0..largest out, or texts, as labels. So a graph is only written where its rows tell the rest, unless
``allow_loss=True``; labelled vertices may come back in another order. Rows in messages count the header, but no blank
lines.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import FormatError
from dromos.graph.arrow_numbers import numbers_from_arrow
from dromos.graph.formats.base import EdgeBlock, EdgeSource, Progress, no_progress
from dromos.graph.formats.files import atomic_output, open_input, strip_compression
from dromos.graph.formats.loss import has_isolated, refuse_loss
from dromos.graph.formats.table_rows import (
    arrow_errors,
    block_of,
    check_ids_option,
    columns_of,
    edge_batches,
    edge_schema,
)

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["stream_csv", "write_csv"]

_BLOCK = 1 << 22
_INTEGER = r"^-?[0-9]+$"
_ROW = re.compile(r"Row #(\d+): ")


def stream_csv(
    path: Path,
    *,
    src: str | None = None,
    dst: str | None = None,
    weight: str | None = None,
    ids: str = "auto",
    delimiter: str = ",",
    num_vertices: int | None = None,
    progress: Progress = no_progress,
    threads: int | None = None,
) -> EdgeSource:
    """The edges of a CSV file; ``ids`` is ``"auto"``, ``"dense"`` (0..n-1) or ``"names"`` (texts, numbers too)."""
    check_ids_option(ids)
    names = _header(path, delimiter)
    with arrow_errors(path):
        columns = columns_of(names, src, dst, weight, path)
    if all(re.match(_INTEGER, name) for name in columns):
        raise FormatError(
            f"the first line ({delimiter.join(names)}) looks like an edge, not like names of columns; "
            "pass format='edges' for a list without header",
            path=path,
            line=1,
        )
    return EdgeSource(
        _blocks(path, columns, ids, delimiter, progress),
        num_vertices=num_vertices,
        sparse_ids=ids == "auto" and num_vertices is None,
    )


def _header(path: Path, delimiter: str) -> list[str]:
    with open_input(path) as stream, arrow_errors(path), _rows_named(path):
        reader = _open(stream, delimiter, None)
        return list(reader.schema.names)


def _open(stream: IO[bytes], delimiter: str, columns: list[str] | None) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    kinds = {} if columns is None else dict.fromkeys(columns, pa.string())
    return pyarrow.csv.open_csv(
        stream,
        # One thread, since only then are the rows numbered in messages.
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        # Everything as text at first: Arrow would see dates, times and truth values in names.
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=kinds, include_columns=columns or [], null_values=[""], strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )  # fmt: skip


def _blocks(path: Path, columns: list[str], ids: str, delimiter: str, progress: Progress) -> Iterator[EdgeBlock]:
    size = 0 if strip_compression(path)[1] else path.stat().st_size
    row, numbers = 2, None if ids == "auto" else ids == "dense"
    with open_input(path) as stream, arrow_errors(path), _rows_named(path):
        for batch in _open(stream, delimiter, columns):
            ends, weights = batch.columns[:2], batch.columns[2:]
            _refuse_missing(batch.columns, columns, row, path)
            if numbers is None and len(batch):
                numbers = all(_all_match(end, _INTEGER) for end in ends)
            if numbers:
                ends = [_cast(end, "int64", name, row, path) for end, name in zip(ends, columns, strict=False)]
            elif ids == "auto":
                for end, name in zip(ends, columns, strict=False):
                    _refuse_floats(end, name, row, path)
            kept = [*ends, *(_weights(column, columns[2], row, path) for column in weights)]
            yield block_of(kept, columns, ids)
            row += len(batch)
            progress(stream.tell() if size else 0, size)


@contextlib.contextmanager
def _rows_named(path: Path) -> Iterator[None]:
    """Take the number of the row out of Arrow's message about a malformed one."""
    import pyarrow as pa

    try:
        yield
    except pa.ArrowInvalid as error:
        found = _ROW.search(str(error))
        line = int(found[1]) if found else None
        raise FormatError(_ROW.sub("", str(error)), path=path, line=line) from None


def _refuse_missing(arrays: list[Any], columns: list[str], row: int, path: Path) -> None:
    for array, name in zip(arrays, columns, strict=True):
        if array.null_count:
            at = row + array.is_null().index(True).as_py()
            raise FormatError(f"the column {name!r} is empty; every edge needs a value there", path=path, line=at)


def _all_match(array: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(array, pattern)).as_py())


def _cast(array: Any, kind: str, name: str, row: int, path: Path) -> Any:
    import pyarrow as pa

    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        wrong = next(i for i in range(len(array)) if not _castable(array[i], kind))
    remedy = "weights must be numbers"
    if kind == "int64":
        remedy = "ids are whole numbers below 2^63; pass ids='names' if they are names"
    raise FormatError(f"the column {name!r} holds {array[wrong].as_py()!r}; {remedy}", path=path, line=row + wrong)


def _castable(scalar: Any, kind: str) -> bool:
    import pyarrow as pa

    try:
        scalar.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _refuse_floats(array: Any, name: str, row: int, path: Path) -> None:
    """Names that all are numbers, some with decimals, are ids that another program turned into floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    decimals = pc.match_substring_regex(array, _INTEGER).index(False).as_py()
    if decimals < 0:
        return
    try:
        array.cast(pa.float64())
    except pa.ArrowInvalid:
        return
    raise FormatError(
        f"the column {name!r} holds numbers like {array[decimals]}; ids must be integers (ids='names' takes any text)",
        path=path,
        line=row + decimals,
    )


def _weights(array: Any, name: str, row: int, path: Path) -> Any:
    if _all_match(array, r"^-?[0-9]{1,18}$"):
        return array.cast("int64")
    values = _cast(array, "float64", name, row, path)
    unset = np.isnan(numbers_from_arrow(values))
    if unset.any():
        raise FormatError(f"the column {name!r} holds NaN", path=path, line=row + int(np.argmax(unset)))
    return values


def write_csv(graph: Graph, path: Path, *, allow_loss: bool = False, progress: Progress = no_progress) -> None:
    """Write the edges as CSV; see the module for what a CSV file does not hold."""
    import pyarrow as pa
    import pyarrow.csv

    refuse_loss("CSV", _losses(graph), allow_loss, path)
    schema = edge_schema(graph)
    if graph.weights is not None and graph.weights.dtype.kind == "f":
        schema = schema.set(2, pa.field("weight", _written_as(graph.weights)))
    done = 0
    with atomic_output(path) as out, pyarrow.csv.CSVWriter(out, schema) as writer:
        for batch in edge_batches(graph):
            writer.write_batch(batch.cast(schema))
            done += len(batch)
            progress(done, graph.num_edges)


def _written_as(weights: Array) -> Any:
    """The type in which Arrow writes float weights such that they are read as floats again.

    It writes 1.0 as ``1``. Where all weights would be read as ``int32``, they are written as decimals: ``1.0``.
    Others are written as ``float64``, with all digits, so that weights of ``float32`` are read exactly.

    >>> str(_written_as(np.array([0.5, 2])))
    'double'
    """
    import pyarrow as pa

    if np.any(np.rint(weights) != weights) or np.any(np.abs(weights) > 2.0**31):
        return pa.float64()
    try:  # the quicker one, which older versions of pyarrow lack or cannot write
        narrow = pa.decimal64(11, 1)
        pa.array([1.0]).cast(narrow).cast(pa.string())
    except (AttributeError, pa.ArrowNotImplementedError):
        return pa.decimal128(11, 1)
    return narrow


def _losses(graph: Graph) -> list[str]:
    losses = []
    if not graph.directed:
        losses.append("that edges are undirected (read the file with directed=False)")
    if has_isolated(graph):
        losses.append("vertices without edges (read the file with num_vertices=, if they have no labels)")
    if graph.labels is not None and graph.labels.kind == "str" and len(graph.labels):
        names = graph.labels.to_arrow()
        if _all_match(names, r"^[-+0-9.eE]+$"):
            losses.append("that labels are texts, since all look like numbers (read the file with ids='names')")
    return losses
