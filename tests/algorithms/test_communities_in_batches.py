"""Louvain and Leiden on levels so large that vertices move in batches, on a team of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos import sizes
from dromos.engines.native import communities, communities_group_kernels, community_levels, community_numbers
from dromos.engines.native.communities import _shared
from dromos.engines.native.community_levels import Level, is_large
from dromos.engines.native.community_steps import CompiledSteps
from tests.algorithms.support import examples, graphs

either = pytest.mark.parametrize("find", [dr.louvain, dr.leiden])


def level_of(graph):
    weights = np.empty(0, np.int32) if graph.weights is None else graph.weights.astype(np.float64)
    strength = np.bincount(
        np.repeat(np.arange(graph.num_vertices), graph.out_degree),
        weights=graph.weights,
        minlength=graph.num_vertices,
    ).astype(np.float64)
    return Level.of(graph.offsets, graph.targets, weights, strength)


@either
@examples(25)
@given(
    graph=graphs(high=14, directed=False, weights=(0.0, 1.0, 2.5)),
    gamma=st.sampled_from((0.5, 1.0, 1.7)),
    batches=st.integers(1, 4),
)
def test_divisions_of_small_graphs(find, graph, gamma, batches):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(community_levels, "LARGE", 1)
        patch.setattr(community_levels, "BATCHES", batches)
        result = find(graph, gamma, seed=1, threads=1)
        again = find(graph, gamma, seed=1, threads=3)
    result.verify()
    assert result.hierarchy.tolist() == again.hierarchy.tolist()


@either
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_on_any_number_of_threads(find, weighted, monkeypatch):
    monkeypatch.setattr(community_levels, "LARGE", 1 << 10)
    monkeypatch.setattr(community_levels, "BATCHES", 16)
    graph = dr.generators.rmat(10, 16, seed=5)
    assert graph.has_self_loops
    if weighted:
        graph = dr.generators.with_random_weights(graph, 0, 4, seed=3)
    first = find(graph, seed=2, threads=1)
    first.verify()
    for threads in (2, 3, 5):
        again = find(graph, seed=2, threads=threads)
        assert again.hierarchy.tolist() == first.hierarchy.tolist()
        assert again.modularity == first.modularity


@either
def test_batches_reach_what_one_move_after_the_other_does(find, monkeypatch):
    monkeypatch.setattr(community_levels, "LARGE", 1 << 16)
    for graph in (dr.generators.rmat(14, 12, seed=5), dr.generators.grid(160, 160)):
        assert is_large(level_of(graph))
        found = find(graph, threads=2)
        found.verify()
        with monkeypatch.context() as patch:
            patch.setattr(community_levels, "LARGE", 1 << 60)
            expected = find(graph, threads=2)
        assert found.modularity > expected.modularity * 0.98  # as seeds differ


@either
def test_edges_that_all_weigh_next_to_nothing(find, monkeypatch):
    monkeypatch.setattr(community_levels, "LARGE", 1)
    monkeypatch.setattr(community_levels, "BATCHES", 8)
    plain = dr.generators.rmat(9, 16, seed=5)
    expected = find(plain.with_weights(np.ones(plain.num_arcs)))
    for unit in (2.0**-900, 2.0**900):
        found = find(plain.with_weights(np.full(plain.num_arcs, unit)))
        assert found.community.tolist() == expected.community.tolist()


def test_refinement_and_aggregation_on_a_team_are_those_of_one_thread(monkeypatch):
    monkeypatch.setattr(community_levels, "LARGE", 1)
    graph = dr.generators.with_random_weights(dr.generators.rmat(11, 16, seed=5), 0, 4, seed=3)
    level, random = level_of(graph), np.random.default_rng(4)
    n, scale = level.size, 1 / level.strength.sum()
    community = random.integers(0, 40, n).astype(graph.targets.dtype)
    community[random.random(n) < 0.5] = 7
    alone, team = CompiledSteps(np.zeros(1, np.int64)), CompiledSteps(np.zeros(1, np.int64), 3)
    part, parts = alone.refine(level, scale, community, 5)
    assert parts < n
    others, count = team.refine(level, scale, community, 5)
    assert (part.tolist(), parts) == (others.tolist(), count)
    for one, other in zip(alone.aggregate(level, part, parts), team.aggregate(level, part, parts), strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    assert alone.within(level, community) == team.within(level, community)


def test_first_calls_do_not_wait_for_a_kernel_that_saves_little(monkeypatch, tmp_path):
    monkeypatch.setenv("DROMOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(communities, "_calls", itertools.count())
    assert [communities.rise_is_worth_compiling() for _ in range(3)] == [False, False, True]
    monkeypatch.setattr(communities, "_calls", itertools.count())
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "communities_rise_kernels.rise-1.object").touch()
    assert communities.rise_is_worth_compiling()


@pytest.mark.parametrize("seeds", [2, 4, 16, 17])
@pytest.mark.parametrize("rises", [False, True])
def test_communities_do_not_depend_on_how_levels_are_called(monkeypatch, rises, seeds):
    graph = dr.generators.rmat(9, 4, seed=seeds, symmetrize=True)
    expected = dr.leiden(graph, seed=seeds, device="cpu")
    monkeypatch.setattr(communities, "rise_is_worth_compiling", lambda: rises)
    found = dr.leiden(graph, seed=seeds, device="cpu")
    assert found.community.tolist() == expected.community.tolist()


@pytest.mark.parametrize("seeds", [2, 4, 16, 17])
@pytest.mark.parametrize("weighted", [False, True])
def test_levels_in_one_call_are_those_by_single_steps(weighted, seeds):
    graph = dr.generators.rmat(9, 4, seed=5)
    if weighted:
        graph = dr.generators.with_random_weights(graph, 0, 4, seed=3)
    steps, drawn = CompiledSteps(np.zeros(1, np.int64)), np.random.default_rng(2).integers(1 << 62, size=seeds)
    level, scale = level_of(graph), 1 / level_of(graph).strength.sum()
    if not weighted:  # counts of arcs
        assert not steps.rise(level, scale, np.arange(level.size, dtype=graph.targets.dtype), drawn).parts
        level = steps.aggregate(level, *steps.numbered(np.arange(level.size, dtype=graph.targets.dtype) // 2))
    community = np.arange(level.size, dtype=graph.targets.dtype)
    rise = steps.rise(level, scale, community, drawn)
    assert community.tolist() == list(range(level.size))  # what is given is not written to
    for number, part in enumerate(rise.parts):
        community, _ = steps.move(level, scale, community.copy(), int(drawn[2 * number]))
        expected, parts = steps.refine(level, scale, community, int(drawn[2 * number + 1]))
        assert part.tolist() == expected.tolist()
        level, first = steps.aggregate(level, expected, parts), np.empty(parts, community.dtype)
        first[expected] = community
        community = first
    assert all(one.tolist() == other.tolist() for one, other in zip(rise.level, level, strict=True))
    assert rise.community.tolist() == community.tolist()
    if rise.is_top:
        assert steps.move(level, scale, community.copy(), int(drawn[2 * len(rise.parts)]))[1] == level.size
    else:
        assert rise.parts


@examples(30)
@given(data=st.data(), n=st.integers(0, 30))
def test_numbers_by_a_kernel_are_those_by_numpy(data, n):
    fine, coarse = (np.array([data.draw(st.integers(0, most)) for _ in range(n)], dtype=np.int32) for most in (9, 3))
    steps = CompiledSteps(np.zeros(1, np.int64))
    number, count = steps.numbered(fine)
    assert (number.tolist(), count) == (community_numbers.numbered(fine)[0].tolist(), len(set(fine.tolist())))
    if n:
        assert steps.cut(fine, coarse).tolist() == community_numbers.cut(fine, coarse).tolist()


@pytest.mark.parametrize("seed", [0, 1, (1 << 62) - 1])
def test_shuffles_by_a_kernel_are_those_without(seed):
    for n in (0, 1, 2, 5000):
        found = np.empty(n, np.int32)
        communities_group_kernels.shuffle(found, np.uint64(seed))
        assert sorted(found.tolist()) == list(range(n))
        assert found.tolist() == community_numbers.shuffled(n, seed, found.dtype).tolist()


def test_shuffles_are_even():
    places = np.array([community_numbers.shuffled(4, seed, np.dtype(np.int32)) for seed in range(4000)])
    counts = np.array([np.bincount(places[:, place], minlength=4) for place in range(4)])
    assert np.abs(counts - 1000).max() < 120  # more than four standard deviations


@pytest.mark.parametrize("threads", [1, 3])
def test_every_step_ends_early_once_the_stop_flag_is_set(threads, monkeypatch):
    monkeypatch.setattr(community_levels, "LARGE", 1)
    graph = dr.generators.grid(30, 30)
    level, steps = level_of(graph), CompiledSteps(np.ones(1, np.int64), threads)
    singles = np.arange(level.size, dtype=graph.targets.dtype)
    with pytest.raises(KeyboardInterrupt):
        steps.move(level, 1e-3, singles.copy(), 0)
    with pytest.raises(KeyboardInterrupt):
        steps.refine(level, 1e-3, singles, 0)
    with pytest.raises(KeyboardInterrupt):
        steps.aggregate(level, singles, level.size)
    with pytest.raises(KeyboardInterrupt):
        steps.rise(level._replace(weights=np.ones(len(level.targets))), 1e-3, singles, np.arange(16))
    with pytest.raises(KeyboardInterrupt):
        steps.within(level, singles)


@given(team=st.integers(1, 40), count=st.integers(1, 9))
def test_waves_have_each_round_once_and_all_threads_that_there_are(team, count):
    waves = _shared(team, count)
    assert sum(map(len, waves)) == count
    assert all(sum(wave) == team and min(wave) >= 1 for wave in waves)


def test_no_more_threads_than_there_is_memory_for(monkeypatch):
    graph = dr.generators.path(1 << 10)
    monkeypatch.setattr(communities, "_LITTLE_MEMORY", 0)
    needed = communities._THREAD_BYTES * graph.num_vertices
    for room, threads in ((0, 1), (2.5, 2), (100, 8)):
        monkeypatch.setattr(sizes, "available_memory", lambda room=room: int(room * 4 * needed))
        assert communities._threads_with_room(graph, 8) == threads
