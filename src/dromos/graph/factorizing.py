"""Replace names at the ends of edges by ids, and keep the names as labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dromos.dtypes import Array, id_dtype
from dromos.errors import GraphDataError
from dromos.graph.label_arrays import MANY, arrow_strings, encode_texts, is_arrow_text, label_array, pyarrow_or_none
from dromos.graph.labels import Labels
from dromos.parallel import num_threads, run_team

__all__ = ["factorize"]

_SMALL = 1 << 15  # number of integers below which a second thread costs more than it saves
_TABLE_BYTES_AN_EDGE = 16  # a presence table may take as much memory as two int64 columns of edges


def factorize(src: Any, dst: Any, *, threads: int | None = None) -> tuple[Array, Array, Labels]:
    """Replace the labels in edge columns by ids; returns ``(src_ids, dst_ids, labels)``.

    Integer labels get ids in ascending order, strings in order of first appearance (in ``src``, then in ``dst``).
    Integers that already are 0..n-1 are returned unchanged. The columns are NumPy arrays, or strings in Arrow's memory,
    which are never converted to Python strings.

    >>> src, dst, labels = factorize(np.array([30, 7]), np.array([7, 9]))
    >>> src.tolist(), dst.tolist(), labels.to_numpy().tolist()
    ([2, 0], [0, 1], [7, 9, 30])
    """
    if is_arrow_text(src) and is_arrow_text(dst):
        missing = src.null_count + dst.null_count
        if missing:
            raise GraphDataError(f"the columns have {missing:,} missing values (null); every edge needs two ends")
        (sources, targets), texts = encode_texts([src, dst])
        return sources, targets, Labels._of_arrow(texts)
    src, dst = label_array(src), label_array(dst)
    if src.size == 0 and dst.size == 0:
        return src.astype(np.int64), dst.astype(np.int64), Labels(np.empty(0, dtype=np.int64))
    if (src.dtype == object) != (dst.dtype == object):
        raise GraphDataError("source ids and target ids are of different kinds: integers and strings")
    return _factorize_strings(src, dst) if src.dtype == object else _factorize_integers(src, dst, threads)


def _factorize_strings(src: Array, dst: Array) -> tuple[Array, Array, Labels]:
    columns = [arrow_strings(column) for column in (src, dst)] if len(src) + len(dst) >= MANY else [None]
    if all(column is not None for column in columns):
        (sources, targets), texts = encode_texts(columns)
        return sources, targets, Labels._of_arrow(texts)
    ids: dict[str, int] = {}
    coded_src = [ids.setdefault(text, len(ids)) for text in src.tolist()]
    coded_dst = [ids.setdefault(text, len(ids)) for text in dst.tolist()]
    return np.array(coded_src, np.int32), np.array(coded_dst, np.int32), Labels.from_values(list(ids))


def _factorize_integers(src: Array, dst: Array, threads: int | None) -> tuple[Array, Array, Labels]:
    from dromos.graph import labels_kernels as kernels
    from dromos.graph.build import id_range

    ranges = [id_range(column, threads) for column in (src, dst)]
    low = min(pair[0] for pair in ranges)
    span = max(pair[1] for pair in ranges) - low + 1
    if span > _TABLE_BYTES_AN_EDGE * src.size + 1024:
        return _factorize_sparse_integers(src, dst)
    team = 1 if src.size < _SMALL else num_threads(threads)
    present = np.zeros(span, dtype=np.uint8)
    for column in (src, dst):
        run_team(kernels.mark_present, column, low, present, threads=team)
    values = np.flatnonzero(present)
    if len(values) == span and low == 0:
        return src, dst, Labels(values)
    words = np.empty((span + 63) // 64, dtype=np.uint64)
    counts = np.empty(len(words), dtype=np.int64)
    run_team(kernels.pack_words, present, words, counts, threads=team)
    del present
    before = np.cumsum(counts) - counts
    ids = []
    for column in (src, dst):
        ids.append(np.empty(len(column), dtype=id_dtype(len(values))))
        run_team(kernels.rank_values, column, low, words, before, ids[-1], threads=team)
    return ids[0], ids[1], Labels(values + low)


def _factorize_sparse_integers(src: Array, dst: Array) -> tuple[Array, Array, Labels]:
    """Number ids that are too sparse for a table: by hashing with pyarrow, else by sorting."""
    pa = pyarrow_or_none() if src.size >= MANY else None
    if pa is None:
        values = np.union1d(src, dst).astype(np.int64)
        return np.searchsorted(values, src), np.searchsorted(values, dst), Labels(values)
    coded = pa.chunked_array([pa.array(src, pa.int64()), pa.array(dst, pa.int64())]).dictionary_encode()
    seen = np.asarray(coded.chunk(0).dictionary)
    order = np.argsort(seen)
    rank = np.empty(len(seen), dtype=id_dtype(len(seen)))
    rank[order] = np.arange(len(seen), dtype=rank.dtype)
    return rank[np.asarray(coded.chunk(0).indices)], rank[np.asarray(coded.chunk(1).indices)], Labels(seen[order])
