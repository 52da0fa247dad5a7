"""Samples, walks, similar vertices and sums over arcs on disk: identical to the results in memory, to the last bit."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms.sample_neighbors import NeighborSample
from dromos.dtypes import Array
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import ArcsOnDiskError, CorruptFileError, FileError, InvalidArgumentError, ResourceError
from dromos.graph import build_small
from dromos.graph.store import stripe_store, write
from dromos.places.stream import StreamEngine, budget
from tests.algorithms.support import examples, graphs
from tests.stream.stores import PAGE, FaultyFile, input_error, no_thread_stays, random_graph, reading_threads, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

DATA = Path(__file__).parents[1] / "data"


def tiny(memory: int | None = 8 << 20, **more: Any) -> StreamEngine:
    return StreamEngine(CpuLeaf(2), memory, page_bytes=PAGE, **more)


def opened(graph: dr.Graph, folder: Path, *, compress: bool, name: str = "g") -> dr.StoredGraph:
    packs: dict[str, Any] = {"compress": True, "pack_arcs": 256} if compress else {}
    write(graph, folder / f"{name}.drm", transpose=True, chunk_bytes=PAGE, **packs)
    return dr.open(folder / f"{name}.drm")


def same_samples(found: NeighborSample, expected: NeighborSample) -> None:
    assert found.vertices.tobytes() == expected.vertices.tobytes()
    assert (found.num_seeds, found.fanouts, len(found.blocks)) == (
        expected.num_seeds, expected.fanouts, len(expected.blocks)
    )  # fmt: skip
    for ours, theirs in zip(found.blocks, expected.blocks, strict=True):
        assert ours.source.tobytes() == theirs.source.tobytes()
        assert ours.target.tobytes() == theirs.target.tobytes()


def same_fields(found: dr.Result, expected: dr.Result) -> None:
    assert list(found) == list(expected)
    for name in expected:
        assert found[name].dtype == expected[name].dtype, name
        assert found[name].shape == expected[name].shape, name
        assert found[name].tobytes() == expected[name].tobytes(), name


def same_numbers(found: dr.Result, expected: dr.Result) -> None:
    same_fields(found, expected)
    assert np.float64(found).tobytes() == np.float64(expected).tobytes()  # type: ignore[arg-type]


# ---- samples -------------------------------------------------------------------------------------------------------


@examples(25)
@given(
    graph=graphs(low=1, high=9, weights=(1.0, 2.0)), seed=st.integers(0, 5),
    fanouts=st.lists(st.sampled_from((1, 2, 3, 2**70)), max_size=3), compress=st.booleans(),
)  # fmt: skip
def test_samples_of_any_graph(
    graph: dr.Graph, seed: int, fanouts: list[int], compress: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = opened(graph, tmp_path_factory.mktemp("samples"), compress=compress)
    seeds = np.arange(0, graph.num_vertices, 2)[::-1]
    expected = dr.sample_neighbors(graph, seeds, fanouts, seed)
    same_samples(dr.sample_neighbors(file, seeds, fanouts, seed, device=tiny()), expected)
    same_samples(dr.sample_neighbors(file, seeds, fanouts, seed, memory="64M"), expected)


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_samples_from_pages_that_come_and_go(directed: bool, compress: bool, tmp_path: Path) -> None:
    graph = random_graph(1, vertices=900, arcs=60_000, directed=directed)
    file = opened(graph, tmp_path, compress=compress)
    least = needed_by(lambda engine: dr.sample_neighbors(file, [0], [1], device=engine))
    for engine in (tiny(least), tiny(least + 6 * PAGE), tiny(None)):
        for seed in range(4):
            seeds = np.random.default_rng(seed).permutation(900)[:20]
            found = dr.sample_neighbors(file, seeds, [5, 60, 4], seed, device=engine)
            same_samples(found, dr.sample_neighbors(graph, seeds, [5, 60, 4], seed))
    assert found.device == "cpu, streamed"
    with pytest.raises(ArcsOnDiskError):
        found.verify()


def needed_by(call: Callable[[StreamEngine], Any]) -> int:
    """The least budget of a call."""
    with pytest.raises(ResourceError, match="is too little") as caught:
        call(tiny(1000))
    assert caught.value.needed is not None
    return caught.value.needed


def in_order_of_degrees(graph: dr.Graph, file: Path, **options: Any) -> None:
    """A store whose vertices have their old ids, or labels, as labels."""
    dr.write(graph.relabel_by_degree(named=True).graph, file, **options)


@pytest.mark.parametrize("order", ["input", "degree"])
def test_samples_of_a_real_graph_by_labels(order: str, tmp_path: Path) -> None:
    wiki = dr.read(DATA / "wiki-Vote.txt.gz", directed=True)
    (dr.write if order == "input" else in_order_of_degrees)(wiki, tmp_path / "wiki.drm", transpose=True)
    mapped, file = dr.read(tmp_path / "wiki.drm"), dr.open(tmp_path / "wiki.drm")
    names = list(range(60)) if wiki.labels is None else wiki.labels.to_numpy()[:60].tolist()
    expected = dr.sample_neighbors(mapped, names, [10, 10], 7)
    same_samples(dr.sample_neighbors(file, names, [10, 10], 7, memory="32M"), expected)
    assert len(expected.vertices) > 100


def test_a_second_call_reads_what_the_first_did_not(tmp_path: Path) -> None:
    graph = random_graph(2, arcs=40_000)
    file, engine = opened(graph, tmp_path, compress=False), tiny(64 << 20)
    read = []
    for _ in range(3):
        dr.sample_neighbors(file, [1, 2, 3], [20, 20], 5, device=engine)
        (reader,) = file.kept_reader._held
        read.append(reader.bytes_read)  # type: ignore[attr-defined]
    assert read[0] == read[1] == read[2] > 0
    dr.sample_neighbors(file.with_weights(None), [1, 2, 3], [20, 20], 5, device=engine)  # a view shares the reader
    assert file.kept_reader._held == [reader]
    dr.sample_neighbors(file, [1], [2], device=tiny(65 << 20))  # another budget does not
    assert file.kept_reader._held != [reader]
    dr.bfs(file, 0, device=engine)  # its budget is for everything
    assert not file.kept_reader._held


def test_the_reader_ends_with_the_graph(tmp_path: Path) -> None:
    file = opened(random_graph(3), tmp_path, compress=False)
    before = reading_threads()
    dr.sample_neighbors(file, [1], [2], memory="64M")
    started = reading_threads() - before
    assert started
    del file
    for thread in started:
        thread.join(10)
    assert not any(thread.is_alive() for thread in started)


def test_threads_share_a_graph(tmp_path: Path) -> None:
    graph = random_graph(4)
    file, found = opened(graph, tmp_path, compress=True), dict[int, NeighborSample]()

    def draw(seed: int) -> None:
        found[seed] = dr.sample_neighbors(file, [seed, 7], [30, 5], seed, memory="64M")

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(6):
        same_samples(found[seed], dr.sample_neighbors(graph, [seed, 7], [30, 5], seed))


def _drawn_in_child(file: dr.StoredGraph, answers: Any) -> None:
    answers.put(dr.sample_neighbors(file, [1, 7], [30, 5], 1, memory="64M").vertices)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_worker_reads_for_itself(tmp_path: Path) -> None:
    graph = random_graph(5)
    file = opened(graph, tmp_path, compress=False)
    dr.sample_neighbors(file, [1], [2], memory="64M")  # threads that a forked child does not have
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_drawn_in_child, args=(file, answers))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert np.array_equal(answers.get(), dr.sample_neighbors(graph, [1, 7], [30, 5], 1).vertices)
    assert dr.sample_neighbors(file, [1], [2], memory="64M").num_seeds == 1


def test_a_layer_that_does_not_fit_says_so(tmp_path: Path) -> None:
    graph = random_graph(6, arcs=60_000)
    file = opened(graph, tmp_path, compress=False)
    with pytest.raises(ResourceError, match=r"a layer of 60,000 edges takes .* fewer seeds") as caught:
        dr.sample_neighbors(file, range(400), [2**40], device=tiny(8 << 20))
    found = dr.sample_neighbors(file, range(400), [2**40], device=tiny(caught.value.needed))
    same_samples(found, dr.sample_neighbors(graph, range(400), [2**40]))


def test_in_edges_that_lack_are_made(tmp_path: Path) -> None:
    graph = random_graph(7)
    found = dr.sample_neighbors(stored(graph, tmp_path, transpose=False), [1, 2], [2])
    same_samples(found, dr.sample_neighbors(graph, [1, 2], [2]))


def test_a_mapped_graph_with_a_budget_is_told_to_be_opened(tmp_path: Path) -> None:
    mapped = stored(random_graph(8), tmp_path).load()
    with pytest.raises(InvalidArgumentError, match=r"leave memory out, or use dr\.open\(path\)"):
        dr.sample_neighbors(mapped, [1], [2], memory="64M")


# ---- modularity and assortativity ----------------------------------------------------------------------------------


@examples(25)
@given(graph=graphs(high=9, weights=(0.1, 0.3, 1e17, 2.0)), data=st.data(), compress=st.booleans(), plain=st.booleans())
def test_modularity_and_assortativity_of_any_graph(
    graph: dr.Graph, data: st.DataObject, compress: bool, plain: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = opened(graph, tmp_path_factory.mktemp("sums"), compress=compress)
    community = np.array([data.draw(st.integers(-2, 3)) for _ in range(graph.num_vertices)], np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_small, "is_preferred", lambda edges: plain)
        for weight in ("weight", None):
            expected = dr.modularity(graph, community, 0.7, weight)
            same_numbers(dr.modularity(file, community, 0.7, weight, device=tiny()), expected)
        same_numbers(dr.assortativity(file, device=tiny()), dr.assortativity(graph))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_rows_that_windows_cut_have_the_same_sums(
    directed: bool, compress: bool, plain: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    graph = random_graph(9, arcs=60_000, directed=directed)
    edges = graph.edges()
    weights = rng.random(len(edges.src)) * 10.0 ** rng.integers(-3, 9, len(edges.src))
    graph = dr.Graph.from_edges(edges.src, edges.dst, weights, num_vertices=400, directed=directed)
    assert int(graph.out_degree.max()) > 8 * PAGE // 4  # a row of many pages
    file, community = opened(graph, tmp_path, compress=compress), rng.integers(0, 4, 400)
    monkeypatch.setattr(build_small, "is_preferred", lambda edges: plain)
    with no_thread_stays():
        for call in (partial(dr.modularity, community=community), dr.assortativity):
            least = needed_by(lambda engine, call=call: call(file, device=engine))  # type: ignore[misc]
            for engine in (tiny(least), tiny(64 << 20)):
                same_numbers(call(file, device=engine), call(graph))  # type: ignore[operator]


@pytest.mark.parametrize("directed", [False, True])
def test_modularity_needs_no_transpose(directed: bool, tmp_path: Path) -> None:
    graph, community = random_graph(10, directed=directed), np.arange(400) % 5
    file = stored(graph, tmp_path, transpose=False)
    for weight in ("weight", None):
        same_numbers(dr.modularity(file, community, weight=weight), dr.modularity(graph, community, weight=weight))
    assert not list(tmp_path.glob("*.transpose-*"))
    same_numbers(dr.assortativity(file), dr.assortativity(graph))


def test_modularity_of_a_real_graph_by_labels_and_progress(tmp_path: Path) -> None:
    in_order_of_degrees(dr.read(DATA / "email-Enron.txt.gz", directed=False), tmp_path / "e.drm")
    mapped, file = dr.read(tmp_path / "e.drm"), dr.open(tmp_path / "e.drm")
    found = dr.louvain(mapped)
    told: list[tuple[int, int]] = []
    same_numbers(
        dr.modularity(file, found, memory="32M", progress=lambda done, total: told.append((done, total))),
        dr.modularity(mapped, found),
    )
    assert told[-1] == (file.num_arcs, file.num_arcs)
    same_numbers(dr.assortativity(file, memory="32M"), dr.assortativity(mapped))


# ---- walks ---------------------------------------------------------------------------------------------------------


@examples(25)
@given(
    graph=graphs(low=1, high=9, weights=(0.0, 0.5, 1.0, 3.0)), length=st.integers(0, 6), seed=st.integers(0, 5),
    bias=st.sampled_from(((1.0, 1.0), (0.5, 2.0), (4.0, 0.25), (1e-9, 1.0))), compress=st.booleans(),
)  # fmt: skip
def test_walks_on_any_graph(
    graph: dr.Graph,
    length: int,
    seed: int,
    bias: tuple[float, float],
    compress: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    file = opened(graph, tmp_path_factory.mktemp("walks"), compress=compress)
    for weight in ("weight", None):
        walk = partial(dr.random_walks, length=length, walks=3, p=bias[0], q=bias[1], seed=seed, weight=weight)
        same_fields(walk(file, device=tiny()), walk(graph))


def test_walks_whose_bias_accepts_hardly_any_draw(tmp_path: Path) -> None:
    """Their random numbers wrap around, one at a time, without a warning."""
    graph = dr.Graph.from_edges([0, 1], [1, 2], directed=True)
    file = opened(graph, tmp_path, compress=False)
    walk = partial(dr.random_walks, length=3, walks=40, p=1e-9, q=1.0, seed=1)
    same_fields(walk(file, device=tiny()), walk(graph))


@pytest.mark.parametrize("weight", ["weight", None])
@pytest.mark.parametrize("bias", [(1.0, 1.0), (0.5, 2.0)])
@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_walks_in_groups_whose_rows_fit(
    directed: bool, compress: bool, bias: tuple[float, float], weight: str | None, tmp_path: Path
) -> None:
    graph = random_graph(14, vertices=900, arcs=40_000, directed=directed)
    file = opened(graph, tmp_path, compress=compress)
    walk = partial(dr.random_walks, length=3, walks=1, p=bias[0], q=bias[1], seed=4, weight=weight)
    expected, told = walk(graph), list[tuple[int, int]]()
    least = needed_by(lambda engine: walk(file, device=engine))
    for engine in (tiny(least), tiny(64 << 20)):
        same_fields(walk(file, device=engine, progress=lambda done, total: told.append((done, total))), expected)
    assert told[-1] == (3, 3)
    assert len(told) == 6


def test_walks_of_rows_that_do_not_fit_say_so(tmp_path: Path) -> None:
    graph = dr.generators.star(60_000)
    weighted = graph.with_weights(np.ones(graph.num_arcs, np.float32))
    file = opened(weighted, tmp_path, compress=False)
    walk = partial(dr.random_walks, length=3, walks=2, sources=[5], seed=4)
    with pytest.raises(ResourceError, match="the longest row that a walk draws from by weights takes 2") as caught:
        walk(file, device=tiny(8 << 20))
    same_fields(walk(file, device=tiny(caught.value.needed)), walk(weighted))
    same_fields(walk(file, weight=None, device=tiny(8 << 20)), walk(weighted, weight=None))  # needs no whole row


def test_walks_by_labels(tmp_path: Path) -> None:
    in_order_of_degrees(dr.read(DATA / "wiki-Vote.txt.gz", directed=True), tmp_path / "w.drm", compress=True)
    mapped, file = dr.read(tmp_path / "w.drm"), dr.open(tmp_path / "w.drm")
    assert mapped.labels is not None
    names = mapped.labels.to_numpy()[:300].tolist()
    for bias in ((1.0, 1.0), (2.0, 0.5)):
        walk = partial(dr.random_walks, length=10, walks=2, sources=names, p=bias[0], q=bias[1])
        same_fields(walk(file, memory="32M"), walk(mapped))
        assert walk(file).to_pandas()["source"].tolist() == np.repeat(names, 2).tolist()


def test_walks_with_a_bias_need_rows_that_rise(tmp_path: Path) -> None:
    graph = dr.Graph.from_csr(np.array([0, 2, 3, 4]), np.array([2, 1, 0, 0]))
    file = stored(graph, tmp_path)
    same_fields(dr.random_walks(file, 5, 4, memory="64M"), dr.random_walks(graph, 5, 4))
    with pytest.raises(InvalidArgumentError, match="need rows sorted by id"):
        dr.random_walks(file, 5, p=2.0)
    with pytest.raises(InvalidArgumentError, match="is negative"):
        dr.random_walks(stored(dr.Graph.from_edges([0], [1], [-1.0]), tmp_path), 5)


# ---- similar vertices ----------------------------------------------------------------------------------------------


def once(graph: dr.Graph) -> dr.Graph:
    edges = graph.edges()
    return dr.Graph.from_edges(
        edges.src, edges.dst, num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True
    )


@examples(25)
@given(
    graph=graphs(low=1, high=9), metric=st.sampled_from(("jaccard", "overlap", "cosine")), k=st.integers(1, 9),
    compress=st.booleans(), work=st.sampled_from((1000, 4000, 1 << 20)),
)  # fmt: skip
def test_similar_vertices_of_any_graph(
    graph: dr.Graph, metric: str, k: int, compress: bool, work: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = once(graph)
    file = opened(graph, tmp_path_factory.mktemp("similar"), compress=compress)
    sources = [*range(0, graph.num_vertices, 2)][::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "_LEAST_WORK", work)
        patch.setattr(budget, "WORK_SHARE", 1 << 40)
        for given_sources in (None, sources):
            find = partial(dr.node_similarity, sources=given_sources, k=k, metric=metric)
            same_fields(find(file, device=tiny()), find(graph))


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_similar_vertices_in_groups(directed: bool, compress: bool, tmp_path: Path) -> None:
    """Some sources alone need more than there is room for: their neighbors' rows are counted in turn."""
    graph = once(random_graph(15, vertices=600, arcs=10_000, directed=directed))
    file = opened(graph, tmp_path, compress=compress)
    hubs = [int(degree.argmax()) for degree in (graph.out_degree, graph.in_degree)]
    sources = sorted({*range(0, 600, 4), *hubs})
    find = partial(dr.node_similarity, sources=sources, k=5, metric="cosine")
    expected = find(graph)
    done: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "_LEAST_WORK", 60_000)
        least = needed_by(lambda engine: find(file, device=engine))
        same_fields(find(file, device=tiny(least), progress=lambda at, total: done.append(at)), expected)
    assert done[-1] == len(sources)
    assert len(done) > 10
    same_fields(find(file, memory="64M"), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "_LEAST_WORK", 10_000)
        with pytest.raises(ResourceError, match="the row of one vertex takes"):
            find(file, device=tiny(least - 50_000))


def test_similar_vertices_by_labels(tmp_path: Path) -> None:
    in_order_of_degrees(dr.read(DATA / "wiki-Vote.txt.gz", directed=True), tmp_path / "w.drm", transpose=True)
    mapped, file = dr.read(tmp_path / "w.drm"), dr.open(tmp_path / "w.drm")
    assert mapped.labels is not None
    find = partial(dr.node_similarity, sources=mapped.labels.to_numpy()[::40].tolist())
    same_fields(find(file, memory="32M"), find(mapped))


def test_what_similarities_need(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="--dedupe"):
        dr.node_similarity(stored(random_graph(16), tmp_path), [1])
    graph = once(random_graph(16))
    found = dr.node_similarity(stored(graph, tmp_path, transpose=False), [1])
    same_fields(found, dr.node_similarity(graph, [1]))


# ---- errors --------------------------------------------------------------------------------------------------------

CALLS: dict[str, Callable[..., Any]] = {
    "sample_neighbors": lambda graph, **how: dr.sample_neighbors(graph, range(50), [20, 20], **how),
    "modularity": lambda graph, **how: dr.modularity(graph, np.arange(400) % 3, **how),
    "assortativity": dr.assortativity,
    "random_walks": lambda graph, **how: dr.random_walks(graph, 5, 2, **how),
    "node_similarity": dr.node_similarity,
    "louvain": dr.louvain,
    "leiden": dr.leiden,
    "walks with a bias": lambda graph, **how: dr.random_walks(graph, 5, 2, p=0.5, **how),
}


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_damaged_page_is_an_error_that_names_it(name: str, compress: bool, tmp_path: Path) -> None:
    file = opened(once(random_graph(11, directed=False)), tmp_path, compress=compress)
    section = file.header.section("targets")
    assert section is not None
    assert file.offsets[-1]  # before the damage

    def flip(buffer: Array, position: int) -> None:
        for at in range(section.offset, section.end, 1024):
            if position <= at < position + len(buffer):
                buffer[at - position] ^= 4

    with pytest.raises(CorruptFileError, match=r"g\.drm.*targets|targets.*damaged"):
        CALLS[name](file, device=tiny(opener=partial(FaultyFile, fault=flip)))
    with pytest.raises(FileError, match="Input/output"):
        CALLS[name](file, device=tiny(opener=partial(FaultyFile, fault=input_error)))
    CALLS[name](file, device=tiny())  # no trace of the error is left


@pytest.mark.parametrize("name", CALLS)
def test_a_file_that_changes_is_refused(name: str, tmp_path: Path) -> None:
    file = opened(once(random_graph(12, directed=False)), tmp_path, compress=False)
    CALLS[name](file, memory="64M")
    os.utime(file.origin.path, (1, 1))
    with pytest.raises(FileError, match="changed"):
        CALLS[name](file, memory="64M")


@pytest.mark.parametrize("name", CALLS)
def test_stripes(name: str, tmp_path: Path) -> None:
    graph = once(random_graph(13, directed=False))
    write(graph, tmp_path / "whole.drm", chunk_bytes=PAGE)
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    stripe_store(tmp_path / "whole.drm", tmp_path / "g.drm", folders, stripe_bytes=2 * PAGE)
    on = dr.open(tmp_path / "whole.drm") if name in ("louvain", "leiden") else graph  # others in memory
    found, expected = CALLS[name](dr.open(tmp_path / "g.drm"), memory="64M"), CALLS[name](on)
    if name == "sample_neighbors":
        same_samples(found, expected)
    else:
        same_fields(found, expected)
