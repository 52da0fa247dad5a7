"""The residual form of PageRank: the ranks of NetworkX and of the power iteration, on every path, within ``tol``."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.residual_pagerank import sending_program
from dromos.engines.cpu.execution import CpuExecution
from dromos.errors import ConvergenceError, IllegalPathError, InvalidArgumentError
from dromos.plan import candidates
from tests.algorithms.support import as_networkx, examples, graphs, legal_paths, on_every_device, row


@on_every_device
@examples(12)
@given(
    graph=graphs(low=1, high=7, weights=(0.0, 0.5, 1.0, 4.0)),
    alpha=st.sampled_from((0.0, 0.5, 0.85)),
    jumps=st.none() | st.sampled_from(((1, 0, 0), (0, 1, 2), (1, 1, 5))),
)
def test_ranks_are_those_of_networkx_on_every_path(device, graph, alpha, jumps):
    n = graph.num_vertices
    given_ = None if jumps is None else {v: float(jumps[v % 3]) for v in range(n)}
    assume(given_ is None or sum(given_.values()) > 0)
    expected = row(nx.pagerank(as_networkx(graph), alpha=alpha, personalization=given_, tol=1e-15, max_iter=900), n, 0)
    for path in legal_paths(graph, sending_program(graph.weights is not None)):
        for tol in (1e-2, 1e-9):
            result = dr.pagerank(graph, alpha, given_, tol=tol, method="delta", device=device, path=path)
            assert result.finished == "converged"
            assert np.abs(result.rank - expected).sum() <= tol / (1 - alpha) + 1e-12
            result.verify()


ON_ALL_SCALES = {
    "a directed path": lambda: dr.Graph.from_edges(np.arange(999), np.arange(1, 1000)),
    "a star": lambda: dr.generators.star(5000),
    "a star that points out": lambda: dr.Graph.from_edges(np.zeros(5000, np.int64), np.arange(1, 5001)),
    "a grid": lambda: dr.generators.grid(50, 50),
    "R-MAT": lambda: dr.generators.rmat(11, 8, seed=3),
    "R-MAT, directed": lambda: dr.generators.rmat(11, 8, seed=3, symmetrize=False),
}


@pytest.mark.parametrize("name", ON_ALL_SCALES)
def test_tol_bounds_what_one_more_step_would_change_whatever_the_size(name):
    graph = ON_ALL_SCALES[name]()
    exact = dr.pagerank(graph, tol=1e-12, max_iter=400).rank
    for tol in (1e-3, 1e-6):
        result = dr.pagerank(graph, tol=tol, method="delta")
        result.verify()
        assert np.abs(result.rank - exact).sum() < tol / 0.15


def test_the_planner_chooses_between_pulls_and_asynchronous_pushes():
    graph = dr.generators.grid(4, 4)
    values = np.full(graph.num_vertices, 0.1)
    program = sending_program()(alpha=0.85, bound=1e-3, first_rank=values, first_residual=values)
    for threads in (1, 2):
        found = candidates(CpuExecution(program, graph, threads).caps)
        assert [str(path) for path in found] == ["sync-pull-td", "async-push-td", "async-push-dd"]


@pytest.mark.parametrize("place", [{"slices": 3}, {"parts": 2}, {"slices": 2, "parts": 3}])
def test_over_slices_and_parts(place):
    graph = ON_ALL_SCALES["R-MAT, directed"]()
    cut = dr.pagerank(graph, method="delta", device="numpy", **place)
    cut.verify()
    assert np.abs(cut.rank - dr.pagerank(graph).rank).sum() < 2e-6 / 0.15


def test_far_from_where_walkers_jump_to_nothing_is_sent():
    graph = dr.generators.path(10_000)
    result = dr.pagerank(graph, personalization={0: 1}, method="delta", device="cpu", path="async-push-dd")
    assert np.count_nonzero(result.rank) < 200
    assert max(row.frontier for row in result.trace[1:]) < 200


def test_a_limit_is_one_of_supersteps_and_the_promise_is_kept_there():
    graph = ON_ALL_SCALES["a grid"]()
    with pytest.raises(ConvergenceError, match="after 4 iterations") as caught:
        dr.pagerank(graph, method="delta", max_iter=4)
    result = caught.value.result
    assert result.iterations == 4
    assert {str(row.path)[:4] for row in result.trace} == {"sync"}
    result.verify()
    returned = dr.pagerank(graph, method="delta", max_iter=4, on_limit="return")
    assert returned.finished == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nstart": {0: 1}}, "cannot use nstart: it starts from ranks at which residuals cancel out"),
        ({"dangling": {0: 1}}, "cannot use dangling"),
        ({"dtype": np.float32}, "cannot use dtype=float32"),
        ({"alpha": 1.0}, "cannot use alpha=1"),
        ({"tol": 0}, "cannot use tol=0: changes below 1e-12 are lost in rounding"),
    ],
)
def test_what_the_residual_form_cannot_do_is_refused(arguments, message):
    with pytest.raises(InvalidArgumentError, match=message):
        dr.pagerank(dr.generators.path(3), device="reference", method="delta", **arguments)


def test_a_pull_cannot_be_asynchronous():
    with pytest.raises(IllegalPathError, match="a delta must be taken once"):
        dr.pagerank(dr.generators.path(3), device="reference", method="delta", path="async-pull-td")


def test_an_unknown_method():
    with pytest.raises(InvalidArgumentError, match="method='jacobi' is neither 'power' nor 'delta'"):
        dr.pagerank(dr.generators.path(3), method="jacobi")


def test_no_vertices_and_no_edges():
    assert dr.pagerank(dr.Graph.from_edges([], []), method="delta").rank.tolist() == []
    alone = dr.Graph.from_edges([], [], num_vertices=2)
    assert dr.pagerank(alone, method="delta").rank.tolist() == [0.5, 0.5]
