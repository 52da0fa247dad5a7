"""Pages read by compiled code: the same pages and the same errors as with threads that run Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dromos as dr
from dromos.errors import CorruptFileError, DromosError
from dromos.graph.store import write
from dromos.graph.store.paged import ways
from dromos.graph.store.paged.file import StoreFile
from dromos.graph.store.paged.pager import Pager, Room
from dromos.graph.store.paged.pool import ReadPool
from dromos.graph.store.paged.rows import PagedRows
from dromos.graph.store.paged.ways import READS, way_to_read
from tests.stream.stores import PAGE, no_thread_stays, random_graph


def opened(graph: dr.Graph, folder: Path, *, packed: bool, chunk_bytes: int = PAGE) -> dr.StoredGraph:
    file = folder / "graph.drm"
    write(graph, file, chunk_bytes=chunk_bytes, compress=packed, pack_arcs=1024)
    return dr.open(file)


def scan(
    file: dr.StoredGraph,
    graph: dr.Graph,
    spoil: Callable[[PagedRows], None] | None = None,
    share: float = 0.7,
    cache: int = 0,
) -> None:
    """Read pages twice, a different set each time; ``spoil`` is called in between."""
    rows, draw = file.paged_rows("", weights=True, page_bytes=PAGE), np.random.default_rng(1)
    pager = Pager(StoreFile(file.origin), Room(buffers=12 * PAGE, cache=cache), pool=ReadPool(2))
    assert graph.weights is not None
    try:
        assert (pager.batches is not None) == (os.environ[READS] == "compiled")
        for number in range(2):
            wanted = draw.random(rows.num_pages) < share
            for first, last in pager.windows(rows, wanted):
                for page in (page for page in range(first, last) if wanted[page]):
                    arcs = slice(page * rows.page_arcs, (page + 1) * rows.page_arcs)
                    np.testing.assert_array_equal(rows.targets[arcs], graph.targets[arcs])
                    np.testing.assert_array_equal(rows.weights[arcs], graph.weights[arcs])  # type: ignore[index]
            if number == 0 and spoil is not None:
                spoil(rows)
    finally:
        pager.close()
    assert rows.resident.sum() * rows.page_bytes == pager.cached_bytes <= cache


def flip(path: str, at: int) -> None:
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 4]))


def told(monkeypatch: pytest.MonkeyPatch, run: Callable[[], None]) -> str:
    """The error from compiled code, which must equal the one that threads raise."""
    texts = []
    for way in ("compiled", "threads"):
        monkeypatch.setenv(READS, way)
        with no_thread_stays(), pytest.raises(DromosError) as caught:
            run()
        assert isinstance(caught.value, CorruptFileError)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    return texts[0]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chunk", [PAGE, 16 * PAGE, 512])
def test_pages_come_whole(packed: bool, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(READS, "compiled")
    for seed in range(3):
        graph = random_graph(seed, arcs=12_000 + 1_001 * seed)
        scan(opened(graph, tmp_path, packed=packed, chunk_bytes=chunk), graph, cache=seed * 5 * PAGE)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["targets", "weights"])
def test_a_flipped_bit_is_told_as_by_threads(
    packed: bool, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(2)
    file = opened(graph, tmp_path, packed=packed)
    section = file.header.section(name)
    assert section is not None
    for at in np.linspace(section.offset, section.end - 1, 7).astype(int).tolist():
        flip(file.origin.path, at)
        damaged = dr.open(file.origin.path)
        assert f"section {name}" in told(monkeypatch, partial(scan, damaged, graph, share=1.0))
        flip(file.origin.path, at)


@pytest.mark.parametrize("packed", [False, True])
def test_a_page_that_is_another_when_it_is_read_again_is_found(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(3)
    file = opened(graph, tmp_path, packed=packed)

    def spoil(rows: PagedRows) -> None:
        section = rows.sections[0]
        prints = section._prints if packed else section.prints  # type: ignore[union-attr]
        prints[len(prints) // 2] ^= np.uint64(1)

    assert "is not what it was when it was read" in told(monkeypatch, lambda: scan(file, graph, spoil, share=1.0))


def test_a_target_beyond_the_vertices_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(3)
    file = opened(graph, tmp_path, packed=False)

    def spoil(rows: PagedRows) -> None:
        rows.num_vertices = int(graph.targets.max())

    assert "is not in 0.." in told(monkeypatch, lambda: scan(file, graph, spoil, share=1.0))


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_that_ends_too_soon_is_told(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = random_graph(3)
    file = opened(graph, tmp_path, packed=packed)
    section = file.header.section("weights")
    assert section is not None
    whole = Path(file.origin.path).read_bytes()
    monkeypatch.setattr(StoreFile, "check_unchanged", lambda self: None)

    def spoil(rows: PagedRows) -> None:
        os.truncate(file.origin.path, section.end - 700)

    def run() -> None:
        Path(file.origin.path).write_bytes(whole)
        scan(file, graph, spoil, share=1.0)

    assert "cut short while it was read" in told(monkeypatch, run)


def test_small_files_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(READS, raising=False)
    monkeypatch.setattr(ways, "kernels_are_loaded", lambda: True)
    assert way_to_read(1 << 20) == "threads"
    assert way_to_read(1 << 30) == "compiled"
    monkeypatch.setattr(ways, "kernels_are_loaded", lambda: False)
    assert way_to_read(1 << 30) == "threads"
