"""Louvain and Leiden over slices and parts: the same, good communities however a graph is cut."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.places.feed import MemoryFeed
from dromos.places.operators import Blocks
from dromos.places.operators.communities import form_of, steps
from dromos.places.operators.communities.steps import BlockLevel, BlockSteps
from tests.algorithms.support import examples, graphs

either = pytest.mark.parametrize("find", [dr.louvain, dr.leiden])


@either
@examples(40)
@given(
    graph=graphs(low=0, high=12, directed=False, weights=(0.0, 0.5, 1.0, 4.0)),
    cuts=st.tuples(st.integers(1, 5), st.integers(1, 3)),
    gamma=st.sampled_from((0.5, 1.0, 2.0)),
    seed=st.integers(0, 3),
    together=st.sampled_from((0, 8, steps.TOGETHER)),
)
def test_communities_do_not_depend_on_the_cuts(
    find: Any, graph: dr.Graph, cuts: Any, gamma: float, seed: int, together: int
) -> None:
    """From ``together`` arcs on, the levels above are in blocks too."""
    with patch.object(steps, "TOGETHER", together):
        _compare(find, graph, cuts, gamma, seed)


def _compare(find: Any, graph: dr.Graph, cuts: Any, gamma: float, seed: int) -> None:
    one = find(graph, gamma, seed, device="numpy", slices=1)
    slices, parts = cuts
    for device in ("numpy", "cpu"):
        found = find(graph, gamma, seed, device=device, slices=slices, parts=parts, threads=2)
        np.testing.assert_array_equal(found.community, one.community)
        np.testing.assert_array_equal(found.hierarchy, one.hierarchy)
        np.testing.assert_equal(found.modularity, one.modularity)  # NaN without edges
        found.verify()


@either
@pytest.mark.parametrize("together", [0, 1 << 20])
def test_communities_are_as_good_as_on_the_whole_graph(
    find: Any, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On several threads, with rows long enough for all of them."""
    monkeypatch.setattr(steps, "TOGETHER", together)
    for graph in (dr.generators.rmat(11, 16, seed=3), dr.generators.grid(40, 40)):
        found = find(graph, device="cpu", slices=2, threads=2)
        found.verify()
        assert found.modularity > 0.98 * find(graph, device="cpu").modularity
        assert found.community.tolist() == find(graph, device="numpy", slices=1).community.tolist()


def _steps(graph: dr.Graph, leaf: str) -> tuple[BlockSteps, BlockLevel]:
    blocks = Blocks(graph, [MemoryFeed(graph, 0, graph.num_vertices, 1)], graph.targets.dtype, size=graph.num_arcs)
    own = blocks.gather(0, graph.num_vertices)
    made = BlockSteps(blocks, form_of(leaf, graph.num_vertices, 2), is_compiled=leaf == "cpu")
    strength = graph.out_degree.astype(float)
    return made, BlockLevel.of_rows(own, blocks.ranges(), strength, strength.sum())


@pytest.mark.parametrize("leaf", ["numpy", "cpu"])
@examples(30)
@given(graph=graphs(low=1, high=12, directed=False), data=st.data())
def test_pieces_are_those_of_the_whole_graph(leaf: str, graph: dr.Graph, data: st.DataObject) -> None:
    made, level = _steps(graph, leaf)
    community = np.array([data.draw(st.integers(0, 2)) for _ in range(graph.num_vertices)], graph.targets.dtype)
    piece = made.pieces(level, community)
    src, dst, _ = graph.edges(arcs=True)
    inner = community[src] == community[dst]
    whole = dr.Graph.from_edges(src[inner], dst[inner], num_vertices=graph.num_vertices, directed=False)
    np.testing.assert_array_equal(piece, dr.connected_components(whole).label)


def test_two_that_are_alone_do_not_change_places() -> None:
    """The ends of an edge are sometimes in one batch: the one with the greater number moves to the other."""
    pairs = dr.Graph.from_edges(np.arange(0, 200, 2), np.arange(1, 200, 2), directed=False)
    made, level = _steps(pairs, "numpy")
    batch = steps._batches(200, 7)
    assert (batch[0::2] == batch[1::2]).any()
    community, count = made.move(level, 1 / 200, np.arange(200), 7)
    assert count == 100
    np.testing.assert_array_equal(community[0::2], community[1::2])


def test_a_pass_that_makes_it_worse_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made, level = _steps(dr.generators.grid(6, 6), "numpy")

    def scatter(level: Any, scale: float, community: Any, batch: Any, called: Any, moved: Any) -> None:
        community[:] = np.arange(len(community))
        moved[:] = True

    monkeypatch.setattr(made, "_pass", scatter)
    start = np.repeat(np.arange(6), 6)
    community, count = made.move(level, 1 / level.strength.sum(), start.copy(), 1)
    assert count == 6
    np.testing.assert_array_equal(community, start)
