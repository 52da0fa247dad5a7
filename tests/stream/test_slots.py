"""Pages that only pass through are read to slots: the same pages, in no more memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import Array
from dromos.graph.store import write
from dromos.graph.store.paged.file import StoreFile
from dromos.graph.store.paged.packed import PackedSection
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.pool import ReadPool
from dromos.graph.store.paged.read_kernels import FAILED, SERVED
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.section import PagedSection, Request
from dromos.graph.store.paged.slices import slice_of
from dromos.graph.store.paged.ways import READS
from tests.stream.stores import PAGE, no_thread_stays, random_graph

_WINDOW = 4  # pages


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "compiled")


@pytest.fixture(params=[False, True], ids=["plain", "packed"])
def packed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def graph() -> dr.Graph:
    return random_graph(2, arcs=60_000)


@pytest.fixture
def file(graph: dr.Graph, packed: bool, tmp_path: Path) -> dr.StoredGraph:
    write(graph, tmp_path / "graph.drm", chunk_bytes=PAGE, compress=packed, pack_arcs=1024)
    return dr.open(tmp_path / "graph.drm")


class Watched:
    """A pager whose memory is checked at every window."""

    def __init__(self, file: dr.StoredGraph, cached_pages: int) -> None:
        self.rows = file.paged_rows("", weights=True, page_bytes=PAGE)
        self.pager = Pager(StoreFile(file.origin), Room(0, 0), pool=ReadPool(2))
        window = _WINDOW * self.rows.page_bytes
        self.room = Room(self.pager.buffers_for(window, ahead=3), cached_pages * self.rows.page_bytes)
        self.pager.room = self.room
        self.in_slots = 0

    def windows(self, wanted: Array, **how: Any) -> Iterator[Request]:
        for window in self.pager.windows(self.rows, wanted, **how):
            self.in_slots += self.rows.slot is not None
            idle = sum(slot.nbytes for slot in self.pager._slots._idle)
            beside = 0 if self.rows.slot is None else self.rows.slot.nbytes
            held = int(np.count_nonzero(self.rows.resident)) * self.rows.page_bytes
            assert held + beside + idle <= self.room.buffers + self.room.cache
            yield window

    def scan(self, graph: dr.Graph, wanted: Array, **how: Any) -> None:
        """Compare all wanted pages with the graph's arcs."""
        assert graph.weights is not None
        seen = np.zeros(self.rows.num_pages, dtype=bool)
        for first, last in self.windows(wanted, in_place=False, **how):
            for page in (page for page in range(first, last) if wanted[page]):
                begin, end = page * self.rows.page_arcs, min((page + 1) * self.rows.page_arcs, graph.num_arcs)
                targets, weights = self.rows.columns(begin, end)
                np.testing.assert_array_equal(targets, graph.targets[begin:end])
                np.testing.assert_array_equal(weights, graph.weights[begin:end])
                assert not seen[page]
                seen[page] = True
        np.testing.assert_array_equal(seen, wanted)
        assert self.rows.slot is None


@pytest.fixture
def watched(file: dr.StoredGraph, request: pytest.FixtureRequest) -> Iterator[Watched]:
    with no_thread_stays():
        found = Watched(file, getattr(request, "param", 0))
        try:
            yield found
        finally:
            found.pager.close()
        assert not found.pager._slots._idle


@pytest.mark.parametrize("watched", [0, 7, 30, 1000], indirect=True)
@pytest.mark.parametrize("share", [1.0, 0.93, 0.8, 0.3])
def test_slots_hold_what_the_file_has(watched: Watched, share: float, graph: dr.Graph) -> None:
    draw, pages = np.random.default_rng(4), watched.rows.num_pages
    for _ in range(4):
        watched.scan(graph, draw.random(pages) < share)
    holds_all = watched.room.cache > pages * watched.rows.page_bytes
    assert not (watched.in_slots and holds_all)
    assert watched.in_slots or holds_all or share < 0.5


@pytest.mark.parametrize("watched", [1000], indirect=True)
def test_pages_that_are_wanted_once_do_not_fill_the_cache(watched: Watched, graph: dr.Graph) -> None:
    every = np.ones(watched.rows.num_pages, dtype=bool)
    watched.scan(graph, every, once=lambda: True)
    assert watched.in_slots
    assert not watched.rows.resident.any()
    assert watched.pager.cached_bytes == 0
    before, watched.in_slots = watched.pager.bytes_read, 0
    watched.scan(graph, every)
    assert watched.pager.bytes_read == 2 * before
    assert not watched.in_slots
    assert watched.rows.resident.all()


@pytest.mark.parametrize("watched", [1000], indirect=True)
def test_pages_may_become_worth_keeping_on_the_way(watched: Watched, graph: dr.Graph) -> None:
    asked = itertools.count()
    watched.scan(graph, np.ones(watched.rows.num_pages, dtype=bool), once=lambda: next(asked) < 3)
    assert watched.in_slots == 3
    assert 0 < np.count_nonzero(watched.rows.resident) < watched.rows.num_pages


@pytest.mark.parametrize("watched", [9], indirect=True)
def test_cached_pages_in_between_are_copied(watched: Watched, graph: dr.Graph) -> None:
    pages = watched.rows.num_pages
    some = np.arange(pages) % 7 == 0  # as many as the cache has room for, too far apart to be read together
    for _ in watched.windows(some):
        pass
    assert np.array_equal(watched.rows.resident, some)
    before = watched.pager.bytes_read
    watched.scan(graph, np.ones(pages, dtype=bool))
    assert watched.in_slots >= pages // _WINDOW
    assert np.array_equal(watched.rows.resident, some)
    others = sum(section.file_bytes(np.flatnonzero(~some)) for section in watched.rows.sections)
    assert watched.pager.bytes_read - before <= others + pages * PAGE // 2  # packs end within disk blocks


def test_a_page_that_python_reads_in_the_end_goes_to_its_slot(
    watched: Watched, graph: dr.Graph, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that failed once and then succeeds gives the right page, and leaves nothing in its place."""
    failures = itertools.count()

    def failing(self: Any, *args: Any) -> None:
        read(self, *args)
        worker, outcome, into = args[1], args[6], args[7]
        if SERVED in outcome.tolist() and next(failures) % 3 == 0:
            outcome[outcome.tolist().index(SERVED)] = FAILED + worker
            into[:64] = 255

    kind = PackedSection if packed else PagedSection
    read = kind.read_many
    monkeypatch.setattr(kind, "read_many", failing)
    for _ in range(2):
        watched.scan(graph, np.ones(watched.rows.num_pages, dtype=bool))
    assert next(failures) > 10
    assert watched.in_slots > 10
    assert not watched.rows.resident.any()
    for section in watched.rows.sections:
        assert not section.array.any()  # reads as zeros: no page stayed in its place


def test_idle_slots_are_released_for_other_uses(watched: Watched, graph: dr.Graph) -> None:
    every = np.ones(watched.rows.num_pages, dtype=bool)
    watched.scan(graph, every)
    assert len(watched.pager._slots._idle) == 4
    assert watched.pager.spare == watched.room.buffers
    assert not watched.pager._slots._idle
    watched.scan(graph, every)
    for _ in watched.windows(every):  # in their places, which takes the memory of the slots
        assert watched.rows.slot is None
    assert len(watched.pager._slots._idle) < 4
    watched.scan(graph, every)
    watched.pager.room = Room(0, 0)
    assert not watched.pager._slots._idle


def test_a_superstep_that_ends_early_leaves_no_slot_in_use(watched: Watched, graph: dr.Graph) -> None:
    every = np.ones(watched.rows.num_pages, dtype=bool)
    windows = watched.windows(every, in_place=False)
    next(windows)
    assert watched.rows.slot is not None
    windows.close()
    assert watched.rows.slot is None
    watched.scan(graph, every)


def test_rows_that_a_slot_has_a_part_of_are_left_out(watched: Watched, graph: dr.Graph) -> None:
    """Who wants the row wants all of its pages; whether a row is there must not be told of a part of it."""
    rows: PagedRows = watched.rows
    wanted = np.ones(rows.num_pages, dtype=bool)
    wanted[[6 * _WINDOW - 1, 8 * _WINDOW]] = False  # the last of a window, and the first; short rows are there
    found = np.zeros(graph.num_vertices, dtype=int)
    for window in watched.windows(wanted, in_place=False):
        piece = slice_of(rows, graph.offsets, wanted, window)
        begin, end = int(piece.offsets[0]), int(piece.offsets[-1])
        assert piece.weights is not None
        assert len(piece.targets) == len(piece.weights) == end - begin
        for low, high in piece.runs().tolist():
            np.testing.assert_array_equal(piece.targets[low - begin : high - begin], graph.targets[low:high])
        found[piece.start : piece.stop] += np.diff(piece.offsets)
    assert watched.in_slots
    missing = np.append(0, np.cumsum(np.repeat(~wanted, rows.page_arcs)[: graph.num_arcs]))
    whole = missing[graph.offsets[1:]] == missing[graph.offsets[:-1]]
    np.testing.assert_array_equal(found[whole], graph.out_degree[whole])
    for arc in ((6 * _WINDOW - 1) * rows.page_arcs, (8 * _WINDOW + 1) * rows.page_arcs):
        cut = int(np.searchsorted(graph.offsets, arc, side="right")) - 1  # the row that this edge of a slot is in
        assert graph.offsets[cut] < arc
        assert not whole[cut]
        assert found[cut] == 0
