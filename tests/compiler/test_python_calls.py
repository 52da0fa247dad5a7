"""Kernels that Python calls: arguments of all kinds, and what comes back."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dromos.compiler import LoweringError
from dromos.jit import inline, kernel
from tests.compiler import python_kernels as kernels
from tests.compiler.oracle import compiled_by_numba

NUMBERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


def typed(value: Any) -> Any:
    """A value with the types of its parts: 1, 1.0 and True are equal."""
    return tuple(map(typed, value)) if isinstance(value, tuple) else (type(value), value)


# ---- numbers -------------------------------------------------------------------------------------------------------


def test_a_kernel_that_returns_nothing_gives_none() -> None:
    assert kernels.nothing(1) is None


@pytest.mark.parametrize(
    "value", [0, -1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, True, False, 0.5, -0.0, math.inf, 5e-324], ids=repr
)
def test_numbers_come_back_as_they_were(value: Any) -> None:
    assert typed(kernels.whole(value)) == typed(value)
    assert math.copysign(1, kernels.whole(value)) == math.copysign(1, value)


def test_nan_comes_back() -> None:
    assert math.isnan(kernels.whole(math.nan))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers_of_numpy_are_taken_with_their_type(dtype: Any) -> None:
    limits: Any = np.finfo(dtype) if issubclass(dtype, np.floating) else np.iinfo(dtype)
    for value in (limits.min, limits.max, 1):
        assert typed(kernels.whole(dtype(value))) == typed(dtype(value).item())
    assert kernels.negated(dtype(1)) == compiled_by_numba(kernels).negated(dtype(1))


def test_truths_of_numpy_are_taken() -> None:
    assert kernels.whole(np.True_) is True
    assert kernels.whole(np.False_) is False


def test_the_same_name_of_a_type_takes_turns_with_larger_numbers() -> None:
    for value in (1, 2**63, -1, 2**64 - 1, 0, 2**63 + 5, 7):
        assert kernels.whole(value) == value


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_integers_beyond_64_bits_are_refused(value: int) -> None:
    kernels.whole(1)
    with pytest.raises(LoweringError, match=r"'whole' cannot be compiled: .*64 bits"):
        kernels.whole(value)


@pytest.mark.parametrize("value", ["text", None, [1], 1j, np.float16(1), np.datetime64("2020"), dict], ids=repr)
def test_what_is_no_number_is_refused(value: Any) -> None:
    with pytest.raises(LoweringError, match=f"'whole' cannot be compiled: .*{type(value).__name__}"):
        kernels.whole(value)


def test_tuples_of_results() -> None:
    assert typed(kernels.several(True, 3, 5.0)) == typed((True, (4, (2.5, False)), True))
    assert typed(kernels.several(False, np.uint8(255), np.float32(0.5))) == typed((False, (256, (0.25, True)), False))


# ---- tuples --------------------------------------------------------------------------------------------------------


def test_parts_of_named_tuples_are_known_by_name() -> None:
    options = kernels.Options(1.5, 2, np.array([10, 20, 30]))
    assert kernels.scaled(options, 4) == 38.0 == compiled_by_numba(kernels).scaled(options, 4)


def test_named_tuples_with_other_names_are_other_types() -> None:
    for _ in range(2):
        assert kernels.span(kernels.Ends(3, 10)) == 7
        assert kernels.span(kernels.TurnedEnds(3, 10)) == -7
        assert kernels.span_of_first((kernels.Ends(3, 10),)) == 7
        assert kernels.span_of_first((kernels.TurnedEnds(3, 10),)) == -7
    with pytest.raises(LoweringError, match=r"options\.table.*no such attribute"):
        kernels.scaled(kernels.Mirrored(1.5, 2, np.zeros(3, np.int64)), 4)


def test_a_named_tuple_may_be_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    for _ in range(2):  # compiled, then read from disk
        assert kernel(kernels.same.function)(kernels.Ends(3, 10)) == (3, 10)


def test_tuples_that_are_nested_otherwise_are_other_types() -> None:
    deep, flat = (((1, ((2,),), 3),), 3 * ((1,),))
    for _ in range(2):
        assert kernels.lengths_of(deep) == (1, 3)
        assert kernels.lengths_of(flat) == (3, 1)
        assert kernels.lengths_of(((), (1,))) == (2, 0)
        assert kernels.lengths_of((((), 1),)) == (1, 2)


# ---- what a module holds -------------------------------------------------------------------------------------------


def test_arrays_of_the_module_are_constants() -> None:
    for i in (0, 1):
        for j in (0, 1, 2):
            truth, real = bool(kernels.TRUTHS[i]), float(kernels.REALS[j])
            expected = (int(kernels.TABLE[i, j]), 6, 3, truth, True, real, 8, 2**64 - 1)
            assert typed(kernels.constants(i, j)) == typed(expected)
    assert kernels.total_of_constants() == kernels.TABLE.sum()


def test_functions_inside_functions_hold_what_is_around_them() -> None:
    def made(factor: float, values: Any) -> Any:
        @inline
        def stretched(value):  # type: ignore[no-untyped-def]
            return value * factor

        @kernel
        def run(value, i):  # type: ignore[no-untyped-def]
            return stretched(value) + values[i]

        return run

    first, second = made(2, np.array([1, 2])), made(0.5, np.array([10.0, 20.0, 30.0]))
    for _ in range(2):
        assert typed(first(5, 1)) == typed(12)
        assert typed(second(5, 2)) == typed(32.5)


def test_kernels_and_parts_call_each_other() -> None:
    assert kernels.by_another_kernel(3) == 25
    assert kernels.eight_times(0.25) == 2.0


def test_python_is_told_that_it_cannot_call_a_part() -> None:
    with pytest.raises(TypeError, match=r"four_times\(\) is a part of kernels"):
        kernels.four_times(1)


# ---- loops over values ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMBERS)
def test_loops_over_arrays(dtype: Any) -> None:
    values = np.array([1, 2, 50, 101, 7], dtype)
    for given_array in (values, values[::2], values[::-1], values[:0]):
        expected = compiled_by_numba(kernels).total(given_array)
        assert kernels.total(given_array) == expected
    assert kernels.total(np.array([1.5, -3, 2, 101, 7])) == 3.5


def test_loops_over_tuples() -> None:
    assert kernels.total_of_parts(1, 2.5, np.float32(4)) == 15 + 41
    assert kernels.first_positive(-1, 5, 7) == 5
    assert kernels.first_positive(-1, -5, -7) == 0
    assert kernels.first_of(4, 5) == 4


# ---- arrays --------------------------------------------------------------------------------------------------------


@given(
    length=st.integers(0, 8),
    begin=st.integers(-12, 12) | st.sampled_from([-(2**63), 2**63 - 1]),
    end=st.integers(-12, 12) | st.sampled_from([-(2**63), 2**63 - 1]),
    step=st.sampled_from([1, 2, -1]),
)
def test_slices_have_the_bounds_of_python(length: int, begin: int, end: int, step: int) -> None:
    values = np.arange(1, 2 * length + 1)[:length] if step == 1 else np.arange(1, 2 * length + 1)[::step][:length]
    expected = 0
    for value in values[begin:end].tolist():
        expected = expected * 7 + value
    assert kernels.sliced(values, begin, end) == (values[begin:end].size, expected)
    if begin < 2**62:
        assert kernels.open_slices(values, begin) == tuple(
            part.size for part in (values[begin:], values[:begin], values, values[2:])
        )
    changed = values.copy()
    changed[begin:end] = -1
    kernels.write_to_slice(values, begin, end, -1)
    np.testing.assert_array_equal(values, changed)


def test_bounds_of_slices_without_a_sign() -> None:
    values = np.arange(5)
    assert kernels.sliced(values, np.uint8(1), np.uint64(2**64 - 1)) == (4, ((1 * 7 + 2) * 7 + 3) * 7 + 4)


def test_bounds_and_indices_of_rows_have_no_fraction() -> None:
    with pytest.raises(LoweringError, match=r"sliced: 'values\[begin:end\]': .*whole number"):
        kernels.sliced(np.arange(5), 1.5, 3)
    with pytest.raises(LoweringError, match=r"row: 'table\[i\]': .*whole number"):
        kernels.row(np.zeros((2, 3)), 1.0, 0)


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_rows_of_tables(layout: str) -> None:
    table = np.arange(24, dtype=np.int32).reshape(4, 6)
    table = {"rows": table, "columns": np.asfortranarray(table), "strided": table[::2, 1::2]}[layout]
    for i in (0, 1, -1):
        before = table.copy()
        assert kernels.row(table, i, 1) == (table[i, 1], table.shape[1], table.shape[0], table.shape[1])
        before[i, 0] += 1
        np.testing.assert_array_equal(table, before)
    assert kernels.row(table, np.uint8(1), -1)[0] == table[1, -1]


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_layers_of_cubes(layout: str) -> None:
    cube = np.arange(120).reshape(4, 5, 6)
    cube = {"rows": cube, "columns": np.asfortranarray(cube), "strided": cube[:, ::-2, ::2]}[layout]
    layer = cube[2]
    assert kernels.layers(cube, 2) == (*layer.shape, layer.size, layer[1, 2], layer[1].size, layer[1, 2])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_types_of_elements(dtype: Any) -> None:
    values = np.array([3, 4], dtype)
    size, number, following = kernels.types_of(values, 2.75)
    assert typed((size, number, following)) == typed((values.itemsize, dtype(2.75).item(), dtype(4).item()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [0.5, 1.5, -0.5, -2.5, 2.4999, -0.0, 1e30, math.inf, -math.inf, math.nan])
def test_rounding_and_signs(dtype: Any, value: float) -> None:
    given_value = dtype(value)
    found = kernels.rounded(given_value)
    expected = tuple(f(given_value).item() for f in (np.rint, np.signbit, np.floor, np.isnan))
    np.testing.assert_array_equal(found, expected)
    assert list(map(type, found)) == [float, bool, float, bool]
    assert math.copysign(1, found[0]) == math.copysign(1, expected[0])


def test_empty_arrays() -> None:
    assert kernels.sum_of(np.zeros(0, np.int32)) == 0
    assert kernels.sum_of_table(np.zeros((0, 5), np.int64)) == 0
    assert kernels.sum_of_table(np.zeros((5, 0), np.int8)) == 0


def test_memory_maps_and_arrays_that_are_read_only(tmp_path: Path) -> None:
    values = np.arange(100, dtype=np.int32)
    values.tofile(tmp_path / "values")
    mapped = np.memmap(tmp_path / "values", np.int32, mode="r+")
    read_only = np.memmap(tmp_path / "values", np.int32, mode="r")
    frozen = values.copy()
    frozen.flags.writeable = False
    for _ in range(2):
        assert [kernels.sum_of(array) for array in (values, mapped, read_only, frozen)] == [4950] * 4
    kernels.fill(mapped, 2)
    mapped.flush()
    assert kernels.sum_of(read_only) == 200


@pytest.mark.parametrize("value", [2.9, -2.9, True, -7, np.uint64(2**64 - 1), np.float32(1.5), np.int8(-3)], ids=repr)
def test_int_cuts_off_towards_zero(value: Any) -> None:
    assert kernels.cut_off(value) == int(value)
