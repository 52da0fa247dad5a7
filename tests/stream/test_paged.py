"""Pages of a store: planned, read, checked, kept and dropped."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.errors import CorruptFileError, FileError
from dromos.graph.store.paged.memory import HUGE, SparseMemory
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.plan import requests, windows
from dromos.graph.store.paged.pool import ReadPool
from dromos.graph.store.paged.rows import PagedRows, Request
from tests.sizes import examples
from tests.stream.stores import PAGE, CountingFile, FaultyFile, input_error, no_thread_stays, random_graph, stored

masks = st.lists(st.booleans(), min_size=1, max_size=60).map(np.array)


@given(missing=masks, seed=st.integers(0, 99), gap=st.integers(0, 4), most=st.integers(1, 9), block=st.integers(1, 5))
def test_requests_bring_in_what_is_missing_and_nothing_twice(
    missing: Array, seed: int, gap: int, most: int, block: int
) -> None:
    resident = ~missing & (np.random.default_rng(seed).random(len(missing)) < 0.3)
    times = np.zeros(len(missing), dtype=int)
    for first, last in requests(missing, resident, gap=gap, most=most, block=block):
        times[first:last] += 1
        assert last - first <= max(most, block)
    assert times.max() <= 1
    assert times[missing].all()
    assert not times[resident].any()


@given(wanted=masks, seed=st.integers(0, 99), pages=st.integers(1, 9), block=st.integers(1, 5))
def test_windows_hold_every_wanted_page_once(wanted: Array, seed: int, pages: int, block: int) -> None:
    read = wanted & (np.random.default_rng(seed).random(len(wanted)) < 0.7)
    held = np.zeros(len(wanted), dtype=int)
    for first, last in windows(read, wanted, pages=pages, block=block):
        held[first:last] += 1
        assert first % block == 0
        assert np.count_nonzero(read[first:last]) < pages + block
    assert (held[wanted] == 1).all()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems need the memory for the addresses")
def test_addresses_may_be_more_than_there_is_memory() -> None:
    rule = Path("/proc/sys/vm/overcommit_memory")
    if rule.exists() and rule.read_text().strip() == "2":
        pytest.skip("this system allows no addresses without memory")
    memory = SparseMemory(1 << 39)
    memory.bytes[-1] = 3
    assert memory.bytes[1 << 38] == 0
    assert memory.bytes[-1] == 3


def pages_of(rows: PagedRows, window: Request, wanted: Array) -> list[int]:
    return [page for page in range(*window) if wanted[page]]


def check_page(rows: PagedRows, graph: dr.Graph, page: int) -> None:
    arcs = slice(page * rows.page_arcs, (page + 1) * rows.page_arcs)
    np.testing.assert_array_equal(rows.targets[arcs], graph.targets[arcs])
    assert rows.weights is not None
    assert graph.weights is not None
    np.testing.assert_array_equal(rows.weights[arcs], graph.weights[arcs])


@examples(12)
@given(
    seed=st.integers(0, 10_000),
    room=st.builds(
        Room, buffers=st.integers(2, 60).map(lambda n: n * PAGE), cache=st.integers(0, 20).map(PAGE.__mul__)
    ),
    chunk=st.sampled_from([PAGE, 2 * PAGE, 16 * PAGE, 512]),
)
def test_every_wanted_page_comes_whole_and_the_budget_holds(
    seed: int, room: Room, chunk: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = random_graph(seed % 7)
    rng = np.random.default_rng(seed)
    file = stored(graph, tmp_path_factory.mktemp("pages"), chunk_bytes=chunk)
    rows = file.paged_rows("", weights=True, page_bytes=PAGE)
    source = CountingFile(file.origin)
    pager = Pager(source, room, pool=ReadPool(2))
    try:
        for _ in range(6):
            wanted = rng.random(rows.num_pages) < rng.choice([0.1, 0.5, 1.0])
            source.reads.clear()
            seen = []
            for window in pager.windows(rows, wanted):
                assert rows.resident.sum() * rows.page_bytes <= room.buffers * 2 + room.cache + chunk * 8
                for page in pages_of(rows, window, wanted):
                    check_page(rows, graph, page)
                    seen.append(page)
            assert seen == np.flatnonzero(wanted).tolist()
            assert len(set(source.reads)) == len(source.reads)
            assert rows.resident.sum() * rows.page_bytes == pager.cached_bytes <= room.cache
    finally:
        pager.close()


def test_a_scan_that_repeats_keeps_what_fits_and_reads_only_the_rest(tmp_path: Path) -> None:
    graph = random_graph(1)
    file = stored(graph, tmp_path)
    rows = file.paged_rows("", weights=False, page_bytes=PAGE)
    pager = Pager(CountingFile(file.origin), Room(buffers=8 * PAGE, cache=5 * PAGE))
    read = []
    try:
        for _ in range(4):
            before = pager.bytes_read
            list(pager.windows(rows, np.ones(rows.num_pages, dtype=bool)))
            read.append(-(-(pager.bytes_read - before) // PAGE))
    finally:
        pager.close()
    assert read == [rows.num_pages, *[rows.num_pages - 5] * 3]


def test_pages_that_are_used_more_often_take_the_place_of_others(tmp_path: Path) -> None:
    file = stored(random_graph(2), tmp_path)
    rows = file.paged_rows("", weights=False, page_bytes=PAGE)
    pager = Pager(CountingFile(file.origin), Room(buffers=40 * PAGE, cache=2 * PAGE))
    hot = np.zeros(rows.num_pages, dtype=bool)
    hot[[7, 9]] = True
    try:
        list(pager.windows(rows, np.ones(rows.num_pages, dtype=bool)))
        assert np.flatnonzero(rows.resident).tolist() == [0, 1]
        list(pager.windows(rows, hot))
        assert np.flatnonzero(rows.resident).tolist() == [7, 9]
        before = pager.bytes_read
        list(pager.windows(rows, hot))
        assert pager.bytes_read == before
    finally:
        pager.close()


@pytest.mark.parametrize("started", [False, True])
def test_a_pool_whose_threads_were_interrupted_while_they_started_closes(
    started: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = ReadPool(3)
    start, made = threading.Thread.start, []

    def interrupted(thread: threading.Thread) -> None:
        made.append(thread)
        if started or len(made) == 1:
            start(thread)
        if len(made) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.submit([list])
    pool.close()
    assert len(made) == 2
    assert not any(thread.is_alive() for thread in made)


def test_a_pool_that_was_interrupted_while_it_closed_closes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ReadPool(3)
    pool.submit([list]).wait()
    threads = list(pool._threads)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "join", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.close()
    pool.close()
    assert not any(thread.is_alive() for thread in threads)
    pool.close()


@pytest.mark.parametrize("at", ["before", "after"])
def test_threads_end_if_ctrl_c_comes_while_they_are_told(at: str) -> None:
    class Interrupted(SimpleQueue[Any]):
        interrupted = False

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            now, self.interrupted = item is None and not self.interrupted, self.interrupted or item is None
            if not (now and at == "before"):
                super().put(item)
            if now:
                raise KeyboardInterrupt

    pool = ReadPool(3)
    pool._queue.tasks = Interrupted()
    pool.submit([list]).wait()
    threads = list(pool._threads)
    with pytest.raises(KeyboardInterrupt):
        pool.close()
    pool.close()
    assert not any(thread.is_alive() for thread in threads)


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def scan(file: dr.StoredGraph, source: FaultyFile, graph: dr.Graph, page_bytes: int = PAGE) -> None:
    """Read all pages twice, without a cache."""
    rows = file.paged_rows("", weights=True, page_bytes=page_bytes)
    pager = Pager(source, Room(buffers=12 * PAGE, cache=0), pool=ReadPool(2))
    wanted = np.ones(rows.num_pages, dtype=bool)
    try:
        for _ in range(2):
            for window in pager.windows(rows, wanted):
                for page in pages_of(rows, window, wanted):
                    check_page(rows, graph, page)
    finally:
        pager.close()


@pytest.mark.parametrize("chunk", [PAGE, 4 * PAGE])
def test_every_flipped_byte_is_found_before_a_kernel_sees_it(tmp_path: Path, chunk: int) -> None:
    graph = random_graph(3)
    file = stored(graph, tmp_path, chunk_bytes=chunk)
    section = {s.name: s for s in file.header.sections}
    rng = np.random.default_rng(chunk)
    for _ in range(60):
        where = section["targets" if rng.random() < 0.5 else "weights"]
        at, bit = int(rng.integers(where.offset, where.end)), 1 << int(rng.integers(0, 8))

        def flip(buffer: Array, position: int, at: int = at, bit: int = bit) -> None:
            if position <= at < position + len(buffer):
                buffer[at - position] ^= bit

        with pytest.raises(CorruptFileError, match=f"section {where.name}, page.*graph.drm|graph.drm.*section"):
            scan(file, FaultyFile(file.origin, flip), graph)


def test_swapped_pages_are_found(tmp_path: Path) -> None:
    graph = random_graph(3)
    file = stored(graph, tmp_path)
    section = file.header.section("targets")
    assert section is not None
    path = Path(file.origin.path)
    data = bytearray(path.read_bytes())
    first, second = section.offset, section.offset + 3 * PAGE
    data[first : first + PAGE], data[second : second + PAGE] = data[second : second + PAGE], data[first : first + PAGE]
    path.write_bytes(data)
    file = dr.open(path)
    with pytest.raises(CorruptFileError, match="section targets, pages 0"):
        scan(file, FaultyFile(file.origin, lambda buffer, position: None), graph)


def test_a_target_beyond_the_vertices_is_refused_even_when_the_page_was_checked_before(tmp_path: Path) -> None:
    graph = random_graph(3)
    file = stored(graph, tmp_path)
    section = file.header.section("targets")
    assert section is not None
    seen: set[int] = set()

    def second_time(buffer: Array, position: int) -> None:
        if position == section.offset and position in seen:
            buffer.view(np.int32)[5] = -1
        seen.add(position)

    with pytest.raises(CorruptFileError, match=r"section targets, page 0 \(bytes .* is not what it was"):
        scan(file, FaultyFile(file.origin, second_time), graph)


@pytest.mark.parametrize("name", ["targets", "weights"])
def test_a_bit_that_is_wrong_when_a_page_is_read_again_is_found(tmp_path: Path, name: str) -> None:
    graph = random_graph(3)
    file = stored(graph, tmp_path)
    section = file.header.section(name)
    assert section is not None
    at, seen = section.end - 1, set[int]()  # in the last page, which is not full

    def second_time(buffer: Array, position: int) -> None:
        if position <= at < position + len(buffer):
            if at in seen:
                buffer[at - position] ^= 1
            seen.add(at)

    with pytest.raises(CorruptFileError, match=rf"section {name}, page \d+ \(bytes \S+\) is not what it was"):
        scan(file, FaultyFile(file.origin, second_time), graph)


def test_an_error_of_the_disk_names_the_file_and_no_thread_stays(tmp_path: Path) -> None:
    graph = random_graph(3)
    file = stored(graph, tmp_path)
    with no_thread_stays(), pytest.raises(FileError, match="Input/output error"):
        scan(file, FaultyFile(file.origin, input_error), graph)


@pytest.mark.parametrize("how", ["cut", "replaced", "removed", "written to"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, how: str) -> None:
    graph = random_graph(4)
    file = stored(graph, tmp_path)
    path = Path(file.origin.path)
    reads: list[int] = []

    def change(buffer: Array, position: int) -> None:
        reads.append(position)
        if len(reads) > 1:
            return
        if how == "cut":
            with open(path, "r+b") as out:
                out.truncate(PAGE * 2)
        elif how == "replaced":
            other = path.with_suffix(".other")
            other.write_bytes(path.read_bytes())
            other.replace(path)
        elif how == "removed":
            path.unlink()
        else:
            with open(path, "r+b") as out:
                out.seek(file.header.checksums_offset)
                out.write(b"\1\2\3\4")

    with pytest.raises(FileError, match=r"cut short|changed, replaced or removed"):
        scan(file, FaultyFile(file.origin, change), graph)


def test_huge_pages_are_taken_only_where_all_of_one_will_be_written() -> None:
    memory = SparseMemory(8 * HUGE)
    assert memory.bytes.ctypes.data % HUGE == 0
    memory.expect(HUGE // 2, 3 * HUGE + 4096)
    assert memory._huge.nonzero()[0].tolist() == [1, 2]
    memory.expect(HUGE, HUGE + 4096)  # a single page of one that was huge
    assert memory._huge.nonzero()[0].tolist() == [2]
    memory.expect(2 * HUGE, 8 * HUGE)
    assert memory._huge.nonzero()[0].tolist() == [2, 3, 4, 5, 6, 7]
    memory.bytes[3 * HUGE] = 7
    memory.drop(0, 8 * HUGE)
    assert memory.bytes[3 * HUGE] == 0
