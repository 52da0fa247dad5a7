"""Graphs on disk on a GPU: pages pass through its memory, and the first ones stay there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.cuda.part import CudaLeaf
from dromos.errors import CorruptFileError, FileError, ResourceError
from dromos.graph import Graph
from dromos.places.stream import StreamEngine
from dromos.program import Program
from dromos.runner import devices
from tests.stream.stores import PAGE, FaultyFile, input_error, random_graph, stored
from tests.stream.test_algorithms import ALGORITHMS, UNDIRECTED, weighted
from tests.stream.test_programs import KINDS, check_kind, check_random, many_pages

pytestmark = pytest.mark.gpu

_BUFFERS = 256 << 10  # the least for copies of pages: three buffers of 2,048 arcs with weights
_VERTEX = 100


def gpu_stream(graph: Graph, arcs: int, **how: Any) -> StreamEngine:
    """The engine with room on the GPU for about so many arcs."""
    room = max(8 * arcs + _BUFFERS, 4 * _BUFFERS // 3)
    host = how.pop("memory", 1 << 30)
    return StreamEngine(CudaLeaf(0, _VERTEX * graph.num_vertices + room), host, page_bytes=PAGE, **how)


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small graphs stay on disk, as if the host had no room for them."""
    monkeypatch.setattr(devices, "_outgrows_host", lambda *given: True)


@pytest.mark.parametrize("arcs", [0, 3000, 1 << 20], ids=["none stay", "some stay", "all stay"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_program_is_the_program_in_memory(kind: type[Program], arcs: int, tmp_path: Path) -> None:
    check_kind(kind, tmp_path, lambda program, graph, file: gpu_stream(graph, arcs), loose=10)


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    graph = many_pages(seed, directed=seed % 2 == 0)
    file = stored(graph, tmp_path)
    check_random(seed, graph, lambda program: (file, gpu_stream(graph, 1500)), loose=100)


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_public_algorithms(name: str, directed: bool, tmp_path: Path) -> None:
    call, field = ALGORITHMS[name]
    if directed and name in UNDIRECTED:
        pytest.skip("needs every edge in both directions")
    graph = weighted(directed)
    found = call(stored(graph, tmp_path), device="cuda", memory="1M")
    assert "streamed" in found.device
    np.testing.assert_allclose(found[field], call(graph, device="numpy")[field], rtol=1e-5, atol=1e-7)


OTHERS: dict[str, Callable[..., Any]] = {
    "triangles": lambda g, **how: dr.triangles(g, **how).triangles,
    "clustering": lambda g, **how: dr.clustering(g, **how).clustering,
    "label_propagation": lambda g, **how: dr.label_propagation(g, max_iter=3, **how).label,
    "distances": lambda g, **how: dr.distances(g, [1, 5, 9], **how).distance,
    "closeness": lambda g, **how: dr.closeness(g, k=20, seed=1, **how).centrality,
}


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_program_runs_on_the_host(name: str, tmp_path: Path) -> None:
    graph = weighted(directed=False)
    found = OTHERS[name](stored(graph, tmp_path), device="cuda", memory="64M")
    np.testing.assert_allclose(found, OTHERS[name](graph, device="cpu"), rtol=1e-6)


@pytest.mark.usefixtures("on_disk")
def test_the_result_names_what_computed_it(tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    assert dr.triangles(file, device="cuda", memory="64M").device == "cpu, streamed"
    assert dr.connected_components(file, device="cuda", memory="64M").device == "cpu, streamed"
    assert dr.pagerank(file, device="cuda", memory="64M").device == "cuda, streamed"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Graph, Path]:
    """Some 3 million arcs in an order of degrees, in plain pages and in packs."""
    graph = dr.generators.rmat(17, 16, seed=3, dedupe=True, drop_self_loops=True)
    graph = dr.generators.with_random_weights(graph, 1, 99, seed=2).relabel_by_degree().graph
    folder = tmp_path_factory.mktemp("large")
    dr.write(graph, folder / "plain.drm")
    dr.write(graph, folder / "packed.drm", compress=True)
    return graph, folder


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_large_graph(share: float, packed: bool, large: tuple[Graph, Path]) -> None:
    graph, folder = large
    file = dr.open(folder / ("packed.drm" if packed else "plain.drm"))
    memory = int(_VERTEX * graph.num_vertices + (4 << 20) + share * 1.5 * 8 * graph.num_arcs)

    def engine() -> StreamEngine:
        return StreamEngine(CudaLeaf(0, memory), 200 << 20)

    source = int(np.argsort(graph.out_degree)[-500])
    found = dr.bfs(file, source, device=engine())
    assert found.level.tolist() == dr.bfs(graph, source, device="cpu").level.tolist()
    np.testing.assert_array_equal(
        dr.sssp(file, source, device=engine()).distance, dr.sssp(graph, source, device="cpu").distance
    )
    np.testing.assert_array_equal(
        dr.connected_components(file, device=engine()).label, dr.connected_components(graph, device="cpu").label
    )
    how: dict[str, Any] = {"max_iter": 5, "tol": 0, "on_limit": "return"}
    ranks = dr.pagerank(file, device=engine(), **how)
    np.testing.assert_allclose(ranks.rank, dr.pagerank(graph, device="cpu", **how).rank, rtol=1e-6)
    first, *others = [row.read for row in ranks.trace]
    assert first > 0
    assert all(read == 0 for read in others) or share < 1
    assert "kernels" in str(ranks.trace[0].parts)


@pytest.mark.usefixtures("on_disk")
def test_budgets_that_are_too_small_are_refused_with_what_suffices(tmp_path: Path) -> None:
    file = stored(random_graph(3, vertices=3000, arcs=60_000), tmp_path)
    with pytest.raises(ResourceError, match="of the GPU's memory is too little"):
        dr.bfs(file, 5, device="cuda", memory="100k")
    with pytest.raises(ResourceError, match="are needed to copy pages there"):
        dr.bfs(file, 5, device="cuda", memory=_VERTEX * 3000 + 1000)
    with pytest.raises(ResourceError, match="host_memory=1M is too little: this run needs") as caught:
        dr.bfs(file, 5, device="cuda", memory="1M", host_memory="1M")
    assert dr.bfs(file, 5, device="cuda", memory="1M", host_memory=caught.value.needed).level[5] == 0
    with pytest.raises(ResourceError, match="host_memory=1k is too little"):
        dr.triangles(stored(random_graph(3, directed=False), tmp_path), device="cuda", host_memory="1k")


def test_a_graph_that_fits_the_host_stays_there(tmp_path: Path) -> None:
    file = stored(random_graph(3), tmp_path)
    assert dr.bfs(file, 5, device="cuda", memory="64M", host_memory="1G").device == "cuda"
    assert devices.engine_for("cuda", None, file, memory="40k", host_memory="1k").name == "cuda, streamed"


@pytest.mark.parametrize("arcs", [0, 1 << 20])
def test_damage_and_disks_that_fail(arcs: int, tmp_path: Path) -> None:
    graph = random_graph(6, directed=False)
    file = stored(graph, tmp_path)
    section = file.header.section("targets")
    assert section is not None
    late = section.offset + section.nbytes // 2 // PAGE * PAGE

    def flip(buffer: Array, position: int) -> None:
        if position <= late < position + len(buffer):
            buffer[late - position + 5] ^= 16

    def fail(buffer: Array, position: int) -> None:
        if position + len(buffer) > late:
            input_error(memoryview(buffer), position)

    for fault, error in ((flip, CorruptFileError), (fail, FileError)):
        engine = gpu_stream(graph, arcs, opener=lambda origin, fault=fault: FaultyFile(origin, fault))
        with pytest.raises(error):
            dr.pagerank(file, device=engine)
    assert dr.bfs(file, 7, device=gpu_stream(graph, arcs)).level[7] == 0  # the GPU is as it was


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    graph = random_graph(8, directed=False)
    file = stored(graph, tmp_path)
    how: dict[str, Any] = {"max_iter": 6, "tol": 0, "on_limit": "return"}
    saving: dict[str, Any] = {"checkpoint": tmp_path / "saved", "checkpoint_every": 0.0}

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dr.pagerank(file, device=gpu_stream(graph, 2000), progress=stop, **how, **saving)
    resumed = dr.pagerank(file, device=gpu_stream(graph, 2000), **how, **saving)
    np.testing.assert_allclose(resumed.rank, dr.pagerank(graph, device="numpy", **how).rank, rtol=1e-6)
