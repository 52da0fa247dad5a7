"""Fields and given values of another vertex, read by its id: as the last superstep left them, on every engine."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import InvalidArgumentError, ProgramError, ProgramTypeError
from dromos.program import GraphTypes, analyse

ENGINES = [
    {"device": "reference"},
    {"device": "numpy", "path": "sync-pull-td"},
    {"device": "numpy", "path": "sync-push-dd", "slices": 2, "parts": 3},
    {"device": "reference", "slices": 2, "parts": 2},
    {"device": "cpu", "threads": 2, "path": "sync-push-dd"},
    {"device": "cpu", "threads": 2, "path": "sync-pull-td"},
    {"device": "cpu", "threads": 2, "slices": 2, "parts": 2},
    pytest.param({"device": "cuda", "path": "sync-push-dd"}, marks=pytest.mark.gpu),
    pytest.param({"device": "cuda", "path": "sync-pull-td"}, marks=pytest.mark.gpu),
    {"device": "numpy+numpy", "share": 0.4, "split": "high"},
    pytest.param({"device": "cuda", "slices": 2, "parts": 2}, marks=pytest.mark.gpu),
    pytest.param({"device": "numpy+cuda", "share": 0.4, "split": "low"}, marks=pytest.mark.gpu),
]


class Jumping(dr.Program):
    """Pointer jumping: after k supersteps a vertex knows its ancestor 2^k steps up, and the sum of values on the way.

    Messages carry the values of neighbors' ancestors, so that edges read by id too.
    """

    up = dr.vertex_param(np.int64)
    value = dr.vertex_param(np.int32, size=2)
    parent = dr.field(np.int64)
    total = dr.field(np.int64, size=2)
    heard = dr.field(np.int64, init=0)
    combine = dr.SUM
    update_on = "all"

    def init(self, v):
        return {"parent": v.up, "total": v.value}

    def compute(self, u, edge, v):
        return self.at(u.parent).total[1] + self.at(u.parent).value[0] + self.at(v.id).parent

    def update(self, v, message):
        above = self.at(v.parent)
        return {
            "parent": dr.where(v.parent < 0, -1, above.parent),
            "total": v.total + above.total,  # 0 for an id that is not a vertex
            "heard": message,
        }

    def active(self, old, new):
        return new.parent >= -1


def plain(graph, up, value, steps):
    parent, total, heard = up.copy(), value.astype(np.int64), np.zeros(len(up), np.int64)
    sources, targets = np.repeat(np.arange(len(up)), graph.out_degree), graph.targets
    for _ in range(steps):
        there = (parent >= 0) & (parent < len(up))
        above = np.where(there, parent, 0)
        seen = np.where(there, total[above, 1] + value[above, 0], 0)
        heard = np.bincount(targets, seen[sources] + parent[targets], len(up)).astype(np.int64)
        total, parent = (
            total + np.where(there[:, None], total[above], 0),
            np.where(parent < 0, -1, np.where(there, parent[above], 0)),
        )
    return parent, total, heard


@pytest.mark.parametrize("how", ENGINES)
def test_pointers_jump(how):
    rng = np.random.default_rng(9)
    n = 40
    graph = dr.Graph.from_edges(*rng.integers(0, n, (2, 90)), num_vertices=n)
    up = np.arange(n) - 1 - rng.integers(0, 3, n)  # below 0 at the root, and one that is not a vertex
    up[7] = n + 3
    value = rng.integers(0, 9, (n, 2))
    result = dr.run(Jumping(up=up, value=value), graph, max_iter=3, **how)
    for found, expected in zip((result.parent, result.total, result.heard), plain(graph, up, value, 3), strict=True):
        assert np.array_equal(found, expected)


def test_what_is_known_of_such_programs():
    facts = analyse(Jumping.typed(GraphTypes()))
    assert not facts.source_only
    assert facts.claimed is None
    assert all(
        ("as the last superstep left it" in str(why)) == path.startswith("async") for path, why in facts.legal.items()
    )


@pytest.mark.nvrtc
def test_such_programs_compile_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from tests.cuda.compiling import compile_program

    assert compile_program(Jumping.typed(GraphTypes()), "sm_80") >= 3


def test_errors_say_what_is_expected():
    def wrong(**members):
        type("Wrong", (Jumping,), members).ir()

    with pytest.raises(ProgramError, match=r"self\.at\(\) has no 'weight'; it has parent, total, heard, up, value"):
        wrong(active=lambda self, old, new: self.at(new.parent).weight > 0)
    with pytest.raises(ProgramTypeError, match=r"self\.at\(\) takes the id of a vertex, an integer, not float64"):
        wrong(active=lambda self, old, new: self.at(new.parent * 0.5).parent > 0)
    with pytest.raises(ProgramError, match=r"reads 'up' of another vertex; self\.at"):
        wrong(start=lambda self, v: self.at(v.up).up > 0)
    with pytest.raises(ProgramError, match="a reduction cannot read 'parent' of another vertex"):
        wrong(most=dr.reduction(dr.MAX)(lambda self, v: self.at(v.parent).parent))
    with pytest.raises(ProgramError, match="at is reserved; choose another name"):
        wrong(at=dr.field(np.int8, init=0))
    with pytest.raises(InvalidArgumentError, match=r"result\.field\[id\] reads a result"):
        Jumping(up=[0], value=[[1, 1]]).at(0)
