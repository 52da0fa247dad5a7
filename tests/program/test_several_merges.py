"""Messages whose components are merged by different monoids."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import IllegalPathError, ProgramError, ProgramTypeError
from dromos.program import GraphTypes, analyse

ENGINES = [
    {"device": "reference", "path": "sync-push-dd"},
    {"device": "reference", "path": "sync-pull-td"},
    {"device": "numpy", "path": "sync-push-dd"},
    {"device": "numpy", "path": "sync-pull-td", "slices": 2, "parts": 3},
    {"device": "cpu", "threads": 2, "path": "sync-push-dd"},
    {"device": "cpu", "threads": 2, "path": "sync-pull-td"},
    {"device": "cpu", "threads": 2, "path": "sync-push-dd", "slices": 2, "parts": 2},
    pytest.param({"device": "cuda", "path": "sync-push-dd"}, marks=pytest.mark.gpu),
    pytest.param({"device": "cuda", "path": "sync-pull-td"}, marks=pytest.mark.gpu),
    {"device": "numpy+numpy", "share": 0.4, "split": "high"},
    pytest.param({"device": "cuda", "slices": 2, "parts": 2}, marks=pytest.mark.gpu),
    pytest.param({"device": "numpy+cuda", "share": 0.4, "split": "low"}, marks=pytest.mark.gpu),
]


class Census(dr.Program):
    """The number of neighbors, whether any is marked, all their bits, the nearest and the farthest."""

    count = dr.field(np.int32, init=0)
    marked = dr.field(bool)
    bits = dr.field(np.uint32, init=0)
    near = dr.field(np.float32, init=np.inf)
    far = dr.field(np.int64, init=-1)
    combine = (dr.SUM, "or", dr.AND, dr.MIN, dr.MAX)

    def init(self, v):
        return {"marked": v.id % 5 == 0}

    def compute(self, u, edge, v):
        return 1, u.marked, dr.cast(u.id | 8, np.uint32), edge.weight, dr.cast(u.id, np.int64)

    def update(self, v, message):
        count, marked, bits, near, far = message
        return {"count": count, "marked": marked, "bits": bits, "near": near, "far": far}

    def active(self, old, new):
        return False


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(5)
    return dr.Graph.from_edges(*rng.integers(0, 20, (2, 60)), rng.random(60).astype(np.float32), num_vertices=22)


@pytest.mark.parametrize("how", ENGINES)
def test_each_part_is_merged_by_its_own(graph, how):
    result = dr.run(Census(), graph, **how)
    sources = np.repeat(np.arange(22), graph.out_degree)
    for v in range(22):
        heard = sources[graph.targets == v]
        if len(heard) == 0:
            assert (result.count[v], result.near[v], result.far[v]) == (0, np.inf, -1)
            continue
        assert result.count[v] == len(heard)
        assert result.marked[v] == (heard % 5 == 0).any()
        assert result.bits[v] == np.bitwise_and.reduce(heard | 8)
        assert result.near[v] == graph.weights[graph.targets == v].min()
        assert result.far[v] == heard.max()


def test_what_is_known_of_such_programs():
    facts = analyse(Census.typed(GraphTypes()))
    assert not facts.idempotent_combine
    assert facts.message_bytes == 8 + 1 + 4 + 8 + 8  # the weight of an unweighted graph is a 64-bit number
    assert any("SUM merges int64" in note for note in facts.notes)

    class Idempotent(Census):
        combine = (dr.MAX, dr.OR, dr.AND, dr.MIN, dr.MAX)

    assert analyse(Idempotent.typed(GraphTypes())).idempotent_combine
    with pytest.raises(IllegalPathError, match=r"SUM\+OR\+AND\+MIN\+MAX is not idempotent"):
        dr.run(Census(), dr.generators.path(3), device="reference", path="async-push-dd")


@pytest.mark.nvrtc
def test_such_programs_compile_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from tests.cuda.compiling import compile_program

    assert compile_program(Census.typed(GraphTypes()), "sm_80") >= 3


def test_errors_say_what_is_expected():
    def wrong(**members):
        type("Wrong", (Census,), members).ir()

    with pytest.raises(ProgramError, match="a message of 5 parts, but combine merges 2"):
        wrong(combine=(dr.SUM, dr.OR))
    with pytest.raises(ProgramError, match="ANY keeps whole messages, so it cannot merge one part"):
        wrong(combine=(dr.SUM, dr.OR, dr.ANY, dr.MIN, dr.MAX))
    with pytest.raises(ProgramTypeError, match="OR merges truth values and integers, not float64"):
        wrong(compute=lambda self, u, edge, v: (1, 0.5, 1, 1.0, 1))
