"""Rows of vertices that a traversal has not settled: kept without their pages, and not read again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos import plan
from dromos.algorithms.bfs import BFS
from dromos.engines.cpu.part import CpuLeaf
from dromos.graph.slices import GraphSlice
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine, budget
from dromos.places.stream.execution import StreamExecution
from dromos.places.stream.shelf import RowShelf
from tests.stream.stores import PAGE, random_graph, stored

pytestmark = pytest.mark.usefixtures("way_to_read")


@given(seed=st.integers(0, 10_000), cuts=st.integers(0, 6), room=st.sampled_from([0, 900, 1 << 20]))
def test_the_shelf_gives_back_every_row_that_it_took_or_says_that_it_is_not_complete(
    seed: int, cuts: int, room: int
) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(seed % 5, vertices=60, arcs=500)
    offsets, targets, weights = graph.offsets, graph.targets, graph.weights
    assert weights is not None
    unsettled = np.flatnonzero(rng.random(60) < 0.4).astype(np.int32)
    shelf = RowShelf(room, np.dtype(np.uint32))
    shelf.begin()
    bounds = [0, *sorted(rng.integers(0, graph.num_arcs, cuts).tolist()), graph.num_arcs]
    for begin, end in pairwise(bounds):
        first = int(np.searchsorted(offsets, begin, side="right")) - 1
        last = int(np.searchsorted(offsets, end, side="left"))
        if begin == end:
            continue
        own = np.clip(offsets[first : last + 1], begin, end)
        piece = GraphSlice(first, last, own, targets[begin:end], weights[begin:end])
        shelf.take(piece, unsettled[(unsettled >= first) & (unsettled < last)])
    shelf.end()
    if not shelf.complete:
        assert room < 1 << 20
        return
    found = {}
    for piece in shelf.slices():
        assert piece.weights is not None
        assert piece.offsets.dtype == np.uint32
        for v in range(piece.start, piece.stop):
            low, high = (int(piece.offsets[v - piece.start + i]) - int(piece.offsets[0]) for i in (0, 1))
            if high > low:
                found[v] = (piece.targets[low:high].tolist(), piece.weights[low:high].tolist())
    rows = {int(v): slice(int(offsets[v]), int(offsets[v + 1])) for v in unsettled if offsets[v] < offsets[v + 1]}
    assert found == {v: (targets[row].tolist(), weights[row].tolist()) for v, row in rows.items()}


@pytest.mark.parametrize(("spare", "complete"), [(0, True), (-1, False)])
def test_a_shelf_takes_eight_bytes_for_a_row_and_four_for_an_arc(spare: int, complete: bool) -> None:
    graph = random_graph(3, vertices=60, arcs=500)
    rows = np.flatnonzero(np.diff(graph.offsets)).astype(np.int32)
    shelf = RowShelf(8 * len(rows) + 4 * graph.num_arcs + spare, np.dtype(np.uint32))
    shelf.begin()
    for first, last in ((0, 20), (20, 21), (21, 60)):
        begin, end = int(graph.offsets[first]), int(graph.offsets[last])
        piece = GraphSlice(first, last, graph.offsets[first : last + 1], graph.targets[begin:end], None)
        shelf.take(piece, rows[(rows >= first) & (rows < last)])
    shelf.end()
    assert shelf.complete == complete
    assert sum(piece.num_arcs for piece in shelf.slices()) == (graph.num_arcs if complete else 0)


@pytest.mark.parametrize("directed", [False, True])
def test_later_pulls_read_nothing(directed: bool, tmp_path: Path) -> None:
    graph = random_graph(9, directed=directed)
    tail = np.arange(400, 900)  # a path after the rest, which takes many supersteps
    src, dst = graph.edges()[:2]
    graph = dr.Graph.from_edges(
        np.append(src, tail - 1), np.append(dst, tail), np.ones(len(src) + len(tail), np.int32), directed=directed
    )
    file = stored(graph, tmp_path)
    engine = StreamEngine(CpuLeaf(2), 2 << 20 | 420_000, page_bytes=PAGE)
    found = dr.bfs(file, 7, device=engine, path="sync-pull-dd")
    np.testing.assert_array_equal(found.level, dr.bfs(graph, 7, device="numpy").level)
    read = [row.read for row in found.trace]
    assert len(read) > 400
    assert sum(map(bool, read)) < 10
    assert not any(read[10:])


@pytest.mark.parametrize("room_for_rows", [True, False])
def test_pages_of_a_pull_stay_only_if_there_is_no_room_for_its_rows(
    room_for_rows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(READS, "compiled")
    if not room_for_rows:
        monkeypatch.setattr(budget, "_SHELF_SHARE", 1 << 20)
    graph = random_graph(9, vertices=20_000, arcs=60_000)
    run = StreamEngine(CpuLeaf(2), 8 << 20, page_bytes=PAGE).prepare(BFS(source=7), stored(graph, tmp_path))
    assert isinstance(run, StreamExecution)
    try:
        pulled = plan.Path.parse("sync-pull-dd")
        while not run.stats.finished:
            run.step(pulled)
        np.testing.assert_array_equal(run.state["level"], dr.bfs(graph, 7, device="numpy").level)
        pages = run.feed.pager.cached_bytes // run.feed.rows_by_prefix()[""].page_bytes
        assert (pages == 0) == room_for_rows
    finally:
        run.close()
