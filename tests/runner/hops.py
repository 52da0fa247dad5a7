"""A program that is legal on every path."""

from __future__ import annotations

import numpy as np

import dromos as dr


class Hops(dr.Program):
    """How far a vertex is from the source; every path is legal."""

    source = dr.param(int)
    hops = dr.field(np.int32)
    combine = dr.MIN

    def init(self, v):
        return dr.where(v.id == self.source, 0, np.iinfo(np.int32).max)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.hops + 1

    def update(self, v, message):
        return dr.minimum(v.hops, message)
