"""Results and traces as files: Parquet, CSV, JSON and NPZ, by the extension; a file is whole or not there."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.errors import UnsupportedFormatError
from dromos.graph.formats.files import atomic_output, strip_compression
from dromos.runner.tables import arrow, arrow_column

__all__ = ["WRITERS", "check_extension", "write_columns"]

Columns = Mapping[str, Array]


def _flat(columns: Columns) -> dict[str, Array]:
    """Vector fields as one column per component, for tables that hold plain values only."""
    out: dict[str, Array] = {}
    for name, column in columns.items():
        out |= {name: column} if column.ndim == 1 else {f"{name}_{i}": column[:, i] for i in range(column.shape[1])}
    return out


def _parquet(stream: IO[bytes], columns: Columns) -> None:
    pa = arrow()
    import pyarrow.parquet as parquet

    parquet.write_table(pa.table({name: arrow_column(column) for name, column in columns.items()}), stream)


def _csv(stream: IO[bytes], columns: Columns) -> None:
    pa = arrow()
    import pyarrow.csv as csv

    csv.write_csv(pa.table({name: arrow_column(column) for name, column in _flat(columns).items()}), stream)


def _json(stream: IO[bytes], columns: Columns) -> None:
    plain = {name: _plain(column.tolist()) for name, column in columns.items()}
    stream.write(json.dumps(plain, allow_nan=False).encode())


def _plain(value: Any) -> Any:
    """Numbers that JSON has no word for become null."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _npz(stream: IO[bytes], columns: Columns) -> None:
    plain: dict[str, Array] = {}
    for name, column in columns.items():
        if column.dtype != object:
            plain[name] = column
            continue
        # Labels, and None where there is no vertex, which no array of texts or integers has a value for.
        present = np.array([label is not None for label in column.flat], dtype=bool).reshape(column.shape)
        texts = any(isinstance(label, str) for label in column.flat)
        plain[name] = np.where(present, column, "" if texts else 0).astype(str if texts else np.int64)
        if not present.all():
            plain[f"{name}_present"] = present
    np.savez_compressed(stream, **plain)  # type: ignore[arg-type]


WRITERS: Final[Mapping[str, Callable[[IO[bytes], Columns], None]]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".json": _json,
    ".npz": _npz,
}


def check_extension(path: str | os.PathLike[str]) -> Callable[[IO[bytes], Columns], None]:
    """The writer for a file's extension, through ``.gz`` and its like."""
    plain, _ = strip_compression(Path(path))
    if plain.suffix.lower() not in WRITERS:
        known = ", ".join(WRITERS)
        raise UnsupportedFormatError(f"the extension {plain.suffix!r} is not one of {known}", path=path)
    return WRITERS[plain.suffix.lower()]


def write_columns(path: str | os.PathLike[str], columns: Columns) -> None:
    """Write columns of equal length; an older file of that name stays until the new one is whole.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "out.json"
    >>> write_columns(target, {"vertex": np.array([0, 1]), "distance": np.array([0.0, np.inf])})
    >>> target.read_text()
    '{"vertex": [0, 1], "distance": [0.0, null]}'
    """
    write = check_extension(path)
    with atomic_output(path) as stream:
        write(stream, columns)
