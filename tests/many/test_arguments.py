"""Sources, groups and budgets: what is refused, and how sources are grouped."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.algorithms.many.grouping import by_hubs, grouped
from dromos.algorithms.many.searching import width_within
from dromos.cli import app
from dromos.engines.joint_groups import group_bytes
from dromos.errors import InvalidArgumentError, ResourceError, UnknownVertexError, UnsupportedFormatError

NAMED = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
PLAIN = dr.generators.path(5)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: dr.multi_source_bfs(PLAIN, []), InvalidArgumentError, "sources is empty"),
        (lambda: dr.multi_source_bfs(PLAIN, [1, 3, 1]), InvalidArgumentError, "the vertex 1 twice"),
        (lambda: dr.distances(NAMED, ["eve", "eve"]), InvalidArgumentError, "the vertex 'eve' twice"),
        (lambda: dr.multi_source_bfs(PLAIN, [5]), UnknownVertexError, "no vertex 5"),
        (lambda: dr.multi_source_bfs(PLAIN, np.array([0, -1])), UnknownVertexError, "no vertex -1"),
        (lambda: dr.distances(NAMED, ["zoe"]), UnknownVertexError, "zoe"),
        (lambda: dr.distances(NAMED, "ada"), InvalidArgumentError, "is not a list of vertices"),
        (lambda: dr.distances(PLAIN, 3), InvalidArgumentError, "is not a list of vertices"),
        (lambda: dr.distances(PLAIN, [0], targets=[]), InvalidArgumentError, "targets is empty"),
        (lambda: dr.distances(PLAIN, [0], depth_limit=-1), InvalidArgumentError, "depth_limit=-1"),
        (lambda: dr.closeness(PLAIN, k=0), InvalidArgumentError, "k=0"),
        (lambda: dr.closeness(PLAIN, k=6), InvalidArgumentError, "the 5 vertices"),
        (lambda: dr.closeness(PLAIN, k=2, seed="a"), InvalidArgumentError, "seed='a' is not a whole number"),
        (lambda: dr.multi_source_bfs(PLAIN, [0], grouping="random", seed=-1), InvalidArgumentError, "seed=-1"),
        (lambda: dr.harmonic(PLAIN, k=2, sources=[0]), InvalidArgumentError, "give one of them"),
        (lambda: dr.closeness(PLAIN, grouping="by-luck"), InvalidArgumentError, "'by-luck'"),
        (lambda: dr.multi_source_bfs(PLAIN, [0], q=0), InvalidArgumentError, "q=0"),
        (lambda: dr.reachability_index(PLAIN, 0, "x.reach"), InvalidArgumentError, "k=0"),
        (lambda: dr.all_pairs(PLAIN, "pairs.csv"), UnsupportedFormatError, "'.csv'"),
        (lambda: dr.all_pairs(PLAIN, "pairs.parquet", memory=100), ResourceError, "too little for one group"),
        (lambda: dr.multi_source_bfs(PLAIN, [0], memory=10), ResourceError, "memory=10 B is too little"),
        (lambda: dr.distances(PLAIN, [0], memory="0.1k"), ResourceError, "memory=0.1k is too little"),
        (lambda: dr.closeness(PLAIN, memory="some"), InvalidArgumentError, "memory='some' is not a size"),
        (lambda: dr.eccentricity(dr.Graph.from_edges([], [])), dr.errors.AlgorithmError, "no vertex"),
    ],
)
def test_trouble_is_told(call, error, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=said):
        call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_a_depth_beyond_all_numbers_is_no_limit(device, tmp_path):
    whole, limited = (dr.distances(PLAIN, [0], depth_limit=limit, device=device).distance for limit in (None, 2**70))
    assert np.array_equal(whole, limited)
    assert dr.multi_source_bfs(PLAIN, [0], depth_limit=2**70, device=device).depth.tolist() == [4]
    assert dr.all_pairs(PLAIN, tmp_path / "pairs.parquet", depth_limit=2**70, device=device).rows == 5


def test_labelled_sources_come_back_by_their_labels():
    result = dr.multi_source_bfs(NAMED, ["bob", "ada"])
    assert result.to_pandas().source.tolist() == ["bob", "ada"]
    assert result.reached.tolist() == [1, 2]


def test_a_graph_without_vertices_has_empty_centralities():
    empty = dr.Graph.from_edges([], [])
    assert dr.closeness(empty).centrality.tolist() == dr.harmonic(empty).centrality.tolist() == []


def test_groups_grow_with_the_budget_and_with_the_sources():
    graph = dr.generators.path(1000)
    widths = [width_within(graph, 4096, group_bytes(1000, width)) for width in (1, 2, 4, 8)]
    assert widths == [1, 2, 4, 8]
    assert width_within(graph, 4096, group_bytes(1000, 8) - 1) == 4
    assert width_within(graph, 70, None) == 2


def two_stars() -> dr.Graph:
    """Two hubs of 300 leaves each, whose ids alternate, joined by a long path."""
    leaves = np.arange(2, 602)
    path = np.arange(602, 640)
    src = np.concatenate([leaves % 2, [0], path[:-1], path[-1:]])
    dst = np.concatenate([leaves, path[:1], path[1:], [1]])
    return dr.Graph.from_edges(src, dst, directed=False)


def test_sources_of_a_hub_come_together_and_share_more():
    graph = two_stars()
    sources = np.arange(2, 602)
    order = by_hubs(graph, sources)
    assert sorted(order.tolist()) == list(range(600))
    assert len({int(v) % 2 for v in sources[order[:300]]}) == 1
    random = dr.multi_source_bfs(graph, sources, grouping="random", seed=3, memory=group_bytes(640, 1))
    ruled = dr.multi_source_bfs(graph, sources, grouping="by-hubs", memory=group_bytes(640, 1))
    assert ruled.sharing > 1.5 * random.sharing
    assert np.array_equal(ruled.distance_sum, random.distance_sum)
    auto = dr.multi_source_bfs(graph, sources, memory=group_bytes(640, 1))
    assert auto.sharing == pytest.approx(ruled.sharing)


def test_what_no_rule_fits_is_shuffled_by_the_seed():
    graph = dr.generators.path(100)
    sources = np.arange(100)
    first, again = (np.concatenate(grouped(graph, sources, 10, "by-hubs", seed=1)) for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, sources)
    assert [len(group) for group in grouped(graph, sources, 30, "random", seed=1)] == [30, 30, 30, 10]


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DROMOS_DEVICE", "reference")
    PLAIN.write("p.drm")
    return lambda *words: CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_line(call):
    done = call("multi-source-bfs", "p.drm", "--sources", "0,2", "--verify", "-o", "b.json")
    assert done.exit_code == 0, done.output
    assert json.loads(Path("b.json").read_text())["depth"] == [4, 2]
    call("distances", "p.drm", "--sources", "0,2", "--targets", "4", "-o", "d.json")
    assert json.loads(Path("d.json").read_text())["distance"] == [[4], [2]]
    assert json.loads(call("diameter", "p.drm", "--json", "--verify").stdout)["diameter"] == 4
    assert json.loads(call("radius", "p.drm", "--json").stdout)["radius"] == 2
    assert json.loads(call("eccentricity", "p.drm", "--json", "--verify").stdout)["searches"] == 5
    assert call("closeness", "p.drm", "--k", 3, "--seed", 1, "--verify").exit_code == 0
    assert call("harmonic", "p.drm", "--nbunch", "0,1", "--verify").exit_code == 0
    assert json.loads(call("all-pairs", "p.drm", "--to", "a.parquet", "--json", "--verify").stdout)["rows"] == 5
    assert "at most 2 steps" in call("reachability-index", "p.drm", "--k", 2, "-o", "p.reach").output
    assert call("reachable", "p.drm", "p.reach", 0, 2).output.strip() == "yes"
    assert json.loads(call("reachable", "p.drm", "p.reach", 0, 3, "--json").stdout)["reachable"] is False


@pytest.mark.parametrize("device", ["cpu", "numpy"])
def test_memory_is_a_number_or_text(device: str) -> None:
    found = [dr.distances(PLAIN, [0], memory=memory, device=device) for memory in (1 << 20, "1M")]
    assert found[0] == found[1]
    np.testing.assert_array_equal(found[0].distance, found[1].distance)
