"""What our compiler and Numba make of the same kernels."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from dromos.parallel import run_team
from tests.compiler import kernels
from tests.compiler.oracle import compiled_by_numba

EDGES = [0, 1, 2, 3, 7, 31, 100, 127, -1, -2, -3, -8, -128]


def results_of_both(kernel: Any, *args: Any) -> tuple[Any, Any]:
    """The arguments after a run by either; a copy of an array would have another layout than the array."""
    before = deepcopy(args)
    run_team(kernel, *args, threads=1)
    after = deepcopy(args)
    restore(args, before)
    getattr(compiled_by_numba(kernels), kernel.__name__)(0, 1, *args)
    return after, args


def restore(values: tuple[Any, ...], before: tuple[Any, ...]) -> None:
    for value, old in zip(values, before, strict=True):
        if isinstance(value, tuple):
            restore(value, old)
        elif isinstance(value, np.ndarray):
            value[...] = old


def require_equal(one: Any, other: Any) -> None:
    if isinstance(one, tuple):
        for a, b in zip(one, other, strict=True):
            require_equal(a, b)
    else:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("left", "right"), [("i8", "u4"), ("u8", "u8"), ("i8", "i8"), ("u1", "i2"), ("i4", "u1")])
def test_integers(left: str, right: str) -> None:
    pairs = np.array([(a, b) for a in EDGES for b in EDGES])
    a, b = pairs[:, 0].astype(left).copy(), pairs[:, 1].astype(right).copy()
    require_equal(*results_of_both(kernels.integers, a, b, np.zeros((17, a.size), np.int64)))


@pytest.mark.parametrize(("left", "right"), [("f8", "f8"), ("f4", "f4"), ("f4", "f8")])
def test_fractions(left: str, right: str) -> None:
    edges = np.array([0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e-30, np.inf, -np.inf, np.nan, 2.5, 7.0])
    a, b = np.repeat(edges, edges.size).astype(left), np.tile(edges, edges.size).astype(right)
    require_equal(*results_of_both(kernels.fractions, a, b, np.zeros((17, a.size))))


def test_control() -> None:
    values = np.array([3, 1, 0, -5, 6, 9, 2])
    pair = (np.array([1, 2, 3]), (np.array([4, 5]), 2.5))
    flags = np.array([False, True, True, False])
    require_equal(*results_of_both(kernels.control, values, pair, flags, np.zeros(10, np.int64)))


def test_arrays_of_any_layout() -> None:
    random = np.random.default_rng(1)
    strided, table = random.random(20)[::2], random.random((10, 3))
    turned, truths = np.asfortranarray(random.random((3, 10))), random.random(10) < 0.5
    require_equal(*results_of_both(kernels.places, strided, table, turned, truths, np.zeros(1)))


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_atomics(real: Any) -> None:
    whole, narrow = np.arange(-3, 5), np.arange(8, dtype=np.uint8)
    args = (whole, np.linspace(-1, 1, 8, dtype=real), narrow, np.arange(16, dtype=np.uint8), np.zeros(7, np.int64))
    require_equal(*results_of_both(kernels.atomics, *args))
