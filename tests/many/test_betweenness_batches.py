"""Betweenness in batches: the numbers of sweeps one at a time, whatever the sources share."""

from __future__ import annotations

import os
import signal
import threading

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.native import betweenness_batches as batches
from dromos.engines.native.betweenness import betweenness
from dromos.engines.native.joint_order import in_hub_order
from tests.algorithms.support import as_networkx, examples, graphs, row

WIDTHS = (8, 16)


def dependency(graph, sources, **options):
    return betweenness(graph, sources=sources, **options)["dependency"]


def add(graph, sources, width, team=1, endpoints=False):
    told = []
    stop = np.zeros(1, np.int64)
    score, left = batches.add_batches(
        graph, sources, width, endpoints=endpoints, progress=told.append, team=team, stop=stop
    )
    return score, left, told


@examples(40)
@given(graph=graphs(high=40), endpoints=st.booleans(), width=st.sampled_from(WIDTHS), threads=st.integers(1, 3),
       data=st.data())  # fmt: skip
def test_batches_give_the_sums_of_single_sweeps(graph, endpoints, width, threads, data):
    simple = dr.Graph.from_edges(
        graph.edges().src, graph.edges().dst, num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True,
        drop_self_loops=True,
    )  # fmt: skip
    sources = data.draw(st.permutations(range(graph.num_vertices)))
    sources = sources[: data.draw(st.integers(0, len(sources)))]
    expected = dependency(simple, sources, endpoints=endpoints, batch=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_SHARED", 0)  # none is given up
        given = dependency(simple, sources, endpoints=endpoints, batch=width, threads=threads)
    np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-12)


@examples(20)
@given(graph=graphs(high=30), endpoints=st.booleans(), normalized=st.booleans())
def test_batches_give_the_numbers_of_networkx(graph, endpoints, normalized):
    options = {"endpoints": endpoints, "normalized": normalized}
    expected = row(nx.betweenness_centrality(as_networkx(graph), **options), graph.num_vertices, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_WORK", 0)
        patch.setattr(batches, "_SHARED", 0)
        result = dr.betweenness(graph, **options)
    np.testing.assert_allclose(result.centrality, expected, rtol=1e-12, atol=1e-12)
    result.verify()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("directed", [False, True])
def test_pulls_pushes_hubs_and_any_number_of_threads(width, directed):
    drawn = dr.generators.rmat(12, 16, seed=5, dedupe=True, drop_self_loops=True).edges()
    graph = dr.Graph.from_edges(drawn.src, drawn.dst, num_vertices=4096, directed=directed)
    assert graph.out_degree.max() > 512  # more than one piece of a row
    sources = list(range(0, 4096, 97))
    expected = dependency(graph, sources, batch=0)
    first, left, _ = add(graph, sources, width)
    assert left == []
    np.testing.assert_allclose(first, expected, rtol=1e-11, atol=1e-12)
    for threads in (2, 5):
        again = dependency(graph, sources, batch=width, threads=threads)
        np.testing.assert_allclose(again, expected, rtol=1e-11, atol=1e-12)
        assert again.tobytes() == dependency(graph, sources, batch=width, threads=threads).tobytes()


def test_threads_share_a_batch_where_memory_is_large(monkeypatch):
    graph = dr.generators.rmat(10, 16, seed=2, dedupe=True, drop_self_loops=True)
    alone, left, _ = add(graph, list(range(1024)), 16)
    monkeypatch.setattr(batches, "_APART", 0)
    together, left_too, told = add(graph, list(range(1024)), 16, team=3)
    assert left == left_too == []
    assert together.tobytes() == alone.tobytes()  # the order of sums does not depend on who makes them
    assert told == sorted(told)
    assert told[-1] == 1024


def test_progress_of_threads_with_batches_of_their_own():
    graph = dr.generators.rmat(10, 16, seed=2, dedupe=True, drop_self_loops=True)
    told = []
    dependency(graph, list(range(1024)), batch=8, threads=2, progress=lambda done, total: told.append((done, total)))
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (1024, 1024)


def test_sources_that_share_nothing_are_left():
    graph = dr.generators.grid(60, 60)
    far_apart = [0, 59, 59 * 60, 3599, 30, 30 * 60, 1830, 59 * 60 + 30]
    _, left, told = add(graph, far_apart, 8)
    assert left == sorted(far_apart)
    assert told == [0]
    expected = dependency(graph, far_apart, batch=0)
    np.testing.assert_allclose(dependency(graph, far_apart, batch=8), expected, rtol=1e-12)


def block_of(side):
    """A lattice, and 16 vertices in its corner."""
    return dr.generators.grid(side, side), [side * y + x for y in range(4) for x in range(4)]


def test_neighbours_share():
    graph, block = block_of(14)
    score, left, told = add(graph, block, 16)
    assert (left, told) == ([], [16])
    np.testing.assert_allclose(score, dependency(graph, block, batch=0), rtol=1e-11, atol=1e-12)


def test_in_a_deep_graph_they_have_to_share_more():
    graph, block = block_of(60)
    assert add(graph, block, 16)[1] == block


def test_more_paths_than_a_float_can_count_are_left():
    ends = np.arange(701) * 3  # a chain of diamonds: the paths double at each
    inner = (ends[:-1, None] + (1, 2)).ravel()
    src = np.concatenate([np.repeat(ends[:-1], 2), inner])
    dst = np.concatenate([inner, np.repeat(ends[1:], 2)])
    graph = dr.Graph.from_edges(src, dst, directed=False)
    sources = list(range(12))
    _, left, _ = add(graph, sources, 16)
    assert left == sources
    expected = dependency(graph, sources, batch=0, endpoints=True)
    told = []
    result = dependency(
        graph, sources, batch=16, endpoints=True, progress=lambda done, total: told.append((done, total))
    )
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    assert told[-1] == (12, 12)


def test_one_bad_batch_among_good_ones_does_not_end_them(monkeypatch):
    one = dr.generators.rmat(9, 8, seed=4, dedupe=True, drop_self_loops=True).edges()
    lattice = dr.generators.grid(40, 40).edges()
    graph = dr.Graph.from_edges(
        np.concatenate([one.src, 512 + lattice.src]), np.concatenate([one.dst, 512 + lattice.dst]),
        num_vertices=512 + 1600, directed=False,
    )  # fmt: skip
    far_apart = (512 + np.array([0, 39, 1560, 1599, 20, 800, 839, 1580])).tolist()
    monkeypatch.setattr(batches, "_batches", lambda *_: [np.arange(8), np.array(far_apart), np.arange(8, 16)])
    score, left, told = add(graph, [*range(16), *far_apart], 8)
    assert left == sorted(far_apart)
    assert told == [8, 8, 16]
    np.testing.assert_allclose(score, dependency(graph, list(range(16)), batch=0), rtol=1e-11, atol=1e-12)


def test_a_graph_with_hubs_is_renumbered_and_the_answer_is_not():
    graph = dr.generators.rmat(16, 4, seed=3, dedupe=True, drop_self_loops=True)
    sources = np.flatnonzero(graph.out_degree)[:64].tolist()
    expected = dependency(graph, sources, batch=0)
    np.testing.assert_allclose(dependency(graph, sources), expected, rtol=1e-10, atol=1e-12)
    assert in_hub_order(graph, 0) is not None


def test_which_graphs_are_swept_in_batches():
    large = dr.generators.rmat(14, 16, seed=1)
    assert [batches.width_for(large, sources) for sources in (3, 4, 7, 50, 1000)] == [0, 0, 0, 16, 16]
    assert batches.width_for(dr.generators.rmat(10, 16, seed=1), 64) == 0


def test_memory_bounds_the_width(monkeypatch):
    graph = dr.generators.rmat(14, 16, seed=1)
    narrow = batches.batch_bytes(graph, 8)
    monkeypatch.setattr(batches, "_MEMORY", narrow)
    assert batches.width_for(graph, 1000) == 8
    monkeypatch.setattr(batches, "_MEMORY", narrow - 1)
    assert batches.width_for(graph, 1000) == 0


@pytest.mark.parametrize("scale", [14, 16])  # batches of each thread's own, and shared ones
def test_ctrl_c_stops_batches(scale):
    graph = dr.generators.rmat(scale, 16, seed=1)
    dr.betweenness(graph, k=64)  # compiled, and the transpose is known
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        dr.betweenness(graph)
