"""Vertex labels: the names that people gave their vertices, kept beside the ids 0..n-1 that the engines use.

Labels are integers (sparse ids of a data set) or strings, and unique. They are held as plain arrays, so that a store can
map them: integers as ``int64``; strings as UTF-8 bytes with ``int64`` offsets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError, UnknownVertexError

__all__ = ["Labels", "factorize"]


class Labels:
    """Unique names of the vertices 0..n-1.

    >>> names = Labels.from_values(["ada", "bob"])
    >>> names.ids_of(["bob", "ada"]).tolist()
    [1, 0]
    >>> names.values_of(np.array([1])).tolist()
    ['bob']
    """

    def __init__(self, integers: Array | None = None, *, utf8: Array | None = None, offsets: Array | None = None) -> None:
        """Wrap the arrays of a store; they are trusted to be whole. Use :meth:`from_values` for other data."""
        if (integers is None) == (utf8 is None or offsets is None):
            raise TypeError("Labels takes either integers, or utf8 bytes with offsets")
        self.integers, self.utf8, self.offsets = integers, utf8, offsets
        self._order: Array | None = None
        self._sorted: Array | None = None
        self._index: dict[str, int] | None = None

    @classmethod
    def from_values(cls, values: Iterable[Any] | Array) -> Labels:
        """Labels from integers or strings, one a vertex; a label given twice is refused."""
        array = as_label_array(values)
        if array.dtype == np.int64:
            labels = cls(array)
        else:
            encoded = [text.encode("utf-8", "surrogatepass") for text in array.tolist()]
            offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
            np.cumsum([len(text) for text in encoded], out=offsets[1:])
            labels = cls(utf8=np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets=offsets)
        labels._refuse_duplicates()
        return labels

    @property
    def kind(self) -> str:
        """``"int"`` or ``"str"``."""
        return "str" if self.integers is None else "int"

    def __len__(self) -> int:
        if self.integers is not None:
            return len(self.integers)
        assert self.offsets is not None
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(a.nbytes for a in (self.integers, self.utf8, self.offsets) if a is not None)

    def to_numpy(self) -> Array:
        """All labels: an ``int64`` array, or an object array of ``str``."""
        return self.values_of(np.arange(len(self)))

    def values_of(self, ids: Array) -> Array:
        """The labels of the vertices ``ids``."""
        if self.integers is not None:
            return np.asarray(self.integers[ids])
        assert self.utf8 is not None
        assert self.offsets is not None
        raw = self.utf8
        begins, ends = self.offsets[ids].tolist(), self.offsets[np.asarray(ids) + 1].tolist()
        texts = [raw[b:e].tobytes().decode("utf-8", "surrogatepass") for b, e in zip(begins, ends, strict=True)]
        result = np.empty(len(texts), dtype=object)
        result[:] = texts
        return result

    def ids_of(self, labels: Iterable[Any] | Array) -> Array:
        """The ids of ``labels``; one that no vertex has raises :class:`~dromos.errors.UnknownVertexError`."""
        wanted = list(labels) if not isinstance(labels, np.ndarray) else labels
        if len(wanted) == 0:
            return np.empty(0, dtype=np.int64)
        if self.kind == "str":
            return self._ids_of_strings(wanted)
        numbers = np.asarray(wanted)
        if numbers.dtype.kind not in "iu":
            raise UnknownVertexError(f"no vertex {wanted[0]!r}: this graph's labels are integers")
        order, ordered = self._sorted_integers()
        if len(ordered) == 0:
            raise UnknownVertexError(f"no vertex is labelled {numbers[0]}: the graph is empty")
        at = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
        missing = ordered[at] != numbers
        if missing.any():
            raise UnknownVertexError(f"no vertex is labelled {numbers[missing][0]}")
        return np.asarray(order[at])

    def id_of(self, label: Hashable) -> int:
        """The id of one label."""
        return int(self.ids_of([label])[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Labels):
            return NotImplemented
        mine = (self.integers, self.utf8, self.offsets)
        theirs = (other.integers, other.utf8, other.offsets)
        return all(
            (a is None) == (b is None) and (a is None or b is None or np.array_equal(a, b))
            for a, b in zip(mine, theirs, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(repr(v) for v in self.values_of(np.arange(min(3, len(self)))).tolist())
        return f"<{len(self):,} {self.kind} labels: {shown}{', …' if len(self) > 3 else ''}>"

    def _ids_of_strings(self, wanted: Any) -> Array:
        if self._index is None:
            self._index = {text: i for i, text in enumerate(self.to_numpy().tolist())}
        ids = np.empty(len(wanted), dtype=np.int64)
        for position, text in enumerate(wanted):
            found = self._index.get(text) if isinstance(text, str) else None
            if found is None:
                raise UnknownVertexError(f"no vertex is labelled {text!r}")
            ids[position] = found
        return ids

    def _sorted_integers(self) -> tuple[Array, Array]:
        if self._order is None or self._sorted is None:
            assert self.integers is not None
            self._order = np.argsort(self.integers, kind="stable")
            self._sorted = self.integers[self._order]
        return self._order, self._sorted

    def _refuse_duplicates(self) -> None:
        if self.integers is not None:
            _, ordered = self._sorted_integers()
            twice = ordered[1:][ordered[1:] == ordered[:-1]]
            if twice.size:
                raise GraphDataError(f"the label {twice[0]} is given to more than one vertex; labels must be unique")
            return
        seen: set[str] = set()
        for text in self.to_numpy().tolist():
            if text in seen:
                raise GraphDataError(f"the label {text!r} is given to more than one vertex; labels must be unique")
            seen.add(text)


def as_label_array(values: Iterable[Any] | Array) -> Array:
    """Label values as ``int64`` or as objects that are all ``str``; anything else is refused.

    >>> as_label_array([7, 3]).dtype
    dtype('int64')
    """
    array = values if isinstance(values, np.ndarray) else _as_object_or_number(values)
    if array.ndim != 1:
        raise GraphDataError(f"labels must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.size and int(array.max()) >= 2**63:
            raise GraphDataError(f"the label {int(array.max())} does not fit int64; give such labels as strings")
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind in "UT":
        array = array.astype(object)
    if array.dtype == object:
        if all(isinstance(value, str) for value in array.tolist()):
            return array
        if all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in array.tolist()):
            try:
                return array.astype(np.int64)
            except OverflowError:
                raise GraphDataError("a label does not fit int64; give such labels as strings") from None
    raise GraphDataError(f"labels must be integers or strings, not {array.dtype}; convert them first")


def factorize(src: Array, dst: Array) -> tuple[Array, Array, Labels]:
    """Replace the labels in edge columns by ids; returns ``(src_ids, dst_ids, labels)``.

    Integer labels get ids in ascending order, strings in order of first appearance.

    >>> src, dst, labels = factorize(np.array([30, 7]), np.array([7, 9]))
    >>> src.tolist(), dst.tolist(), labels.to_numpy().tolist()
    ([2, 0], [0, 1], [7, 9, 30])
    """
    src, dst = as_label_array(src), as_label_array(dst)
    if src.dtype != dst.dtype and src.size:
        raise GraphDataError("source ids and target ids are of different kinds: integers and strings")
    if src.dtype == object:
        ids: dict[str, int] = {}
        for column in (src.tolist(), dst.tolist()):
            for text in column:
                ids.setdefault(text, len(ids))
        return (
            np.fromiter((ids[t] for t in src.tolist()), np.int64, len(src)),
            np.fromiter((ids[t] for t in dst.tolist()), np.int64, len(dst)),
            Labels.from_values(list(ids)),
        )
    return _factorize_integers(src, dst)


def _factorize_integers(src: Array, dst: Array) -> tuple[Array, Array, Labels]:
    if src.size == 0:
        return src, dst, Labels(np.empty(0, dtype=np.int64))
    low = min(int(src.min()), int(dst.min()))
    span = max(int(src.max()), int(dst.max())) - low + 1
    if span <= 8 * src.size + 1024:  # dense enough for a table: linear time
        present = np.zeros(span, dtype=bool)
        present[src - low] = True
        present[dst - low] = True
        new_id = np.cumsum(present, dtype=np.int64) - 1
        return new_id[src - low], new_id[dst - low], Labels(np.flatnonzero(present) + low)
    values = np.union1d(src, dst)
    return np.searchsorted(values, src), np.searchsorted(values, dst), Labels(values)


def _as_object_or_number(values: Iterable[Any]) -> Array:
    items = list(values)
    if items and all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in items):
        return np.asarray(items) if all(-(2**63) <= v < 2**63 for v in items) else np.asarray(items, dtype=object)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array if items else np.empty(0, dtype=np.int64)
