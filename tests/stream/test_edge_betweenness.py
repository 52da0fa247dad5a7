"""Edge betweenness on disk, in slices and in parts: equal to NetworkX, and to the kernel in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.algorithms import edge_betweenness_programs
from dromos.engines.cpu.part import CpuLeaf
from dromos.engines.vectorised import VectorisedLeaf
from dromos.errors import ArcsOnDiskError, FieldOverflowError, InvalidArgumentError, ResourceError
from dromos.graph.slices import GraphSlice
from dromos.graph.store import write
from dromos.places.operators.shares import Values, add_of
from dromos.places.stream import StreamEngine
from tests.algorithms.support import examples, graphs
from tests.stream.stores import PAGE, no_thread_stays, random_graph, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

LEAVES = {"cpu": lambda: CpuLeaf(2), "numpy": VectorisedLeaf}


def bare(graph: dr.Graph) -> dr.Graph:
    """The edges that count."""
    edges = graph.edges()
    return dr.Graph.from_edges(
        edges.src, edges.dst,
        num_vertices=graph.num_vertices, directed=graph.directed, dedupe=True, drop_self_loops=True,
    )  # fmt: skip


def same_rows(found: dr.Result, expected: dr.Result) -> None:
    for end in ("source", "target"):
        np.testing.assert_array_equal(found[end], expected[end])
        assert found[end].dtype == expected[end].dtype
    np.testing.assert_allclose(found["centrality"], expected["centrality"], rtol=1e-9, atol=1e-15)


def of_networkx(graph: dr.Graph, normalized: bool) -> dict[tuple[int, int], float]:
    other = nx.DiGraph() if graph.directed else nx.Graph()
    other.add_nodes_from(range(graph.num_vertices))
    edges = graph.edges()
    other.add_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))
    central = nx.edge_betweenness_centrality(other, normalized=normalized)
    return {edge if graph.directed else tuple(sorted(edge)): value for edge, value in central.items()}


@pytest.mark.parametrize("leaf", LEAVES)
@examples(15)
@given(graph=graphs(high=7).map(bare), normalized=st.booleans(), compress=st.booleans(), width=st.integers(1, 3))
def test_edges_are_those_of_networkx_and_of_memory(
    leaf: str, graph: dr.Graph, normalized: bool, compress: bool, width: int
) -> None:
    places: list[dict[str, Any]] = [{"device": leaf, "slices": 1 + width, "parts": width, "threads": 2}]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch, no_thread_stays():
        patch.setattr(edge_betweenness_programs, "_SOURCES", width)  # the sum continues from batch to batch
        write(graph, Path(folder) / "g.drm", transpose=True, chunk_bytes=PAGE, compress=compress)
        file = dr.open(Path(folder) / "g.drm")
        engine = StreamEngine(LEAVES[leaf](), 32 << 20, page_bytes=PAGE)
        results = [dr.edge_betweenness(file, normalized=normalized, device=engine)]
        results += [dr.edge_betweenness(graph, normalized=normalized, **how) for how in places]
    expected = dr.edge_betweenness(graph, normalized=normalized, device="numpy")
    for result in results:
        same_rows(result, expected)
    pairs = zip(expected.source.tolist(), expected.target.tolist(), strict=True)
    assert dict(zip(pairs, results[0].centrality, strict=True)) == pytest.approx(of_networkx(graph, normalized))
    results[1].verify()


@pytest.mark.parametrize("directed", [False, True])
def test_pages_within_the_least_memory(directed: bool, tmp_path: Path) -> None:
    """Pages begin and end within rows, one of which is longer than a page; some budgets have room for few sources."""
    graph = bare(random_graph(4, directed=directed))
    file, sources = stored(graph, tmp_path), [5, 7, 300]

    def within(memory: int) -> dr.Result:
        return dr.edge_betweenness(file, sources=sources, device=StreamEngine(CpuLeaf(2), memory, page_bytes=PAGE))

    with pytest.raises(ResourceError, match="for an answer with one row per edge") as caught:
        within(1000)
    least = caught.value.needed
    assert least is not None
    assert least > 16 * graph.num_edges
    with pytest.raises(ResourceError):
        within(least - 1)
    expected = dr.edge_betweenness(graph, sources=sources, device="cpu")
    for memory, batches in ((least, 3), (64 << 20, 1)):
        found = within(memory)
        same_rows(found, expected)
        assert sum(step.phase == "edge_shares" for step in found.trace) == batches
    with pytest.raises(ArcsOnDiskError, match=r"dr\.read\(path\)"):
        found.verify()


def test_rows_that_are_in_no_order(tmp_path: Path) -> None:
    rows = dr.generators.grid(4, 5)
    turned = [rows.neighbors(v)[::-1] for v in range(rows.num_vertices)]
    for directed in (False, True):
        graph = dr.Graph.from_csr(rows.offsets, np.concatenate(turned), directed=directed)
        assert not graph.sorted
        expected = dr.edge_betweenness(graph, k=3, seed=1, device="numpy")
        same_rows(dr.edge_betweenness(stored(graph, tmp_path), k=3, seed=1, memory="64M", device="numpy"), expected)
        same_rows(dr.edge_betweenness(graph, k=3, seed=1, slices=3, device="numpy"), expected)


def test_what_is_refused(tmp_path: Path) -> None:
    twice = stored(dr.Graph.from_edges([0, 0, 1], [1, 1, 1]), tmp_path)
    with pytest.raises(InvalidArgumentError, match=r"parallel edges, .* --transpose --dedupe --drop-self-loops IN"):
        dr.edge_betweenness(twice, device="numpy")
    mapped = dr.read(twice.origin.path)  # a graph derived from this one has no file
    with pytest.raises(InvalidArgumentError, match="leave memory out"):
        dr.edge_betweenness(mapped, memory="64M", device="numpy")
    graph = dr.Graph.from_edges([0, 1], [1, 2])
    one_way = stored(graph, tmp_path, transpose=False)
    same_rows(dr.edge_betweenness(one_way, memory="64M", device="numpy"), dr.edge_betweenness(graph, device="numpy"))
    for given_ in ({"path": "sync-push-dd"}, {"checkpoint": tmp_path / "saved"}):
        with pytest.raises(InvalidArgumentError, match="runs as one kernel"):
            dr.edge_betweenness(one_way, memory="64M", device="numpy", **given_)


def test_a_mapped_graph_is_read_from_its_file(tmp_path: Path) -> None:
    graph = dr.generators.grid(4, 5)
    mapped = dr.read(stored(graph, tmp_path).origin.path)
    found = dr.edge_betweenness(mapped, memory="64M", device="numpy")
    assert found.device == "numpy, streamed"
    same_rows(found, dr.edge_betweenness(graph, device="numpy"))


def test_more_paths_than_a_program_can_count() -> None:
    first = 3 * np.arange(1000)
    ends = [(0, 1), (0, 2), (1, 3), (2, 3)]
    src, dst = (np.concatenate([first + end[side] for end in ends]) for side in (0, 1))
    graph = dr.Graph.from_edges(src, dst, directed=False)
    with pytest.raises(FieldOverflowError, match=r"more shortest paths .*\(dr\.read\)"):
        dr.edge_betweenness(graph, sources=[0], slices=2, device="numpy")


@pytest.mark.parametrize("leaf", ["reference", "numpy", "cpu"])
@pytest.mark.parametrize("by_arc", [False, True])
def test_the_shares_of_a_slice(leaf: str, by_arc: bool) -> None:
    piece = GraphSlice(1, 4, np.array([5, 7, 7, 9], np.uint32), np.array([0, 3, 1, 4], np.int32), None)
    level = np.array([[0, 9], [1, 2], [5, 5], [2, 1], [3, 2]], np.int32)
    paths, gain = np.arange(10.0).reshape(5, 2), 1.0 + np.arange(10.0).reshape(5, 2) ** 2
    through = np.full(6, 0.5)
    rows = add_of(leaf, 2)(piece, Values(level, paths, gain), through, by_arc)
    # arcs 1-0, 1-3, 3-1 and 3-4: for the first source they go up, down, up and down, for the second -, up, down, down
    there, back = paths[1, 0] * gain[3, 0], paths[3, 1] * gain[1, 1]
    last = paths[3, 0] * gain[4, 0] + paths[3, 1] * gain[4, 1]
    expected = [0, there, back, last] if by_arc else [there + back, last]
    assert rows == len(expected)
    assert through.tolist() == [*(0.5 + np.array(expected)), *[0.5] * (6 - rows)]
