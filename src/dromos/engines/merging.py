"""Messages merged by NumPy: accumulators with one row per vertex, and marks of the vertices that got a message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.parallel import in_blocks
from dromos.program import TypedProgram
from dromos.program.monoid import ANY, ARGMIN, MIN

__all__ = ["Accumulators", "listed"]

_UFUNCS: dict[str, Any] = {
    "SUM": np.add,
    "MIN": np.fmin,  # a NaN never wins
    "MAX": np.fmax,
    "OR": np.bitwise_or,
    "AND": np.bitwise_and,
    "ARGMIN": np.fmin,
    "ARGMAX": np.fmax,
}
_LISTED = 1 << 16  # entries of a mask that are listed at once
_DENSE = 8  # if more than one vertex in so many got a message, scanning all of them is faster than sorting


class Accumulators:
    """The merged message of each vertex: without a message, ``values`` hold the identity and ``got`` is False.

    >>> import dromos.program as dr
    >>> class Nearest(dr.Program):
    ...     x = dr.field(np.int32, init=0)
    ...     combine = dr.ARGMIN
    ...     def compute(self, u, edge, v): return u.x, u.id
    ...     def update(self, v, message): return message[0]
    >>> merged = Accumulators(Nearest.typed(dr.GraphTypes()), 9)
    >>> merged.add(np.array([5, 2, 5, 5]), (np.array([4, 1, 3, 3], np.int32), np.array([0, 1, 7, 6], np.int32)))
    >>> merged.take(0, 9)
    (array([2, 5], dtype=int32), (array([1, 3], dtype=int32), array([1, 6], dtype=int32)))
    """

    def __init__(self, typed: TypedProgram, num_vertices: int, empty: Callable[..., Array] = np.empty) -> None:
        """``empty`` allocates the arrays."""
        self._monoid, self._ids = typed.ir.combine, typed.types.id
        self._identity = typed.identities
        self.values = tuple(
            _filled(empty(num_vertices, dtype), value)
            for value, dtype in zip(self._identity, typed.accumulators, strict=True)
        )
        self.got = np.zeros(num_vertices, dtype=bool)
        self._touched: list[Array] = []  # the vertices that got a message, in pieces without repetition, not sorted
        self._listed: Array | None = None  # a piece that is known to be sorted: listing it again would take as much
        self._place = np.empty(num_vertices if self._monoid is ANY else 0, dtype=np.int64)

    def add(self, ids: Array, messages: tuple[Array, ...]) -> None:
        """Merge messages to the vertices ``ids``, which may repeat."""
        self._mark(ids[~self.got[ids]])
        with np.errstate(all="ignore"):
            if self._monoid is ANY:
                self._take_any(ids, messages)
            elif self._monoid.keyed:
                self._keep_best(ids, messages)
            else:
                for i, (into, values) in enumerate(zip(self.values, messages, strict=True)):
                    _UFUNCS[self._monoid.part(i).name].at(into, ids, values)

    def add_distinct(self, ids: Array, messages: Sequence[Array]) -> None:
        """As :meth:`add`, for distinct ids: several threads merge.

        >>> import dromos.program as dr
        >>> class Least(dr.Program):
        ...     x = dr.field(np.int32, init=0)
        ...     combine = dr.MIN
        ...     def compute(self, u, edge, v): return u.x
        ...     def update(self, v, message): return message
        >>> merged = Accumulators(Least.typed(dr.GraphTypes()), 9)
        >>> for values in ([4, 1], [3, 2]): merged.add_distinct(np.array([5, 2]), (np.array(values, np.int32),))
        >>> merged.take(0, 9)
        (array([2, 5], dtype=int32), (array([1, 3], dtype=int32),))
        """
        if self._monoid is ANY or self._monoid.keyed:
            self.add(ids, tuple(messages))
            return
        fresh: list[Array] = []  # appending is safe from several threads

        def merge(begin: int, end: int) -> None:
            at = ids[begin:end]
            fresh.append(at[~self.got[at]])
            self.got[at] = True
            with np.errstate(all="ignore"):
                for i, (into, values) in enumerate(zip(self.values, messages, strict=True)):
                    into[at] = _UFUNCS[self._monoid.part(i).name](into[at], values[begin:end])

        in_blocks(merge, len(ids))
        if fresh:
            self.note(np.concatenate(fresh).astype(self._ids, copy=False))

    def add_runs(self, ids: Array, messages: tuple[Array, ...]) -> None:
        """As :meth:`add`, if equal ids are adjacent: a run is merged at once."""
        if self._monoid is ANY or self._monoid.keyed or len(ids) == 0:
            self.add(ids, messages)
            return
        starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        self.add_distinct(ids[starts], self.reduced(starts, messages))

    def reduced(self, starts: Array, messages: Iterable[Array]) -> list[Array]:
        """Merge each of the runs of messages that begin at ``starts``, component by component; changes no state."""
        with np.errstate(all="ignore"):
            return [_UFUNCS[self._monoid.part(i).name].reduceat(values, starts) for i, values in enumerate(messages)]

    def _mark(self, fresh: Array) -> None:
        if len(fresh) == 0:
            return
        self.got[fresh] = True
        fresh = fresh.astype(np.int64, copy=False)
        if len(fresh) * _DENSE < len(self.got):
            fresh = np.unique(fresh)
        self._touched.append(fresh)

    def _take_any(self, ids: Array, messages: tuple[Array, ...]) -> None:
        """Keep one whole message for each vertex: the first of this call, whatever came in an earlier one."""
        order = np.arange(len(ids) - 1, -1, -1)
        self._place[ids[::-1]] = order
        chosen = self._place[ids] == order[::-1]
        for into, values in zip(self.values, messages, strict=True):
            into[ids[chosen]] = values[chosen]

    def _keep_best(self, ids: Array, messages: tuple[Array, ...]) -> None:
        """Compare by component: where one improves, later ones restart from the identity; where it ties, they go on.

        Messages that have lost are dropped on the way.
        """
        ufunc = _UFUNCS[self._monoid.name]
        better = np.less if self._monoid in (MIN, ARGMIN) else np.greater
        last = len(messages) - 1
        for number, into in enumerate(self.values):
            before = into[ids]
            ufunc.at(into, ids, messages[number])
            if number == last:
                return
            improved = ids[better(into[ids], before)]
            for following, identity in zip(self.values[number + 1 :], self._identity[number + 1 :], strict=True):
                following[improved] = identity
            equal = messages[number] == into[ids]
            ids, messages = ids[equal], tuple(values[equal] for values in messages)

    def note(self, ids: Array) -> None:
        """Record that messages to ``ids`` (distinct) are merged into :attr:`values` and marked in :attr:`got`."""
        if len(ids):
            self._touched.append(np.sort(ids) if len(ids) * _DENSE < len(self.got) else ids)

    def touched(self, first: int, last: int) -> Array:
        """The vertices of ``first..last`` that got a message, ascending."""
        found = self._listed = self._sorted()
        self._touched = [found]
        begin, end = _places(found, first, last)
        return found[begin:end]

    def forget(self, first: int, last: int) -> None:
        """Clear the marks of ``first..last``; the messages were used, and the identity is back in their place."""
        found = self._sorted()
        begin, end = _places(found, first, last)
        if (end - begin) * _DENSE >= last - first:  # an index array of another type would be copied
            self.got[first:last] = False
        else:
            self.got[found[begin:end]] = False
        self._listed = None
        self._touched = [rest for rest in (found[:begin], found[end:]) if len(rest)]

    def take(self, first: int, last: int) -> tuple[Array, tuple[Array, ...]]:
        """Remove and return the messages to ``first..last``: the vertices, ascending, and the messages."""
        ids = self.touched(first, last)
        messages = tuple(values[ids] for values in self.values)
        for values, identity in zip(self.values, self._identity, strict=True):
            values[ids] = identity
        self.forget(first, last)
        return ids, messages

    def take_block(self, first: int, last: int) -> tuple[Array, ...]:
        """Remove and return the messages of all vertices of ``first..last``, marked or not."""
        found = tuple(values[first:last].copy() for values in self.values)
        for values, identity in zip(self.values, self._identity, strict=True):
            values[first:last] = identity
        return found

    def add_block(self, first: int, last: int, messages: Sequence[Array]) -> None:
        """Merge a message (possibly the identity) to each vertex of ``first..last``, without marking any of them.

        For monoids that merge component by component.
        """
        with np.errstate(all="ignore"):
            for i, (into, values) in enumerate(zip(self.values, messages, strict=True)):
                rows = into[first:last]
                _UFUNCS[self._monoid.part(i).name](rows, values, out=rows)

    def _sorted(self) -> Array:
        pieces = [piece for piece in self._touched if len(piece)]
        if len(pieces) == 1 and pieces[0] is self._listed:
            return pieces[0]
        if not pieces:
            return np.empty(0, dtype=self._ids)
        if sum(map(len, pieces)) * _DENSE >= len(self.got):
            return listed(self.got, self._ids)
        found = pieces[0] if len(pieces) == 1 else np.sort(np.concatenate(pieces))
        return found.astype(self._ids, copy=False)


def _places(ids: Array, first: int, last: int) -> tuple[int, int]:
    """Where those of ``first..last`` begin and end among ascending ids.

    >>> _places(np.array([2, 3, 5], np.int32), 3, 5)
    (1, 2)
    """
    if first >= last:
        return 0, 0
    kind = ids.dtype.type  # for a number of another type, NumPy would convert all ids
    return int(np.searchsorted(ids, kind(first))), int(np.searchsorted(ids, kind(last - 1), side="right"))


def _filled(array: Array, value: Any) -> Array:
    in_blocks(lambda begin, end: array[begin:end].fill(value), len(array), 1 << 18)
    return array


def listed(mask: Array, dtype: np.dtype[Any], first: int = 0) -> Array:
    """The indices of a mask's nonzero entries, counted from ``first``, without an intermediate 8-byte list.

    >>> listed(np.array([1, 0, 1], np.uint8), np.dtype(np.int32), 5)
    array([5, 7], dtype=int32)
    """
    found, filled = np.empty(np.count_nonzero(mask), dtype), 0
    for begin in range(0, len(mask), _LISTED):
        here = np.flatnonzero(mask[begin : begin + _LISTED])
        found[filled : filled + len(here)] = here
        found[filled : filled + len(here)] += dtype.type(begin + first)
        filled += len(here)
    return found
