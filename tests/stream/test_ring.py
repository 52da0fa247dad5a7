"""Reads by io_uring: the same pages and the same errors as with threads, and threads if it is forbidden."""

from __future__ import annotations

import errno
import mmap
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError
from dromos.graph.store.paged.file import StoreFile
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.pool import ReadPool
from dromos.graph.store.paged.ring import Ring
from dromos.graph.store.paged.ring_reader import RingReader, _Task, _Work
from dromos.graph.store.paged.ways import READS
from tests.stream.stores import PAGE, no_thread_stays, random_graph, stored


def allowed() -> bool:
    try:
        Ring(8).close()
    except OSError:
        return False
    return True


needs_ring = pytest.mark.skipif(not allowed(), reason="this system has no io_uring, or forbids it")


def scan(file: dr.StoredGraph, graph: dr.Graph, times: int = 2) -> bool:
    """Read all pages without a cache; return whether a ring read them."""
    rows = file.paged_rows("", weights=True, page_bytes=PAGE)
    pager = Pager(StoreFile(file.origin), Room(buffers=12 * PAGE, cache=0), pool=ReadPool(2))
    assert graph.weights is not None
    try:
        for _ in range(times):
            wanted = np.random.default_rng(1).random(rows.num_pages) < 0.7
            wanted[:2] = True
            for first, last in pager.windows(rows, wanted):
                for page in range(first, last):
                    arcs = slice(page * rows.page_arcs, (page + 1) * rows.page_arcs)
                    if wanted[page]:
                        np.testing.assert_array_equal(rows.targets[arcs], graph.targets[arcs])
                        np.testing.assert_array_equal(rows.weights[arcs], graph.weights[arcs])  # type: ignore[index]
    finally:
        pager.close()
    return pager.ring is not None


@pytest.fixture(autouse=True)
def io_uring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "io_uring")


@needs_ring
def test_a_ring_reads_what_positioned_reads_read(tmp_path: Path) -> None:
    data = np.random.default_rng(3).integers(0, 256, 300_000, dtype=np.uint8)
    file = tmp_path / "bytes"
    file.write_bytes(data.tobytes())
    buffer = mmap.mmap(-1, 100 * PAGE)
    place = np.frombuffer(buffer, dtype=np.uint8)
    fd, ring, ended = os.open(file, os.O_RDONLY), Ring(8), dict[int, int]()
    try:
        numbers = iter(range(80))
        while len(ended) < 80:
            while ring.room and (number := next(numbers, None)) is not None:
                ring.add(number, fd, place.ctypes.data + number * PAGE, PAGE, number * PAGE)
            ended.update(ring.wait())
        ring.add(99, -1, place.ctypes.data, PAGE, 0)
        assert ring.wait() == [(99, -errno.EBADF)]
    finally:
        ring.close()
        os.close(fd)
    assert ended == {number: min(PAGE, max(0, len(data) - number * PAGE)) for number in range(80)}
    np.testing.assert_array_equal(place[: len(data)], data)


@needs_ring
def test_pages_come_whole_and_no_thread_stays(tmp_path: Path) -> None:
    graph = random_graph(1)
    with no_thread_stays():
        assert scan(stored(graph, tmp_path), graph)


@needs_ring
def test_reads_that_fail_or_are_short_are_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(2)
    file = stored(graph, tmp_path)
    wait, draw = Ring.wait, np.random.default_rng(5)

    def faulty(self: Ring) -> list[tuple[int, int]]:
        bad = (-errno.EIO, -errno.EAGAIN, 0, 512)
        return [(n, int(draw.choice(bad)) if draw.random() < 0.4 else result) for n, result in wait(self)]

    monkeypatch.setattr(Ring, "wait", faulty)
    assert scan(file, graph, times=4)


@needs_ring
def test_a_damaged_page_is_told_as_by_threads(tmp_path: Path) -> None:
    graph = random_graph(2)
    file = stored(graph, tmp_path)
    section = file.header.section("weights")
    assert section is not None
    with open(file.origin.path, "r+b") as out:
        out.seek(section.offset + PAGE)
        out.write(b"\xff")
    file = dr.open(file.origin.path)
    texts = []
    for how in ("io_uring", "threads"):
        os.environ[READS] = how
        with pytest.raises(CorruptFileError, match=r"section weights, pages 1\.\.1") as caught:
            scan(file, graph)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@needs_ring
def test_a_ring_that_breaks_is_an_error_and_not_a_wait_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Ring) -> list[tuple[int, int]]:
        raise OSError(errno.EBADF, "Bad file descriptor")

    graph = random_graph(2)
    file = stored(graph, tmp_path)
    monkeypatch.setattr(Ring, "wait", broken)
    with pytest.raises(FileError, match=r"graph\.drm: io_uring failed: Bad file descriptor"):
        scan(file, graph)


def test_threads_read_where_io_uring_is_forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Ring, depth: int = 8) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Ring, "__init__", refuse)
    graph = random_graph(1)
    assert not scan(stored(graph, tmp_path), graph)


def test_another_way_to_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(random_graph(1), tmp_path)
    monkeypatch.setenv(READS, "mmap")
    with pytest.raises(InvalidArgumentError, match="DROMOS_READS='mmap' is not a way to read"):
        dr.bfs(file, 7, memory="64M", device="numpy")


class HeldRing:
    """A ring whose reads complete when a test lets them; it signals when one is waited for."""

    room = True

    def __init__(self) -> None:
        self.is_waited_for, self.comes_back = threading.Event(), threading.Event()
        self.numbers: list[int] = []
        self.is_closed = False

    def add(self, number: int, *_: Any) -> None:
        self.numbers.append(number)

    def wait(self) -> list[tuple[int, int]]:
        self.is_waited_for.set()
        assert self.comes_back.wait(60)
        return [(self.numbers.pop(), PAGE)]

    def close(self) -> None:
        self.is_closed = True


class Anything:
    """Stands for a source of pages, their rows, a pool and a batch."""

    def ring_piece(self, *_: Any) -> tuple[int, int]:
        return 0, PAGE

    def pieces(self, _: Any) -> list[tuple[memoryview, int]]:
        return [(memoryview(bytearray(PAGE)), 0)]

    def read(self, *_: Any) -> None: ...

    check = add = done = read


def test_a_reader_that_is_closed_while_reads_are_in_flight_ends() -> None:
    """It is told once to end, and keeps waiting for the reads, which complete one after the other."""
    ring, anything = HeldRing(), Anything()
    work = _Work(anything, anything, ring)  # type: ignore[arg-type]
    for _ in range(3):
        work.tasks.put(_Task(anything, None, anything))  # type: ignore[arg-type]
    thread = threading.Thread(target=work.serve, daemon=True)
    thread.start()
    assert ring.is_waited_for.wait(60)
    work.end()
    ring.comes_back.set()
    thread.join(60)
    assert not thread.is_alive()
    assert ring.is_closed


def test_a_ring_is_closed_if_ctrl_c_comes_before_its_thread_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(thread: threading.Thread) -> None:
        raise KeyboardInterrupt

    ring, anything = HeldRing(), Anything()
    reader = RingReader(anything, anything, ring)  # type: ignore[arg-type]
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            reader.submit(anything, [])  # type: ignore[arg-type]
    reader.close()
    assert ring.is_closed
