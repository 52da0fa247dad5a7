"""A program's promises about weights: they make more paths legal, and a graph that breaks them is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import IllegalPathError, InvalidArgumentError, ProgramError
from dromos.program import GraphTypes, analyse

TYPES = GraphTypes(np.dtype(np.int32), np.dtype(np.float64))


class Likeliest(dr.Program):
    """The probability of the likeliest path from a vertex to every other, if weights are probabilities."""

    edge_weights = "nonnegative"
    source = dr.param(dr.ID)
    chance = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v):
        return dr.where(v.id == self.source, 1.0, 0.0)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.chance * edge.weight

    def update(self, v, message):
        return dr.maximum(v.chance, message)


class Unpromised(Likeliest):
    edge_weights = "any"


class Divided(Likeliest):
    def compute(self, u, edge, v):
        return u.chance / edge.weight


class WholeNumbers(Likeliest):
    edge_weights = "positive"
    chance = dr.field(np.int64)

    def init(self, v):
        return dr.where(v.id == self.source, 1, 0)


def legal(program):
    return analyse(program.typed(TYPES)).legal_paths


def test_a_promise_makes_asynchronous_paths_legal():
    assert len(legal(Likeliest)) == 8
    assert len(legal(Unpromised)) == 4
    hint = "it would be with edge_weights = 'nonnegative'"
    assert hint in analyse(Unpromised.typed(TYPES)).legal["async-push-dd"]


def test_a_quotient_needs_weights_above_zero():
    assert len(legal(Divided)) == 4
    assert "'positive'" in analyse(Divided.typed(TYPES)).legal["async-push-dd"]
    positive = type("Positive", (Divided,), {"edge_weights": "positive"})
    assert len(legal(positive)) == 8


def test_a_product_of_integers_may_wrap_and_is_never_proven():
    whole = GraphTypes(np.dtype(np.int32), np.dtype(np.int64))
    assert len(analyse(WholeNumbers.typed(whole)).legal_paths) == 4


def test_the_promise_is_part_of_what_a_program_is():
    assert Likeliest.ir().hash != Unpromised.ir().hash


def test_a_strange_promise_is_refused():
    with pytest.raises(ProgramError, match=r"edge_weights = 'even' must be 'any', 'nonnegative' or 'positive'"):
        type("Strange", (Likeliest,), {"edge_weights": "even"})(source=0)


@pytest.mark.parametrize(
    ("weight", "promise"), [(-0.5, "nonnegative"), (np.inf, "nonnegative"), (0.0, "positive"), (-1.0, "positive")]
)
def test_a_graph_that_breaks_the_promise_is_refused(weight, promise):
    graph = dr.Graph.from_edges([0, 1], [1, 2], [0.5, weight])
    program = type("Promising", (Likeliest,), {"edge_weights": promise})
    with pytest.raises(InvalidArgumentError, match=f"promises edge_weights = '{promise}', but a weight is {weight:g}"):
        dr.run(program(source=0), graph, device="numpy")
    with pytest.raises(IllegalPathError, match="edge_weights"):
        dr.run(Unpromised(source=0), graph, device="numpy", path="async-push-dd")
    assert dr.run(Unpromised(source=0), graph, device="numpy", max_iter=9).chance[1] == 0.5


def test_a_graph_without_weights_keeps_every_promise():
    graph = dr.generators.path(4)
    assert dr.run(Likeliest(source=0), graph, device="numpy").chance.tolist() == [1, 1, 1, 1]


@settings(max_examples=15)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0, 0.25, 0.5, 1]))),
        )
    )
)
def test_every_path_gives_the_likeliest_ways(drawn):
    n, edges = drawn
    columns = np.array(edges, dtype=np.float64).reshape(-1, 3)
    graph = dr.Graph.from_edges(columns[:, 0].astype(int), columns[:, 1].astype(int), columns[:, 2], num_vertices=n)
    best = np.zeros(n)
    best[0] = 1.0
    for _ in range(n):
        np.maximum.at(best, columns[:, 1].astype(int), best[columns[:, 0].astype(int)] * columns[:, 2])
    for path in (*legal(Likeliest), "auto"):
        for device in ("reference", "cpu"):
            found = dr.run(Likeliest(source=0), graph, device=device, path=path)
            assert found.chance.tolist() == best.tolist(), (device, path)


class Flow(dr.Program):
    """The sum over all in-edges; without weights a message is the same along all edges of its source."""

    amount = dr.field(np.float64)
    combine = dr.SUM
    update_on = "all"

    def init(self, v):
        return v.id + 1.0

    def compute(self, u, edge, v):
        return u.amount * edge.weight / (1 + u.out_degree)

    def update(self, v, message):
        return message

    def active(self, old, new):
        return True


@pytest.mark.parametrize("how", [{"device": "numpy"}, {"device": "numpy", "slices": 3, "parts": 2}, {"device": "cpu"}])
def test_an_edge_weighs_one_where_messages_are_made_once_per_vertex(how):
    graph = dr.generators.rmat(5, 4, seed=2)
    assert analyse(Flow.typed(GraphTypes())).source_only
    assert not analyse(Flow.typed(TYPES)).source_only
    expected = dr.run(Flow(), graph, max_iter=3, device="reference").amount
    assert expected.any()
    np.testing.assert_allclose(dr.run(Flow(), graph, max_iter=3, **how).amount, expected, rtol=1e-12)
