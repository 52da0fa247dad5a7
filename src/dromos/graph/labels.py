"""Vertex labels: the names that people gave their vertices, kept beside the ids 0..n-1 that the engines use.

Labels are integers (sparse ids of a data set) or strings, and unique. They are held as plain arrays, so that a store
can map them: integers as ``int64``; strings as UTF-8 bytes with ``int64`` offsets. Many strings at once are handled by
pyarrow's hash tables where it is installed, and by plain Python where they are few or it is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import GraphDataError, UnknownVertexError
from dromos.graph.arrow_numbers import numbers_to_arrow
from dromos.graph.checks import offsets_fault
from dromos.graph.label_arrays import (
    MANY,
    arrow_strings,
    as_label_array,
    objects,
    pyarrow_or_none,
)
from dromos.graph.label_search import find_integers, find_strings
from dromos.whole_numbers import whole_number

__all__ = ["Labels", "as_label_array"]

_MANY_TO_INDEX = 1 << 14
"""Labels from which on an index is not made for a few lookups."""
_MOST_SEARCHED = 64
"""Labels that are looked for without an index; in this time about one could be made."""
_ENTRY_BYTES = 160
"""About what an entry of a dict takes, with its string and its number."""


class Labels:
    """Unique names of the vertices 0..n-1.

    >>> names = Labels.from_values(["ada", "bob"])
    >>> names.ids_of(["bob", "ada"]).tolist()
    [1, 0]
    >>> names[0], names[np.array([1])].tolist(), list(names)
    ('ada', ['bob'], ['ada', 'bob'])
    """

    def __init__(
        self, integers: Array | None = None, *, utf8: Array | None = None, offsets: Array | None = None
    ) -> None:
        """Wrap the arrays of a store; offsets are checked before they are used. Use :meth:`from_values` otherwise."""
        if (integers is None) == (utf8 is None or offsets is None):
            raise TypeError("Labels takes either integers, or utf8 bytes with offsets")
        self.integers, self.utf8, self.offsets = integers, utf8, offsets
        self._order: Array | None = None
        self._sorted: Array | None = None
        self._index: dict[str, int] | None = None
        self._offsets_checked = False
        self._searched = 0

    @classmethod
    def from_values(cls, values: Iterable[Any] | Array) -> Labels:
        """Labels from integers or strings, one per vertex; a label given twice is refused."""
        column = arrow_strings(values)
        if column is not None:
            labels = cls._of_arrow(column)
        else:
            array = as_label_array(values)
            labels = cls(array) if array.dtype == np.int64 else cls._of_objects(array)
        labels._refuse_duplicates()
        return labels

    @classmethod
    def from_utf8(cls, utf8: Array, offsets: Array) -> Labels:
        """Labels around bytes from a file, which are checked: label ``i`` is ``utf8[offsets[i]:offsets[i + 1]]``.

        >>> Labels.from_utf8(np.frombuffer(b"adabob", np.uint8), np.array([0, 3, 6])).to_numpy().tolist()
        ['ada', 'bob']
        """
        if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(utf8) or np.any(offsets[1:] < offsets[:-1]):
            raise GraphDataError("the offsets of the labels do not match their bytes")
        labels = cls(utf8=np.ascontiguousarray(utf8, np.uint8), offsets=np.ascontiguousarray(offsets, np.int64))
        try:
            labels._refuse_duplicates()
            labels.to_numpy()
        except UnicodeDecodeError as error:
            raise GraphDataError(f"a label is not UTF-8: {error}") from None
        return labels

    @classmethod
    def no_strings(cls) -> Labels:
        """The labels of a graph without vertices, whose labels would be strings: no value tells their kind.

        >>> Labels.no_strings().kind
        'str'
        """
        return cls(utf8=np.empty(0, np.uint8), offsets=np.zeros(1, np.int64))

    def require_one_per_vertex(self, num_vertices: int) -> None:
        """Raise an error unless there are so many labels.

        >>> Labels.from_values(["ada", "bob"]).require_one_per_vertex(3)
        Traceback (most recent call last):
            ...
        dromos.errors.GraphDataError: there are 2 labels for 3 vertices; give one per vertex
        """
        if len(self) != num_vertices:
            raise GraphDataError(f"there are {len(self):,} labels for {num_vertices:,} vertices; give one per vertex")

    @property
    def kind(self) -> str:
        """``"int"`` or ``"str"``."""
        return "str" if self.integers is None else "int"

    def __getitem__(self, ids: Any) -> Any:
        """The label of one vertex id, or an array of the labels of several: an array, a list, a slice or a mask."""
        chosen = np.atleast_1d(np.asarray(np.arange(len(self))[ids] if isinstance(ids, slice) else ids))
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        if chosen.dtype.kind not in "iu" and chosen.size:
            raise TypeError(f"{ids!r} is not a vertex id; graph.vertex_id(label) finds the id of a label")
        outside = chosen[(chosen < 0) | (chosen >= len(self))]
        if outside.size:
            raise IndexError(f"no vertex {outside[0]}: the ids are 0..{len(self) - 1}")
        labels = self.values_of(chosen.astype(np.int64, copy=False))
        return labels if whole_number(ids) is None else labels.tolist()[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_numpy().tolist())

    def __len__(self) -> int:
        if self.integers is not None:
            return len(self.integers)
        assert self.offsets is not None
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        return sum(a.nbytes for a in (self.integers, self.utf8, self.offsets) if a is not None)

    @property
    def index_bytes(self) -> int:
        """The memory that an index takes beside them, once there is one; about, for strings."""
        of_strings = 0 if self._index is None else _ENTRY_BYTES * len(self._index)
        made = [array for array in (self._order, self._sorted) if array is not None and array is not self.integers]
        return of_strings + sum(array.nbytes for array in made)

    def to_numpy(self) -> Array:
        """All labels: an ``int64`` array, or an object array of ``str``."""
        return self.values_of(np.arange(len(self)))

    def to_arrow(self) -> Any:
        """All labels as an Arrow array, ``int64`` or ``large_string``, that shares their memory.

        >>> Labels.from_values(["ada", "bob"]).to_arrow().to_pylist()
        ['ada', 'bob']
        """
        import pyarrow as pa

        if self.integers is not None:
            return numbers_to_arrow(self.integers)
        array = self._arrow_bytes().view(pa.large_string())
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            raise GraphDataError(f"a label has no UTF-8 form (a lone surrogate), which Arrow needs: {error}") from None
        return array

    def values_of(self, ids: Array) -> Array:
        """The labels of the vertices ``ids``."""
        if self.integers is not None:
            return np.asarray(self.integers[ids])
        ids = np.asarray(ids)
        if len(ids) >= MANY and pyarrow_or_none() is not None:
            try:
                return np.asarray(self.to_arrow().take(pyarrow_or_none().array(ids)).to_numpy(zero_copy_only=False))
            except GraphDataError:  # lone surrogates: only Python's strings hold them
                pass
        self._check_offsets()
        assert self.utf8 is not None
        assert self.offsets is not None
        raw = self.utf8
        begins, ends = self.offsets[ids].tolist(), self.offsets[ids + 1].tolist()
        texts = [raw[b:e].tobytes().decode("utf-8", "surrogatepass") for b, e in zip(begins, ends, strict=True)]
        return objects(texts)

    def of_vertices(self, ids: Array) -> Labels:
        """The labels of the vertices ``ids`` as labels of a graph of their own, of the same kind.

        >>> Labels.from_values(["ada", "bob"]).of_vertices(np.array([1]))
        <1 str labels: 'bob'>
        """
        if self.kind == "str" and len(ids) == 0:
            return Labels.no_strings()
        return Labels.from_values(self.values_of(ids))

    def ids_of(self, labels: Iterable[Any] | Array) -> Array:
        """The ids of ``labels``; one that no vertex has raises :class:`~dromos.errors.UnknownVertexError`."""
        wanted = labels if isinstance(labels, np.ndarray) else list(labels)
        if len(wanted) == 0:
            return np.empty(0, dtype=np.int64)
        if self.kind == "str":
            return self._ids_of_strings(wanted)
        numbers = np.asarray(wanted)
        if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
            raise UnknownVertexError(f"no vertex {wanted[0]!r}: this graph's labels are integers")
        if numbers.dtype == np.uint64:  # a search among int64 would round both to floats
            wide = numbers > np.iinfo(np.int64).max
            if wide.any():
                raise UnknownVertexError(f"no vertex is labelled {numbers[wide][0]}")
            numbers = numbers.astype(np.int64)
        if self._sorted is None and self._may_search(len(numbers)):
            assert self.integers is not None
            found = find_integers(self.integers, numbers.tolist())
            if (found < 0).any():
                raise UnknownVertexError(f"no vertex is labelled {numbers[found < 0][0]}")
            return found
        order, ordered = self._sorted_integers()
        if len(ordered) == 0:
            raise UnknownVertexError(f"no vertex is labelled {numbers[0]}: the graph is empty")
        at = np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)
        missing = ordered[at] != numbers
        if missing.any():
            raise UnknownVertexError(f"no vertex is labelled {numbers[missing][0]}")
        return at if order is None else np.asarray(order[at])

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

    @classmethod
    def _of_objects(cls, texts: Array) -> Labels:
        column = arrow_strings(texts)
        if column is not None:
            return cls._of_arrow(column)
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts.tolist()]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(text) for text in encoded], out=offsets[1:])
        return cls(utf8=np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets=offsets)

    @classmethod
    def _of_arrow(cls, column: Any) -> Labels:
        """Labels that share the memory of an Arrow array of ``large_string``."""
        if column.null_count:
            raise GraphDataError(f"{column.null_count} labels are missing (null); every vertex needs one")
        _, offsets, data = column.buffers()
        starts = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1] if offsets else [0]
        utf8 = np.frombuffer(data, np.uint8)[starts[0] : starts[-1]] if data else np.empty(0, np.uint8)
        return cls(utf8=utf8, offsets=np.subtract(starts, starts[0], dtype=np.int64))

    def _arrow_bytes(self) -> Any:
        """The strings as Arrow bytes, without a copy: unlike Arrow's strings these may hold lone surrogates."""
        self._check_offsets()
        pa = pyarrow_or_none()
        buffers = [None, *(pa.py_buffer(np.ascontiguousarray(part)) for part in (self.offsets, self.utf8))]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def _check_offsets(self) -> None:
        """Once: Arrow follows offsets without looking."""
        if self._offsets_checked:
            return
        assert self.utf8 is not None
        assert self.offsets is not None
        fault = offsets_fault(self.offsets, len(self.utf8))
        if fault is not None:
            raise GraphDataError(f"the offsets of the labels are damaged: {fault.reason}")
        self._offsets_checked = True

    def _ids_of_strings(self, wanted: Any) -> Array:
        if self._index is None and len(wanted) >= MANY:
            column = arrow_strings(np.asarray(wanted, dtype=object))
            if column is not None:
                pa, compute = pyarrow_or_none(), pyarrow_or_none().compute
                found = compute.index_in(column.view(pa.large_binary()), value_set=self._arrow_bytes())
                if found.null_count:
                    first = found.is_null().index(True).as_py()
                    raise self._unknown(wanted[first])
                return np.asarray(found)
        if self._index is None and self._may_search(len(wanted)):
            return self._search_strings(wanted)
        if self._index is None:
            self._index = {text: i for i, text in enumerate(self.to_numpy().tolist())}
        ids = np.empty(len(wanted), dtype=np.int64)
        for position, text in enumerate(wanted):
            found = self._index.get(text) if isinstance(text, str) else None
            if found is None:
                raise self._unknown(text)
            ids[position] = found
        return ids

    def _search_strings(self, wanted: Any) -> Array:
        for text in wanted:
            if not isinstance(text, str):
                raise self._unknown(text)
        self._check_offsets()
        assert self.utf8 is not None
        assert self.offsets is not None
        found = find_strings(self.utf8, self.offsets, [text.encode("utf-8", "surrogatepass") for text in wanted])
        if (found < 0).any():
            raise self._unknown(wanted[int(np.argmax(found < 0))])
        return found

    def _may_search(self, wanted: int) -> bool:
        """Whether so many more labels are looked for one by one; from some time on an index is worth its making."""
        if len(self) < _MANY_TO_INDEX or self._searched + wanted > _MOST_SEARCHED:
            return False
        self._searched += wanted
        return True

    def _unknown(self, wanted: Any) -> UnknownVertexError:
        if isinstance(wanted, str):
            return UnknownVertexError(f"no vertex is labelled {str(wanted)!r}")
        kind = f": the labels of this graph are strings, such as {self._first()!r}"
        return UnknownVertexError(f"no vertex is labelled {wanted!r}{kind}")

    def _first(self) -> str:
        return str(self.values_of(np.zeros(1, dtype=np.int64))[0]) if len(self) else ""

    def _sorted_integers(self) -> tuple[Array | None, Array]:
        """The labels in ascending order, and the ids of these; None for the ids where they are 0, 1, 2, …"""
        assert self.integers is not None
        if self._sorted is None:
            if np.all(self.integers[1:] > self.integers[:-1]):
                self._sorted = self.integers
            else:
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
        if len(self) >= MANY and pyarrow_or_none() is not None and len(self._arrow_bytes().unique()) == len(self):
            return
        seen: set[str] = set()
        for text in self.to_numpy().tolist():
            if text in seen:
                raise GraphDataError(f"the label {text!r} is given to more than one vertex; labels must be unique")
            seen.add(text)
