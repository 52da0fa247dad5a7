"""Columns of edges as they are given: taken as NumPy arrays, checked, and refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Sequence, Set, ValuesView
from typing import Any

import numpy as np

from dromos.dtypes import Array, weight_dtype
from dromos.errors import GraphDataError, InvalidArgumentError
from dromos.graph import build
from dromos.graph.label_arrays import as_label_array, is_arrow, objects
from dromos.graph.labels import Labels
from dromos.whole_numbers import whole_number

__all__ = ["as_numpy", "choose_columns", "id_column", "vertex_count", "weight_column"]

_MOST_VERTICES = 1 << 48


def as_numpy(values: Array | Sequence[Any] | Any) -> Array:
    """Any array as NumPy's, without a copy where that can be: by ``__array__``, DLPack (torch), or the elements.

    >>> as_numpy([1, 2]).tolist()
    [1, 2]
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise GraphDataError("some entries of the array are masked; fill them or leave their edges out")
    if isinstance(values, np.ndarray):
        return _native(np.asarray(values))
    if is_arrow(values) and hasattr(values, "null_count"):
        if values.null_count:
            raise GraphDataError(f"the array has {values.null_count:,} missing values (null)")
        return np.asarray(values)
    if isinstance(values, (list, tuple)) and any(issubclass(kind, str) for kind in set(map(type, values))):
        return objects(list(values))  # NumPy's own strings would lose trailing NULs, and make strings of numbers
    if hasattr(values, "__dlpack__"):
        try:
            return np.from_dlpack(values)
        except (BufferError, TypeError, RuntimeError, ValueError) as error:
            raise GraphDataError(f"cannot take the array by DLPack: {error}; move it to the CPU first") from None
    if isinstance(values, Set) and not isinstance(values, KeysView):
        raise GraphDataError("a set has no order, so that ends of edges would be mixed up; give a list or an array")
    if isinstance(values, Iterator | ValuesView | KeysView):
        return as_numpy(list(values))
    try:
        return _native(np.asarray(values))
    except (ValueError, OverflowError, TypeError) as error:
        raise GraphDataError(f"not a column of numbers or strings: {error}") from None


def _native(array: Array) -> Array:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def id_column(values: Array | Sequence[Any], name: str) -> Array:
    """A column of ids as integers, or of labels as objects that are ``str``."""
    column = as_numpy(values)
    if column.ndim != 1:
        raise GraphDataError(f"{name} must be one-dimensional, not of shape {column.shape}")
    if column.dtype.kind in "iu":
        if column.dtype == np.uint64 and column.size and int(column.max()) >= 2**63:
            raise GraphDataError(f"{name} holds the id {int(column.max())}, which overflows int64")
        return column
    if column.size == 0:
        return column.astype(np.int64)
    if column.dtype.kind == "f":
        if missing := np.count_nonzero(np.isnan(column)):
            raise GraphDataError(f"{name} has {missing:,} missing values (NaN); leave these edges out")
        raise GraphDataError(f"{name} holds {column.dtype} numbers; ids must be integers (or strings, as labels)")
    return as_label_array(column)


def weight_column(values: Array | Sequence[float] | None, count: int, of: str = "edges") -> Array | None:
    """``count`` weights in a type that keeps them exactly; NaN is refused. ``of`` is what they belong to, in words."""
    if values is None:
        return None
    column = as_numpy(values)
    if column.shape != (count,):
        raise GraphDataError(f"weights have the shape {column.shape}; expected one for each of {count:,} {of}")
    column = np.ascontiguousarray(column, dtype=weight_dtype(column))
    if column.dtype.kind == "f" and np.isnan(column).any():
        raise GraphDataError(f"the weight of edge {int(np.argmax(np.isnan(column)))} is not a number (NaN)")
    return column


def _number_of_vertices(given: Any) -> int:
    count = whole_number(given)
    if count is None or count < 0:
        raise InvalidArgumentError(f"num_vertices={given!r} is not a whole number of vertices")
    if count > _MOST_VERTICES:
        raise InvalidArgumentError(f"num_vertices={count:,} is more than any memory holds")
    return count


def vertex_count(src: Array, dst: Array, given: int | None, labels: Labels | None) -> int:
    """How many vertices there are: as given, as labelled, or by the largest id; ids outside are refused."""
    count = given if given is not None else (len(labels) if labels is not None else None)
    if count is not None:
        count = _number_of_vertices(count)
    if count is not None and labels is not None:
        labels.require_one_per_vertex(count)
    if len(src) == 0:
        return count or 0
    ranges = build.id_range(src), build.id_range(dst)
    low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
    if low < 0:
        raise GraphDataError(
            f"the id {low} is negative; ids are 0..n-1 (labels=True, or ids='names' for a file, takes any integers as "
            "names)"
        )
    if count is None:
        count = high + 1
        if count > 64 * len(src) + 2**20:
            raise GraphDataError(
                f"the largest id is {high:,} with only {len(src):,} edges; pass labels=True if the ids are sparse "
                "names (to read a file: ids='names', and format='edges' if it is a .el or .wel file), or num_vertices "
                "if the graph really is that large"
            )
    elif high >= count:
        raise GraphDataError(f"the id {high} is outside 0..{count - 1} (there are {count:,} vertices)")
    return int(count)


def choose_columns(
    names: Sequence[str], src: str | None, dst: str | None, weight: str | None
) -> tuple[str, str, str | None]:
    """The names of the source, target and weight columns among ``names``.

    Those not given are ``src`` and ``dst``, or ``source`` and ``target``, or else the first two that are left; and
    ``weight`` where there is such a column.

    >>> choose_columns(["from", "to", "weight"], None, None, None)
    ('from', 'to', 'weight')
    """
    listed = ", ".join(names) or "(none)"
    given = [name for name in (src, dst, weight) if name is not None]
    for wanted in given:
        if wanted not in names:
            raise GraphDataError(f"there is no column {wanted!r}; the columns are {listed}")
    if len(set(given)) < len(given):
        raise GraphDataError(f"one column is asked for twice: src={src!r}, dst={dst!r}, weight={weight!r}")
    if len(set(names)) < len(names):
        raise GraphDataError(f"two columns have the same name: {listed}")
    free = [name for name in names if name not in given]
    if weight is None and "weight" in free:
        weight = "weight"
        free.remove(weight)
    for usual_src, usual_dst in (("src", "dst"), ("source", "target")):
        if (src or usual_src) in (*free, src) and (dst or usual_dst) in (*free, dst):
            return src or usual_src, dst or usual_dst, weight
    chosen_src = src or (free.pop(0) if free else None)
    chosen_dst = dst or (free.pop(0) if free else None)
    if chosen_src is None or chosen_dst is None:
        raise GraphDataError(f"a table of edges needs two columns of vertices, and this one has {len(names)}: {listed}")
    return chosen_src, chosen_dst, weight
