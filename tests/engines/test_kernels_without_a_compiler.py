"""Native kernels that need no compiler mean what the compiled ones do: the same answer for the same graph and seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.arguments import simple
from dromos.engines.native import (
    COMPILED_AT_ONCE,
    CPU_KERNELS,
    community_levels,
    community_order,
    cpu_kernel,
    plain,
    walks_kernels,
)
from dromos.engines.native.community_levels import HUB
from dromos.engines.running_sums import running_sums
from dromos.engines.vectorised.natives import KERNELS
from dromos.parallel import run_team
from tests.algorithms.support import examples, graphs


def _both(name: str, graph: dr.Graph, **options: Any) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    compiled = cpu_kernel(name, 1)
    assert compiled is not None
    told: list[float] = []
    telling = {} if name in COMPILED_AT_ONCE else {"tell": told.append}
    found = KERNELS[name](graph, **options, **telling)
    assert all(0 <= share <= 1 for share in told)
    return compiled(graph, **options), found


def _same(name: str, graph: dr.Graph, **options: Any) -> None:
    """Every field is equal, with its type."""
    expected, found = _both(name, graph, **options)
    assert set(found) == set(expected)
    for field, values in expected.items():
        others = found[field]
        if isinstance(values, np.ndarray):
            assert (others.dtype, others.shape) == (values.dtype, values.shape)
            assert np.array_equal(others, values)
        elif isinstance(values, list | tuple):
            assert len(others) == len(values)
            pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(values, others, strict=True)]
            assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)
        else:
            assert others == values


def test_every_one_has_a_compiled_twin() -> None:
    assert set(KERNELS) <= set(CPU_KERNELS)
    assert set(plain.KERNELS) <= set(KERNELS)


@examples(40)
@given(graph=graphs(low=0, high=12, directed=False), seed=st.integers(0, 3))
def test_greedy_choices(graph: dr.Graph, seed: int) -> None:
    order = np.random.default_rng(seed)
    _same("forest", graph)
    _same("forest", graph, maximum=True)
    _same("matching", graph)
    _same("matching", graph.with_weights(None))
    _same("coloring", graph, order=order.permutation(graph.num_vertices))
    _same("coloring", graph, order=order.permutation(graph.num_vertices), by_degree=True)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("weights", ["none", "few", "many", "floats", "equal"])
def test_dense_graphs_are_taken_a_portion_at_a_time(weights: str, threads: int) -> None:
    """One with many edges for its vertices: most are left out by those that are taken first."""
    graph = dr.generators.rmat(9, 40, seed=7, symmetrize=True)
    draw, arcs = np.random.default_rng(3), graph.num_edges
    values = {
        "none": None,
        "few": draw.integers(-2, 3, arcs).astype(np.int32),
        "many": draw.integers(-(1 << 30), 1 << 30, arcs).astype(np.int32),
        "floats": draw.choice([-np.inf, -1.5, -0.0, 0.0, 0.25, np.inf, *draw.random(50)], arcs),
        "equal": np.full(arcs, 4.0),
    }[weights]
    edges = graph.edges()
    graph = dr.Graph.from_edges(edges.src, edges.dst, values, num_vertices=graph.num_vertices, directed=False)
    calls: list[tuple[str, dict[str, Any]]] = [("forest", {}), ("forest", {"maximum": True}), ("matching", {})]
    for name, options in calls:
        compiled = cpu_kernel(name, threads)
        assert compiled is not None
        found = compiled(graph, **options)
        for field, expected in KERNELS[name](graph, **options).items():
            np.testing.assert_array_equal(found[field], expected, strict=True)


@examples(40)
@given(graph=graphs(low=0, high=12, directed=False))
def test_edges_that_hold_a_graph_together(graph: dr.Graph) -> None:
    _same("biconnected", graph)
    _same("trusses", simple(graph), edges=simple(graph).edges())


@examples(40)
@given(
    graph=graphs(low=1, high=14, directed=False, weights=(0.0, 0.1, 0.2, 1.5)),
    seed=st.integers(0, 3),
    refined=st.booleans(),
)
def test_communities(graph: dr.Graph, seed: int, refined: bool) -> None:
    _same("communities", graph, resolution=1.0, seed=seed, refined=refined, rounds=3, tries=3)
    _same("communities", graph.with_weights(None), resolution=0.7, seed=seed, refined=refined, rounds=3)


@pytest.mark.parametrize("weighted", [False, True])
def test_communities_of_a_larger_graph(weighted: bool) -> None:
    graph = dr.generators.rmat(10, 12, seed=3)
    assert np.count_nonzero(graph.out_degree >= HUB) > 5
    if weighted:
        graph = dr.generators.with_random_weights(graph, 0, 4, seed=3)
    for refined in (False, True):
        _same("communities", graph, resolution=1.0, seed=1, refined=refined, rounds=2, tries=3)


@examples(40)
@given(
    graph=graphs(low=1, high=14, directed=False, weights=(0.0, 0.1, 0.2, 1.5)),
    seed=st.integers(0, 3),
    refined=st.booleans(),
    batches=st.integers(1, 5),
)
def test_communities_in_batches(graph: dr.Graph, seed: int, refined: bool, batches: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(community_levels, "LARGE", 1)
        patch.setattr(community_levels, "BATCHES", batches)
        _same("communities", graph, resolution=1.0, seed=seed, refined=refined, rounds=3, tries=3)
        _same("communities", graph.with_weights(None), resolution=1.7, seed=seed, refined=refined, rounds=3)


@pytest.mark.parametrize("batches", [2, 32])
@pytest.mark.parametrize("weighted", [False, True])
def test_communities_of_a_larger_graph_in_batches(weighted: bool, batches: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(community_levels, "LARGE", 1000)
    monkeypatch.setattr(community_levels, "BATCHES", batches)
    graph = dr.generators.rmat(10, 12, seed=3)
    if weighted:
        graph = dr.generators.with_random_weights(graph, 0, 4, seed=3)
    for refined in (False, True):
        _same("communities", graph, resolution=1.0, seed=1, refined=refined, rounds=2, tries=3)


@examples(25)
@given(
    graph=graphs(low=1, high=14, directed=False, weights=(0.0, 0.1, 0.2, 1.5)),
    seed=st.integers(0, 3),
    refined=st.booleans(),
)
def test_communities_where_hubs_come_first(graph: dr.Graph, seed: int, refined: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(community_order, "_LARGE", 1)
        patch.setattr(community_order, "_SKEW", 0)
        _same("communities", graph, resolution=1.0, seed=seed, refined=refined, rounds=3)


@examples(40)
@given(
    graph=graphs(low=1, high=9, weights=(0.0, 0.5, 1.0, 3.0)),
    bias=st.sampled_from(((1.0, 1.0), (0.5, 2.0), (4.0, 0.25))),
    seed=st.integers(0, 3),
)
def test_walks(graph: dr.Graph, bias: tuple[float, float], seed: int) -> None:
    starts = np.repeat(np.arange(graph.num_vertices), 2)
    for on in (graph, graph.with_weights(None)):
        _same("walks", on, starts=starts, length=6, p=bias[0], q=bias[1], seed=seed)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int32, np.uint8])
def test_running_sums_of_weights_have_the_same_digits(kind: type) -> None:
    graph = dr.generators.rmat(9, 24, seed=1)  # rows of more than a hundred arcs, and empty ones
    weights = np.random.default_rng(1).uniform(0, 200, graph.num_arcs).astype(kind)
    weights[graph.offsets[3] : graph.offsets[4]] = 0
    weighted = dr.Graph.from_csr(graph.offsets, graph.targets, weights)
    sums, zero = np.empty(graph.num_arcs), np.zeros(1, np.int64)
    run_team(walks_kernels.sum_rows, weighted.offsets, weights, sums, zero, zero.copy(), threads=2)
    np.testing.assert_array_equal(running_sums(weighted.offsets, weights), sums)
    ends = weighted.offsets[1:][weighted.out_degree > 0] - 1
    rows = np.repeat(np.arange(graph.num_vertices), graph.out_degree)
    heaviest = np.zeros(graph.num_vertices)
    np.maximum.at(heaviest, rows, weights)
    totals = np.bincount(rows, weights)[np.unique(rows)] / np.maximum(heaviest, 1e-300)[np.unique(rows)]
    np.testing.assert_allclose(sums[ends], totals, rtol=1e-12)
    _same("walks", weighted, starts=np.arange(500), length=5, p=1.0, q=1.0, seed=1)


@examples(40)
@given(graph=graphs(low=1, high=9), metric=st.sampled_from(("jaccard", "overlap", "cosine")), k=st.integers(1, 4))
def test_similar_vertices(graph: dr.Graph, metric: str, k: int) -> None:
    edges = graph.edges()
    once = dr.Graph.from_edges(
        edges.src, edges.dst, num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True
    )
    _same("similarity", once, sources=np.arange(graph.num_vertices)[::-1], metric=metric, k=k)


@examples(40)
@given(graph=graphs(low=1, high=9))
def test_edge_betweenness(graph: dr.Graph) -> None:
    on, sources = simple(graph), np.arange(graph.num_vertices)
    expected, found = _both("edge_betweenness", on, sources=sources, directed=on.directed)
    assert np.allclose(found["through"], expected["through"], rtol=1e-12)  # sums in another order
    for end in () if on.directed else ("source", "target"):
        np.testing.assert_array_equal(found[end], expected[end])


@examples(40)
@given(graph=graphs(low=1, high=12), limit=st.sampled_from((None, 0, 2)), many=st.booleans())
def test_joint_searches(graph: dr.Graph, limit: int | None, many: bool) -> None:
    ids = np.arange(graph.num_vertices)
    groups = [np.resize(ids, 70), ids[:1]] if many else [ids[::2]]

    def searched(kernel: Callable[..., Any], **options: Any) -> list[tuple[Any, ...]]:
        kept: list[tuple[Any, ...]] = []

        def keep(found: Any) -> None:
            words = found.seen.copy()
            numbers = (found.group, found.levels, found.joint)
            rows = (found.sources, found.reached, found.distance_sum, found.depth, found.distance.copy(), words)
            kept.append((*numbers, *(array.tolist() for array in rows), found.inverse_sum.round(12).tolist()))

        kernel(graph, groups=groups, consume=keep, limit=limit, distance=np.int16, want_seen=True, **options)
        return sorted(kept)

    compiled = cpu_kernel("joint", 1)
    assert compiled is not None
    assert searched(KERNELS["joint"]) == searched(compiled)


def test_searches_end_before_anything_is_consumed() -> None:
    """Who begins again with other code must not count a group twice."""
    path, groups = dr.generators.path(40), [np.arange(4), np.arange(4, 8)]

    class EnoughError(Exception):
        pass

    for patience in range(45):
        calls, consumed = [0], []

        def tell(done: float, calls: list[int] = calls, patience: int = patience) -> None:
            calls[0] += 1
            if calls[0] > patience:
                raise EnoughError

        try:
            KERNELS["joint"](path, groups=groups, consume=consumed.append, tell=tell)
        except EnoughError:
            assert not consumed
        else:
            assert len(consumed) == 2


@pytest.mark.parametrize("name", sorted(set(KERNELS) - {"joint"}))
def test_empty_graphs(name: str) -> None:
    graph = dr.Graph.from_edges([], [], num_vertices=0, directed=False)
    options: dict[str, Any] = {
        "cdlp": {"max_iter": 2, "directed": False},
        "coloring": {"order": np.arange(0)},
        "communities": {"resolution": 1.0, "seed": 0, "refined": True, "rounds": 2},
        "edge_betweenness": {"sources": np.arange(0), "directed": False},
        "trusses": {"edges": graph.edges()},
        "similarity": {"sources": np.arange(0), "metric": "jaccard", "k": 1},
        "walks": {"starts": np.arange(0), "length": 2, "p": 1.0, "q": 1.0, "seed": 0},
    }
    assert KERNELS[name](graph, **options.get(name, {}))
