"""A graph that stays on disk tells what a graph in memory tells, and refuses what needs its arcs."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError, UnsupportedFormatError
from tests.sizes import examples
from tests.store.graphs import graphs, sample
from tests.stream.stores import random_graph, stored


@examples(12)
@given(graph=graphs())
def test_it_is_the_graph_as_far_as_it_is_in_memory(graph: dr.Graph, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = stored(graph, tmp_path_factory.mktemp("stored"))
    assert isinstance(file, dr.StoredGraph)
    for name in ("num_vertices", "num_arcs", "num_edges", "directed", "symmetric", "has_self_loops", "labels", "flags"):
        assert getattr(file, name) == getattr(graph, name), name
    np.testing.assert_array_equal(file.out_degree, graph.out_degree)
    np.testing.assert_array_equal(file.in_degree, graph.in_degree)
    assert file.targets.dtype == graph.targets.dtype
    assert len(file.targets) == graph.num_arcs
    assert (file.weights is None) == (graph.weights is None)
    assert file.load() == graph
    assert file.with_weights(None).load() == graph.with_weights(None)
    assert file.transpose.load() == graph.transpose
    again = pickle.loads(pickle.dumps(file))
    assert again == file
    assert again.num_arcs == graph.num_arcs


def test_what_needs_the_arcs_refuses_them_and_tells_what_to_do(tmp_path: Path) -> None:
    file = stored(random_graph(1), tmp_path, transpose=False)
    for use in (
        lambda: file.edges(),
        lambda: file.neighbors(3),
        lambda: np.asarray(file.targets),
        lambda: file.subgraph([1, 2]),
        lambda: file.egonet(3),
        lambda: file.relabel_by_degree(),
        lambda: file.to_scipy(),
        lambda: file.slices(2),
        lambda: file.cross_edges(np.zeros(400, dtype=int)),
        lambda: dr.write(file, tmp_path / "copy.el"),
    ):
        with pytest.raises(InvalidArgumentError, match=r"stay on disk.*dr\.read\(path\)"):
            use()
    with pytest.raises(InvalidArgumentError, match="--symmetrize"):
        file.symmetrized()
    for name in ("in_degree", "transpose"):
        with pytest.raises(InvalidArgumentError, match="--transpose"):
            getattr(file, name)


def test_labels_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    graph = sample()
    file = stored(graph, tmp_path)
    assert file.vertex_id("vertex 3 é") == 3
    assert file.labels == graph.labels


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "graph.el"
    text.write_text("0 1\n" * 2000)
    with pytest.raises(UnsupportedFormatError, match="not a Dromos store"):
        dr.open(text)
    with pytest.raises(FileError, match="No such file"):
        dr.open(tmp_path / "none.drm")
    with pytest.raises(FileError, match="directory"):
        dr.open(tmp_path)


def test_damaged_offsets_are_refused_when_they_are_read(tmp_path: Path) -> None:
    file = stored(random_graph(2), tmp_path)
    path = Path(file.origin.path)
    section = file.header.section("offsets")
    assert section is not None
    data = bytearray(path.read_bytes())
    data[section.offset + 80] ^= 4
    path.write_bytes(data)
    with pytest.raises(FileError, match="changed, replaced or removed"):
        file.row_offsets("")
    with pytest.raises(CorruptFileError, match="section offsets, chunk 0"):
        dr.open(path).row_offsets("")


@pytest.mark.parametrize("chunk", [0, 3000])
def test_checksums_are_for_pieces_that_divide_what_is_written_at_once(tmp_path: Path, chunk: int) -> None:
    with pytest.raises(InvalidArgumentError, match="divisor"):
        stored(random_graph(1), tmp_path, chunk_bytes=chunk)
