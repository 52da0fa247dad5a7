"""Fields that take each other's values in one update: all of them see the old ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dromos as dr


class Rotating(dr.Program):
    """Three fields in a circle, and the sum of what came in."""

    first = dr.field(np.int64)
    second = dr.field(np.int64)
    third = dr.field(np.int64)
    combine = dr.SUM
    update_on = "all"

    def init(self, v: Any) -> Any:
        return {"first": v.id, "second": 10 * v.id, "third": 100 * v.id}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return u.first

    def update(self, v: Any, message: Any) -> Any:
        return {"first": v.third + message, "second": v.first, "third": v.second}

    def active(self, old: Any, new: Any) -> Any:
        return True


@pytest.mark.parametrize("device", ["numpy", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_fields_are_written_as_if_at_once(device: str) -> None:
    graph = dr.generators.rmat(5, 4, seed=1)
    expected = dr.run(Rotating(), graph, device="reference", max_iter=4)
    found = dr.run(Rotating(), graph, device=device, max_iter=4)
    for name in ("first", "second", "third"):
        assert found[name].tolist() == expected[name].tolist(), name
