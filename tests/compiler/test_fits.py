"""Machine code runs only on arrays of the types that it was made for, whatever was called before."""

from __future__ import annotations

import warnings
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from dromos.compiler import LoweringError
from dromos.intrinsics import atomic_add
from dromos.jit import kernel
from dromos.parallel import run_team
from dromos.team_layout import BLOCK_ARGUMENTS, BLOCK_WORDS
from tests.compiler import python_kernels as kernels

BASE = np.arange(24)
_TABLE = np.arange(3)
ROWS = {
    **{name: BASE.astype(name) for name in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", "q", "p")},
    "every second": BASE[::2],
    "backwards": BASE[::-1],
    "narrow backwards": BASE.astype("u1")[::-1],
    "one": BASE[5:6],
    "none": BASE[:0],
    "a column": BASE.reshape(6, 4)[:, 1],
}
TABLES = {
    "rows": BASE.reshape(4, 6),
    "columns": np.asfortranarray(BASE.reshape(4, 6)),
    "narrow": BASE.reshape(4, 6).astype("i2"),
    "strided": BASE.reshape(4, 6)[::2, ::-3],
    "one row": BASE[:6].reshape(1, 6),
    "repeated": np.broadcast_to(BASE[:6], (4, 6)),
}


def value_of(table: Any) -> int:
    """What ``sum_of_table`` computes."""
    result = 0
    for value in table.ravel().tolist():
        result = 3 * result + int(value)
    return result


def test_every_type_of_row_after_every_other() -> None:
    for one, other in permutations(ROWS, 2):
        for name in (one, other, one):
            assert kernels.sum_of(ROWS[name]) == ROWS[name].sum(), (one, other)


def test_every_layout_of_table_after_every_other() -> None:
    for one, other in permutations(TABLES, 2):
        for name in (one, other, one):
            assert kernels.sum_of_table(TABLES[name]) == value_of(TABLES[name]), (one, other)


@pytest.mark.parametrize("threads", [1, 2])
def test_teams_look_at_the_arrays_too(threads: int) -> None:
    for _ in range(2):
        for values in ROWS.values():
            out = np.zeros(threads, np.int64)
            run_team(kernels.sum_on_each, values, out, threads=threads)
            assert out.tolist() == [values.sum()] * threads


@pytest.mark.parametrize("threads", [1, 2])
def test_numbers_of_python_change_their_type_by_their_size(threads: int) -> None:
    for number in (5, 2**63 + 5, -5, 2**64 - 1, 5):
        out = np.zeros(threads, np.uint64)
        run_team(kernels.note_on_each, number, out, threads=threads)
        assert out.tolist() == [number % 2**64] * threads


def test_an_array_may_change_its_type_between_calls() -> None:
    values = np.arange(4)
    assert kernels.sum_of(values) == 6
    with warnings.catch_warnings():  # NumPy asks for views instead; kernels have to know better in any case
        warnings.simplefilter("ignore", DeprecationWarning)
        values.dtype = np.int32
        assert kernels.sum_of(values) == 6
        values.shape = (4, 2)
    assert kernels.sum_of_table(values) == value_of(values)
    with pytest.raises(LoweringError, match="'sum_of' cannot be compiled"):
        kernels.sum_of(values)


@pytest.mark.parametrize("warm", [False, True], ids=["first", "after a call that fits"])
@pytest.mark.parametrize(
    "run",
    [lambda v: kernels.sum_of(v), lambda v: run_team(kernels.sum_on_each, v, np.zeros(2, np.int64), threads=2)],
    ids=["python", "team"],
)
@pytest.mark.parametrize(
    ("values", "why"),
    [
        (BASE.astype(">i8"), "array of >i8, whose bytes are in the order of other machines"),
        (np.zeros(25, np.uint8)[1:].view(np.int64), "array of int64 that is not aligned in memory; copy it"),
        (np.array(1), "array with 0 dimensions"),
        (BASE.astype(np.float16), "array of float16"),
        (BASE.astype(np.complex128), "array of complex128"),
        (BASE.astype("M8[s]"), r"array of datetime64\[s\]"),
        (np.array(["a"]), "array of <U1"),
        (np.array([object()]), "array of object"),
        (np.zeros(2, [("a", np.int64)]), "array of .*'a'"),
    ],
    ids=lambda value: str(value.dtype) if isinstance(value, np.ndarray) else "",
)  # fmt: skip
def test_arrays_that_kernels_do_not_take(values: Any, why: str, run: Any, warm: bool) -> None:
    if warm:
        run(BASE)
    with pytest.raises(LoweringError, match=f"cannot be compiled: an argument is an {why}"):
        run(values)


def test_a_team_takes_as_many_arguments_as_its_block_holds() -> None:
    most = BLOCK_WORDS - BLOCK_ARGUMENTS - 1
    out = np.zeros(2, np.int64)
    run_team(kernels.last_of, tuple(range(most)), out, threads=2)
    assert out.tolist() == [most - 1] * 2
    with pytest.raises(LoweringError, match=f"{most + 2} numbers and arrays are given, and a team takes {most + 1}"):
        run_team(kernels.last_of, tuple(range(most + 1)), out, threads=2)


@pytest.mark.parametrize("threads", [None, 1, 2], ids=["python", "one thread", "team"])
def test_no_kernel_writes_to_an_array_that_is_read_only(threads: int | None) -> None:
    @kernel
    def note(thread: int, count: int, out: Any) -> None:
        out[2:][thread] = 1
        atomic_add(out, 0, 1)

    out = np.zeros(4, np.int64)
    frozen = np.zeros(4, np.int64)
    frozen.flags.writeable = False

    def run(array: Any) -> None:
        if threads is None:
            note(0, 1, array)
        else:
            run_team(note, array, threads=threads)

    for _ in range(2):
        run(out)
        with pytest.raises(LoweringError, match="'note' writes to an array that is read-only"):
            run(frozen)
    assert out[0] == 2 * (threads or 1)
    assert not frozen.any()


def test_arrays_of_the_module_are_not_written_to() -> None:
    @kernel
    def change() -> None:
        _TABLE[0] = 1

    with pytest.raises(LoweringError, match="an array of the module is written to"):
        change()
