"""Arcs drawn from rows: the kernel and NumPy draw the same ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.native import sampling
from tests.algorithms.support import graphs


def drawn(monkeypatch: pytest.MonkeyPatch, few: int, *args: object) -> list[list[int]]:
    with monkeypatch.context() as patch:
        patch.setattr(sampling, "_FEW", few)
        return [found.tolist() for found in sampling.drawn_arcs(*args)]  # type: ignore[arg-type]


@given(graph=graphs(low=1, high=20), limit=st.integers(1, 40), seed=st.integers(0, 2**63 - 1), layer=st.integers(0, 3))
def test_both_ways_draw_the_same(graph: dr.Graph, limit: int, seed: int, layer: int) -> None:
    vertices = np.random.default_rng(limit).permutation(graph.num_vertices)[: limit + 1]
    with pytest.MonkeyPatch.context() as patch:
        found = [drawn(patch, few, graph.offsets, vertices, limit, seed, layer) for few in (1 << 40, -1)]
    assert found[0] == found[1]
    rows, arcs = found[0]
    counts = np.bincount(rows, minlength=len(vertices))
    assert counts.tolist() == np.minimum(graph.out_degree[vertices], limit).tolist()
    assert len(set(arcs)) == len(arcs)
    of = vertices[rows]
    assert np.all((graph.offsets[of] <= arcs) & (arcs < graph.offsets[of + 1]))


def test_each_arc_of_a_long_row_is_drawn_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    star = dr.generators.star(41)
    hub = np.array([int(np.argmax(star.out_degree))])
    times = np.zeros(star.num_arcs)
    for seed in range(2000):
        _, arcs = drawn(monkeypatch, -1, star.offsets, hub, 10, seed, 0)
        times[arcs] += 1
    begin, end = star.offsets[hub[0]], star.offsets[hub[0] + 1]
    assert times.sum() == 20_000
    assert np.abs(times[begin:end] / 500 - 1).max() < 0.25  # 500 each, with a deviation of 19


def test_no_vertices_and_no_arcs() -> None:
    rows, arcs = sampling.drawn_arcs(np.array([0, 0]), np.array([0]), 3, seed=0, layer=0)
    assert len(rows) == len(arcs) == 0
    rows, arcs = sampling.drawn_arcs(np.array([0, 1]), np.zeros(0, np.int64), 3, seed=0, layer=0)
    assert len(rows) == len(arcs) == 0
