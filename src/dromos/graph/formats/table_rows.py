"""Rows of a table as edges, and edges as rows: what Parquet, Arrow and CSV files have in common."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array, weight_dtype
from dromos.errors import CorruptFileError, DromosError, FormatError, GraphDataError, InvalidArgumentError
from dromos.graph.arrow_columns import arrow_ids, arrow_weights, shared_strings
from dromos.graph.arrow_numbers import numbers_to_arrow
from dromos.graph.columns import choose_columns
from dromos.graph.formats.base import EdgeBlock
from dromos.graph.formats.files import file_errors
from dromos.graph.label_arrays import objects

if TYPE_CHECKING:
    from dromos.graph.graph import Graph

__all__ = ["ROWS_A_BATCH", "arrow_errors", "block_of", "check_ids_option", "columns_of", "edge_batches", "edge_schema"]

_log = logging.getLogger("dromos.read")
ROWS_A_BATCH = 1 << 18
_IDS = ("auto", "dense", "names")


def check_ids_option(ids: str) -> None:
    """``ids`` is one of ``"auto"``, ``"dense"`` and ``"names"``."""
    if ids not in _IDS:
        raise InvalidArgumentError(f"ids={ids!r} is not one of {', '.join(_IDS)}")


def columns_of(names: list[str], src: str | None, dst: str | None, weight: str | None, path: Path) -> list[str]:
    """The columns of a file that are read: sources, targets and any weights. A log record tells of others."""
    columns = [name for name in choose_columns(names, src, dst, weight) if name is not None]
    others = [name for name in names if name not in columns]
    if others and src is dst is weight is None:
        _log.info(
            "%s: edges are read from the columns %s; not read: %s (src=, dst= and weight= choose columns)",
            path, ", ".join(columns), ", ".join(others),
        )  # fmt: skip
    return columns


def block_of(columns: list[Any], names: list[str], ids: str) -> EdgeBlock:
    """A block of edges from two columns of vertices and perhaps one of weights, as Arrow arrays."""
    ends = [_vertices(column, name, ids) for column, name in zip(columns[:2], names[:2], strict=True)]
    if len(columns) == 2:
        return EdgeBlock(ends[0], ends[1], None)
    weight = arrow_weights(columns[2], names[2])
    return EdgeBlock(ends[0], ends[1], weight.astype(weight_dtype(weight), copy=False))


def _vertices(column: Any, name: str, ids: str) -> Array:
    values = arrow_ids(column, name)
    if not isinstance(values, np.ndarray):
        if ids == "dense":
            raise GraphDataError(f"the column {name!r} holds strings, and ids='dense' asks for integers")
        return shared_strings(values)
    if ids == "names":
        return objects(list(map(str, values.tolist())))
    if values.dtype == np.uint64 and values.size and int(values.max()) >= 2**63:
        raise GraphDataError(f"the column {name!r} holds {int(values.max())}, which overflows int64")
    fits = values.size == 0 or (int(values.min()) >= -(2**31) and int(values.max()) < 2**31)
    return values.astype(np.int32 if fits else np.int64, copy=False)


def edge_schema(graph: Graph) -> Any:
    """The columns that a graph's edges are written as."""
    import pyarrow as pa

    ends = pa.from_numpy_dtype(graph.targets.dtype)
    if graph.labels is not None:
        ends = pa.int64() if graph.labels.kind == "int" else pa.string()
    fields = [("src", ends), ("dst", ends)]
    if graph.weights is not None:
        fields.append(("weight", pa.from_numpy_dtype(graph.weights.dtype)))
    return pa.schema(fields)


def edge_batches(graph: Graph) -> Iterator[Any]:
    """The edges as record batches; labels stand in the place of ids."""
    import pyarrow as pa

    edges = graph.edges()
    names = None if graph.labels is None else graph.labels.to_arrow()
    schema = edge_schema(graph)
    for begin in range(0, len(edges.src), ROWS_A_BATCH):
        rows = slice(begin, begin + ROWS_A_BATCH)
        ends = [numbers_to_arrow(edges.src[rows]), numbers_to_arrow(edges.dst[rows])]
        if names is not None:
            ends = [names.take(column).cast(schema.field(0).type) for column in ends]
        weight = [] if edges.weight is None else [numbers_to_arrow(edges.weight[rows])]
        yield pa.record_batch(ends + weight, schema=schema)


@contextlib.contextmanager
def arrow_errors(path: Path) -> Iterator[None]:
    """What Arrow raises for damaged data, as errors that name the file."""
    import pyarrow as pa

    try:
        yield
    except GraphDataError as error:
        raise FormatError(str(error), path=path) from None
    except DromosError:
        raise
    except MemoryError:  # Arrow believes a length in a damaged header; real want of memory comes as one too
        raise CorruptFileError("the file asks for more memory than there is; it is likely damaged", path=path) from None
    except (pa.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            with file_errors(path):
                raise
        raise CorruptFileError(f"the file is damaged or of another format ({error})", path=path) from None
