"""Graphs on disk whose targets are packed: the same answers from fewer bytes, in budgets of a few pages."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.algorithms.pagerank import pagerank_program
from dromos.dtypes import Array
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import CorruptFileError
from dromos.graph.store import stripe_store, write
from dromos.graph.store.paged.pager import Pager, Room, unpacking_bytes
from dromos.graph.store.paged.pool import ReadPool
from dromos.graph.store.paged.rows import Request
from dromos.places.stream import StreamEngine
from dromos.places.stream.budget import plan_memory
from tests.sizes import examples
from tests.stream.stores import PAGE, CountingFile, FaultyFile, random_graph, stored, tiny_budget
from tests.stream.test_algorithms import ALGORITHMS, UNDIRECTED, weighted

PACK = PAGE // 4


def packed(graph: dr.Graph, folder: Path, *, pack_arcs: int = PACK) -> dr.StoredGraph:
    write(graph, folder / "packed.drm", transpose=True, chunk_bytes=PAGE, compress=True, pack_arcs=pack_arcs)
    return dr.open(folder / "packed.drm")


@pytest.mark.parametrize(
    ("name", "device"),
    [
        *((name, "numpy") for name in ("bfs", "sssp", "pagerank", "connected_components", "betweenness")),
        *((name, "cpu") for name in ("bfs", "pagerank")),  # each is compiled
    ],
)
def test_an_algorithm_on_packs_is_the_algorithm_in_memory(name: str, device: str, tmp_path: Path) -> None:
    call, field = ALGORITHMS[name]
    graph = weighted(directed=name not in UNDIRECTED)
    how: dict[str, Any] = {"device": device}
    found, expected = call(packed(graph, tmp_path), memory="64M", **how), call(graph, **how)
    np.testing.assert_allclose(found[field], expected[field], rtol=1e-6, atol=1e-9)


@examples(10)
@given(
    seed=st.integers(0, 10_000),
    room=st.builds(
        Room, buffers=st.integers(2, 60).map(lambda n: n * PAGE), cache=st.integers(0, 20).map(PAGE.__mul__)
    ),
    pack_arcs=st.sampled_from([256, PACK, 2 * PACK]),
    weights=st.booleans(),
)
def test_every_wanted_page_comes_whole_and_the_budget_holds(
    seed: int, room: Room, pack_arcs: int, weights: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph, rng = random_graph(seed % 7), np.random.default_rng(seed)
    file = packed(graph, tmp_path_factory.mktemp("pages"), pack_arcs=pack_arcs)
    rows = file.paged_rows("", weights=weights, page_bytes=PAGE)
    source = CountingFile(file.origin)
    pager = Pager(source, room, pool=ReadPool(2))
    try:
        for _ in range(4):
            wanted = rng.random(rows.num_pages) < rng.choice([0.1, 0.5, 1.0])
            before, seen = pager.bytes_read, 0
            source.reads.clear()
            for window in pager.windows(rows, wanted):
                for page in window.first + np.flatnonzero(wanted[window.first : window.last]):
                    arcs = slice(page * rows.page_arcs, (page + 1) * rows.page_arcs)
                    np.testing.assert_array_equal(rows.targets[arcs], graph.targets[arcs])
                    if weights:
                        np.testing.assert_array_equal(rows.weights[arcs], graph.weights[arcs])  # type: ignore[index]
                    seen += 1
            assert seen == np.count_nonzero(wanted)
            read = sum(size for _, size in source.reads)
            assert read - PAGE * len(source.reads) <= pager.bytes_read - before <= read
            assert max((size for _, size in source.reads), default=0) <= max(
                rows.buffer_bytes(rows.num_pages), rows.num_pages * rows.page_bytes
            )
            assert rows.resident.sum() * rows.page_bytes == pager.cached_bytes <= room.cache
    finally:
        pager.close()


def test_fewer_bytes_are_read_and_the_least_budget_is_enough(tmp_path: Path) -> None:
    graph = random_graph(3, vertices=200, arcs=60_000)
    plain, small = stored(graph, tmp_path), packed(graph, tmp_path)
    program = pagerank_program(False, False, np.dtype(np.float64))(alpha=0.85, tolerance=0.0)
    expected = next(iter(dr.run(program, graph, device="numpy", max_iter=3).values()))
    read = {}
    for file, pages in product((plain, small), (0, 40)):
        engine = StreamEngine(VectorisedLeaf(), tiny_budget(program, file, pages=pages), page_bytes=PAGE)
        result = dr.run(program, file, device=engine, max_iter=3)
        np.testing.assert_allclose(next(iter(result.values())), expected, rtol=1e-12)
        read[file is small, pages] = result.trace.read
    assert read[True, 40] < read[False, 40] / 2  # with less memory, every page is read alone, as a whole disk block


def test_the_buffers_for_unpacking_count(tmp_path: Path) -> None:
    graph = random_graph(3)
    plain, small = (file.paged_rows("", weights=False) for file in (stored(graph, tmp_path), packed(graph, tmp_path)))
    assert unpacking_bytes(plain) == 0
    section = packed(graph, tmp_path).header.section("targets")
    assert section is not None
    assert unpacking_bytes(small) >= 4 * section.nbytes  # four threads, and all pages are one request
    plans = [plan_memory(64 << 20, 1000, {"row offsets": 1000}, [rows]) for rows in (plain, small)]
    assert plans[1].tables >= plans[0].tables + 4 * section.nbytes - plain.table_bytes
    assert all(plan.tables + plan.room.buffers + plan.room.cache < 64 << 20 for plan in plans)


def test_a_damaged_pack_is_told_with_section_page_and_byte(tmp_path: Path) -> None:
    file = packed(random_graph(5), tmp_path)
    section = file.header.section("targets")
    assert section is not None

    def fault(buffer: Array, position: int) -> None:
        if position <= section.offset < position + len(buffer):
            buffer[section.offset - position] ^= 1

    program = BFS(source=7)
    engine = StreamEngine(
        VectorisedLeaf(), tiny_budget(program, file), page_bytes=PAGE, opener=lambda origin: FaultyFile(origin, fault)
    )
    text = rf"packed\.drm: section targets, pages 0\.\.\d+: pack 0 \(bytes {section.offset:,}\.\.[\d,]+\) fails"
    with pytest.raises(CorruptFileError, match=text):
        dr.run(program, file, device=engine)


def test_a_disk_that_answers_otherwise_the_second_time_is_found(tmp_path: Path) -> None:
    file = packed(random_graph(5), tmp_path)
    rows = file.paged_rows("", weights=False, page_bytes=PAGE)
    section = file.header.section("targets")
    assert section is not None
    wrong: list[int] = []

    def fault(buffer: Array, position: int) -> None:
        for at in wrong:
            if position <= at < position + len(buffer):
                buffer[at - position] ^= 16

    source = FaultyFile(file.origin, fault)
    pages = Request(2, 5)
    rows.read(source, pages)
    rows.read(source, pages)
    starts = section.offset + 4 * file._pack_index("").starts
    for at in np.linspace(starts[2], starts[5] - 1, 40).astype(int).tolist():
        wrong[:] = [at]
        with pytest.raises(CorruptFileError, match=r"section targets, pages 2\.\.4: pack [234]"):
            rows.read(source, pages)
    source.close()


def test_a_store_of_packs_is_also_read_by_rows_and_into_memory(tmp_path: Path) -> None:
    graph = random_graph(6)
    file = packed(graph, tmp_path)
    assert file.load() == graph
    part = file.rows_between(3, 90, "", weights=True)
    np.testing.assert_array_equal(part.targets, graph.targets[graph.offsets[3] : graph.offsets[90]])
    assert sum(piece.num_arcs for piece in file.arc_slices()) == graph.num_arcs


def test_packs_in_stripes(tmp_path: Path) -> None:
    graph = random_graph(6, vertices=300, arcs=30_000)
    packed(graph, tmp_path)
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    stripe_store(tmp_path / "packed.drm", tmp_path / "striped.drm", folders, stripe_bytes=PAGE)
    found = dr.bfs(dr.open(tmp_path / "striped.drm"), 7, memory="64M", device="numpy")
    np.testing.assert_array_equal(found.level, dr.bfs(graph, 7, device="numpy").level)
