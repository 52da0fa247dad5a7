"""Kernels that Python calls: what they are given, and what they return."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dromos.jit import inline, kernel

TABLE = np.array([[1, 2, 3], [40, 50, 60]], dtype=np.int16)
TRUTHS = np.array([True, False, True])
REALS = np.array([0.1, -0.0, np.inf, 1e-310])
LARGE = 2**64 - 1


class Options(NamedTuple):
    scale: float
    offset: int
    table: np.ndarray


class Mirrored(NamedTuple):
    """The parts of ``Options`` have the same types in this order, and other names."""

    scale: float
    offset: int
    other: np.ndarray


class Ends(NamedTuple):
    first: int
    last: int


class TurnedEnds(NamedTuple):
    last: int
    first: int


@kernel
def nothing(value):
    value + 1


@kernel
def whole(value):
    return value


@kernel
def negated(value):
    return -value


@kernel
def several(truth, number, real):
    return truth, (number + 1, (real / 2, not truth)), number < real


@kernel
def scaled(options, value):
    return value * options.scale + options.offset + options.table[options.offset]


@kernel
def span(ends):
    return ends.last - ends.first


@kernel
def span_of_first(pair):
    return pair[0].last - pair[0].first


@kernel
def same(options):
    return options


@kernel
def lengths_of(nested):
    return len(nested), len(nested[0])


@kernel
def constants(i, j):
    return TABLE[i, j], TABLE.size, TABLE.shape[1], TRUTHS[i], TRUTHS[-1], REALS[j], REALS.itemsize, LARGE


@kernel
def total_of_constants():
    total = 0
    for row in range(len(TABLE)):
        for value in TABLE[row]:
            total += value
    return total


@kernel
def total(values):
    result = 0.0
    for value in values:
        if value < 0:
            continue
        if value > 100:
            break
        result += value
    return result


@kernel
def total_of_parts(a, b, c):
    result = 0.0
    for part in (a, b, c):
        result += part * 2
    for array in (TABLE[0], TABLE[1]):
        result += array[0]
    return result


@kernel
def first_positive(a, b, c):
    for part in (a, b, c):
        if part > 0:
            return part
    return 0


@kernel
def first_of(a, b):
    for part in (a, b):
        return part
    return 0


@kernel
def sliced(values, begin, end):
    part = values[begin:end]
    result = 0
    for i in range(part.size):
        result = result * 7 + part[i]
    return len(part), result


@kernel
def open_slices(values, at):
    return values[at:].size, values[:at].size, values[:].size, values[1:][1:].size


@kernel
def write_to_slice(values, begin, end, value):
    part = values[begin:end]
    for i in range(len(part)):
        part[i] = value


@kernel
def row(table, i, j):
    inner = table[i]
    inner[0] += 1
    return inner[j], inner.size, len(table), len(inner)


@kernel
def layers(cube, i):
    layer = cube[i]
    return layer.shape[0], layer.shape[1], layer.size, layer[1, 2], cube[i, 1].size, cube[i, 1][2]


@kernel
def types_of(values, number):
    return values.itemsize, values.dtype.type(number), values[0] + values.dtype.type(1)


@kernel
def cut_off(value):
    return int(value)


@kernel
def rounded(value):
    return np.rint(value), np.signbit(value), np.floor(value), np.isnan(value)


@inline
def twice(value):
    return value * 2


@inline
def four_times(value):
    return twice(twice(value))


@kernel
def eight_times(value):
    return twice(four_times(value))


@kernel
def by_another_kernel(value):
    return eight_times(value) + 1


@kernel
def sum_of(values):
    result = 0
    for i in range(values.size):
        result += values[i]
    return result


@kernel
def sum_of_table(table):
    result = 0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            result = 3 * result + table[i, j]
    return result


@kernel
def fill(values, value):
    for i in range(values.size):
        values[i] = value


@kernel
def sum_on_each(thread, threads, values, out):
    for i in range(values.size):
        out[thread] += values[i]


@kernel
def note_on_each(thread, threads, value, out):
    out[thread] = value


@kernel
def last_of(thread, threads, many, out):
    out[thread] = many[-1]
