"""Check that the labels of a store are valid text, and unique."""

from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError
from dromos.graph.slices import row_ranges
from dromos.graph.store.sections import StoreSections
from dromos.parallel import num_threads, run_team

__all__ = ["check_labels"]

_SLICE = 1 << 20
_CONTINUES = 0x80  # bytes 10xxxxxx occur within a character of UTF-8, never at its beginning


def check_labels(store: StoreSections, threads: int | None = None) -> str | None:
    """Check the labels; returns what was checked, or ``None`` if the store has none."""
    integers = store.array("labels")
    if integers is not None:
        _check_integers(store, integers)
        return "labels are unique"
    utf8 = store.array("labels_utf8")
    if utf8 is None:
        return None
    offsets = store.required("labels_offsets")
    _check_text(store, utf8, offsets)
    _check_unique_text(store, utf8, offsets, threads)
    return "labels are valid text and unique"


def _check_integers(store: StoreSections, labels: Array) -> None:
    if all(np.all(labels[i + 1 : i + _SLICE + 1] > labels[i : i + _SLICE][: labels.size - i - 1]) for i in
           range(0, max(0, labels.size - 1), _SLICE)):  # fmt: skip
        return
    ordered = np.sort(labels)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:
        raise CorruptFileError(f"section labels: {twice[0]} is the label of more than one vertex", path=store.path)


def _check_text(store: StoreSections, utf8: Array, offsets: Array) -> None:
    """Check for valid UTF-8 (with lone surrogates, as in Python's file names), each label of whole characters."""
    descents = np.flatnonzero(offsets[1:] < offsets[:-1])
    if descents.size:
        raise CorruptFileError(f"section labels_offsets: label {descents[0]:,} ends before it begins", path=store.path)
    starts = offsets[:-1][offsets[:-1] < utf8.size]
    split = np.flatnonzero((utf8[starts] & 0xC0) == _CONTINUES)
    if split.size:
        raise CorruptFileError(f"section labels_utf8: byte {starts[split[0]]:,} splits a character", path=store.path)
    for first, last in row_ranges(offsets, _SLICE, len(offsets)):
        try:
            utf8[offsets[first] : offsets[last]].tobytes().decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            at = int(offsets[first]) + error.start
            raise CorruptFileError(f"section labels_utf8: byte {at:,} is not UTF-8", path=store.path) from None


def _check_unique_text(store: StoreSections, utf8: Array, offsets: Array, threads: int | None) -> None:
    from dromos.graph.store import row_kernels as kernels

    hashes = np.empty(len(offsets) - 1, dtype=np.uint64)
    run_team(kernels.text_hashes, utf8, offsets, hashes, threads=1 if utf8.size < _SLICE else num_threads(threads))
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    seen: dict[bytes, int] = {}
    for vertex in np.unique(np.concatenate((order[same], order[same + 1]))).tolist():
        text = utf8[offsets[vertex] : offsets[vertex + 1]].tobytes()
        if text in seen:
            shown = text.decode("utf-8", "surrogatepass")
            raise CorruptFileError(
                f"section labels_utf8: {shown!r} is the label of the vertices {seen[text]:,} and {vertex:,}",
                path=store.path,
            )
        seen[text] = vertex
