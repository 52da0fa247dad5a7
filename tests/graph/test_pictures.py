"""Drawings of graphs and results: what they show, not how they look."""

from __future__ import annotations

import numpy as np
import pytest

import dromos as dr
from dromos.graph.pictures import layout

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    matplotlib.pyplot.close("all")


def test_degrees_are_drawn_with_their_counts():
    ax = dr.generators.star(5).plot_degrees()
    (line,) = ax.lines
    assert dict(zip(*map(np.ndarray.tolist, line.get_data()), strict=True)) == {1: 5, 5: 1}


def test_in_degrees_go_into_given_axes():
    _, ax = matplotlib.pyplot.subplots()
    assert dr.Graph.from_edges([0, 1], [2, 2]).plot_degrees(ax, direction="in") is ax
    assert ax.get_xlabel() == "in-degree"


@pytest.mark.parametrize("directed", [True, False])
def test_a_drawing_has_all_vertices_and_edges(directed):
    ax = dr.Graph.from_edges([0, 0, 1], [1, 2, 3], directed=directed).plot(labels=False)
    assert len(ax.collections[0].get_offsets()) == 4
    drawn = len(ax.texts) if directed else np.isnan(ax.lines[0].get_xdata()).sum()
    assert drawn == 3


def test_values_colour_a_drawing():
    ax = dr.generators.path(3).plot(values=[3, 1, 2])
    assert ax.collections[0].get_array().tolist() == [3, 1, 2]
    with pytest.raises(dr.DromosError, match="values has shape"):
        dr.generators.path(3).plot(values=[1])


@pytest.mark.parametrize("graph", [dr.Graph.from_edges([], []), dr.Graph.from_edges([0], [0])])
def test_graphs_without_edges_to_others_are_drawn(graph):
    assert len(graph.plot().collections[0].get_offsets()) == graph.num_vertices
    graph.plot_degrees()


def test_places_are_the_same_for_a_seed_and_apart():
    graph = dr.generators.cycle(8)
    places = layout(graph, 3)
    assert np.array_equal(places, layout(graph, 3))
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(8)
    assert apart.min() > 0.05


def test_a_result_is_drawn_as_distribution_and_top():
    result = dr.bfs(dr.Graph.from_edges(["a", "a", "b"], ["b", "c", "d"]), "a")
    left, right = result.plot()
    assert sorted(bar.get_height() for bar in left.patches) == [1, 1, 2]
    assert [label.get_text() for label in right.get_yticklabels()] == ["d", "b", "c", "a"]
    assert result.plot("parent")[0].get_xlabel() == "parent"
