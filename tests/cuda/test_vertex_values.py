"""Values by vertex on a device: in another order, and whether all are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda.vertex_values import gathered, has_not_finite
from dromos.errors import InvalidArgumentError

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, np.int64, np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(0,), (1,), (70_001,), (1_000, 3)])
def test_values_in_another_order(dtype: Any, shape: tuple[int, ...]) -> None:
    import cupy

    draw = np.random.default_rng(1)
    values, order = draw.integers(0, 100, shape).astype(dtype), draw.permutation(shape[0]).astype(np.int32)
    found = gathered(cupy.asarray(values), cupy.asarray(order))
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found.get(), values[order])
    every_other = cupy.asarray(np.repeat(values, 2, axis=0))[::2]
    np.testing.assert_array_equal(gathered(every_other, cupy.asarray(order)).get(), values[order])


@pytest.mark.parametrize("size", [0, 1, 300_000])
def test_numbers_that_are_not_finite_are_found(size: int) -> None:
    import cupy

    values = cupy.full(size, 1e308)  # their sum is not finite
    looks = [has_not_finite(values) for _ in range(3)]
    assert [look() for look in looks] == [False] * 3
    for bad in (np.inf, -np.inf, np.nan) if size else ():
        values[size // 2] = bad
        assert has_not_finite(values)()


def test_a_product_with_such_a_number_is_refused_wherever_it_lies() -> None:
    graph = dr.generators.rmat(8, 8, seed=4, symmetrize=True)
    lonely = int(np.argmin(graph.out_degree))  # nobody would receive it
    x = np.ones(graph.num_vertices)
    assert dr.spmv(graph, x, device="cuda").y.tolist() == graph.out_degree.tolist()
    x[lonely] = np.nan
    import cupy

    for given in (x, cupy.asarray(x), cupy.asarray(np.repeat(x, 2))[::2]):
        with pytest.raises(InvalidArgumentError, match="not finite"):
            dr.spmv(graph, given, device="cuda")
