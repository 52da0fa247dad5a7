"""Reductions of several components, and those that keep the vertex of the least or greatest value."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import ProgramError

ENGINES = [
    {"device": "reference"},
    {"device": "numpy", "slices": 2, "parts": 3},
    {"device": "cpu", "threads": 2},
    {"device": "cpu", "threads": 2, "slices": 2, "parts": 2},
    pytest.param({"device": "cuda"}, marks=pytest.mark.gpu),
    {"device": "numpy+numpy", "share": 0.4, "split": "high"},
    pytest.param({"device": "cuda", "slices": 2, "parts": 2}, marks=pytest.mark.gpu),
    pytest.param({"device": "numpy+cuda", "share": 0.4, "split": "low"}, marks=pytest.mark.gpu),
]


class Weights(dr.Program):
    """Vertices pass on halves; reduced are the greatest and the least, and the sums by kind of vertex."""

    x = dr.field(np.float32)
    combine = dr.SUM

    @dr.reduction(dr.ARGMAX)
    def greatest(self, v):
        return dr.where(v.id == 5, np.nan, v.x), v.in_degree, v.id  # a NaN never wins

    @dr.reduction(dr.ARGMIN)
    def least(self, old, new):
        return new.x - old.x, new.id

    @dr.reduction(dr.SUM)
    def by_kind(self, v):
        return [dr.where(v.id % 3 == kind, v.x, 0) for kind in range(3)]

    @dr.reduction(dr.MAX)
    def most(self, v):
        return v.x

    def init(self, v):
        return dr.where(v.id == 5, 32, v.id % 4)

    def compute(self, u, edge, v):
        first, second, _ = self.by_kind
        return dr.where(u.id == self.greatest[2], 0.5, 0.25) * u.x + 0 * (first + second)

    def update(self, v, message):
        return message

    def active(self, old, new):
        return True


def plain(graph, steps):
    ids, x = np.arange(graph.num_vertices), np.where(np.arange(graph.num_vertices) == 5, 32, np.arange(30) % 4)
    x, old = x.astype(np.float32), None
    sources = np.repeat(ids, graph.out_degree)

    def greatest(values):
        return max((values[v], graph.in_degree[v], v) for v in ids if v != 5)

    for _ in range(steps):
        sent = np.where(sources == greatest(x)[2], np.float32(0.5), np.float32(0.25)) * x[sources]
        old, x = x, np.bincount(graph.targets, sent, 30).astype(np.float32)
    return greatest(x), min(zip(x - old, ids, strict=True)), x


@pytest.mark.parametrize("how", ENGINES)
def test_the_vertex_of_the_greatest_is_kept(how):
    rng = np.random.default_rng(1)
    graph = dr.Graph.from_edges(*rng.integers(0, 30, (2, 100)), num_vertices=30)
    result = dr.run(Weights(), graph, max_iter=3, **how)
    greatest, least, x = plain(graph, 3)
    assert np.allclose(result.x, x, rtol=1e-6)
    assert result.greatest == pytest.approx(greatest)
    assert result.least == pytest.approx(least)
    assert result.most == pytest.approx(x.max())
    assert result.by_kind == pytest.approx(tuple(x[kind::3].sum() for kind in range(3)))


def test_of_equal_keys_the_next_numbers_decide():
    class Ties(Weights):
        def init(self, v):
            return 1.0

    result = dr.run(Ties(), dr.generators.cycle(30), max_iter=0, device="cpu")
    assert result.greatest == (1.0, 2, 29)
    assert result.least == (0.0, 0)


def test_of_no_vertices_there_are_the_identities():
    result = dr.run(Weights(), dr.Graph.from_edges([], [], num_vertices=0), device="cpu")
    assert result.greatest == (-np.inf, np.iinfo(np.int64).min, np.iinfo(np.int32).min)


@pytest.mark.nvrtc
def test_such_programs_compile_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from tests.cuda.compiling import compile_program

    assert compile_program(Weights.typed(dr.program.GraphTypes()), "sm_80") >= 3


def test_a_key_needs_a_value():
    class Bare(Weights):
        @dr.reduction(dr.ARGMIN)
        def least(self, v):
            return v.x

    with pytest.raises(ProgramError, match=r"ARGMIN needs \(key, value, \.\.\.\)"):
        Bare.ir()
    with pytest.raises(ProgramError, match="cannot use ANY; use MIN"):
        dr.reduction(dr.ANY)
