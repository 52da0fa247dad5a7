"""Bridges, articulation points and biconnected components by programs: what the kernel finds, where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.rooted_forest import over_subtrees, places_along, rooted
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import IllegalPathError, InvalidArgumentError, ResourceError
from dromos.places.stream import StreamEngine
from tests.algorithms.support import DEVICES, as_networkx, examples, graphs, killed_and_resumed, on_every_device
from tests.stream.stores import PAGE, stored

CALLS: dict[str, Callable[..., Any]] = {
    "bridges": dr.bridges,
    "articulation_points": dr.articulation_points,
    "biconnected_components": dr.biconnected_components,
}
SYNCHRONOUS = ("sync-push-dd", "sync-push-td", "sync-pull-dd", "sync-pull-td")
every_call = pytest.mark.parametrize("name", CALLS)
NUMPY: dict[str, Any] = {"device": "numpy"}
some_graphs = graphs(high=12, directed=False, weights=(1.0, 2.5))


def same(found: Any, expected: Any) -> None:
    """Equal fields of equal types, and equal counts, by programs."""
    assert "native" not in {row.path for row in found.trace}
    assert list(found) == list(expected)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name, strict=True)
    assert found.count == expected.count


def tangled(seed: int, size: int = 600, paths: int = 30) -> dr.Graph:
    """A tree with cycles of all lengths, chains, hubs, parallel edges, loops, and vertices apart; with weights."""
    draw = np.random.default_rng(seed)
    ids = draw.permutation(size)
    tree = [(v, int(draw.integers(max(0, v - 1 - v % 7), v))) for v in range(1, size - 20)]
    more = draw.integers(0, size - 20, (paths, 2)).tolist()
    hubs = [(3, int(v)) for v in draw.integers(0, size // 3, size // 6)]
    ends = ids[np.array([*tree, *more, *hubs, *tree[::50], (5, 5), (size - 1, size - 1)])]
    return dr.Graph.from_edges(
        ends[:, 0], ends[:, 1], draw.random(len(ends)), num_vertices=size, directed=False, threads=1
    )


@examples(20)
@given(
    graph=some_graphs, parts=st.integers(2, 5), slices=st.integers(1, 4), share=st.floats(0.1, 0.9), high=st.booleans()
)
def test_every_place_finds_what_the_kernel_does(
    graph: dr.Graph, parts: int, slices: int, share: float, high: bool
) -> None:
    places: list[dict[str, Any]] = [{"device": "numpy", "parts": parts, "slices": slices}]
    if graph.num_vertices > 1:  # every processor has a vertex
        places.append({"device": "numpy+numpy", "share": share, "split": "high" if high else "low"})
    for call in CALLS.values():
        expected = call(graph, **NUMPY)
        for how in places:
            found = call(graph, **how)
            same(found, expected)
            found.verify()


@on_every_device
def test_every_path_finds_what_the_kernel_does(device: str) -> None:
    @examples(8)
    @given(graph=some_graphs)
    def check(graph: dr.Graph) -> None:
        for call in CALLS.values():
            expected = call(graph, **NUMPY)
            for path in SYNCHRONOUS:
                same(call(graph, device=device, path=path), expected)

    check()


@pytest.mark.parametrize("seed", range(3))
def test_large_graphs_are_those_of_networkx_and_igraph(seed: int) -> None:
    igraph = pytest.importorskip("igraph")
    graph = tangled(seed)
    how: dict[str, Any] = {**NUMPY, "parts": 2 + seed}
    found = {name: call(graph, **how) for name, call in CALLS.items()}
    for name, result in found.items():
        same(result, CALLS[name](graph, device="cpu"))
    assert found["bridges"].count > 20
    other = as_networkx(graph)
    rows = zip(found["bridges"].source.tolist(), found["bridges"].target.tolist(), strict=True)
    assert sorted(rows) == sorted(tuple(sorted(edge)) for edge in nx.bridges(other))
    edges = graph.edges()
    theirs = igraph.Graph(graph.num_vertices, list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True)))
    assert np.flatnonzero(found["articulation_points"].member).tolist() == sorted(theirs.articulation_points())
    parts = found["biconnected_components"]
    rows = zip(parts.source.tolist(), parts.target.tolist(), parts.component.tolist(), strict=True)
    ours: dict[int, set[int]] = {}
    for source, target, component in rows:
        ours.setdefault(component, set()).update((source, target))
    assert {frozenset(part) for part in ours.values()} == {frozenset(p) for p in theirs.biconnected_components()}
    assert parts.component[np.unique(parts.component, return_index=True)[1]].tolist() == list(range(parts.count))


def test_shapes_of_every_depth() -> None:
    size = 3_000
    circle = np.arange(size)
    for graph in (
        dr.generators.path(size),
        dr.generators.star(size),
        dr.generators.grid(60, 50),
        dr.Graph.from_edges(circle, (circle + 1) % size, directed=False),
    ):
        for call in CALLS.values():
            found = call(graph, parts=2, **NUMPY)
            same(found, call(graph, device="cpu"))
            assert found.iterations < 30


@every_call
@pytest.mark.parametrize("leaf", [VectorisedLeaf(), CpuLeaf(2)], ids=["numpy", "cpu"])
def test_a_graph_on_disk_within_little_memory(name: str, leaf: Any, tmp_path: Path) -> None:
    graph = tangled(7, 3_000, 4_000)
    file = stored(graph, tmp_path)
    with pytest.raises(ResourceError) as refused:
        CALLS[name](file, device=StreamEngine(leaf, 1, page_bytes=PAGE))
    assert ("an answer with one row per edge" in str(refused.value)) == (name == "biconnected_components")
    needed = refused.value.needed or 0
    found = CALLS[name](file, device=StreamEngine(leaf, needed, page_bytes=PAGE))  # no later program needs more
    same(found, CALLS[name](graph, device="cpu"))
    assert found.device == f"{leaf.name}, streamed"
    assert found.trace.read > file.num_arcs * 4


def test_graphs_on_disk_of_every_kind(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    rows = tangled(1, 200, 100).with_weights(None)
    turned = [draw.permutation(rows.neighbors(v).copy()) for v in range(rows.num_vertices)]
    unsorted = dr.Graph.from_csr(rows.offsets, np.concatenate(turned), directed=False)
    assert not unsorted.sorted
    for number, graph in enumerate((unsorted, dr.Graph.from_edges([], [], num_vertices=3, directed=False))):
        folder = tmp_path / str(number)
        folder.mkdir()
        file = stored(graph, folder)
        for call in CALLS.values():
            expected = call(graph, **NUMPY)
            same(call(file, **NUMPY), expected)
            same(call(dr.read(file.origin.path), memory="64M", **NUMPY), expected)


def test_a_directed_graph_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = stored(dr.Graph.from_edges([0, 1], [1, 2]), tmp_path)
    for call in CALLS.values():
        with pytest.raises(InvalidArgumentError, match="--symmetrize"):
            call(file, **NUMPY)


@every_call
def test_a_killed_run_goes_on(name: str, tmp_path: Path) -> None:
    graph = tangled(5, 90, 12)
    for parts in (1, 3):
        found, killed = killed_and_resumed(partial(CALLS[name], graph), tmp_path / f"{parts}", parts=parts, **NUMPY)
        same(found, CALLS[name](graph, **NUMPY))
        assert killed
        assert any(row.path == "checkpoint" for row in found.trace)


@every_call
def test_no_path_is_asynchronous(name: str) -> None:
    with pytest.raises(IllegalPathError, match="async"):
        CALLS[name](dr.generators.grid(3, 3), path="async-push-dd", device=DEVICES[-1])


@examples(60)
@given(seed=st.integers(0, 10_000), size=st.integers(1, 40), reach=st.integers(1, 40), apart=st.floats(0, 0.3))
def test_rooted_forests(seed: int, size: int, reach: int, apart: float) -> None:
    draw = np.random.default_rng(seed)
    ids = draw.permutation(size).astype(np.int32)
    edges = [(ids[v], ids[draw.integers(max(0, v - reach), v)]) for v in range(1, size) if draw.random() >= apart]
    ends = np.sort(np.array(edges, np.int32).reshape(-1, 2), axis=1)
    ends = ends[np.lexsort(ends.T[::-1])]
    trees = nx.Graph([*map(tuple, ends.tolist()), *((v, v) for v in range(size))])
    trees.remove_edges_from([(v, v) for v in range(size)])
    tree = np.empty(size, np.int32)
    for part in nx.connected_components(trees):
        tree[list(part)] = draw.choice(list(part))
    forest = rooted(ends[:, 0], ends[:, 1], tree)
    assert forest.number[forest.vertex].tolist() == list(range(size))
    roots = forest.vertex[forest.above < 0]
    assert len(roots) == nx.number_connected_components(trees)
    assert all(trees.degree(v) <= 1 for v in roots.tolist())
    directed = nx.DiGraph()
    directed.add_nodes_from(range(size))
    directed.add_edges_from((int(forest.above[v]), v) for v in range(size) if forest.above[v] >= 0)
    found = {tuple(sorted((int(forest.vertex[u]), int(forest.vertex[v])))) for u, v in directed.edges}
    assert found == set(map(tuple, ends.tolist()))
    values = draw.integers(0, 99, size)
    for merge in (np.minimum, np.maximum):
        merged = over_subtrees(values, forest.last, merge)
        for v in range(size):
            below = sorted({v, *nx.descendants(directed, v)})
            assert below == list(range(v, int(forest.last[v]) + 1))
            assert merged[v] == merge.reduce(values[below])


@pytest.mark.parametrize("size", [1, 2, 1 << 19])
def test_places_in_lists(size: int) -> None:
    order = np.random.default_rng(size).permutation(size).astype(np.int32)
    following = np.empty(size, np.int32)
    following[order] = np.append(order[1:], -1)
    place = places_along(following, int(order[0]))
    np.testing.assert_array_equal(place[order], np.arange(size))
