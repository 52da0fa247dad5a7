"""Whatever a disk does: a typed error or the correct answer, no crash, and no thread left behind."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.dtypes import Array
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import CorruptFileError, FileError
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import StoreFile
from dromos.graph.store.paged.ways import READS
from dromos.places.stream import StreamEngine
from dromos.program import Program
from tests.stream.stores import PAGE, FaultyFile, no_thread_stays, random_graph, stored, tiny_budget

Fault = Callable[[Array, int], None]
RANK = pagerank_program(False, False, np.dtype(np.float64))


def answer(program: Program, graph: dr.StoredGraph, fault: Fault) -> Array:
    """The first field of a run with the least possible memory."""
    budget = tiny_budget(program, graph)
    engine = StreamEngine(VectorisedLeaf(), budget, page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, fault))
    return next(iter(dr.run(program, graph, device=engine, max_iter=6).values()))


def test_an_error_of_the_system_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(5)
    file = stored(graph, tmp_path)
    assert file.row_offsets("") is not None

    def fail(*args: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setenv(READS, "threads")
    monkeypatch.setattr(os, "preadv", fail)
    message = r"graph.drm: cannot read bytes \S+ of the file: Input/output error"
    with no_thread_stays(), pytest.raises(FileError, match=message):
        dr.bfs(file, 7, memory="64M", device="numpy")


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_a_file_that_changes_between_supersteps_is_refused(how: str, tmp_path: Path) -> None:
    file = stored(random_graph(6), tmp_path)
    path = Path(file.origin.path)

    def change(done: int, total: int) -> None:
        if how == "cut":
            os.truncate(path, 3 * PAGE)
        else:
            other = path.with_suffix(".new")
            other.write_bytes(path.read_bytes())
            other.replace(path)

    with no_thread_stays(), pytest.raises(FileError, match=r"changed, replaced or removed|cut short"):
        dr.pagerank(file, weight=None, memory="64M", device="numpy", progress=change)


@pytest.mark.usefixtures("no_collections")
def test_ctrl_c_ends_a_run_and_its_threads_while_the_disk_stalls(tmp_path: Path) -> None:
    file = stored(random_graph(7), tmp_path)
    interrupted = threading.Event()

    class Stalling(StoreFile):
        """Sends Ctrl-C with the third read, and does not return before it has arrived."""

        reads = 0

        def read_into(self, buffer: memoryview, position: int) -> None:
            Stalling.reads += 1
            if Stalling.reads == 3:
                os.kill(os.getpid(), signal.SIGINT)
            if Stalling.reads >= 3:
                interrupted.wait(60)
            super().read_into(buffer, position)

    def arrived(number: int, frame: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    program = RANK(alpha=0.85, tolerance=1e-9)
    engine = StreamEngine(VectorisedLeaf(), tiny_budget(program, file), page_bytes=PAGE, opener=Stalling)
    before = signal.signal(signal.SIGINT, arrived)
    try:
        with no_thread_stays(), pytest.raises(KeyboardInterrupt):
            dr.run(program, file, device=engine)
    finally:
        signal.signal(signal.SIGINT, before)
        interrupted.set()


def test_a_system_without_direct_reads_gives_the_same_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(8)
    monkeypatch.delattr(os, "O_DIRECT", raising=False)
    file = stored(graph, tmp_path)
    with file.reading() as source:
        assert isinstance(source, StoreFile)
        assert not source.direct
    np.testing.assert_array_equal(
        dr.bfs(file, 7, memory="64M", device="numpy").level, dr.bfs(graph, 7, device="numpy").level
    )


def test_a_damaged_page_is_told_with_section_page_and_bytes(tmp_path: Path) -> None:
    file = stored(random_graph(5), tmp_path)
    section = file.header.section("targets")
    assert section is not None

    def fault(buffer: Array, position: int) -> None:
        if position <= section.offset < position + len(buffer):
            buffer[section.offset - position] ^= 1

    text = rf"graph\.drm: section targets, pages 0\.\.0 \(bytes {section.offset:,}\.\.{section.offset + PAGE:,}\)"
    with pytest.raises(CorruptFileError, match=text):
        answer(BFS(source=7), file, fault)


def test_openers_get_the_origin(tmp_path: Path) -> None:
    file = stored(random_graph(5), tmp_path)
    seen: list[Origin] = []

    def opener(origin: Origin) -> StoreFile:
        seen.append(origin)
        return StoreFile(origin)

    dr.run(BFS(source=7), file, device=StreamEngine(VectorisedLeaf(), 64 << 20, opener=opener))
    assert seen == [file.origin]
