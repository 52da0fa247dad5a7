"""The programs of PageRank: jumps everywhere alike, by given values, or to one vertex; with weights or without."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

import dromos.program as dr

__all__ = ["pagerank_program", "restart_program"]


class _PageRank(dr.Program):
    """Every vertex the same: where walkers start, and where they jump to."""

    number: DTypeLike = np.float64
    """The type of ranks, and so of the messages, which are most of what is moved."""
    alpha = dr.param(float)
    tolerance = dr.param(float)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def dangling(self, v: Any) -> Any:
        return dr.where(self.is_dangling(v), dr.cast(v.rank, np.float64), 0.0)

    @dr.reduction(dr.SUM)
    def change(self, old: Any, new: Any) -> Any:
        return dr.cast(abs(new.rank - old.rank), np.float64)

    def is_dangling(self, v: Any) -> Any:
        return v.out_degree == 0

    def share(self, u: Any, edge: Any) -> Any:
        return u.rank / dr.cast(u.out_degree, self.number)

    def begin(self, v: Any) -> Any:
        return 1 / self.num_vertices

    jump = sink = begin

    def init(self, v: Any) -> Any:
        return {"rank": self.begin(v)}

    def compute(self, u: Any, edge: Any, v: Any) -> Any:
        return self.share(u, edge)

    def update(self, v: Any, message: Any) -> Any:
        jumped = self.alpha * self.dangling * self.sink(v) + (1 - self.alpha) * self.jump(v)
        return {"rank": dr.cast(self.alpha, self.number) * message + dr.cast(jumped, self.number)}

    def active(self, old: Any, new: Any) -> Any:
        return True

    def converged(self) -> Any:
        return self.change < self.tolerance


class _Weighted(_PageRank):
    """Edges in proportion to their weights; ``strength`` is their sum at each vertex."""

    strength = dr.vertex_param(np.float64)

    def is_dangling(self, v: Any) -> Any:
        return v.strength == 0

    def share(self, u: Any, edge: Any) -> Any:
        return dr.cast(dr.where(u.strength == 0, 0.0, u.rank * edge.weight / u.strength), self.number)


class _Personal(_PageRank):
    """Start, jump and the way out of dead ends given by vertex."""

    started = dr.vertex_param(np.float64)
    jumped = dr.vertex_param(np.float64)
    sunk = dr.vertex_param(np.float64)

    def begin(self, v: Any) -> Any:
        return v.started

    def jump(self, v: Any) -> Any:
        return v.jumped

    def sink(self, v: Any) -> Any:
        return v.sunk


class _PersonalWeighted(_Personal, _Weighted):
    """Both."""


class _Restart(_PageRank):
    """All jumps lead to one vertex: nothing has to be given by vertex."""

    source = dr.param(dr.ID)

    def jump(self, v: Any) -> Any:
        return dr.where(v.id == self.source, 1.0, 0.0)

    sink = jump


class _RestartWeighted(_Restart, _Weighted):
    """Both."""


@cache
def pagerank_program(personal: bool = False, weights: bool = False, dtype: DTypeLike = np.float64) -> type[dr.Program]:
    """The program for ranks of ``dtype``: with or without values by vertex, with or without weights."""
    base = (_PersonalWeighted if weights else _Personal) if personal else (_Weighted if weights else _PageRank)
    return _with_ranks(base, dtype)


@cache
def restart_program(weights: bool) -> type[dr.Program]:
    """The program in which all jumps lead to one vertex, with or without weights."""
    return _with_ranks(_RestartWeighted if weights else _Restart, np.float64)


def _with_ranks(base: type[dr.Program], dtype: DTypeLike) -> type[dr.Program]:
    return type("PageRank", (base,), {"rank": dr.field(dtype), "number": dtype})
