"""Colours, forests and matchings by programs: what the kernels choose, wherever there is no kernel for the graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms import matching_rounds
from dromos.errors import IllegalPathError, InvalidArgumentError, ResourceError
from tests.algorithms.support import examples, graphs, killed_and_resumed, on_every_device
from tests.stream.stores import PAGE, random_graph, stored

CALLS: dict[str, Callable[..., dr.Result]] = {
    "coloring": dr.coloring,
    "coloring in random order": lambda g, **how: dr.coloring(g, "random", 3, **how),
    "matching": dr.maximal_matching,
    "matching without weights": lambda g, **how: dr.maximal_matching(g, weight=None, **how),
    "forest": dr.minimum_spanning_forest,
    "heaviest forest": lambda g, **how: dr.minimum_spanning_forest(g, True, **how),
    "forest without weights": lambda g, **how: dr.minimum_spanning_forest(g, weight=None, **how),
}
PLACES: dict[str, dict[str, Any]] = {
    "parts": {"device": "numpy", "parts": 2},
    "slices": {"device": "numpy", "slices": 3},
    "slices and parts": {"device": "numpy", "slices": 4, "parts": 5},
    "several processors": {"device": "numpy+numpy", "share": 0.4, "split": "high"},
}
SYNCHRONOUS = ("sync-push-dd", "sync-push-td", "sync-pull-dd", "sync-pull-td")
every_call = pytest.mark.parametrize("name", CALLS)
NUMPY: dict[str, Any] = {"device": "numpy"}


def same(found: dr.Result, expected: dr.Result) -> None:
    """Equal fields of equal types, and equal numbers."""
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
        assert found[name].dtype == expected[name].dtype, name
    for number in ("count", "total_weight"):
        if hasattr(expected, number):
            np.testing.assert_equal(getattr(found, number), getattr(expected, number))


def some_graphs(name: str) -> Any:
    directed = False if "forest" in name else None
    below = () if "matching" in name else (-2.5, -7.0)
    return graphs(high=10, directed=directed, weights=(0.0, -0.0, 1.0, 1.0, 7.0, np.inf, *below))


@every_call
@pytest.mark.parametrize("place", PLACES)
def test_every_place_chooses_what_the_kernel_does(name: str, place: str) -> None:
    @examples(25)
    @given(graph=some_graphs(name), chains=st.sampled_from((0, 16, 1 << 40)))
    def check(graph: dr.Graph, chains: int) -> None:
        assume(graph.num_vertices > 1 or "+" not in PLACES[place]["device"])  # every processor has a vertex
        expected = CALLS[name](graph, **NUMPY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(matching_rounds, "_WORTH_A_ROUND", chains)  # always one, sometimes, never
            found = CALLS[name](graph, **PLACES[place])
        assert "native" not in {row.path for row in found.trace}
        same(found, expected)

    check()


@every_call
@on_every_device
def test_every_path_chooses_what_the_kernel_does(name: str, device: str) -> None:
    @examples(10)
    @given(graph=some_graphs(name))
    def check(graph: dr.Graph) -> None:
        expected = CALLS[name](graph, **NUMPY)
        for path in SYNCHRONOUS:
            found = CALLS[name](graph, device=device, path=path)
            same(found, expected)
            found.verify()

    check()


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float64])
@pytest.mark.parametrize("device", ["cpu", "numpy"])
def test_weights_of_every_type(kind: type, device: str) -> None:
    draw = np.random.default_rng(4)
    ends = draw.integers(0, 300, (2, 2000))
    ends[0, :200] = 7  # of a hub
    weights = np.concatenate((draw.integers(0, 9, 1990), np.repeat([0, 2**31 - 1], 5))).astype(kind)
    for directed in (False, True):
        graph = dr.Graph.from_edges(*ends, weights, num_vertices=310, directed=directed)
        for name in CALLS:
            if not (directed and "forest" in name):
                same(CALLS[name](graph, device=device, slices=2, parts=3), CALLS[name](graph, device="cpu"))
    below = graph.symmetrized().with_weights((-graph.symmetrized().weights - 1).astype(kind))
    for name in ("forest", "heaviest forest"):
        same(CALLS[name](below, device=device, parts=2), CALLS[name](below, device="cpu"))


def test_more_colors_than_are_told_at_once() -> None:
    graph = dr.generators.complete(150)
    result = dr.coloring(graph, device="cpu", path="sync-pull-td")
    same(result, dr.coloring(graph, device="cpu"))
    assert result.count == 150
    assert [row.phase for row in result.trace if row.superstep == 0] == ["Earlier", "Colors"] * 3
    joined = dr.Graph.from_edges([*range(62), 62, 100], [62] * 62 + [100, 101], num_vertices=110, directed=False)
    same(dr.coloring(joined, parts=2, **NUMPY), dr.coloring(joined, **NUMPY))


@pytest.mark.parametrize("weights", [False, True])
def test_chains_of_choices_take_few_rounds(weights: bool, tmp_path: Path) -> None:
    size, ways = 3_000, 7
    ids = np.tile(np.arange(size), ways)
    steps = np.repeat(np.arange(1, ways + 1), size)
    ring = dr.Graph.from_edges(ids, (ids + steps) % size, np.ones(len(ids)) if weights else None, directed=False)
    for graph in (ring, dr.generators.path(size), dr.generators.grid(60, 50)):
        found = dr.maximal_matching(graph, device="cpu", path="sync-push-dd")
        same(found, dr.maximal_matching(graph, device="cpu"))
        assert found.iterations < 20
    same(dr.maximal_matching(stored(ring, tmp_path), **NUMPY), dr.maximal_matching(ring, **NUMPY))


@every_call
@pytest.mark.parametrize("chains", [0, 16])
def test_a_graph_on_disk_within_little_memory(
    name: str, chains: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching_rounds, "_WORTH_A_ROUND", chains)
    graph = random_graph(5, directed=False)
    file = stored(graph, tmp_path)
    expected = CALLS[name](graph, device="cpu")
    for device in ("cpu", "numpy"):
        needed = 1
        for _ in range(4):  # of several programs the first one need not be the largest
            try:
                found = CALLS[name](file, device=device, memory=needed)
                break
            except ResourceError as error:
                needed = (error.needed or 0) + 4 * PAGE
        same(found, expected)
        assert found.device == f"{device}, streamed"
        assert found.trace.read > 0


def test_a_directed_graph_on_disk_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = stored(random_graph(5), tmp_path)
    for name, call in CALLS.items():
        with pytest.raises(InvalidArgumentError, match="--symmetrize"):
            call(file, **NUMPY)
        assert name


@every_call
def test_a_killed_run_goes_on(name: str, tmp_path: Path) -> None:
    graph = random_graph(6, vertices=90, arcs=700, directed=False)
    expected = CALLS[name](graph, **NUMPY)
    for parts in (1, 3):
        found, killed = killed_and_resumed(partial(CALLS[name], graph), tmp_path / f"{parts}", parts=parts, **NUMPY)
        same(found, expected)
        assert any(row.path == "checkpoint" for row in found.trace) or not killed


@every_call
def test_no_path_is_asynchronous(name: str) -> None:
    with pytest.raises(IllegalPathError, match="async"):
        CALLS[name](dr.generators.grid(3, 3), path="async-push-dd")
