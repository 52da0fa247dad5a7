"""Graphs on disk that the budget holds whole are read once, and computed on in memory."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cpu import CpuEngine, arc_blocks
from dromos.engines.cpu.arc_blocks import blocks_on_any_graph
from dromos.engines.cpu.memory import kept_bytes, reused_empty
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError, ResourceError
from dromos.graph.store import write
from dromos.graph.store.origin import rows_of
from dromos.places.stream import StreamEngine, whole
from dromos.places.stream.whole_kernels import kernel_bytes
from dromos.program import Program
from tests.program import programs
from tests.program.running import run
from tests.stream.stores import PAGE, CountingFile, FaultyFile, flip_in_page, no_thread_stays, random_graph, stored
from tests.stream.test_programs import check_random, many_pages

ENOUGH = 256 << 20
SOURCE = 7

SEARCHES: dict[str, Callable[..., dr.Result]] = {
    "bfs": lambda g, **how: dr.bfs(g, SOURCE, **how),
    "sssp": lambda g, **how: dr.sssp(g, SOURCE, **how),
    "multi_source_bfs": lambda g, **how: dr.multi_source_bfs(g, [1, SOURCE], **how),
    "betweenness": lambda g, **how: dr.betweenness(g, sources=[1, SOURCE], **how),
}
CALLS = SEARCHES | {
    "pagerank": lambda g, **how: dr.pagerank(g, weight=None, **how),
    "spmv": lambda g, **how: dr.spmv(g, np.arange(g.num_vertices) % 5, **how),
    "connected_components": dr.connected_components,
    "core_numbers": dr.core_numbers,
    "triangles": dr.triangles,
    "clustering": dr.clustering,
    "label_propagation": dr.label_propagation,
    "strongly_connected_components": dr.strongly_connected_components,
    "coloring": dr.coloring,
    "katz": lambda g, **how: dr.katz(g, alpha=0.01, weight=None, **how),
    "katz with weights": lambda g, **how: dr.katz(g, alpha=0.001, **how),
    "eigenvector": lambda g, **how: dr.eigenvector(g, weight=None, **how),
    "eigenvector with weights": dr.eigenvector,
    "hits": dr.hits,
    "maximal_independent_set": lambda g, **how: dr.maximal_independent_set(g, seed=3, **how),
    "betweenness from many sources": lambda g, **how: dr.betweenness(g, sources=range(70), **how),
    "betweenness by weight": lambda g, **how: dr.betweenness(g, sources=range(9), weight="weight", **how),
    "closeness": lambda g, **how: dr.closeness(g, sources=range(70), **how),
    "closeness of all": dr.closeness,
    "harmonic": lambda g, **how: dr.harmonic(g, **how),
    "distances": lambda g, **how: dr.distances(g, [1, SOURCE], **how),
    "eccentricity": lambda g, **how: dr.eccentricity(g, **how),
    "maximal_matching": dr.maximal_matching,
    "minimum_spanning_forest": dr.minimum_spanning_forest,
    "bridges": dr.bridges,
}
LOOSE = (
    "pagerank",
    "spmv",
    "betweenness",
    "clustering",
    "multi_source_bfs",
    "katz",
    "closeness",
    "harmonic",
    "eigen",
    "hits",
)


def simple_graph(seed: int = 3, vertices: int = 600, edges: int = 5000) -> dr.Graph:
    """Undirected and simple, with weights and a hub: all algorithms take it."""
    draw = np.random.default_rng(seed)
    src, dst = draw.integers(0, vertices, (2, edges))
    src[:200] = SOURCE
    return dr.Graph.from_edges(
        src, dst, draw.integers(1, 9, edges).astype(np.int32),
        num_vertices=vertices, directed=False, dedupe=True, drop_self_loops=True,
    )  # fmt: skip


def agrees(name: str, found: dr.Result, expected: dr.Result) -> None:
    """All fields are the same, to the last digits of sums; of equally short ways any parent will do."""
    compare = (
        partial(np.testing.assert_allclose, rtol=1e-9) if name.startswith(LOOSE) else np.testing.assert_array_equal
    )
    for field in expected:
        if field != "parent":
            compare(found[field], expected[field], err_msg=f"{name}: {field}")


@pytest.fixture
def over_pages_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs begin over pages too, unless they were read before."""
    monkeypatch.setattr(whole, "_SMALL", 0)


def engine_for(memory: int = ENOUGH, **how: Any) -> StreamEngine:
    return StreamEngine(CpuLeaf(2), memory, page_bytes=PAGE, whole=CpuEngine(2), **how)


# ---- the same answers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("form", ["plain", "packed"])
def test_every_algorithm_gives_what_it_gives_of_a_graph_that_was_read(name: str, form: str, tmp_path: Path) -> None:
    graph = simple_graph()
    write(graph, tmp_path / "g.drm", compress=form == "packed")
    file = dr.open(tmp_path / "g.drm")
    expected = CALLS[name](graph, device="cpu", threads=2)
    for call in range(2):
        found = CALLS[name](file, memory=ENOUGH, device="cpu", threads=2)
        assert found.device == "cpu"
        assert bool(found.trace.read) == (call == 0)
        agrees(name, found, expected)


@pytest.mark.parametrize("kind", [type(program) for program in programs.examples(3)], ids=lambda kind: kind.__name__)
def test_programs_move_into_memory_after_any_superstep(
    kind: type[Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over_pages_first: None
) -> None:
    """A search that stays over pages, and one that moves after its first or second superstep, agree."""
    monkeypatch.setattr(whole, "begins_with_all", lambda typed: False)
    for seed, directed in ((11, False), (12, True)):
        graph = many_pages(seed, directed)
        program = next(p for p in programs.examples(graph.num_vertices) if type(p) is kind)
        (folder := tmp_path / str(seed)).mkdir()
        expected, _ = run(program, graph, None, engine=CpuEngine(2))
        for after in (1, 2):
            file = stored(graph, folder)
            monkeypatch.setattr(whole.Mover, "pays", lambda self, execution, stats, n=after: stats.superstep >= n)
            found = dr.run(program, file, device=engine_for())
            for field in expected:
                if field != "parent":
                    np.testing.assert_allclose(found[field], expected[field], rtol=1e-5, err_msg=f"{program} {field}")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_in_memory_and_moving_there(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over_pages_first: None
) -> None:
    graph = many_pages(seed, directed=seed % 2 == 0)
    monkeypatch.setattr(whole.Mover, "pays", lambda self, execution, stats: stats.superstep >= 1 + seed % 3)
    check_random(seed, graph, lambda program: (stored(graph, tmp_path), engine_for()), loose=10.0)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_products_of_a_directed_graph_and_its_transpose(weight: str | None, tmp_path: Path) -> None:
    graph = random_graph(5)
    found = dr.hits(stored(graph, tmp_path), weight=weight, memory=ENOUGH, device="cpu")
    expected = dr.hits(graph, weight=weight, device="cpu")
    assert found.device == "cpu"
    assert {row.phase for row in found.trace} == {"product", "lanczos"}
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("form", ["directed", "weightless", "reversed"])
def test_views_of_a_kept_graph_are_views_of_the_store(form: str, tmp_path: Path) -> None:
    graph = random_graph(5)
    file = stored(graph, tmp_path)
    dr.sssp(file, SOURCE, memory=ENOUGH)
    kept = file.kept_graph.graph
    assert kept is not None
    view: Callable[[dr.Graph], dr.Graph] = {
        "directed": lambda g: g, "weightless": lambda g: g.with_weights(None), "reversed": lambda g: g.transpose,
    }[form]  # fmt: skip
    found = dr.sssp(view(file), SOURCE, memory=ENOUGH)
    assert (found.device, found.trace.read) == ("cpu", 0)
    np.testing.assert_array_equal(found.distance, dr.sssp(view(graph), SOURCE, device="cpu").distance)
    assert file.kept_graph.graph is kept


# ---- when ----------------------------------------------------------------------------------------------------------


def test_a_search_stays_over_pages_until_it_has_read_half_of_the_graph(tmp_path: Path, over_pages_first: None) -> None:
    graph = dr.generators.rmat(14, 16, seed=2)
    file = stored(graph, tmp_path)
    size = file.num_arcs * 4
    thin = dr.bfs(file, int(np.flatnonzero(file.out_degree)[0]), depth_limit=1, memory=ENOUGH)
    assert (thin.device, file.kept_graph.graph) == ("cpu, streamed", None)
    assert thin.trace.read < size // 2
    devices = [dr.bfs(file, SOURCE, memory=ENOUGH).device for _ in range(3)]
    assert devices == ["cpu, streamed", "cpu", "cpu"]
    assert dr.bfs(file, SOURCE, memory=ENOUGH).trace.read == 0


def test_a_search_of_many_supersteps_moves_on_the_way(tmp_path: Path, over_pages_first: None) -> None:
    graph = dr.generators.grid(60, 60)
    file = stored(graph, tmp_path)
    found = dr.bfs(file, 0, memory=ENOUGH, device="cpu")
    np.testing.assert_array_equal(found.level, dr.bfs(graph, 0, device="cpu").level)
    reading = [row for row in found.trace if row.path == "read"]
    assert [row.supersteps for row in reading] == [0]
    assert found.trace.supersteps == found.trace[-1].superstep + found.trace[-1].supersteps == 119
    assert found.trace.read == sum(row.read for row in found.trace)
    assert "memory= holds the graph" in reading[0].reason
    assert "read" not in found.trace.paths
    assert found.device == "cpu, streamed"


def test_a_limit_of_supersteps_holds_across_a_move(tmp_path: Path, over_pages_first: None) -> None:
    graph = dr.generators.grid(60, 60)
    file = stored(graph, tmp_path)
    for depth in (1, 20, 70):
        found = dr.bfs(stored(graph, tmp_path), 0, depth_limit=depth, memory=ENOUGH, device="cpu")
        np.testing.assert_array_equal(found.level, dr.bfs(graph, 0, depth_limit=depth, device="cpu").level)
    assert file.kept_graph.graph is None


@pytest.mark.parametrize("how", [{"path": "sync-pull-td"}, {"device": "numpy"}, {"checkpoint": "saved"}])
def test_runs_that_stay_over_pages(how: dict[str, Any], tmp_path: Path) -> None:
    file = stored(simple_graph(), tmp_path)
    if "checkpoint" in how:
        how = {"checkpoint": tmp_path / "saved"}
    found = dr.pagerank(file, weight=None, memory=ENOUGH, **how)
    assert found.device.endswith(", streamed")
    assert file.kept_graph.graph is None


def test_in_edges_that_a_store_lacks_are_made_in_memory_if_there_is_room(tmp_path: Path) -> None:
    graph = dr.Graph.from_edges(*np.random.default_rng(1).integers(0, 50_000, (2, 400_000)), num_vertices=50_000)
    file = stored(graph, tmp_path, transpose=False)
    expected = dr.pagerank(graph, device="cpu").rank
    for memory, device in ((ENOUGH, "cpu"), (36 << 20, "cpu, streamed")):
        found = dr.pagerank(file, memory=memory)
        assert found.device == device
        np.testing.assert_allclose(found.rank, expected, rtol=1e-9)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.drm"]


# ---- the budget ----------------------------------------------------------------------------------------------------


def test_the_least_budget_that_holds_the_graph(tmp_path: Path) -> None:
    """One byte less, and the run is over pages and keeps nothing of an earlier call."""
    file = stored(dr.generators.rmat(14, 16, seed=2), tmp_path)
    low, high = 1 << 20, ENOUGH
    assert dr.connected_components(file, memory=high).device == "cpu"
    while high - low > 1:
        middle = (low + high) // 2
        engine = StreamEngine(CpuLeaf(2), middle, whole=CpuEngine(2))
        found = dr.connected_components(file, device=engine).device
        low, high = (low, middle) if found == "cpu" else (middle, high)
    assert high > kernel_bytes("components", file, 2, {}) + 12 * file.num_vertices + 4 * file.num_arcs
    assert dr.connected_components(file, memory=high).device == "cpu"
    assert file.kept_graph.nbytes >= 4 * file.num_arcs
    assert dr.connected_components(file, memory=high - 1).device == "cpu, streamed"
    assert file.kept_graph.nbytes == 0


def test_a_program_that_needs_more_than_the_kernel_before_it_runs_over_pages(tmp_path: Path) -> None:
    file = stored(dr.generators.rmat(14, 16, seed=2), tmp_path)
    held = file.num_arcs * 4 + file.num_vertices * 32
    memory = whole.FIXED + held + (2 << 20)
    assert dr.connected_components(file, memory=memory).device == "cpu"
    found = dr.pagerank(file, memory=memory)  # sorts its arcs, which takes as much as the graph again
    assert found.device == "cpu, streamed"
    assert file.kept_graph.graph is None


@pytest.mark.parametrize("name", ["sample_neighbors", "label_propagation", "bfs"])
def test_a_call_within_a_smaller_budget_releases_the_graph(name: str, tmp_path: Path) -> None:
    file = stored(simple_graph(), tmp_path)
    dr.pagerank(file, memory=ENOUGH)
    assert file.kept_graph.graph is not None
    {
        "sample_neighbors": lambda: dr.sample_neighbors(file, [1, 2], [3], memory="8M"),
        "label_propagation": lambda: dr.label_propagation(file, memory="8M"),
        "bfs": lambda: dr.bfs(file, SOURCE, memory="8M"),
    }[name]()
    assert file.kept_graph.graph is None


def test_what_engines_keep_with_the_graph_is_released_when_a_budget_has_no_room_for_it(tmp_path: Path) -> None:
    """Sorted arcs, after PageRank; the arrays of the graph stay."""
    file = stored(dr.generators.rmat(14, 16, seed=2), tmp_path)
    with blocks_on_any_graph():
        dr.pagerank(file, memory=ENOUGH)
    first = file.kept_graph.graph
    assert first is not None
    assert sum(file.kept_graph.derived.values()) >= 4 * file.num_arcs
    dr.connected_components(file, memory=ENOUGH)
    assert file.kept_graph.graph is first
    tight = whole.FIXED + 5 * file.num_arcs + 64 * file.num_vertices
    assert dr.connected_components(file, memory=tight).trace.read == 0
    again = file.kept_graph.graph
    assert again is not None
    assert again is not first
    assert np.shares_memory(again.targets, first.targets)
    assert not file.kept_graph.derived


def test_arcs_are_sorted_once_within_the_least_budget_that_holds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run needs includes them, so there is nothing to release for the next run."""
    file, made = stored(dr.generators.rmat(14, 16, seed=2), tmp_path), []
    make = arc_blocks._made
    monkeypatch.setattr(arc_blocks, "_made", lambda *args: made.append(1) or make(*args))
    memory = whole.FIXED + 9 * file.num_arcs
    with blocks_on_any_graph():
        while file.kept_graph.graph is None:
            memory += 64 << 10
            dr.pagerank(file, memory=memory)
        assert len(made) == 1
        assert dr.pagerank(file, memory=memory).trace.read == 0
    assert len(made) == 1


def test_a_budget_too_small_for_anything_is_refused_as_before(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match=r"memory=1000.*too little: this run needs"):
        dr.pagerank(stored(simple_graph(), tmp_path), memory=1000)


def test_a_graph_that_is_released_takes_what_was_read_along(tmp_path: Path) -> None:
    file = stored(simple_graph(), tmp_path)
    dr.pagerank(file, memory=ENOUGH)
    kept = weakref.ref(file.kept_graph.graph)
    del file
    gc.collect()
    assert kept() is None


def test_a_directed_graph_is_released_at_once(tmp_path: Path) -> None:
    """It and its transpose refer to each other: a run over pages would hold them until garbage is collected."""
    file = stored(random_graph(1), tmp_path)
    dr.pagerank(file, memory=ENOUGH)
    graph = file.kept_graph.graph
    assert graph is not None
    assert graph.known_transpose is not None
    gone = [weakref.ref(graph), weakref.ref(graph.known_transpose)]
    del graph
    gc.collect()  # of what ran before
    gc.disable()
    try:
        file.make_room()
        assert [each() for each in gone] == [None, None]
    finally:
        gc.enable()


def test_what_was_freed_before_is_given_back_before_a_run_over_pages(tmp_path: Path) -> None:
    file, kept = stored(simple_graph(), tmp_path), list[int]()
    del (unused := [reused_empty(1 << 22, np.uint8)])[:]
    assert unused == []
    assert kept_bytes() >= 1 << 22
    dr.bfs(file, SOURCE, memory="8M", progress=lambda done, total: kept.append(kept_bytes()))
    assert max(kept) < 1 << 22


# ---- faults --------------------------------------------------------------------------------------------------------


def test_a_damaged_page_is_found_while_the_graph_is_read(tmp_path: Path) -> None:
    file = stored(simple_graph(), tmp_path)
    engine = engine_for(opener=lambda origin: FaultyFile(origin, flip_in_page(file, 1)))
    with no_thread_stays(), pytest.raises(CorruptFileError, match=r"section targets.*page"):
        dr.pagerank(file, device=engine)
    assert file.kept_graph.graph is None


def test_a_target_out_of_range_is_found_while_the_graph_is_read(tmp_path: Path) -> None:
    """The checksum is that of the wrong id: only the comparison with the number of vertices can find it."""
    graph = simple_graph()
    targets = graph.targets.copy()
    targets[17] = graph.num_vertices
    bad = dr.Graph._make(graph.offsets, targets, flags=graph._flags)
    write(bad, tmp_path / "bad.drm", chunk_bytes=PAGE)
    file = dr.open(tmp_path / "bad.drm")
    with pytest.raises(CorruptFileError):
        dr.pagerank(file, memory=ENOUGH)
    assert file.kept_graph.graph is None


@pytest.mark.parametrize("fault", ["truncated", "replaced", "removed"])
def test_a_store_that_changed_is_refused_although_its_graph_is_kept(fault: str, tmp_path: Path) -> None:
    file = stored(simple_graph(), tmp_path)
    path = tmp_path / "graph.drm"
    dr.pagerank(file, memory=ENOUGH)
    if fault == "truncated":
        with open(path, "r+b") as store:
            store.truncate(path.stat().st_size - PAGE)
    elif fault == "removed":
        path.unlink()
    else:
        write(simple_graph(4), tmp_path / "other.drm")
        (tmp_path / "other.drm").replace(path)
    with pytest.raises(FileError, match=r"graph\.drm"):
        dr.pagerank(file, memory=ENOUGH)


def test_ctrl_c_while_a_graph_is_read_leaves_nothing(tmp_path: Path) -> None:
    file = stored(dr.generators.rmat(14, 16, seed=2), tmp_path)

    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with no_thread_stays(), pytest.raises(KeyboardInterrupt):
        dr.pagerank(file, memory=ENOUGH, progress=interrupt)
    assert file.kept_graph.graph is None
    assert dr.pagerank(file, memory=ENOUGH).trace.read > 0


def test_nothing_is_read_twice_when_a_run_moves(tmp_path: Path, over_pages_first: None) -> None:
    graph = dr.generators.grid(80, 80)
    file, opened = stored(graph, tmp_path), []

    def opener(origin: Any) -> CountingFile:
        opened.append(CountingFile(origin))
        return opened[-1]

    found = dr.bfs(file, 0, device=engine_for(opener=opener))
    section = file.header.section("targets")
    assert section is not None
    assert any(row.path == "read" for row in found.trace)
    assert found.trace.read <= section.nbytes + 2 * PAGE
    assert sum(size for each in opened for _, size in each.reads) <= section.nbytes + 2 * PAGE


def test_threads_share_what_is_kept(tmp_path: Path) -> None:
    file, graph = stored(simple_graph(), tmp_path), simple_graph()
    expected = dr.bfs(graph, SOURCE, device="cpu").level
    wrong: list[str] = []

    def search(memory: int) -> None:
        for _ in range(5):
            found = dr.bfs(file, SOURCE, memory=memory, device="cpu", threads=1)
            if (found.level != expected).any():
                wrong.append(found.device)

    team = [threading.Thread(target=search, args=(memory,)) for memory in (ENOUGH, ENOUGH, 8 << 20)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    assert not wrong


def test_threads_read_a_graph_once_while_others_release_it(tmp_path: Path) -> None:
    file, graph = stored(simple_graph(), tmp_path), simple_graph()
    expected = dr.bfs(graph, SOURCE, device="cpu").level
    section = file.header.section("targets")
    assert section is not None
    begin, over = threading.Barrier(4), threading.Event()
    read, released, errors = list[int](), list[int](), list[BaseException]()

    def search(calls: int) -> None:
        try:
            begin.wait()
            for _ in range(calls):
                found = dr.bfs(file, SOURCE, memory=ENOUGH, device="cpu", threads=1)
                read.append(found.trace.read)
                np.testing.assert_array_equal(found.level, expected)
        except BaseException as error:
            errors.append(error)

    def release() -> None:
        try:
            while not over.is_set():
                file.make_room()
                released.append(1)
        except BaseException as error:
            errors.append(error)

    for others, calls in ((0, 1), (1, 20)):  # at first nobody releases the graph
        read.clear()
        over.clear()
        file.make_room()
        team = [threading.Thread(target=search, args=(calls,)) for _ in range(4)]
        releasing = [threading.Thread(target=release) for _ in range(others)]
        for thread in team + releasing:
            thread.start()
        for thread in team:
            thread.join()
        over.set()
        for thread in releasing:
            thread.join()
        assert not errors
        assert bool(released) == bool(others)
        assert others or sorted(read) == [0, 0, 0, section.nbytes]


def test_a_mapped_graph_is_read_once_in_a_call_of_many_programs(tmp_path: Path) -> None:
    write(simple_graph(), tmp_path / "g.drm")
    mapped = dr.read(tmp_path / "g.drm")
    found = dr.hits(mapped, weight=None, memory=ENOUGH, device="cpu")
    assert found.trace.read == mapped.targets.nbytes
    agrees("hits", found, dr.hits(simple_graph(), weight=None, device="cpu"))


@pytest.mark.parametrize("budget", [ENOUGH, 9 << 20])
@pytest.mark.parametrize("name", CALLS)
def test_every_algorithm_takes_a_mapped_graph_within_a_budget(name: str, budget: int, tmp_path: Path) -> None:
    """Many of them leave out the weights of the file, or read the transpose: those are other graphs on the same map."""
    write(simple_graph(), tmp_path / "g.drm")
    mapped = dr.read(tmp_path / "g.drm")
    found = CALLS[name](mapped, memory=budget, device="cpu")
    compare = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-5)  # where an iteration stops
    for field, values in CALLS[name](simple_graph(), device="cpu").items():
        if field != "parent":
            compare(found[field], values, err_msg=f"{name}: {field}")


@pytest.mark.parametrize("transposed", [False, True])
def test_a_mapped_directed_graph_is_recognised_in_both_directions(transposed: bool, tmp_path: Path) -> None:
    graph = dr.generators.rmat(9, 8, seed=2, weights=(1, 9), dedupe=True, symmetrize=False)
    assert graph.directed
    write(graph, tmp_path / "g.drm", transpose=transposed)
    mapped = dr.read(tmp_path / "g.drm")
    found = dr.hits(mapped, weight=None, memory=ENOUGH, device="cpu")
    assert found.trace.read == (1 + transposed) * mapped.targets.nbytes
    agrees("hits", found, dr.hits(graph, weight=None, device="cpu"))
    assert rows_of(mapped.with_weights(None)) == rows_of(mapped)._replace(weighted=False)  # type: ignore[union-attr]
    other = rows_of(mapped.transpose)
    assert (None if other is None else other.prefix) == ("transpose_" if transposed else None)
    assert rows_of(mapped.with_weights(np.ones(mapped.num_arcs))) is None


def test_what_is_derived_from_a_mapped_graph_in_memory_is_refused_within_a_budget(tmp_path: Path) -> None:
    graph = dr.generators.rmat(8, 8, seed=2, symmetrize=False)
    write(graph, tmp_path / "g.drm")
    mapped = dr.read(tmp_path / "g.drm")
    with pytest.raises(InvalidArgumentError, match=r"use dr\.open\(path\) in place of dr\.read\(path\)"):
        dr.core_numbers(mapped, memory=ENOUGH)


def test_a_graph_read_from_a_file_that_changed_is_refused_within_a_budget(tmp_path: Path) -> None:
    file = tmp_path / "g.drm"
    write(simple_graph(), file)
    graph = dr.read(file, mmap=False)
    write(simple_graph(4), file)
    with pytest.raises(FileError, match="was changed, replaced or removed after the graph was opened"):
        dr.bfs(graph, SOURCE, memory=ENOUGH)


def test_progress_does_not_go_back_when_a_run_moves(tmp_path: Path, over_pages_first: None) -> None:
    file, done = stored(dr.generators.grid(80, 80), tmp_path), list[int]()
    found = dr.bfs(file, 0, memory=ENOUGH, device="cpu", progress=lambda at, total: done.append(at))
    assert any(row.path == "read" for row in found.trace)
    assert done == sorted(done)
    assert done[-1] > 0
