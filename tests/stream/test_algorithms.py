"""The public algorithms on graphs on disk: the same answers as in memory, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos.engines.cuda.availability import is_available
from dromos.errors import DeviceError, InvalidArgumentError, MissingDependencyError, ResourceError
from tests.stream.stores import no_thread_stays, stored

NUMPY: dict[str, Any] = {"device": "numpy"}


def weighted(directed: bool, seed: int = 3) -> dr.Graph:
    draw = np.random.default_rng(seed)
    src, dst = draw.integers(0, 300, (2, 6000))
    return dr.Graph.from_edges(
        src, dst, draw.integers(1, 9, 6000).astype(np.float32),
        num_vertices=310, directed=directed, dedupe=True, drop_self_loops=True,
    )  # fmt: skip


ALGORITHMS: dict[str, tuple[Callable[..., dr.Result], str]] = {
    "bfs": (lambda g, **how: dr.bfs(g, 5, **how), "level"),
    "sssp": (lambda g, **how: dr.sssp(g, 5, **how), "distance"),
    "pagerank": (lambda g, **how: dr.pagerank(g, **how), "rank"),
    "unweighted pagerank": (lambda g, **how: dr.pagerank(g, weight=None, **how), "rank"),
    "unweighted sssp": (lambda g, **how: dr.sssp(g, 5, weight=None, **how), "distance"),
    "unweighted spmv": (lambda g, **how: dr.spmv(g, np.ones(g.num_vertices), weight=None, **how), "y"),
    "spmv": (lambda g, **how: dr.spmv(g, np.arange(310) / 8, **how), "y"),
    "spmv of the transpose": (lambda g, **how: dr.spmv(g, np.arange(310) / 8, transpose=True, **how), "y"),
    "degree_distribution": (lambda g, **how: dr.degree_distribution(g, **how), "count"),
    "strongly_connected_components": (lambda g, **how: dr.strongly_connected_components(g, **how), "label"),
    "neighbourhood_function": (lambda g, **how: dr.neighbourhood_function(g, registers=16, **how), "pairs"),
    "betweenness": (lambda g, **how: dr.betweenness(g, sources=[1, 2], **how), "centrality"),
    "edge_betweenness": (lambda g, **how: dr.edge_betweenness(g, sources=[1, 2], **how), "centrality"),
    "connected_components": (lambda g, **how: dr.connected_components(g, **how), "label"),
    "k_core": (lambda g, **how: dr.k_core(g, 30, **how), "degree"),
    "coloring": (lambda g, **how: dr.coloring(g, **how), "color"),
    "maximal_matching": (lambda g, **how: dr.maximal_matching(g, **how), "mate"),
    "unweighted maximal_matching": (lambda g, **how: dr.maximal_matching(g, weight=None, **how), "mate"),
}
UNDIRECTED = ("connected_components", "k_core", "coloring", "maximal_matching", "unweighted maximal_matching")


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_an_algorithm_on_disk_is_the_algorithm_in_memory(name: str, directed: bool, tmp_path: Path) -> None:
    call, field = ALGORITHMS[name]
    graph = weighted(directed)
    file = stored(graph, tmp_path)
    if directed and name in UNDIRECTED:
        with pytest.raises(InvalidArgumentError, match="--symmetrize"):
            call(file, memory="64M", **NUMPY)
        return
    with no_thread_stays():
        found, expected = call(file, memory="64M", **NUMPY), call(graph, **NUMPY)
    np.testing.assert_allclose(found[field], expected[field], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("vertices", "edges"), [(5, []), (1, []), (1, [(0, 0)]), (0, [])], ids=["no arcs", "one", "a loop", "empty"]
)
def test_the_smallest_graphs(vertices: int, edges: list[tuple[int, int]], tmp_path: Path) -> None:
    src, dst = [u for u, _ in edges], [v for _, v in edges]
    graph = dr.Graph.from_edges(src, dst, num_vertices=vertices)
    file = stored(graph, tmp_path)
    assert dr.pagerank(file, memory="64M", **NUMPY).rank.tolist() == dr.pagerank(graph, **NUMPY).rank.tolist()
    if vertices:
        assert dr.bfs(file, 0, memory="64M", **NUMPY).level.tolist() == [0, *[-1] * (vertices - 1)]


def test_the_trace_tells_what_was_read_and_why(tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    result = dr.bfs(file, 5, memory="64M", **NUMPY)
    section = file.header.section("targets")
    assert section is not None
    assert 0 < result.trace.read <= section.nbytes + 4096
    assert result.trace[0].read > 0
    assert "MiB read" in repr(result.trace)
    assert "a push reads" in result.trace[0].reason
    assert result.device == "numpy, streamed"


def test_without_the_transpose_everything_is_pushed_unless_a_pull_is_fixed(tmp_path: Path) -> None:
    graph = weighted(directed=True)
    file = stored(graph, tmp_path, transpose=False)
    result = dr.bfs(file, 5, memory="64M", **NUMPY)
    np.testing.assert_array_equal(result.level, dr.bfs(graph, 5, **NUMPY).level)
    assert set(result.trace.paths) <= {"sync-push-dd", "sync-push-td"}
    pulled = dr.bfs(file, 5, path="sync-pull-dd", memory="64M", **NUMPY)
    np.testing.assert_array_equal(pulled.level, result.level)
    assert set(pulled.trace.paths) == {"sync-pull-dd"}


def test_a_budget_that_is_too_small_says_how_much_is_needed(tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    with pytest.raises(ResourceError, match=r"this run needs .* MiB") as caught:
        dr.bfs(file, 5, memory="100k", **NUMPY)
    needed = caught.value.needed
    assert needed is not None
    assert dr.bfs(file, 5, memory=needed, **NUMPY).level[5] == 0


@pytest.mark.parametrize("memory", ["much", "0", "0.5", "9" * 20 + "G", "9" * 400, 1 << 64, -3, 2.5, True])
def test_a_budget_is_a_size(memory: Any, tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    with pytest.raises(InvalidArgumentError, match="is not a size"):
        dr.bfs(file, 5, memory=memory)


def test_memory_is_for_graphs_that_have_a_file(tmp_path: Path) -> None:
    graph = weighted(directed=False)
    with pytest.raises(InvalidArgumentError, match=r"dr\.open\(path\)"):
        dr.bfs(graph, 5, memory="64M", **NUMPY)
    mapped = dr.read(stored(graph, tmp_path).origin.path)
    assert dr.bfs(mapped, 5, memory="64M", **NUMPY).device == "numpy, streamed"


@pytest.mark.parametrize("weights", [False, True])
def test_what_is_no_program_refuses_and_names_the_way(weights: bool, tmp_path: Path) -> None:
    graph = weighted(directed=False)
    file = stored(graph if weights else graph.with_weights(None), tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"on disk is a compiled kernel.*dr\.read\(path\)"):
        dr.louvain(file, memory="64M", **NUMPY)


def test_slices_and_other_devices_are_refused(tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    with pytest.raises(InvalidArgumentError, match="leave them out for a graph on disk"):
        dr.bfs(file, 5, slices=3)
    with pytest.raises(InvalidArgumentError, match="needs a graph in memory"):
        dr.bfs(file, 5, device="abacus")
    for given in ({"memory": "1G"}, {"slices": 2}, {"parts": 2}):
        with pytest.raises(InvalidArgumentError, match="over the ranks by itself"):
            dr.bfs(file, 5, device="mpi", **given)


@pytest.mark.skipif(is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises((DeviceError, MissingDependencyError), match="device='cuda'"):
        dr.bfs(stored(weighted(directed=False), tmp_path), 5, device="cuda", memory="1G")


def test_a_mapped_graph_that_does_not_fit_memory_is_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dromos import sizes
    from dromos.runner import devices

    mapped = dr.read(stored(weighted(directed=False), tmp_path).origin.path)
    monkeypatch.setattr(devices, "_WORTH_STREAMING", 0)
    monkeypatch.setattr(sizes, "available_memory", lambda: 1000)
    monkeypatch.setenv("DROMOS_DEVICE", "")
    engine = devices.engine_for("auto", None, mapped)
    assert "streamed" in engine.name
    monkeypatch.setattr(sizes, "available_memory", lambda: 1 << 40)
    assert devices.engine_for("auto", None, mapped).name == "cpu"


@pytest.mark.parametrize("name", ["label_propagation", "triangles", "truss_numbers", "edge_betweenness"])
def test_what_is_no_program_reports_its_progress_and_what_it_read(name: str, tmp_path: Path) -> None:
    file = stored(weighted(directed=False), tmp_path)
    calls: dict[str, Callable[..., dr.Result]] = {
        "label_propagation": lambda **how: dr.label_propagation(file, max_iter=2, **how),
        "triangles": lambda **how: dr.triangles(file, **how),
        "truss_numbers": lambda **how: dr.truss_numbers(file, **how),
        "edge_betweenness": lambda **how: dr.edge_betweenness(file, sources=[1, 2], **how),
    }
    told: list[tuple[int, int]] = []
    found = calls[name](memory="64M", progress=lambda done, total: told.append((done, total)), **NUMPY)
    assert any(done == total for done, total in told)
    assert any(row.path == "native" and row.seconds > 0 for row in found.trace)
    assert found.trace.read > 0
