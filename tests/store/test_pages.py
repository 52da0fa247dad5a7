"""The page table: every arc in one page, rows whole in small pages, long rows in large pages of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import InvalidArgumentError
from dromos.graph.pages import LARGE, SMALL, PageTable

degrees = st.lists(st.one_of(st.integers(0, 6), st.integers(0, 60)), max_size=40)
sizes = st.sampled_from([8, 12, 16, 40, 64, 256])


def _offsets(degrees: list[int]) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(degrees))).astype(np.int64)


@settings(max_examples=200, deadline=None)
@given(degrees=degrees, page_bytes=sizes)
def test_pages_hold_every_row(degrees: list[int], page_bytes: int) -> None:
    offsets = _offsets(degrees)
    table = PageTable.of(offsets, page_bytes=page_bytes, arc_bytes=4)
    capacity = page_bytes // 4
    # Arcs and vertices follow one another without a gap, from the first to the last.
    assert np.array_equal(table.arc_begin[1:], table.arc_end[:-1])
    if len(table):
        assert (table.arc_begin[0], table.arc_end[-1]) == (0, offsets[-1])
        assert (table.first_vertex[0], table.last_vertex[-1]) == (0, len(degrees) - 1)
    assert np.all(table.arc_end - table.arc_begin <= capacity)
    for page in range(len(table)):
        first, last = table.first_vertex[page], table.last_vertex[page]
        if table.kind[page] == SMALL:
            assert (table.arc_begin[page], table.arc_end[page]) == (offsets[first], offsets[last + 1])
            assert last - first + 1 <= max(1, page_bytes // 8)
            follows = last + 1
            full = last - first + 1 == page_bytes // 8
            # No page is closed too early: the next row would not have fitted.
            assert follows == len(degrees) or full or offsets[follows + 1] - offsets[first] > capacity
        else:
            assert first == last
            assert degrees[first] > capacity
    assert table.num_large == sum(-(-d // capacity) for d in degrees if d > capacity)


@settings(max_examples=100, deadline=None)
@given(degrees=degrees, page_bytes=sizes, data=st.data())
def test_pages_of_active_vertices(degrees: list[int], page_bytes: int, data: st.DataObject) -> None:
    table = PageTable.of(_offsets(degrees), page_bytes=page_bytes, arc_bytes=4)
    active = data.draw(st.lists(st.integers(0, len(degrees) - 1))) if degrees else []
    holding = [
        page
        for page in range(len(table))
        if any(table.first_vertex[page] <= vertex <= table.last_vertex[page] for vertex in active)
    ]
    assert table.pages_of(np.array(active, dtype=np.int64)).tolist() == holding


def test_the_slices_of_all_pages_are_the_graph() -> None:
    rng = np.random.default_rng(2)
    hub = np.zeros(500, dtype=np.int64)
    src, dst = np.concatenate((hub, rng.integers(0, 200, 800))), rng.integers(0, 200, 1300)
    graph = dr.Graph.from_edges(src, dst, rng.random(1300), num_vertices=200)
    table = PageTable.of(graph, page_bytes=256)
    assert {SMALL, LARGE} == set(table.kind.tolist())
    slices = [table.slice_of(graph, page) for page in range(len(table))]
    assert np.array_equal(np.concatenate([s.targets for s in slices]), graph.targets)
    assert np.array_equal(np.concatenate([s.weights for s in slices]), graph.weights)
    for piece, kind in zip(slices, table.kind, strict=True):
        assert piece.num_arcs == int(piece.offsets[-1] - piece.offsets[0])
        if kind == SMALL:
            assert np.array_equal(piece.row(piece.start), graph.neighbors(piece.start))
        assert np.shares_memory(piece.targets, graph.targets) or piece.num_arcs == 0


def test_byte_ranges_are_those_of_the_arcs_and_can_be_widened_to_blocks() -> None:
    table = PageTable.of(_offsets([3000, 10, 20]), page_bytes=4096)
    pages = np.arange(len(table))
    exact = table.byte_ranges(pages, base=8192)
    assert np.array_equal(exact.begin, 8192 + 4 * table.arc_begin)
    assert np.array_equal(exact.end, 8192 + 4 * table.arc_end)
    weights = table.byte_ranges(pages, base=8192, item_bytes=8)
    assert np.array_equal(weights.end - weights.begin, 2 * (exact.end - exact.begin))
    blocks = table.byte_ranges(pages, base=8192, align=4096)
    assert np.all(blocks.begin % 4096 == 0)
    assert np.all(blocks.end % 4096 == 0)
    assert np.all((blocks.begin <= exact.begin) & (exact.end <= blocks.end))
    assert np.all(blocks.end - blocks.begin < exact.end - exact.begin + 2 * 4096)


def test_arcs_beyond_two_to_the_31() -> None:
    offsets = np.array([0, 5, 2**33, 2**33 + 7], dtype=np.int64)
    table = PageTable.of(offsets, page_bytes=1 << 30, arc_bytes=4)
    assert table.arc_end[-1] == 2**33 + 7
    assert np.count_nonzero(table.first_vertex == 1) == -(-(2**33 - 5) // 2**28)
    assert int(table.byte_ranges(np.array([len(table) - 1])).end[0]) == 4 * (2**33 + 7)


def test_no_vertices_no_pages() -> None:
    table = PageTable.of(np.zeros(1, dtype=np.int64))
    assert len(table) == 0
    assert table.pages_of(np.empty(0, dtype=np.int64)).size == 0


@pytest.mark.parametrize(("page_bytes", "arc_bytes"), [(4, 4), (0, 4), (8, 16), (64, 0)])
def test_impossible_page_sizes(page_bytes: int, arc_bytes: int) -> None:
    with pytest.raises(InvalidArgumentError, match="page"):
        PageTable.of(np.array([0, 1]), page_bytes=page_bytes, arc_bytes=arc_bytes)


def test_bad_offsets_and_vertices() -> None:
    with pytest.raises(InvalidArgumentError, match="offsets are empty"):
        PageTable.of(np.empty(0, dtype=np.int64))
    table = PageTable.of(np.array([0, 1, 2]))
    for vertex in (-1, 2):
        with pytest.raises(InvalidArgumentError, match="outside"):
            table.pages_of(np.array([vertex]))
