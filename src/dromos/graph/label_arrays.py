"""Columns of labels as given: integers or strings, from Python, NumPy or Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError

__all__ = [
    "MANY", "arrow_strings", "as_label_array", "encode_texts", "is_arrow", "is_arrow_text", "label_array", "objects",
    "pyarrow_or_none",
]  # fmt: skip

MANY = 1 << 12  # number of strings from which pyarrow is worth importing


def as_label_array(values: Iterable[Any] | Array) -> Array:
    """Label values as ``int64`` or as objects that are all ``str``; anything else is refused.

    >>> as_label_array([7, 3]).dtype
    dtype('int64')
    """
    array = label_array(values)
    return array if array.dtype == object else np.ascontiguousarray(array, dtype=np.int64)


def label_array(values: Iterable[Any] | Array) -> Array:
    """Labels as signed integers of any width, or as objects that are all ``str``."""
    if not isinstance(values, np.ndarray):
        values = np.asarray(values) if is_arrow(values) else objects(list(values))
    if values.ndim != 1:
        raise GraphDataError(f"labels must be one-dimensional, not of shape {values.shape}")
    if values.dtype.kind in "iu":
        if values.dtype == np.uint64 and values.size and int(values.max()) >= 2**63:
            raise GraphDataError(f"the label {int(values.max())} does not fit int64; give such labels as strings")
        return np.ascontiguousarray(values) if values.dtype in (np.int32, np.int64) else values.astype(np.int64)
    if values.size == 0:
        return np.empty(0, dtype=np.int64)
    if values.dtype.kind in "UT":
        values = values.astype(object)
    if values.dtype == object:
        kinds = set(map(type, values))
        if all(issubclass(kind, str) for kind in kinds):
            return values
        if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
            try:
                return values.astype(np.int64)
            except OverflowError:
                raise GraphDataError("a label does not fit int64; give such labels as strings") from None
        given = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise GraphDataError(f"labels must be all integers or all strings; these are of the types: {given}")
    raise GraphDataError(f"labels must be integers or strings, not {values.dtype}; convert them first")


def objects(items: list[Any]) -> Array:
    """Items as a column of objects of any kind (NumPy would make a matrix of equal-length tuples)."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@cache
def pyarrow_or_none() -> Any:
    """The module pyarrow, or None if it is not installed."""
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        return None
    return pyarrow


def is_arrow(values: Any) -> bool:
    """Whether ``values`` are pyarrow's; does not import pyarrow."""
    return type(values).__module__.partition(".")[0] == "pyarrow"


def arrow_strings(values: Any) -> Any:
    """One Arrow ``large_string`` array of the strings, or None if Arrow cannot represent them."""
    pa = pyarrow_or_none()
    if pa is None:
        return None
    if not is_arrow(values):
        if not isinstance(values, np.ndarray) or len(values) < MANY or values.dtype != object:
            return None
        if not all(issubclass(kind, str) for kind in set(map(type, values))):
            return None
        try:
            return pa.array(values, pa.large_string())
        except (UnicodeEncodeError, pa.ArrowException):  # a lone surrogate has no UTF-8
            return None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if not is_arrow_text(values):
        return None
    return values.cast(pa.large_string())


def is_arrow_text(values: Any) -> bool:
    """Whether ``values`` are pyarrow's, and strings or a dictionary of strings.

    >>> is_arrow_text(["ada"])
    False
    """
    if not is_arrow(values):
        return False
    pa = pyarrow_or_none()
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def encode_texts(columns: Sequence[Any]) -> tuple[list[Array], Any]:
    """Columns of Arrow's strings as numbers, and the distinct strings in order of first appearance.

    >>> import pyarrow as pa
    >>> numbers, texts = encode_texts([pa.array(["b", "a"]), pa.array(["a", "c"]).dictionary_encode()])
    >>> [column.tolist() for column in numbers], texts.to_pylist()
    ([[0, 1], [1, 2]], ['b', 'a', 'c'])
    """
    pa = pyarrow_or_none()
    text = pa.large_string()
    coded_text = pa.dictionary(pa.int32(), text)
    parts = [column.chunks if isinstance(column, pa.ChunkedArray) else [column] for column in columns]
    if any(pa.types.is_dictionary(column.type) for column in columns):
        chunks = [_coded(chunk).cast(coded_text) for part in parts for chunk in part]
        whole = pa.chunked_array(chunks, coded_text).unify_dictionaries()
        texts = whole.chunk(0).dictionary
        # a dictionary may have entries that no row uses, in any order
        used = pa.chunked_array([chunk.indices for chunk in whole.chunks]).dictionary_encode()
        texts, coded = texts.take(used.chunk(0).dictionary), used.chunks
    else:
        coded = (
            pa.chunked_array([chunk.cast(text) for part in parts for chunk in part], text).dictionary_encode().chunks
        )
        texts = coded[0].dictionary
    texts.validate(full=True)
    numbers = iter([np.asarray(chunk.indices) for chunk in coded])
    return [np.concatenate([next(numbers) for _ in part]) for part in parts], texts


def _coded(chunk: Any) -> Any:
    return chunk if pyarrow_or_none().types.is_dictionary(chunk.type) else chunk.dictionary_encode()
