"""Reductions: their last values are in the result."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.errors import (
    IllegalPathError,
)
from tests.program.programs import PageRank
from tests.runner.hops import Hops


@pytest.mark.parametrize(
    "how",
    [
        {"device": "reference"},
        {"device": "numpy"},
        {"device": "numpy", "slices": 2, "parts": 2},
        {"device": "cpu"},
        {"device": "cpu", "path": "sync-push-td"},
    ],
    ids=lambda how: " ".join(map(str, how.values())),
)
def test_the_last_value_of_a_reduction_is_in_the_result(how):
    graph = dr.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 3])
    result = dr.run(PageRank(), graph, **how)
    assert (result.finished, type(result.change)) == ("converged", float)
    assert 0 < result.change < 1e-6
    assert result.dangling == pytest.approx(result.rank[3])
    assert dict(result.values_of_graph) == {"dangling": result.dangling, "change": result.change}
    started = dr.run(PageRank(), graph, max_iter=0, device=how["device"])
    assert (started.change, started.dangling) == (0, 0.25)


def test_a_reduction_of_no_vertices_is_its_identity():
    empty = dr.Graph.from_edges([], [], num_vertices=0)
    found = [dr.run(PageRank(), empty, device=device).change for device in ("reference", "numpy", "cpu")]
    assert found == [0, 0, 0]


def test_who_has_a_reduction_runs_in_supersteps():
    class Counted(Hops):
        @dr.reduction(dr.SUM)
        def reached(self, v):
            return dr.cast(v.hops < 100, np.int64)

    graph = dr.generators.path(4)
    with pytest.raises(IllegalPathError, match="the reduction 'reached' is folded at the end of each superstep"):
        dr.run(Counted(source=0), graph, path="async-push-dd", device="reference")
    assert dr.run(Counted(source=0), graph, device="reference").reached == 4
