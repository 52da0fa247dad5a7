"""Whatever a disk does: a typed error or the right answer, no crash, and no thread left behind."""

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
from dromos.places.stream import StreamEngine
from dromos.program import Program
from tests.stream.stores import PAGE, FaultyFile, random_graph, stored, tiny_budget

Fault = Callable[[Array, int], None]
RANK = pagerank_program(False, False, np.dtype(np.float64))


def programs() -> list[Program]:
    return [BFS(source=7), RANK(alpha=0.85, tolerance=1e-3)]


def answer(program: Program, graph: dr.Graph, fault: Fault | None = None) -> Array:
    """The first field of a run; on disk with the least memory there is."""
    if fault is None:
        return next(iter(dr.run(program, graph, device="numpy", max_iter=6).values()))
    assert isinstance(graph, dr.StoredGraph)
    budget = tiny_budget(program, graph)
    engine = StreamEngine(VectorisedLeaf(), budget, page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, fault))
    return next(iter(dr.run(program, graph, device=engine, max_iter=6).values()))


def reading_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dromos-read")]


def flip(seed: int, graph: dr.StoredGraph) -> Fault:
    """A bit that is always wrong."""
    draw = np.random.default_rng(seed)
    section = graph.header.section(("targets", "transpose_targets")[seed % 2])
    assert section is not None
    at, bit = int(draw.integers(section.offset, section.end)), 1 << int(draw.integers(8))

    def fault(buffer: Array, position: int) -> None:
        if position <= at < position + len(buffer):
            buffer[at - position] ^= bit

    return fault


def zeros(seed: int, graph: dr.StoredGraph) -> Fault:
    """A disk block that comes back empty."""
    at = graph.header.sections[1].offset + PAGE * (seed % 9)

    def fault(buffer: Array, position: int) -> None:
        if position <= at < position + len(buffer):
            buffer[at - position : at - position + PAGE] = 0

    return fault


def swapped(seed: int, graph: dr.StoredGraph) -> Fault:
    """A disk block of another place, whole and from the same section."""
    section = graph.header.section("targets")
    assert section is not None
    at, other = (section.offset + PAGE * number for number in (seed % 4, 5 + seed % 3))
    with open(graph.origin.path, "rb") as file:
        file.seek(other)
        block = np.frombuffer(file.read(PAGE), dtype=np.uint8)

    def fault(buffer: Array, position: int) -> None:
        if position <= at < position + len(buffer):
            buffer[at - position : at - position + PAGE] = block

    return fault


def error_after(seed: int, graph: dr.StoredGraph) -> Fault:
    """An input error at one of the reads."""
    count = [seed % 23]

    def fault(buffer: Array, position: int) -> None:
        count[0] -= 1
        if count[0] < 0:
            raise FileError("cannot read the file: Input/output error", path="graph.drm")

    return fault


@pytest.mark.parametrize("kind", [flip, zeros, swapped, error_after])
def test_two_hundred_faults_are_a_typed_error_or_the_right_answer(
    kind: Callable[[int, dr.StoredGraph], Fault], tmp_path: Path
) -> None:
    graph = random_graph(5)
    file = stored(graph, tmp_path)
    expected = [answer(program, graph) for program in programs()]
    errors: list[str] = []
    for seed in range(25):
        for program, right in zip(programs(), expected, strict=True):
            try:
                found = answer(program, file, kind(seed, file))
            except FileError as error:
                errors.append(str(error))
            else:
                np.testing.assert_allclose(found, right, rtol=1e-9)
    assert len(errors) > 10
    assert all("graph.drm" in error for error in errors)
    assert not reading_threads()


def test_an_error_of_the_system_is_told_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(5)
    file = stored(graph, tmp_path)
    assert file.row_offsets("") is not None

    def fail(*args: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "preadv", fail)
    with pytest.raises(FileError, match=r"graph.drm: cannot read the file: Input/output error"):
        dr.bfs(file, 7, memory="64M", device="numpy")
    assert not reading_threads()


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

    with pytest.raises(FileError, match=r"changed, replaced or removed|cut short"):
        dr.pagerank(file, weight=None, memory="64M", device="numpy", progress=change)
    assert not reading_threads()


def test_ctrl_c_ends_a_run_and_its_threads_while_the_disk_stalls(tmp_path: Path) -> None:
    file = stored(random_graph(7), tmp_path)
    interrupted = threading.Event()

    class Stalling(StoreFile):
        """Sends Ctrl-C with the third read, and does not answer before it has arrived."""

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
        with pytest.raises(KeyboardInterrupt):
            dr.run(program, file, device=engine)
    finally:
        signal.signal(signal.SIGINT, before)
        interrupted.set()
    assert not reading_threads()


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
        answer(programs()[0], file, fault)


def test_openers_get_the_origin(tmp_path: Path) -> None:
    file = stored(random_graph(5), tmp_path)
    seen: list[Origin] = []

    def opener(origin: Origin) -> StoreFile:
        seen.append(origin)
        return StoreFile(origin)

    dr.run(BFS(source=7), file, device=StreamEngine(VectorisedLeaf(), 64 << 20, opener=opener))
    assert seen == [file.origin]
