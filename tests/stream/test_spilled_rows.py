"""In-rows that do not fit in memory are sorted into a scratch file, and read from there."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.cpu import sorted_slice
from dromos.engines.cpu.part import CpuLeaf
from dromos.places.stream import StreamEngine, scratch_file, sorted_rows
from dromos.places.stream.execution import StreamExecution
from dromos.places.stream.scratch_file import Extent, ScratchFile, lies_in_memory
from dromos.places.stream.spilled_rows import SpilledRows, bytes_beside_arcs
from dromos.plan import Path as Plan
from tests.sizes import examples
from tests.stream.sorting import PULL, Mixing, graph_of_two_tiles, least_memory, put_hubs_first, sort_any_graph
from tests.stream.stores import PAGE, no_thread_stays, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

PUSH = Plan.parse("sync-push-dd")
SUPERSTEPS = 8
SLICES = 7  # into which the graph's rows are sorted by default


@pytest.fixture(autouse=True)
def any_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    sort_any_graph(monkeypatch, spill=True)


@pytest.fixture
def file(tmp_path: Path) -> dr.StoredGraph:
    return stored(graph_of_two_tiles(), tmp_path)


def prepared(file: dr.StoredGraph, pages: int = 16, threads: int = 2) -> StreamExecution:
    engine = StreamEngine(CpuLeaf(threads), least_memory(file) + pages * PAGE, page_bytes=PAGE)
    execution = engine.prepare(Mixing(), file)
    assert isinstance(execution, StreamExecution)
    return execution


def require_right(execution: StreamExecution, graph: Any, supersteps: int = SUPERSTEPS) -> None:
    expected = dr.run(Mixing(), graph, device="numpy", max_iter=supersteps)
    for name in ("heard", "rounds"):
        np.testing.assert_array_equal(execution.state[name], expected[name], err_msg=name)


@pytest.mark.parametrize(("threads", "hubs", "numbered"), [(1, True, False), (3, True, True), (2, False, False)])
@pytest.mark.parametrize("pages", [4, 16, 40])
def test_rows_from_the_file_give_what_pages_give(
    pages: int,
    threads: int,
    hubs: bool,
    numbered: bool,
    file: dr.StoredGraph,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_hubs_first(monkeypatch, always=hubs)
    monkeypatch.setattr(sorted_slice, "LEAST_PER_ROW", 0.1 if numbered else 1 << 20)
    execution = prepared(file, pages, threads)
    files = {path.name for path in tmp_path.iterdir()}
    try:
        read = [execution.step(PULL).read for _ in range(SUPERSTEPS)]
        spilled = execution.feed._sorted.spilled
        assert spilled is not None
        assert {path.name for path in tmp_path.iterdir()} == files  # it has no name
        require_right(execution, file)
    finally:
        execution.close()
    assert all(bool(each.places["row_places"].length) == numbered for each in spilled._slices)
    sizes = [each.extent.nbytes for each in spilled._slices]
    assert len(sizes) > 2
    assert read[sorted_rows.SORTING_PULL] == sum(sizes)
    staying = max(spilled._room // max(sizes), 2)
    assert read[-2:] == [sum(sizes[staying:]), sum(sizes[:-staying])]  # a pass forward, and one back


@pytest.mark.parametrize(
    ("most", "pages", "sorted_in"), [(None, 16, 1), (6, 16, 1), (6, 1_000, 2), (5, 16, None), (5, 1_000, None)]
)
def test_a_run_sorts_at_once_if_it_may_be_long(
    most: int | None, pages: int, sorted_in: int | None, file: dr.StoredGraph
) -> None:
    execution, found = prepared(file, pages), []
    execution.expect(most)
    try:
        for _ in range(SUPERSTEPS):
            execution.step(PULL)
            rows = execution.feed._sorted
            found.append(rows.spilled is not None or rows.piece is not None)
        require_right(execution, file)
    finally:
        execution.close()
    assert found == [sorted_in is not None and superstep >= sorted_in for superstep in range(1, SUPERSTEPS + 1)]


@pytest.mark.parametrize("pages", [16, 40])
def test_what_has_room_stays_in_memory(pages: int, file: dr.StoredGraph) -> None:
    execution = prepared(file, pages)
    try:
        for _ in range(SUPERSTEPS):
            execution.step(PULL)
        spilled = execution.feed._sorted.spilled
        assert spilled is not None
        assert pages != 16 or len(spilled._slices) == SLICES
        size = max(each.extent.nbytes for each in spilled._slices)
        kept = len(spilled._held) + len(spilled._free)
        assert kept * size <= spilled._room + kept * bytes_beside_arcs(file.num_vertices, file.num_vertices, 2)
    finally:
        execution.close()


def lie(extent: Extent, data: Array) -> Array:
    changed = data.copy()
    changed[len(changed) // 2] ^= 4
    return changed


def refuse(extent: Extent, data: Array) -> Array:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("fault", [lie, refuse])
@pytest.mark.parametrize("when", ["first", "middle", "last"])
def test_a_disk_that_lies_or_is_full_costs_time_alone(
    when: str,
    fault: Callable[[Extent, Array], Array],
    file: dr.StoredGraph,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbers, wrong = iter(range(SLICES)), {"first": 0, "middle": SLICES // 2, "last": SLICES - 1}[when]
    write = ScratchFile.write

    def faulty(self: ScratchFile, extent: Extent, data: Array, begin: int) -> None:
        assert len(data) < 1 << 20  # one piece
        changed = fault(extent, data) if next(numbers) == wrong else data
        write(self, extent, data, begin)
        if changed is not data:
            os.pwrite(self._file.fileno(), as_blocks(changed), extent.position)

    monkeypatch.setattr(ScratchFile, "write", faulty)
    execution = prepared(file)
    room = execution.feed.pager.room
    try:
        with caplog.at_level(logging.WARNING, "dromos"):
            for _ in range(SUPERSTEPS):
                execution.step(PULL)
        require_right(execution, file)
        assert execution.feed._sorted.spilled is None
        assert execution.feed.pager.room == room
    finally:
        execution.close()
    assert caplog.text.count("reading the store instead") == 1


def test_an_interrupted_sort_leaves_no_file_while_its_traceback_lives(
    file: dr.StoredGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, numbers = [], iter(range(9))
    append, submit = SpilledRows.append, ScratchFile.submit_write

    def interrupted(self: SpilledRows, *given: Any) -> Any:
        if next(numbers) == 2:
            raise KeyboardInterrupt
        return append(self, *given)

    def noted(self: ScratchFile, *given: Any) -> Any:
        opened.append(self._file)
        return submit(self, *given)

    monkeypatch.setattr(SpilledRows, "append", interrupted)
    monkeypatch.setattr(ScratchFile, "submit_write", noted)
    with no_thread_stays():
        execution = prepared(file)
        room = execution.feed.pager.room
        with pytest.raises(KeyboardInterrupt) as caught:  # which holds the frames, as IPython does
            deque((execution.step(PULL) for _ in range(SUPERSTEPS)), maxlen=0)
        execution.close()
    assert caught.tb is not None
    assert len(opened) == 2
    assert all(scratch.closed for scratch in opened)
    assert execution.feed.pager.room == room


def as_blocks(data: Array) -> memoryview:
    """A copy that begins on a disk block, as direct writes require."""
    import mmap

    memory = mmap.mmap(-1, len(data))
    memory[:] = data.tobytes()
    return memoryview(memory)


@pytest.mark.parametrize("when", [5, 6])  # a pass back, and one forward
def test_a_file_that_is_cut_is_noticed(when: int, file: dr.StoredGraph) -> None:
    execution = prepared(file)
    try:
        for superstep in range(SUPERSTEPS):
            if superstep == when:
                assert execution.feed._sorted.spilled is not None
                os.ftruncate(execution.feed._sorted.spilled._file._file.fileno(), 4096)
            execution.step(PULL)
        require_right(execution, file)
        assert execution.feed._sorted.spilled is None
    finally:
        execution.close()


def test_a_push_in_between_takes_the_memory_back(file: dr.StoredGraph) -> None:
    execution = prepared(file)
    room = execution.feed.pager.room
    try:
        for superstep in range(SUPERSTEPS):
            execution.step(PUSH if superstep == 6 else PULL)
            if superstep == 5:
                assert execution.feed._sorted.spilled is not None
                assert execution.feed.pager.room != room
        assert execution.feed.pager.room == room
        require_right(execution, file)
    finally:
        execution.close()


@pytest.mark.parametrize("trouble", ["full", "read-only", "in memory", "blocks", "sparse"])
def test_without_a_file_pages_are_read(trouble: str, file: dr.StoredGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    if trouble == "full":
        usage = shutil.disk_usage("/")._replace(free=1 << 10)
        monkeypatch.setattr(scratch_file.shutil, "disk_usage", lambda folder: usage)
    elif trouble == "read-only":

        def refused(**options: Any) -> None:
            raise PermissionError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(scratch_file.tempfile, "TemporaryFile", refused)
    elif trouble == "in memory":
        monkeypatch.setattr(scratch_file, "lies_in_memory", lambda folder: True)
    elif trouble == "blocks":
        monkeypatch.setenv("DROMOS_ARC_BLOCKS", "0")
    else:
        monkeypatch.setattr(sorted_rows, "LEAST_SPILLED", 1 << 20)
    execution = prepared(file)
    try:
        for _ in range(SUPERSTEPS):
            execution.step(PULL)
        assert execution.feed._sorted.spilled is None
        require_right(execution, file)
    finally:
        execution.close()


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="Linux keeps such files there")
def test_files_in_memory_are_known() -> None:
    assert lies_in_memory(Path("/dev/shm")) == any(
        line.split()[4] == "/dev/shm" and " - tmpfs " in line
        for line in Path("/proc/self/mountinfo").read_text().splitlines()
    )


def test_pagerank_on_random_graphs(tmp_path_factory: pytest.TempPathFactory) -> None:
    @examples(15)
    @given(st.integers(0, 10_000), st.booleans(), st.integers(0, 12))
    def is_that_of_memory(seed: int, directed: bool, pages: int) -> None:
        draw = np.random.default_rng(seed)
        n, arcs = int(draw.integers(2, 3_000)), int(draw.integers(2_000, 12_000))
        src, dst = draw.integers(0, n, (2, arcs))
        dst[: arcs // 3] = draw.integers(0, n)
        graph = dr.Graph.from_edges(src, dst, num_vertices=n, directed=directed)
        file = stored(graph, tmp_path_factory.mktemp("spilled"))
        execution = prepared(file, pages)
        try:
            for _ in range(6):
                execution.step(PULL)
            require_right(execution, graph, 6)
        finally:
            execution.close()

    is_that_of_memory()
