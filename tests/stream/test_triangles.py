"""Triangles of graphs on disk by the CPU's kernels, with all rows held, some at a time, and hubs as bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import CorruptFileError, ResourceError
from dromos.graph.store.paged.pager import Pager, Room
from dromos.places.stream import StreamEngine
from dromos.places.stream.feed import PageFeed
from dromos.places.stream.triangles import TriangleRoom, triangles
from tests.algorithms.support import graphs
from tests.sizes import examples
from tests.stream.stores import PAGE, FaultyFile, flip_in_page, no_thread_stays, simple, stored

pytestmark = pytest.mark.usefixtures("way_to_read")


def counted(file: dr.StoredGraph, *, hubs: int, held: int, threads: int, buffers: int = 16 * PAGE) -> dict[str, Any]:
    """The triangles with so many hubs, and room for so many members of rows."""
    rows, offsets = file.paged_rows("", weights=False, page_bytes=PAGE), file.row_offsets("")
    pager = Pager(file_source(file), Room(buffers=buffers, cache=0))
    try:
        feed = PageFeed(pager, {"push": rows}, {"push": offsets})
        room = TriangleRoom(hubs, held, int(np.sqrt(file.num_arcs)) + 2, threads, 0)
        return triangles(feed, offsets, file.targets.dtype, room)
    finally:
        pager.close()


def file_source(file: dr.StoredGraph) -> FaultyFile:
    return FaultyFile(file.origin, lambda buffer, position: None)


@examples(60)
@given(graph=graphs(high=12, directed=False), threads=st.sampled_from([1, 3]))
def test_triangles_are_those_of_the_reference(graph: dr.Graph, threads: int, tmp_path_factory: Any) -> None:
    """Also of graphs with self-loops and parallel edges, which the operator counts."""
    expected = dr.triangles(graph, device="numpy")
    for number, on in enumerate((graph, simple(graph.edges().src, graph.edges().dst, graph.num_vertices))):
        file = stored(on, tmp_path_factory.mktemp(f"store{number}"))
        found = dr.triangles(file, device=StreamEngine(CpuLeaf(threads), 8 << 20, page_bytes=PAGE))
        np.testing.assert_array_equal(found.triangles, expected.triangles)
        assert found.total == expected.total
        assert dr.transitivity(file, device="cpu", memory="8M").transitivity == pytest.approx(
            dr.transitivity(graph, device="numpy").transitivity
        )


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("by_degree", [False, True])
def test_every_division_into_hubs_and_ranges_counts_the_same(by_degree: bool, threads: int, tmp_path: Path) -> None:
    graph = dr.generators.rmat(11, 12, seed=5, dedupe=True, drop_self_loops=True)
    if by_degree:
        graph = graph.relabel_by_degree().graph
    file = stored(graph, tmp_path)
    expected = dr.triangles(graph, device="cpu")
    steps = []
    for hubs, held in ((64, 300), (64, 5_000), (64, 1 << 20), (1024, 300), (2048, 300)):
        with no_thread_stays():
            found = counted(file, hubs=hubs, held=held, threads=threads)
        np.testing.assert_array_equal(found["triangles"], expected.triangles)
        assert found["total"] == expected.total
        steps.append(len(found["steps"]))
    assert steps[0] > steps[1] > steps[2] == 3
    assert steps[-1] == 2  # all vertices are hubs


def test_rows_longer_than_the_buffers(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    src, dst = draw.integers(0, 9_000, (2, 30_000))
    for hub in (0, 4_000, 8_999):
        src, dst = np.append(src, np.full(8_999, hub)), np.append(dst, draw.permutation(9_000)[:8_999])
    graph = simple(src, dst, 9_000)
    file = stored(graph, tmp_path)
    expected = dr.triangles(graph, device="cpu")
    found = counted(file, hubs=64, held=2_000, threads=2, buffers=4 * PAGE)
    np.testing.assert_array_equal(found["triangles"], expected.triangles)


def test_the_trace_and_the_progress(tmp_path: Path) -> None:
    file = stored(dr.generators.rmat(11, 12, seed=5, dedupe=True, drop_self_loops=True), tmp_path)
    told: list[tuple[int, int]] = []
    found = dr.triangles(file, device="cpu", memory="16M", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (2048, 2048)
    assert found.trace.supersteps == 2
    section = file.header.section("targets")
    assert section is not None
    assert 0 < found.trace.read <= section.nbytes + 16384
    assert "ranked" in found.trace[0].reason


@pytest.mark.parametrize("threads", [1, 16])
def test_the_least_budget_is_told_and_enough(threads: int, tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=5, dedupe=True, drop_self_loops=True)
    file = stored(graph, tmp_path)
    with pytest.raises(ResourceError, match="is too little") as caught:
        dr.triangles(file, device=StreamEngine(CpuLeaf(threads), 1000, page_bytes=PAGE))
    needed = caught.value.needed
    assert needed is not None
    assert needed < 40 * file.num_vertices + (4 << 20)
    found = dr.triangles(file, device=StreamEngine(CpuLeaf(threads), needed, page_bytes=PAGE))
    assert found.total == dr.triangles(graph).total


def test_a_damaged_page_is_told_and_ends_all_threads(tmp_path: Path) -> None:
    file = stored(simple(*np.random.default_rng(1).integers(0, 900, (2, 40_000)), 900), tmp_path)
    flip = flip_in_page(file, 5)
    engine = StreamEngine(CpuLeaf(2), 16 << 20, page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, flip))
    with no_thread_stays(), pytest.raises(CorruptFileError, match=r"graph\.drm"):
        dr.triangles(file, device=engine)
