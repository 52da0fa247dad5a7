"""Programs whose supersteps take turns."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import ProgramError
from dromos.program.expr import TRUE

ENGINES = [
    {"device": "reference"},
    {"device": "numpy", "slices": 2, "parts": 2},
    {"device": "cpu", "threads": 2},
    pytest.param({"device": "cuda"}, marks=pytest.mark.gpu),
]


class Matching(dr.Program):
    """A maximal matching: edges draw numbers; a free vertex chooses its greatest, and two that agree are matched."""

    seed = dr.param(int, 0)
    mate = dr.field(np.int64, init=-1)
    chosen = dr.field(np.int64, init=-1)
    phases = ("choose", "agree")
    combine = dr.ARGMAX
    update_on = "all"

    @dr.reduction(dr.SUM)
    def paired(self, old, new):
        return dr.cast(new.mate != old.mate, np.int64)

    def sends_choose(self, u, edge, v):
        return (u.mate < 0) & (v.mate < 0) & (u.id != v.id)

    def sends_agree(self, u, edge, v):
        return u.chosen == v.id

    def compute(self, u, edge, v):
        return dr.random(dr.minimum(u.id, v.id), dr.maximum(u.id, v.id), self.seed), u.id

    def update_choose(self, v, best):
        return {"chosen": dr.where(best[0] >= 0, best[1], -1)}

    def update_agree(self, v, best):
        return {"mate": dr.where((best[0] >= 0) & (best[1] == v.chosen), best[1], v.mate)}

    def active(self, old, new):
        return True

    def converged_agree(self):
        return self.paired == 0


class Paths(dr.Program):
    """Walks of two steps that end at a vertex: first all vertices receive one-step walks, then two-step ones."""

    one = dr.field(np.int64, init=0)
    two = dr.field(np.int64, init=0)
    phases = ("first", "second")
    combine = dr.SUM

    def compute_first(self, u, edge, v):
        return 1

    def compute_second(self, u, edge, v):
        return u.one

    def update_first(self, v, message):
        return {"one": message}

    def update_second(self, v, message):
        return {"two": message}

    def active(self, old, new):
        return True

    def converged_second(self):
        return True


@pytest.fixture(scope="module")
def graph():
    return dr.Graph.from_edges(*np.random.default_rng(2).integers(0, 25, (2, 80)), num_vertices=25)


@pytest.mark.parametrize("how", ENGINES)
def test_each_phase_has_functions_of_its_own(graph, how):
    result = dr.run(Paths(), graph, **how)
    sources = np.repeat(np.arange(25), graph.out_degree)
    one = np.bincount(graph.targets, minlength=25)
    assert result.one.tolist() == one.tolist()
    assert result.two.tolist() == np.bincount(graph.targets, one[sources], 25).astype(int).tolist()
    assert (result.iterations, result.finished) == (2, "converged")


def test_a_maximal_matching_takes_turns():
    graph = dr.generators.grid(5, 6)
    result = dr.run(Matching(seed=3), graph, device="numpy")
    mate, (src, dst, _) = result.mate, graph.edges()
    matched = np.flatnonzero(mate >= 0)
    assert np.array_equal(mate[mate[matched]], matched)
    assert ((mate[src] >= 0) | (mate[dst] >= 0)).all()
    assert (mate[src] == dst).sum() * 2 == len(matched)
    assert result.finished == "converged"
    assert np.array_equal(dr.run(Matching(seed=3), graph, device="reference").mate, mate)


def test_what_is_the_same_in_all_phases_costs_nothing():
    ir = Paths.ir()
    assert ir.active is TRUE
    assert ir.update_on == "all"
    assert dict(ir.update).keys() == {"one", "two"}


def test_errors_say_what_is_expected():
    def wrong(**members):
        type("Wrong", (Paths,), members).ir()

    with pytest.raises(ProgramError, match=r"phases = 'ab' must be two names or more"):
        wrong(phases="ab")
    with pytest.raises(ProgramError, match="messages of different sizes in different phases"):
        wrong(compute_first=lambda self, u, edge, v: (1, 2))
    with pytest.raises(ProgramError, match=r"there is no phase 'third'; phases = \('first', 'second'\)"):
        wrong(active=lambda self, old, new: self.in_phase("third"))
    with pytest.raises(
        ProgramError, match="has no compute_last: it needs a method of that name for phase 'last', or compute"
    ):
        wrong(phases=("first", "last"))
    with pytest.raises(
        ProgramError, match=r"Wrong\.compute_first .*must be a method compute_first\(self, u, edge, v\)"
    ):
        wrong(compute_first=lambda self, u: 1)
