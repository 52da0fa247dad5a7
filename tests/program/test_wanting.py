"""Programs that declare in ``wants`` that a vertex takes one message: recognized as claims, and no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.program import GraphTypes, analyse, trace
from tests.program.small_graphs import graphs


def levels(wants=lambda v: v.level < 0, **own):
    def update(self, v, message):
        return self.superstep + 1

    body = {
        "level": dr.field(np.int32),
        "source": dr.param(dr.ID),
        "combine": dr.ANY,
        "init": lambda self, v: dr.where(v.id == self.source, 0, -1),
        "start": lambda self, v: v.id == self.source,
        "wants": lambda self, v: wants(v),
        "compute": lambda self, u, edge, v: u.id,
        "update": update,
    }
    return type("Levels", (dr.Program,), body | own)


def claimed(program):
    return analyse(program.typed(GraphTypes())).claimed


@pytest.mark.parametrize("wants", [lambda v: v.level < 0, lambda v: v.level == -1, lambda v: ~(v.level >= 0)])
def test_wanting_one_message_is_a_claim(wants):
    assert claimed(levels(wants)) == "level"


NO_CLAIMS = {
    "wants any number below ten": levels(lambda v: v.level < 10),
    "wants by another field": levels(lambda v: v.id > 3),
    "stays active": levels(active=lambda self, old, new: new.level >= 0),
    "changes when it sends": levels(sent=lambda self, v: {"level": v.level}),
    "may stay below zero": levels(update=lambda self, v, message: self.superstep - 5),
    "may be a fraction": levels(level=dr.field(np.float64)),
}


@pytest.mark.parametrize("name", NO_CLAIMS)
def test_near_misses(name):
    assert claimed(NO_CLAIMS[name]) is None


@given(graphs())
def test_the_answer_is_that_of_the_program_as_it_was_written(graph):
    if graph.num_vertices == 0:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "guarded", lambda ir: ir)
        as_written = levels()
        expected = dr.run(as_written(source=0), graph, device="reference").level
        assert claimed(as_written) is None
    for device in ("reference", "numpy"):
        np.testing.assert_array_equal(dr.run(levels()(source=0), graph, device=device).level, expected)
