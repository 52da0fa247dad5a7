"""Operators that no program can express, over slices, parts and pages: the same results as on the whole graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import InvalidArgumentError, ResourceError
from dromos.places.feed import MemoryFeed
from dromos.places.operators import Blocks
from dromos.places.operators.blocks import Rows
from dromos.places.operators.intersection import intersect_of
from dromos.places.operators.intersection.walks import add_walks_of
from dromos.places.operators.mode import mode_of
from dromos.places.stream import StreamEngine, engine
from dromos.places.stream.budget import OperatorRoom
from dromos.runner.devices import engine_for
from tests.algorithms.support import examples, graphs

LEAVES = ("reference", "numpy", "cpu")


def _same(graph: dr.Graph, **how: Any) -> None:
    """Check that the answers over slices are those on the whole graph, and that their verifiers accept them."""
    found = dr.label_propagation(graph, max_iter=3, **how)
    np.testing.assert_array_equal(found.label, dr.label_propagation(graph, max_iter=3, device="reference").label)
    if not graph.directed:
        triangles = dr.triangles(graph, **how)
        whole = dr.triangles(graph, device="reference")
        np.testing.assert_array_equal(triangles.triangles, whole.triangles)
        assert triangles.total == whole.total
        shares, closed = dr.clustering(graph, **how), dr.transitivity(graph, **how)
        np.testing.assert_array_equal(shares.clustering, dr.clustering(graph, device="reference").clustering)
        assert closed == dr.transitivity(graph, device="reference")
        trusses = dr.truss_numbers(graph, **how)
        _same_trusses(trusses, graph)
        if not graph.on_disk:
            for result in (triangles, shares, closed, trusses):
                result.verify()
    by_weight = dr.clustering(graph, weight="weight", **how)
    expected = dr.clustering(graph, weight="weight", device="reference")
    np.testing.assert_array_equal(by_weight.clustering, expected.clustering)
    if not graph.on_disk:
        found.verify()
        by_weight.verify()


def _same_trusses(found: dr.Result, graph: dr.Graph) -> None:
    """Check that every column equals the result of the whole-graph kernel, with the same types."""
    whole = dr.truss_numbers(graph, device="numpy")
    for name in ("source", "target", "truss"):
        np.testing.assert_array_equal(found[name], whole[name])
        assert found[name].dtype == whole[name].dtype
    assert found.max_truss == whole.max_truss  # type: ignore[attr-defined]


@pytest.mark.parametrize("device", LEAVES)
@examples(25)
@given(graph=graphs(high=10, weights=(0.0, 0.1, 0.3, 7.0)), slices=st.integers(1, 5), parts=st.integers(1, 3))
def test_slices_and_parts_change_nothing(device: str, graph: dr.Graph, slices: int, parts: int) -> None:
    _same(graph, device=device, slices=slices, parts=parts, threads=2)


@pytest.mark.parametrize("device", LEAVES)
@pytest.mark.parametrize("directed", [False, True])
def test_pages_change_nothing(device: str, directed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of 1,024 arcs: hubs span several of them, and most begin and end within a row; so do blocks of 500."""
    monkeypatch.setattr(engine, "operator_room", lambda *sizes, **kind: OperatorRoom(1 << 20, 500, 1700, 2))
    rng = np.random.default_rng(7)
    src, dst = np.minimum(rng.zipf(1.4, 6000), 190), rng.integers(0, 200, 6000)
    weights = rng.random(6000) * 10.0 ** rng.integers(-3, 9, 6000)
    graph = dr.Graph.from_edges(src, dst, weights, directed=directed, num_vertices=210)
    dr.write(graph, tmp_path / "g.drm", transpose=directed)
    stored = dr.open(tmp_path / "g.drm")
    leaf = engine_for(device, 2, slices=1).leaves[0]  # type: ignore[attr-defined]
    streamed = StreamEngine(leaf, 64 << 20, page_bytes=4096)
    expected = dr.label_propagation(graph, max_iter=4, device="reference")
    found = dr.label_propagation(stored, max_iter=4, device=streamed)
    np.testing.assert_array_equal(found.label, expected.label)
    for weight in ("weight", None):
        shares = dr.clustering(stored, weight=weight, device=streamed)
        np.testing.assert_array_equal(shares.clustering, dr.clustering(graph, weight=weight).clustering)
    if not directed:
        counts = dr.triangles(stored, device=streamed)
        np.testing.assert_array_equal(counts.triangles, dr.triangles(graph, device="reference").triangles)
        assert float(dr.transitivity(stored, device=streamed)) == float(dr.transitivity(graph, device="reference"))
        _same_trusses(dr.truss_numbers(stored, device=streamed), graph)


@pytest.mark.parametrize("how", [{"device": "numpy", "slices": 3, "parts": 2}, {"device": "cpu"}])
def test_rows_in_any_order_keep_it(how: dict[str, Any], tmp_path: Path) -> None:
    """Rows in no order: one result row per edge, in the order of the rows, in memory and elsewhere."""
    sorted_rows = dr.generators.complete(9)
    targets = sorted_rows.targets.reshape(9, 8)[:, ::-1].ravel()
    graph = dr.Graph.from_csr(sorted_rows.offsets, targets, directed=False)
    given = graph
    if "slices" not in how:
        dr.write(graph, tmp_path / "g.drm")
        given = dr.open(tmp_path / "g.drm")
    found = dr.truss_numbers(given, **how)
    assert found.target[:8].tolist() == [8, 7, 6, 5, 4, 3, 2, 1]
    _same_trusses(found, graph)


def test_a_stream_takes_a_budget(tmp_path: Path) -> None:
    graph = dr.generators.rmat(9, seed=2)
    dr.write(graph, tmp_path / "g.drm")
    stored = dr.open(tmp_path / "g.drm")
    with pytest.raises(ResourceError, match="this run needs") as caught:
        dr.triangles(stored, memory="1M", device="reference")
    assert caught.value.needed is not None
    found = dr.triangles(stored, memory="64M", device="reference")
    assert found.total == dr.triangles(graph, device="reference").total
    assert found.trace[0].path == "native"


def test_in_edges_that_are_not_stored_are_made(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges([0, 1], [1, 2])
    dr.write(graph, tmp_path / "g.drm")
    found = dr.label_propagation(dr.open(tmp_path / "g.drm"), memory="64M", device="reference")
    assert found.label.tolist() == dr.label_propagation(graph, device="reference").label.tolist()


def test_a_path_is_refused_over_slices_too() -> None:
    with pytest.raises(InvalidArgumentError, match="it has no paths"):
        dr.triangles(dr.generators.path(3), path="sync-push-dd", device="reference", slices=2)


@examples(20)
@given(graph=graphs(high=8), slices=st.integers(1, 4), size=st.integers(1, 9))
def test_blocks_are_whole_rows(graph: dr.Graph, slices: int, size: int) -> None:
    n = graph.num_vertices
    feeds = [MemoryFeed(graph, 0, n // 2, slices), MemoryFeed(graph, n // 2, n, slices)]
    blocks = Blocks(graph, feeds, graph.targets.dtype, size=size, directions=("push", "pull"))
    rows = [sorted(part.tolist()) for block in blocks.rows() for part in np.split(block.targets, block.offsets[1:-1])]
    both = [sorted([*graph.neighbors(v).tolist(), *graph.transpose.neighbors(v).tolist()]) for v in range(n)]
    assert rows == both
    bounds = blocks.bounds()
    assert [first for first, _ in bounds] == [0, *(last for _, last in bounds)][: len(bounds)]


@pytest.mark.parametrize("leaf", LEAVES)
@examples(25)
@given(lists=st.lists(st.lists(st.integers(0, 6), max_size=14), max_size=8))
def test_the_mode_of_lists(leaf: str, lists: list[list[int]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    values = np.array([value for one in lists for value in one], dtype=np.int32)
    before = np.arange(50, 50 + len(lists), dtype=np.int32)
    expected = [min(set(one), key=lambda v: (-one.count(v), v)) if one else 50 + i for i, one in enumerate(lists)]
    assert mode_of(leaf, 2)(offsets, values, before).tolist() == expected


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_intersection_of_rows(leaf: str) -> None:
    left = Rows(0, 2, np.array([0, 3, 5]), np.array([2, 3, 4, 2, 3], dtype=np.int32))
    right = Rows(2, 4, np.array([0, 2, 3]), np.array([3, 4, 4], dtype=np.int32))
    counts = np.zeros(5, np.int64)
    # 0 has 3 and 4 in common with 2, and 4 with 3; 1 has 3 in common with 2
    assert intersect_of(leaf, 5, 2)(left, right, counts) == 4
    assert counts.tolist() == [3, 1, 3, 3, 2]


@pytest.mark.parametrize("leaf", LEAVES)
def test_the_intersection_of_rows_by_weight(leaf: str) -> None:
    left = Rows(0, 2, np.array([0, 3, 5]), np.array([2, 3, 4, 2, 3], np.int32), np.array([0.1, 0.2, 0.3, 5.0, 7.0]))
    right = Rows(2, 4, np.array([0, 2, 3]), np.array([3, 4, 4], np.int32), np.array([0.5, 0.25, 2.0]))
    total = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    add_walks_of(leaf, 5, 2)(left, right, total)
    # 0: through 2 to 3 and 4, through 3 to 4; 1: through 2 to 3, and through 3 to 4, which is not its neighbor
    assert total.tolist() == [1 + 0.1 * (0.5 * 0.2 + 0.25 * 0.3) + 0.2 * (2.0 * 0.3), 5.0 * (0.5 * 7.0), 0, 0, 0]
