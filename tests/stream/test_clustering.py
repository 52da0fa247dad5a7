"""Clustering by direction and weights on disk: identical to the result in memory, to the last bit."""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.dtypes import Array
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError, ResourceError
from dromos.graph.store import write
from dromos.graph.store.paged.file import StoreFile
from dromos.places.stream import StreamEngine
from tests.algorithms.support import examples, graphs, row
from tests.stream.stores import PAGE, FaultyFile, input_error, no_thread_stays, random_graph, stored

pytestmark = pytest.mark.usefixtures("way_to_read")

WEIGHTS = (0.0, 0.1, 0.3, 2.0, 1e17)


def budgeted(memory: int) -> StreamEngine:
    return StreamEngine(CpuLeaf(2), memory, page_bytes=PAGE)


def least_memory(file: dr.StoredGraph, weight: str | None = "weight") -> int:
    with pytest.raises(ResourceError, match="this run needs") as caught:
        dr.clustering(file, weight=weight, device=budgeted(3 << 20))
    assert caught.value.needed is not None
    return caught.value.needed


def heaviest(graph: dr.Graph) -> nx.Graph:
    """The graph for NetworkX, with the heaviest of parallel edges."""
    other = nx.DiGraph() if graph.directed else nx.Graph()
    other.add_nodes_from(range(graph.num_vertices))
    edges = graph.edges()
    weights = np.ones(len(edges.src)) if edges.weight is None else edges.weight
    for u, v, weight in sorted(zip(edges.src.tolist(), edges.dst.tolist(), weights.tolist(), strict=True)):
        known = other.edges[u, v]["weight"] if other.has_edge(u, v) else 0.0
        other.add_edge(u, v, weight=max(weight, known))
    return other


@examples(25)
@given(graph=graphs(high=9, weights=WEIGHTS), compress=st.booleans())
def test_shares_are_those_in_memory_and_of_networkx(graph: dr.Graph, compress: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(graph, Path(folder) / "g.drm", transpose=True, chunk_bytes=PAGE, compress=compress)
        file = dr.open(Path(folder) / "g.drm")
        for weight in ("weight", None):
            found = dr.clustering(file, weight=weight, device=budgeted(8 << 20))
            expected = dr.clustering(graph, weight=weight, device="cpu")
            assert found.clustering.tobytes() == expected.clustering.tobytes()
            assert found.average == expected.average
            if weight is None or graph.weights is None or graph.weights.max(initial=0) > 0:
                theirs = row(nx.clustering(heaviest(graph), weight=weight), graph.num_vertices, 0)
                np.testing.assert_allclose(found.clustering, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_the_least_memory_is_enough(directed: bool, tmp_path: Path) -> None:
    """Several blocks; hubs beside a long tail, and parallel edges."""
    rng = np.random.default_rng(3)
    src, dst = np.minimum(rng.zipf(1.5, 150_000), 2999), rng.integers(0, 3000, 150_000)
    weights = rng.random(len(src)) * 10.0 ** rng.integers(-3, 9, len(src))
    graph = dr.Graph.from_edges(src, dst, weights, directed=directed, num_vertices=3000)
    file = stored(graph, tmp_path)
    found = dr.clustering(file, weight="weight", device=budgeted(least_memory(file)))
    expected = dr.clustering(graph, weight="weight", device="cpu", threads=1)
    assert found.clustering.tobytes() == expected.clustering.tobytes()
    assert found.device == "cpu, streamed"
    assert found.trace[0].path == "native"


def test_what_disks_do_is_told(tmp_path: Path) -> None:
    file = stored(random_graph(3), tmp_path)
    dr.clustering(file, weight="weight", memory="64M", device="cpu")  # the greatest weight is known after this

    def flip(buffer: Array, position: int) -> None:
        buffer[len(buffer) // 2] ^= 1

    for fault, error in ((input_error, FileError), (flip, CorruptFileError)):
        engine = StreamEngine(
            CpuLeaf(2), 64 << 20, page_bytes=PAGE, opener=lambda origin, fault=fault: FaultyFile(origin, fault)
        )
        for known in (file, dr.open(file.origin.path)):
            with no_thread_stays(), pytest.raises(error):
                dr.clustering(known, weight="weight", device=engine)
    opened: list[StoreFile] = []

    def counted(origin: object) -> StoreFile:
        opened.append(StoreFile(origin))  # type: ignore[arg-type]
        return opened[-1]

    dr.clustering(file, device=StreamEngine(CpuLeaf(2), 64 << 20, opener=counted))
    assert len(opened) == 1  # omitted weights are not read
    dr.write(random_graph(4), file.origin.path, transpose=True)
    with pytest.raises(FileError, match="changed"):
        dr.clustering(file, weight="weight", memory="64M", device="cpu")


def test_what_cannot_be_computed_is_refused(tmp_path: Path) -> None:
    for weight, message in ((-1.0, "is negative"), (np.inf, "infinite")):
        graph = dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [1.0, weight, 2.0], directed=False)
        with pytest.raises(InvalidArgumentError, match=message):
            dr.clustering(stored(graph, tmp_path), weight="weight", memory="64M", device="cpu")
    with pytest.raises(InvalidArgumentError, match="it has no paths"):
        dr.clustering(stored(graph, tmp_path), weight="weight", memory="64M", device="cpu", path="sync-push-dd")
    with pytest.raises(InvalidArgumentError, match="stay on disk"):
        dr.clustering(random_graph(5), weight="weight", memory="64M", device="cpu")
