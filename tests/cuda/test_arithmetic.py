"""Integers at the ends of their types on the device: what is stored, and what a comparison in a register sees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos.program as dr
from dromos.engines.cuda import CudaEngine
from dromos.graph import generators
from tests.program.running import run

pytestmark = pytest.mark.gpu

_OPERATIONS: dict[str, Any] = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "negative": lambda a, b: -a,
    "from_nothing": lambda a, b: 0 - a,
    "magnitude": lambda a, b: abs(a),
    "magnitude_of_difference": lambda a, b: abs(a - b),
    "least": lambda a, b: dr.minimum(a - 1, b),
    "greatest": lambda a, b: dr.maximum(a + 1, b),
    "quotient": lambda a, b: a // b,
    "rest": lambda a, b: a % b,
    "inverse": lambda a, b: ~a,
    "left": lambda a, b: a << (b & 7),
    "right": lambda a, b: a >> (b & 7),
}


def _program(dtype: np.dtype[Any]) -> type[dr.Program]:
    """Every operation on two numbers per vertex: its result, and whether that is above the second number."""
    members: dict[str, Any] = {"a": dr.vertex_param(dtype), "b": dr.vertex_param(dtype), "combine": dr.MAX}
    members |= {name: dr.field(dtype, init=0) for name in _OPERATIONS}
    members |= {f"{name}_is_above": dr.field(bool, init=False) for name in _OPERATIONS}
    members["compute"] = lambda self, u, edge, v: 1
    members["active"] = lambda self, old, new: False
    members["update_on"] = "all"

    def update(self: Any, v: Any, message: Any) -> Any:
        results = {name: operation(v.a, v.b) for name, operation in _OPERATIONS.items()}
        return results | {f"{name}_is_above": result > v.b for name, result in results.items()}

    return type(f"Arithmetic_{dtype.name}", (dr.Program,), members | {"update": update})


@pytest.mark.parametrize("name", ["int8", "int16", "int32", "int64", "uint32", "uint64"])
def test_integers_at_the_ends_of_their_type_wrap_as_the_reference_has_them(name: str) -> None:
    dtype = np.dtype(name)
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    values = sorted({least, least + 1, *(n for n in (-7, -2, -1) if n >= least), 0, 1, 2, 7, most // 2, most - 1, most})
    a, b = (ends.ravel() for ends in np.meshgrid(np.array(values, dtype), np.array(values, dtype)))
    program, graph = _program(dtype)(a=a, b=b), generators.path(len(a))
    with np.errstate(all="ignore"):
        expected, _ = run(program, graph, "sync-push-dd")
    found, _ = run(program, graph, "sync-push-dd", engine=CudaEngine())
    for field, wanted in expected.items():
        np.testing.assert_array_equal(np.asarray(found[field]), wanted, err_msg=field)


class Casts(dr.Program):
    """Floats as integers, also those that are too great."""

    a = dr.vertex_param(np.float64)
    narrow = dr.field(np.int8, init=0)
    short = dr.field(np.int16, init=0)
    whole = dr.field(np.int32, init=0)
    wide = dr.field(np.int64, init=0)
    unsigned = dr.field(np.uint32, init=0)
    single = dr.field(np.int32, init=0)
    combine = dr.MAX
    update_on = "all"

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return 1

    def update(self, v: Any, message: Any) -> Any:
        types = {"narrow": np.int8, "short": np.int16, "whole": np.int32, "wide": np.int64, "unsigned": np.uint32}
        casts = {name: dr.cast(v.a, dtype) for name, dtype in types.items()}
        return casts | {"single": dr.cast(dr.cast(v.a, np.float32), np.int32)}

    def active(self, old: Any, new: Any) -> Any:
        return False


def test_floats_stop_at_the_ends_of_an_integer_type() -> None:
    powers = [sign * 2.0**bits for bits in (7, 15, 31, 32, 63, 64, 100) for sign in (1, -1)]
    values = np.array([*powers, 0.0, 0.9, -0.9, 126.5, -128.5, 40000.5, 3e9, np.inf, -np.inf, np.nan])
    program, graph = Casts(a=values), generators.path(len(values))
    expected, _ = run(program, graph, "sync-push-dd")
    found, _ = run(program, graph, "sync-push-dd", engine=CudaEngine())
    assert expected["narrow"].tolist()[:4] == [127, -128, 127, -128]
    for field, wanted in expected.items():
        np.testing.assert_array_equal(np.asarray(found[field]), wanted, err_msg=field)
