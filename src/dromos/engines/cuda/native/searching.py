"""A search for levels alone, for kernels that go on from them."""

from __future__ import annotations

from typing import Any

import numpy as np

import dromos.program as dr

__all__ = ["LevelsOnly"]


class LevelsOnly(dr.Program):
    """The number of edges from the source; -1 where there is no path."""

    source = dr.param(int)
    level = dr.field(np.int32)
    combine = dr.ANY

    def init(self, v: Any) -> Any:
        return dr.where(v.id == self.source, 0, -1)

    def start(self, v: Any) -> Any:
        return v.id == self.source

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return self.superstep + 1

    def update(self, v: Any, message: Any) -> Any:
        return dr.where(v.level < 0, message, v.level)

    def active(self, old: Any, new: Any) -> Any:
        return new.level != old.level
