"""Louvain and Leiden on the GPU: divisions that nothing gains by, the same for a seed, and as good as the CPU's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.louvain import verify
from dromos.algorithms.modularity import modularity_by_sums, modularity_of
from dromos.dtypes import Array
from tests.algorithms.support import examples, graphs

pytestmark = pytest.mark.gpu

kernel = import_module("dromos.engines.cuda.native.communities")
either = pytest.mark.parametrize("refined", [False, True], ids=["louvain", "leiden"])


@pytest.fixture(autouse=True, scope="module")
def _on_the_device() -> Iterator[None]:
    """No level is so small that the host gets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "SMALL", 0)
        yield


def _stars(leaves: int) -> dr.Graph:
    """Three hubs whose rows are cut into pieces, with leaves in common."""
    ends = np.arange(3, leaves + 3)
    hubs = np.concatenate([np.repeat([0, 1, 2], leaves // 3), np.repeat(0, leaves - leaves // 3 * 3)])
    extra = np.random.default_rng(3).integers(0, 3, leaves // 4), np.arange(3, leaves // 4 + 3)
    return dr.Graph.from_edges(
        np.concatenate([hubs, extra[0]]), np.concatenate([ends, extra[1]]), directed=False, dedupe=True
    )


def _groups(n: int, groups: int, inside: int, outside: int) -> dr.Graph:
    random = np.random.default_rng(7)
    src = random.integers(0, n, n * (inside + outside) // 2)
    dst = random.integers(0, n, len(src))
    within = random.random(len(src)) < inside / (inside + outside)
    dst[within] = (dst[within] // groups * groups + src[within] % groups).clip(0, n - 1)
    return dr.Graph.from_edges(src, dst, num_vertices=n, directed=False, dedupe=True, drop_self_loops=True)


GRAPHS: Mapping[str, Callable[[], dr.Graph]] = {
    "one edge": lambda: dr.Graph.from_edges([1], [0], directed=False),
    "path": lambda: dr.generators.path(3000),
    "star": lambda: dr.Graph.from_edges(np.zeros(20_000, int), np.arange(1, 20_001), directed=False),
    "three stars": lambda: _stars(30_000),
    "complete": lambda: dr.generators.complete(600),
    "grid": lambda: dr.generators.grid(90, 90),
    "groups": lambda: _groups(8000, 20, 14, 6),
    "rmat with loops and parallel edges": lambda: dr.generators.rmat(12, 16, seed=5),
    "rmat by weights": lambda: dr.generators.with_random_weights(dr.generators.rmat(11, 16, seed=5), 0, 4, seed=3),
    "whole weights": lambda: _with_whole_weights(dr.generators.rmat(11, 8, seed=6)),
    "edges and single vertices": lambda: dr.Graph.from_edges([0, 7], [5, 90], num_vertices=200, directed=False),
}


def _with_whole_weights(graph: dr.Graph) -> dr.Graph:
    ends = np.repeat(np.arange(graph.num_vertices), graph.out_degree) + graph.targets
    return graph.with_weights((ends % 5).astype(np.int32))


def _run(
    graph: dr.Graph,
    refined: bool = False,
    *,
    renumber: bool = True,
    resolution: float = 1.0,
    seed: int = 0,
    rounds: int = 3,
    tries: int = 2,
) -> dict[str, Any]:
    from dromos.engines.cuda.device_graph import DeviceGraph

    device = DeviceGraph.from_host(graph, renumber=renumber)
    found: dict[str, Any] = kernel.communities(
        device, resolution=resolution, seed=seed, refined=refined, rounds=rounds, tries=tries
    )
    return found


def _verify(graph: dr.Graph, found: Mapping[str, Any], refined: bool, resolution: float = 1.0) -> None:
    value = modularity_of(graph, found["levels"][-1], resolution)
    verify(graph, found["levels"][-1], _hierarchy(found), value, resolution, connected=refined)
    if "sums" in found:
        inside, degree = found["sums"]
        assert modularity_by_sums(inside, degree, resolution) == pytest.approx(value, abs=1e-12)


def _hierarchy(found: Mapping[str, Any]) -> Array:
    return np.stack(found["levels"], axis=1)


@either
@pytest.mark.parametrize("renumber", [True, False], ids=["by degree", "as given"])
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_no_two_communities_gain_by_merging(make: Callable[[], dr.Graph], renumber: bool, refined: bool) -> None:
    graph = make()
    for resolution in (1.0, 0.4, 2.5):
        _verify(graph, _run(graph, refined, renumber=renumber, resolution=resolution), refined, resolution)


@either
@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS.keys())
def test_a_seed_gives_the_same_communities_every_time(make: Callable[[], dr.Graph], refined: bool) -> None:
    graph = make()
    first = _hierarchy(_run(graph, refined, seed=5))
    for _ in range(3):
        np.testing.assert_array_equal(_hierarchy(_run(graph, refined, seed=5)), first)


def test_seeds_differ() -> None:
    graph = dr.generators.rmat(12, 8, seed=1)
    assert not np.array_equal(_run(graph, seed=1)["levels"][-1], _run(graph, seed=2)["levels"][-1])


@either
@examples(25)
@given(
    graph=graphs(high=14, directed=False, weights=(0.0, 1.0, 2.5)), resolution=st.sampled_from((0.5, 1.0, 1.7))
)  # fmt: skip
def test_divisions_of_small_graphs(refined: bool, graph: dr.Graph, resolution: float) -> None:
    _verify(graph, _run(graph, refined, resolution=resolution), refined, resolution)


@either
@pytest.mark.parametrize("name", ["grid", "groups", "rmat with loops and parallel edges", "rmat by weights"])
def test_communities_are_as_good_as_the_cpus(name: str, refined: bool) -> None:
    graph, find = GRAPHS[name](), dr.leiden if refined else dr.louvain
    ours = [modularity_of(graph, _run(graph, refined, seed=seed)["levels"][-1]) for seed in range(4)]
    theirs = [find(graph, seed=seed, rounds=3, tries=2, device="cpu").modularity for seed in range(4)]
    assert np.mean(ours) > np.mean(theirs) * 0.985  # as means of so few seeds differ


@either
def test_a_kernel_that_ran_out_of_time_goes_on_where_it_was(refined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS["groups"]()
    expected = _hierarchy(_run(graph, refined))
    monkeypatch.setattr(import_module("dromos.engines.cuda.native.community_moves"), "CYCLES", 100_000)
    np.testing.assert_array_equal(_hierarchy(_run(graph, refined)), expected)


@pytest.mark.parametrize("offsets", [np.uint32, np.int64])
@pytest.mark.parametrize("targets", [np.int32, np.int64])
@pytest.mark.parametrize("weighted", [False, True])
def test_wide_ids_and_offsets_give_the_same(weighted: bool, targets: type, offsets: type) -> None:
    import cupy

    from dromos.engines.cuda.device_graph import DeviceGraph, Rows

    graph = GRAPHS["rmat by weights" if weighted else "three stars"]()
    weights = None if graph.weights is None else cupy.asarray(graph.weights)
    rows = Rows(cupy.asarray(graph.offsets.astype(offsets)), cupy.asarray(graph.targets.astype(targets)), weights)
    found = kernel.communities(
        DeviceGraph(rows, None), resolution=1.0, seed=0, refined=False, rounds=3, tries=2
    )  # fmt: skip
    np.testing.assert_array_equal(_hierarchy(found), _hierarchy(_run(graph, renumber=False)))


def test_weights_may_be_of_any_size() -> None:
    graph = dr.generators.rmat(9, 16, seed=5)
    expected = _hierarchy(_run(graph.with_weights(np.ones(graph.num_arcs))))
    np.testing.assert_array_equal(_hierarchy(_run(graph)), expected)
    for unit in (2.0**-900, 2.0**-30, 2.0**900):
        found = _run(graph.with_weights(np.full(graph.num_arcs, unit)))
        np.testing.assert_array_equal(_hierarchy(found), expected)
    for kind in (np.uint8, np.int64, np.float32):
        found = _run(graph.with_weights(np.ones(graph.num_arcs, kind)))
        np.testing.assert_array_equal(_hierarchy(found), expected)


def test_weights_apart_from_the_keys_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where communities and weights have no room in one key."""
    levels = import_module("dromos.engines.cuda.native.community_levels")
    graph = GRAPHS["whole weights"]()
    expected = _hierarchy(_run(graph))
    monkeypatch.setattr(levels, "_KEY_BITS", 0)
    np.testing.assert_array_equal(_hierarchy(_run(graph)), expected)


def test_one_try_and_one_round() -> None:
    graph = GRAPHS["groups"]()
    for refined in (False, True):
        _verify(graph, _run(graph, refined, rounds=1, tries=1), refined)


def test_a_graph_without_weight_stays_single() -> None:
    graph = dr.Graph.from_edges([0, 1], [1, 2], np.zeros(2), num_vertices=5, directed=False)
    assert _run(graph)["levels"][0].tolist() == [0, 1, 2, 3, 4]
    empty = dr.Graph.from_edges([], [], num_vertices=3, directed=False)
    assert _run(empty)["levels"][0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("find", [dr.louvain, dr.leiden])
def test_the_host_finishes_small_levels(find: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "WANTS", replace(kernel.WANTS, least_arcs=0))
    monkeypatch.setattr(kernel, "SMALL", 1 << 15)
    graph = dr.generators.rmat(13, 8, seed=4)
    result = find(graph, device="cuda")
    result.verify()
    assert result.device == "cuda"
    assert result.hierarchy.tolist() == find(graph, device="cuda").hierarchy.tolist()
    assert result.modularity == dr.modularity(graph, result).modularity


def test_small_graphs_are_left_to_the_cpu() -> None:
    graph = dr.generators.grid(20, 20)
    found, expected = dr.louvain(graph, device="cuda"), dr.louvain(graph, device="cpu")
    assert found.device == "cpu"
    assert found.hierarchy.tolist() == expected.hierarchy.tolist()
