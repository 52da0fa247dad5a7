"""Messages and copies as bytes: what goes over the wire, without any MPI in it.

Both ends know the program, so that types and names are not sent; only how many rows there are and in which form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.parts import Copies, Messages

__all__ = ["num_rows", "pack_copies", "pack_messages", "unpack_copies", "unpack_messages"]

_HEADER = 24  # bytes: three words, the form, the number of rows, and the bytes of each gap of a list
_LISTED, _BITMAP, _ALL = range(3)
_GAPS = (np.dtype(np.uint8), np.dtype(np.uint16))


def num_rows(data: Array) -> int:
    """How many rows were packed."""
    return int(data[:_HEADER].view(np.int64)[1])


def pack_messages(messages: Messages) -> Array:
    """A byte array; see :func:`unpack_messages`."""
    if messages.ids is not None:
        ids, width = _gaps(messages.ids, messages.first)
        return _joined(_LISTED, len(messages.ids), [ids, *messages.values], width)
    if messages.got is None:
        return _joined(_ALL, messages.last - messages.first, messages.values)
    return _joined(_BITMAP, messages.last - messages.first, [messages.got, *messages.values])


def unpack_messages(data: Array, first: int, last: int, ids: np.dtype[Any], values: Sequence[Array]) -> Messages:
    """The messages to the vertices ``first..last``; ``values`` are arrays of the types that the sender's have.

    >>> sent = Messages(4, 9, np.array([4, 8], np.int32), (np.array([1.5, 2.5]),))
    >>> got = unpack_messages(pack_messages(sent), 4, 9, np.dtype(np.int32), sent.values)
    >>> got.ids.tolist(), got.values[0].tolist()
    ([4, 8], [1.5, 2.5])
    """
    form, rows, width, read = _opened(data)
    if form == _LISTED:
        listed = _read_ids(read, rows, width, first, ids)
        return Messages(first, last, listed, tuple(read(array.dtype, rows) for array in values))
    if form == _ALL:
        return Messages(first, first + rows, None, tuple(read(array.dtype, rows) for array in values))
    got = read(np.dtype(np.uint8), (rows + 7) // 8)
    return Messages(first, last, None, tuple(read(array.dtype, rows) for array in values), got)


def pack_copies(copies: Copies, dtype: np.dtype[Any]) -> Array:
    """A byte array; the rows are named by a list of ids of type ``dtype`` or by a bitmap, whichever is smaller."""
    rows = list(copies.fields.values())
    room = copies.last - copies.first
    if copies.ids is None:
        return _joined(_ALL, room, rows)
    gaps, width = _gaps(copies.ids.astype(dtype, copy=False), copies.first)
    if gaps.nbytes <= room // 8:
        return _joined(_LISTED, len(copies.ids), [gaps, *rows], width)
    marks = np.zeros(room, dtype=bool)
    marks[copies.ids - copies.first] = True
    return _joined(_BITMAP, len(copies.ids), [np.packbits(marks, bitorder="little"), *rows])


def unpack_copies(
    data: Array, first: int, last: int, ids: np.dtype[Any], fields: Mapping[str, Array], *, active: bool
) -> Copies:
    """The copies of rows of ``first..last``; ``fields`` are arrays of the names, types and widths that were sent.

    >>> sent = Copies(0, 16, np.array([1, 2, 3, 9]), {"level": np.array([5, 6, 7, 8], np.int8)}, active=True)
    >>> got = unpack_copies(pack_copies(sent, np.dtype(np.int64)), 0, 16, np.dtype(np.int64), sent.fields, active=True)
    >>> got.ids.tolist(), got.fields["level"].tolist()
    ([1, 2, 3, 9], [5, 6, 7, 8])
    """
    form, rows, width, read = _opened(data)
    named: Array | None = None
    if form == _LISTED:
        named = _read_ids(read, rows, width, first, ids)
    elif form == _BITMAP:
        marks = np.unpackbits(read(np.dtype(np.uint8), (last - first + 7) // 8), count=last - first, bitorder="little")
        named = np.flatnonzero(marks) + first
    taken = {
        name: read(like.dtype, rows * int(np.prod(like.shape[1:], dtype=np.int64))).reshape(rows, *like.shape[1:])
        for name, like in fields.items()
    }
    return Copies(first, last, named, taken, active=active)


def _gaps(ids: Array, first: int) -> tuple[Array, int]:
    """Ascending ids as the gaps between them, from ``first`` on, in 1 or 2 bytes each; as they are where none fits.

    Ids in any other order stay as they are too.

    >>> _gaps(np.array([7, 9, 300], np.int32), 5)
    (array([  2,   2, 291], dtype=uint16), 2)
    """
    if not len(ids):
        return ids, ids.dtype.itemsize
    gaps = np.diff(ids, prepend=ids.dtype.type(first))
    widest = int(gaps.max()) if int(gaps.min()) >= 0 else np.iinfo(np.int64).max
    for dtype in _GAPS:
        if widest <= np.iinfo(dtype).max:
            return gaps.astype(dtype), dtype.itemsize
    return ids, ids.dtype.itemsize


def _read_ids(read: Any, rows: int, width: int, first: int, ids: np.dtype[Any]) -> Array:
    """The ids that :func:`_gaps` was given."""
    for dtype in _GAPS:
        if width == dtype.itemsize:
            found: Array = np.cumsum(read(dtype, rows), dtype=ids)
            found += ids.type(first)
            return found
    plain: Array = read(ids, rows)
    return plain


def _joined(form: int, rows: int, arrays: Sequence[Array], width: int = 0) -> Array:
    """A header and the bytes of all arrays, each from a multiple of eight bytes on."""
    sizes = [_padded(array.nbytes) for array in arrays]
    data = np.empty(_HEADER + sum(sizes), dtype=np.uint8)
    data[:_HEADER].view(np.int64)[:] = form, rows, width
    at = _HEADER
    for array, size in zip(arrays, sizes, strict=True):
        data[at : at + array.nbytes] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        at += size
    return data


def _opened(data: Array) -> tuple[int, int, int, Any]:
    form, rows, width = data[:_HEADER].view(np.int64).tolist()
    at = _HEADER

    def read(dtype: np.dtype[Any], count: int) -> Array:
        nonlocal at
        size = dtype.itemsize * count
        part: Array = data[at : at + size].view(dtype)
        at += _padded(size)
        return part

    return form, rows, width, read


def _padded(size: int) -> int:
    return -(-size // 8) * 8
