"""Random numbers of programs: SplitMix64's own numbers, spread evenly, the same on every engine and path."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import ProgramTypeError
from dromos.program import GraphTypes, analyse, evaluate
from dromos.program.expr import Expr
from dromos.program.types import Type, Typing
from dromos.program.values import Value

X, Y = (Value(Expr("param", attr=(name, 0))) for name in "xy")


def drawn(value, x=0, y=0, dtype=np.int64):
    typing = Typing(GraphTypes(), lambda node, _: Type(np.dtype(dtype)))
    return evaluate(value.expr, typing, lambda node: {"x": x, "y": y}[node.attr[0]])


def test_the_numbers_are_those_of_splitmix64():
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]
    assert [drawn(dr.random(X), x=i) for i in range(5)] == [(word >> 11) / 2**53 for word in published]
    assert [drawn(dr.random(i)) for i in range(5)] == [drawn(dr.random(X), x=i) for i in range(5)]


def test_the_type_of_an_integer_does_not_matter():
    for number in (0, 1, 100):
        found = {drawn(dr.random(X), number, dtype=dtype) for dtype in (np.int8, np.int32, np.int64, np.uint64)}
        assert len(found) == 1
    assert drawn(dr.random(X), -1, dtype=np.int32) == drawn(dr.random(X), -1) == drawn(dr.random(-1))
    assert drawn(dr.random(X), True, dtype=np.bool_) == drawn(dr.random(1)) == drawn(dr.random(1 + (1 << 64)))


def test_every_argument_and_their_order_count():
    values = [dr.random(X), dr.random(Y), dr.random(X, Y), dr.random(Y, X), dr.random(X, Y, 0), dr.random(X, Y, 1)]
    assert len({drawn(value, 3, 4) for value in values}) == len(values)
    together = dr.random([0, 1], 5)
    assert [drawn(value) for value in together] == [drawn(dr.random(0, 5)), drawn(dr.random(1, 5))]


def test_what_is_no_integer_is_refused():
    with pytest.raises(ProgramTypeError, match="needs integers to depend on"):
        dr.random()
    with pytest.raises(ProgramTypeError, match=r"takes integers, not 0\.5"):
        dr.random(0.5)
    with pytest.raises(ProgramTypeError, match="needs integers or truth values"):
        drawn(dr.random(X), dtype=np.float64)


class Draws(dr.Program):
    """The least number drawn for a vertex, its edges and the supersteps; some edges are omitted by a draw."""

    seed = dr.param(int)
    least = dr.field(np.float64)
    combine = dr.MIN

    def init(self, v):
        return 1 + dr.random(v.id, self.seed)

    def sends(self, u, edge, v):
        return dr.random(v.id, u.id) < 0.75

    def compute(self, u, edge, v):
        return dr.random(u.id, v.id, self.superstep, -1)

    def update(self, v, message):
        return dr.minimum(v.least, message)

    def active(self, old, new):
        return new.least < old.least


@pytest.fixture(scope="module")
def grid():
    return dr.generators.grid(12, 9)


def test_every_engine_and_path_draws_the_same(grid):
    expected = dr.run(Draws(seed=-3), grid, device="reference")
    assert np.array_equal(dr.run(Draws(seed=-3), grid, device="numpy", slices=3, parts=2).least, expected.least)
    for path in ("auto", "sync-push-dd", "sync-pull-td"):
        assert np.array_equal(dr.run(Draws(seed=-3), grid, device="cpu", path=path).least, expected.least)
    assert not np.array_equal(dr.run(Draws(seed=4), grid, device="reference", max_iter=0).least, expected.least)


@pytest.mark.nvrtc
def test_a_program_that_draws_compiles_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from dromos.engines.cuda.compiler import compile_cubin
    from dromos.engines.cuda.modules import kernels_of, source_text

    typed = Draws.typed(GraphTypes())
    kernel = kernels_of(typed, analyse(typed))[0]
    text = source_text(typed, analyse(typed), kernel)
    defines = (*kernel.defines, "VID=int", "EID=unsigned", "RENAMED=1")
    assert compile_cubin(text, "draws", arch="sm_90", defines=defines)


def test_numbers_are_spread_evenly():
    spread = dr.generators.path(40_000)
    drawn = dr.run(Draws(seed=1), spread, device="numpy", max_iter=0).least - 1
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.bincount((drawn * 100).astype(int), minlength=100)
    assert np.abs(counts - 400).max() < 6 * np.sqrt(400)  # none of 100 binomial counts is six deviations off
    neighbours = np.corrcoef(drawn[1:], drawn[:-1])[0, 1]
    assert abs(neighbours) < 6 / np.sqrt(len(drawn))
