"""Truss numbers of graphs on disk: equal to those in memory and in NetworkX, within a budget."""

from __future__ import annotations

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.engines.cpu.part import CpuLeaf
from dromos.errors import ArcsOnDiskError, CorruptFileError, FileError, InvalidArgumentError
from dromos.graph.store import write
from dromos.places.operators import trusses
from dromos.places.operators.trusses import cpu
from dromos.places.stream import StreamEngine
from tests.algorithms.support import examples, graphs
from tests.stream.stores import PAGE, FaultyFile, input_error, no_thread_stays, random_graph, stored

pytestmark = pytest.mark.usefixtures("way_to_read")


def pairs(result: dr.Result, k: int) -> set[tuple[int, int]]:
    chosen = result["truss"] >= k
    return set(zip(result["source"][chosen].tolist(), result["target"][chosen].tolist(), strict=True))


@examples(25)
@given(graph=graphs(high=9, directed=False, weights=(1.0, 2.0)), compress=st.booleans())
def test_they_are_those_in_memory_and_of_networkx(graph: dr.Graph, compress: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(graph, Path(folder) / "g.drm", chunk_bytes=PAGE, compress=compress)
        found = dr.truss_numbers(
            dr.open(Path(folder) / "g.drm"), device=StreamEngine(CpuLeaf(2), 8 << 20, page_bytes=PAGE)
        )
    whole = dr.truss_numbers(graph, device="cpu")
    for name in whole:
        np.testing.assert_array_equal(found[name], whole[name])
    other = nx.Graph(zip(*(column.tolist() for column in graph.edges()[:2]), strict=True))
    other.remove_edges_from(list(nx.selfloop_edges(other)))
    for k in range(2, found.max_truss + 2):
        assert pairs(found, k) == {tuple(sorted(edge)) for edge in nx.k_truss(other, k).edges}


def test_many_levels_on_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hubs beside a long tail, parallel edges and loops; rows are rebuilt several times, and no list is short."""
    monkeypatch.setattr(cpu, "_SMALL", 0)
    monkeypatch.setattr(cpu, "_FEW", 0)
    monkeypatch.setattr(trusses, "_LOOKED_AT", 700)
    rng = np.random.default_rng(3)
    src, dst = np.minimum(rng.zipf(1.5, (2, 30_000)), 999)
    graph = dr.Graph.from_edges(src, dst, directed=False, num_vertices=1000)
    file = stored(graph, tmp_path)
    found = dr.truss_numbers(file, device=StreamEngine(CpuLeaf(3), 64 << 20, page_bytes=PAGE))
    whole = dr.truss_numbers(graph, device="cpu")
    for name in whole:
        np.testing.assert_array_equal(found[name], whole[name])
    assert found.max_truss > 15
    told = [step.reason for step in found.trace]
    assert len([reason for reason in told if "edges are peeled" in reason]) > 2
    assert (found.device, found.trace[0].path) == ("cpu, streamed", "native")
    with pytest.raises(ArcsOnDiskError, match=r"dr\.read\(path\)"):
        found.verify()


def test_what_cannot_be_computed_is_refused(tmp_path: Path) -> None:
    file = stored(random_graph(3, directed=False), tmp_path)

    def flip(buffer: np.ndarray, position: int) -> None:
        buffer[len(buffer) // 2] ^= 1

    for fault, error in ((input_error, FileError), (flip, CorruptFileError)):
        engine = StreamEngine(
            CpuLeaf(2), 64 << 20, page_bytes=PAGE, opener=lambda origin, fault=fault: FaultyFile(origin, fault)
        )
        with no_thread_stays(), pytest.raises(error):
            dr.truss_numbers(file, device=engine)
    with pytest.raises(InvalidArgumentError, match="it has no paths"):
        dr.truss_numbers(file, path="sync-push-dd", memory="64M")
    with pytest.raises(InvalidArgumentError, match="--symmetrize"):
        dr.truss_numbers(stored(random_graph(3), tmp_path), memory="64M")
