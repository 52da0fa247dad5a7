"""Messages along in-edges, and in both directions: against plain sums over the arcs, on every engine."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import InvalidArgumentError, ProgramError

ENGINES = [
    {"device": "reference"},
    {"device": "numpy", "path": "sync-pull-td"},
    {"device": "numpy", "slices": 3, "parts": 2},
    {"device": "cpu", "threads": 2, "path": "sync-push-dd"},
    {"device": "cpu", "threads": 1},
    pytest.param({"device": "cuda"}, marks=pytest.mark.gpu),
    pytest.param({"device": "cuda", "path": "sync-push-dd"}, marks=pytest.mark.gpu),
    {"device": "numpy+numpy", "share": 0.4, "split": "high"},
    pytest.param({"device": "cuda", "slices": 2, "parts": 2}, marks=pytest.mark.gpu),
    pytest.param({"device": "numpy+cuda", "share": 0.4, "split": "low"}, marks=pytest.mark.gpu),
]


class Against(dr.Program):
    """Messages back along out-edges: a sum of weights, given values and the degrees of the senders."""

    direction = "in"
    toll = dr.edge_param(np.int64)
    total = dr.field(np.float64, init=0.0)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return edge.weight * edge.toll + 100 * u.out_degree + 10_000 * u.in_degree + 0 * self.num_arcs

    def update(self, v, message):
        return v.total + message

    def active(self, old, new):
        return False


class BothWays(Against):
    direction = "both"

    def compute(self, u, edge, v):
        way = dr.where(edge.forward, 1, 0) + dr.where(edge.backward, 2, 0)
        return way * 1e6 + edge.weight * edge.toll + 100 * u.out_degree + 10_000 * u.in_degree + self.num_arcs


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def roads(request):
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 12, (2, 90))  # loops and parallel edges
    graph = dr.Graph.from_edges(*ends, rng.integers(1, 5, 90), num_vertices=12, directed=request.param)
    return graph, rng.integers(0, 9, graph.num_arcs)


def arcs(graph):
    return np.repeat(np.arange(graph.num_vertices), graph.out_degree), graph.targets


def sent_by(graph, senders):
    return 100 * graph.out_degree[senders] + 10_000 * graph.in_degree[senders]


@pytest.mark.parametrize("how", ENGINES)
def test_messages_go_against_edges(roads, how):
    graph, toll = roads
    tails, heads = arcs(graph)
    expected = np.bincount(tails, graph.weights * toll + sent_by(graph, heads), graph.num_vertices)
    assert np.allclose(dr.run(Against(toll=toll), graph, **how).total, expected, rtol=1e-12)


@pytest.mark.parametrize("how", ENGINES)
def test_messages_go_both_ways(roads, how):
    graph, toll = roads
    tails, heads = arcs(graph)
    loop = tails == heads
    forward = np.where(loop, 3e6, 1e6) if graph.directed else np.full(len(tails), 3e6)
    sums = np.bincount(heads, forward + graph.weights * toll + sent_by(graph, tails) + graph.num_arcs, 12)
    if graph.directed:
        back = np.where(loop, 0, 2e6 + graph.weights * toll + sent_by(graph, heads) + graph.num_arcs)
        sums += np.bincount(tails, back, 12)
    assert np.allclose(dr.run(BothWays(toll=toll), graph, **how).total, sums, rtol=1e-12)


class Hubs(dr.Program):
    """Kleinberg's hubs and authorities in one program: each edge carries the one forward and the other back."""

    direction = "both"
    scores = dr.field(np.float64, size=2, init=1.0)
    combine = dr.SUM

    @dr.reduction(dr.SUM)
    def hubs(self, v):
        return v.scores[0]

    @dr.reduction(dr.SUM)
    def authorities(self, v):
        return v.scores[1]

    def compute(self, u, edge, v):
        total = dr.maximum(self.hubs, 1e-300), dr.maximum(self.authorities, 1e-300)
        back = dr.where(edge.backward, u.scores[1] / total[1], 0.0)
        return back, dr.where(edge.forward, u.scores[0] / total[0], 0.0)

    def update(self, v, message):
        return message

    def active(self, old, new):
        return True


def test_hubs_and_authorities_need_no_doubled_graph(roads):
    graph = roads[0].with_weights(None)
    result = dr.run(Hubs(), graph, device="numpy", max_iter=200)
    expected = dr.hits(graph, weight=None)
    assert np.allclose(result.scores[:, 0] / result.scores[:, 0].sum(), expected.hub, atol=1e-6)
    assert np.allclose(result.scores[:, 1] / result.scores[:, 1].sum(), expected.authority, atol=1e-6)


@pytest.mark.nvrtc
def test_such_programs_compile_for_a_gpu():
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
    from tests.cuda.compiling import compile_program

    assert compile_program(BothWays.typed(dr.program.GraphTypes()), "sm_80") >= 3


def test_errors_say_what_is_expected(tmp_path):
    class Sideways(Against):
        direction = "up"

    class Marked(Against):
        mark = dr.edge_field(np.int8, init=0)

    class Asks(Against):
        def compute(self, u, edge, v):
            return edge.forward

    for program, text in ((Sideways, "'up' must be 'out'"), (Marked, "edge fields are written"), (Asks, "= 'both'")):
        with pytest.raises(ProgramError, match=text):
            program.ir()
    graph = dr.Graph.from_edges([0, 1], [1, 2])
    graph.write(tmp_path / "g.drm")
    with pytest.raises(InvalidArgumentError, match=r"a stream sends along out-edges only; take the graph into"):
        dr.run(Against(toll=[1, 2]), dr.open(tmp_path / "g.drm"))
    with pytest.raises(InvalidArgumentError, match="toll has 3 rows, but the graph has 2 arcs"):
        dr.run(Against(toll=[1, 2, 3]), graph)
