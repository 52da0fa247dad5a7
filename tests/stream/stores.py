"""Stores for the tests of graphs on disk, and files that fail."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import FileError, ResourceError
from dromos.graph.store import write
from dromos.graph.store.origin import Origin
from dromos.graph.store.paged.file import StoreFile
from dromos.program import Program

PAGE = 4096


def stored(graph: dr.Graph, folder: Path, *, chunk_bytes: int = PAGE, transpose: bool = True) -> dr.StoredGraph:
    """The graph written to a file and opened from it, with checksums for single pages."""
    file = folder / "graph.drm"
    write(graph, file, transpose=transpose, chunk_bytes=chunk_bytes)
    return dr.open(file)


def random_graph(seed: int, *, vertices: int = 400, arcs: int = 12_000, directed: bool = True) -> dr.Graph:
    """A graph of some dozen pages of 4 KiB, with one row that is longer than a page, and weights."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, vertices, (2, arcs))
    src[: arcs // 4] = 7
    return dr.Graph.from_edges(
        src, dst, rng.integers(1, 9, arcs).astype(np.int32), num_vertices=vertices, directed=directed
    )


def simple(src: Array, dst: Array, vertices: int) -> dr.Graph:
    """The undirected graph with these edges, each once, and no self-loops."""
    return dr.Graph.from_edges(src, dst, num_vertices=vertices, directed=False, dedupe=True, drop_self_loops=True)


class CountingFile(StoreFile):
    """Records every request: ``(position, bytes)``."""

    def __init__(self, origin: Origin) -> None:
        super().__init__(origin)
        self.reads: list[tuple[int, int]] = []

    def read_into(self, buffer: memoryview, position: int) -> None:
        self.reads.append((position, len(buffer)))
        super().read_into(buffer, position)


class FaultyFile(StoreFile):
    """Calls ``fault(buffer, position)`` after every read, which may change the data, or raise."""

    def __init__(self, origin: Origin, fault: Callable[[Array, int], None]) -> None:
        super().__init__(origin)
        self._fault = fault

    def read_into(self, buffer: memoryview, position: int) -> None:
        super().read_into(buffer, position)
        self._fault(np.frombuffer(buffer, dtype=np.uint8), position)


def flip_in_page(file: dr.StoredGraph, page: int) -> Callable[[Array, int], None]:
    """A fault for :class:`FaultyFile`: one bit of a page of targets."""
    section = file.header.section("targets")
    assert section is not None

    def flip(buffer: Array, position: int) -> None:
        at = section.offset + page * PAGE - position
        if 0 <= at < len(buffer):
            buffer[at] ^= 1

    return flip


def input_error(buffer: Array, position: int) -> None:
    """Fail like a disk with a bad sector."""
    raise FileError(f"cannot read the file: {OSError(errno.EIO, 'Input/output error')}")


def reading_threads() -> set[threading.Thread]:
    """The threads that read pages, of any graph."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("dromos-read")}


@contextmanager
def no_thread_stays() -> Generator[None]:
    """Check that the block ends the threads that it starts. (Graphs of earlier tests may await collection.)"""
    before = reading_threads()
    yield
    assert reading_threads() <= before


def tiny_budget(program: Program, graph: dr.StoredGraph, *, pages: int = 4) -> int:
    """The least memory in which a program runs on the NumPy leaf, plus some cached pages."""
    from dromos.places.stream import StreamEngine

    try:
        StreamEngine(VectorisedLeaf(), 1, page_bytes=PAGE).prepare(program, graph)
    except ResourceError as error:
        return (error.needed or 0) + pages * PAGE
    raise AssertionError("one byte is not enough for anything")
