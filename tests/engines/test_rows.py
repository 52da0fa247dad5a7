"""Rows of words and of floats in compiled code, against NumPy, in every width."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dromos.compiler.values import LoweringError
from dromos.engines.native.betweenness_rows import add_rows, ask_for_row, lanes_of, put_row, turn_row
from dromos.engines.native.joint_rows import load_row, merge_row, row_and, row_any, row_or, row_without, store_row
from dromos.jit import kernel

MARKS = [np.uint8, np.uint16, np.uint32, np.uint64]
WORDS = [1, 2, 4, 8]


@kernel
def _operate(table, like):  # type: ignore[no-untyped-def]
    width = len(like)
    a, b = load_row(table, 0, like), load_row(table, width, like)
    store_row(table, 2 * width, row_and(a, b))
    store_row(table, 3 * width, row_or(a, b))
    store_row(table, 4 * width, row_without(a, b))
    merge_row(table, 5 * width, a)
    return row_any(a), row_any(row_without(a, a))


@pytest.mark.parametrize("width", WORDS)
def test_rows_of_words(width: int) -> None:
    table = np.random.default_rng(width).integers(0, 2**64, (7, width), np.uint64)
    table[0, 0] = 0  # a word that nothing is merged from
    a, b, target = table[0].copy(), table[1].copy(), table[5].copy()
    behind = table[6].copy()
    some, none = _operate(table.reshape(-1), (np.uint64(0),) * width)
    assert (some, none) == (bool(a.any()), False)
    for row, expected in zip(table, (a, b, a & b, a | b, a & ~b, target | a, behind), strict=True):
        np.testing.assert_array_equal(row, expected)


@kernel
def _mix(table, like, other):  # type: ignore[no-untyped-def]
    return row_any(row_and(load_row(table, 0, like), load_row(table, 0, other)))


@pytest.mark.parametrize(
    ("table", "like", "message"),
    [
        (np.zeros(8, np.int64), (np.uint64(0),), "array of i64, not of u64"),
        (np.zeros((2, 4), np.uint64), (np.uint64(0),), "array of one dimension"),
        (np.zeros(8, np.uint64), (0,), "a tuple of words"),
        (np.zeros(8, np.uint64), np.uint64(0), "a tuple of words"),
        (np.zeros(8, np.uint64), (np.uint64(0),) * 2, "rows of two lengths"),
    ],
)
def test_what_is_no_row_of_words_is_refused(table: Any, like: Any, message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        _mix(table, like, (np.uint64(0),))


@kernel
def _add(table, marks, wanted, ids, begin, end, sums, at, fresh, powers):  # type: ignore[no-untyped-def]
    add_rows(table, marks, wanted, ids, begin, end, sums, at, fresh, powers)
    return lanes_of(marks)


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("ids_kind", [np.uint32, np.int64])
@pytest.mark.parametrize("fresh", [False, True])
def test_rows_of_floats_are_added_where_their_lanes_are_meant(kind: Any, ids_kind: Any, fresh: bool) -> None:
    draw, lanes, n = np.random.default_rng(3), 8 * np.dtype(kind).itemsize, 20
    powers = np.left_shift(np.uint64(1), np.arange(lanes, dtype=np.uint64))
    table = draw.random((n, lanes))
    table[7] = np.nan  # nothing of it is meant
    marks = draw.integers(0, 2**lanes, n, np.uint64).astype(kind)
    marks[7] = 0
    wanted = np.uint64(draw.integers(0, 2**lanes, dtype=np.uint64))
    ids = draw.integers(0, n, 40).astype(ids_kind)
    ids[10] = 7
    for begin, end in ((0, 40), (5, 6), (4, 16), (3, 3)):
        sums = draw.random(lanes + 5)
        expected = sums.copy()
        expected[2 : 2 + lanes] *= not fresh
        for v in ids[begin:end].tolist():
            meant = (np.uint64(marks[v]) & wanted & powers) != 0
            expected[2 : 2 + lanes] += np.where(meant, table[v], 0.0)
        assert _add(table.reshape(-1), marks, wanted, ids, begin, end, sums, 2, fresh, powers) == lanes
        np.testing.assert_array_equal(sums, expected)


@kernel
def _put(table, vertex, marks, bits, sums, at):  # type: ignore[no-untyped-def]
    ask_for_row(table, vertex, marks)
    return put_row(table, vertex, marks, bits, sums, at)


@kernel
def _turn(table, vertex, marks, bits, sums, at):  # type: ignore[no-untyped-def]
    return turn_row(table, vertex, marks, bits, sums, at)


@pytest.mark.parametrize("kind", MARKS)
def test_lanes_of_a_row_are_put_and_turned(kind: Any) -> None:
    draw, lanes = np.random.default_rng(4), 8 * np.dtype(kind).itemsize
    meant = draw.random(lanes) < 0.5
    meant[[0, -1]] = (False, True)
    bits = np.uint64(sum(1 << lane for lane in range(lanes) if meant[lane]))
    marks, sums = np.zeros(3, kind), draw.random(lanes + 3)
    sums[3] = 9.0  # the largest, in a lane that is not meant
    new = sums[3:]

    table = draw.random((3, lanes))
    expected = table.copy()
    expected[1] = np.where(meant, new, table[1])
    assert _put(table.reshape(-1), 1, marks, bits, sums, 3) == new[meant].max()
    np.testing.assert_array_equal(table, expected)

    dependency = np.where(meant, table[1] * new, 0.0)
    expected[1] = np.where(meant, (dependency + 1.0) / table[1], table[1])
    assert _turn(table.reshape(-1), 1, marks, bits, sums, 3) == pytest.approx(dependency.sum(), rel=1e-14)
    np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize(
    ("table", "marks", "message"),
    [
        (np.zeros(32, np.float32), np.zeros(2, np.uint8), "array of f32, not of f64"),
        (np.zeros(32), np.zeros(2), "marks are whole numbers"),
        (np.zeros(64)[::2], np.zeros(2, np.uint8), "follow each other"),
    ],
)
def test_what_is_no_row_of_floats_is_refused(table: Any, marks: Any, message: str) -> None:
    with pytest.raises(LoweringError, match=message):
        _put(table, 0, marks, np.uint64(1), np.zeros(8), 0)
