"""Searches from many sources dealt over processors: the answers of one processor, in the caller's order."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import DeviceError
from dromos.places.hybrid import HybridEngine
from dromos.places.hybrid.dealing import portions

GRAPH = dr.generators.rmat(9, 6, seed=3)
SOURCES = [int(v) for v in np.random.default_rng(5).permutation(GRAPH.num_vertices)[:200]]
DEALT = ("numpy+numpy", "numpy+numpy+numpy", "cpu+cpu", "cpu+numpy")
ON_GPU = [
    pytest.param(device, marks=pytest.mark.gpu) for device in ("cuda:0+cuda:0", "cpu+cuda", "cuda:0+cuda:0+cuda:0")
]


@pytest.fixture(autouse=True)
def measured_rates(monkeypatch):
    """Processors of different kinds get shares by rates, which take seconds to measure."""
    from dromos.places.hybrid import dealing
    from dromos.places.hybrid.rates import Rates

    monkeypatch.setattr(dealing, "measured", lambda leaf: Rates(2.0 if leaf.name == "cpu" else 3.0, 1.0, 1.0))


@pytest.mark.parametrize("device", [*DEALT, *ON_GPU])
def test_distances_and_sums_are_those_of_one_processor(device):
    alone = dr.distances(GRAPH, SOURCES, device="numpy")
    result = dr.distances(GRAPH, SOURCES, device=device)
    assert np.array_equal(result.distance, alone.distance)
    sums = dr.multi_source_bfs(GRAPH, SOURCES, device=device)
    expected = dr.multi_source_bfs(GRAPH, SOURCES, device="numpy")
    for name in ("source", "reached", "depth", "distance_sum"):
        assert np.array_equal(sums[name], expected[name]), name
    assert np.allclose(sums.inverse_sum, expected.inverse_sum, rtol=1e-12)
    told = [row.reason for row in sums.trace]
    used = {reason.rpartition(", on ")[2] for reason in told}
    assert [int(reason.split()[1].rstrip(":")) for reason in told] == list(range(len(told)))
    assert used == {name.replace("cuda:0", "cuda") for name in device.split("+")}


@pytest.mark.parametrize("device", ["cpu+cpu", *ON_GPU])
def test_betweenness_is_the_sum_over_processors(device):
    alone = dr.betweenness(GRAPH, sources=SOURCES[:40], device="cpu").centrality
    result = dr.betweenness(GRAPH, sources=SOURCES[:40], device=device)
    assert np.allclose(result.centrality, alone, rtol=1e-9)


def test_sums_of_several_processors_are_added_in_one_order():
    first, second = (dr.betweenness(GRAPH, sources=SOURCES[:40], device="cpu+cpu").centrality for _ in range(2))
    assert np.array_equal(first, second)


def test_groups_are_consumed_one_at_a_time_and_each_once():
    seen, progress = [], []
    dr.multi_source_bfs(
        GRAPH, SOURCES, device="numpy+numpy", consume=lambda found: seen.extend(found.sources.tolist()),
        progress=lambda done, total: progress.append((done, total)),
    )  # fmt: skip
    assert sorted(seen) == list(range(len(SOURCES)))
    assert progress == [(number + 1, len(progress)) for number in range(len(progress))]


def test_the_first_processor_gets_the_share_that_the_caller_says():
    result = dr.multi_source_bfs(GRAPH, SOURCES, device="numpy+cpu", share=0.0)
    assert {row.reason.rpartition(", on ")[2] for row in result.trace} == {"cpu"}


@pytest.mark.parametrize(
    ("count", "share", "expected"), [(0, None, [0, 0]), (7, None, [4, 3]), (4, 0.25, [1, 3]), (3, 1.0, [3, 0])]
)
def test_portions(count, share, expected):
    assert portions(count, [VectorisedLeaf(), VectorisedLeaf()], share) == expected


class Broken(VectorisedLeaf):
    """A processor that fails in the middle of its work."""

    name = "broken"

    def native(self, name):
        kernel = super().native(name)

        def run(graph, *, groups, consume, **options):
            kernel(graph, groups=groups[:1], consume=consume, **options)
            raise OSError("fell off the bus")

        return run


@pytest.mark.parametrize("order", [0, 1])
def test_a_processor_that_fails_ends_the_run_with_its_name(order):
    leaves = [Broken(), VectorisedLeaf()]
    engine = HybridEngine(leaves[::-1] if order else leaves)
    with pytest.raises(DeviceError, match=r"broken failed .* fell off the bus"):
        dr.multi_source_bfs(GRAPH, SOURCES, device=engine)


def test_an_error_of_the_callers_function_is_raised_as_it_is():
    def refuse(found):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        dr.multi_source_bfs(GRAPH, SOURCES, device="numpy+numpy", consume=refuse)
