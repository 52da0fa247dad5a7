"""A graph on disk reports what a graph in memory reports, and refuses what needs its arcs."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import dromos as dr
from dromos.errors import CorruptFileError, FileError, InvalidArgumentError, ResourceError, UnsupportedFormatError
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
        lambda: file.relabel_by_degree(),
        lambda: file.to_scipy(),
        lambda: file.slices(2),
        lambda: dr.write(file, tmp_path / "copy.el"),
    ):
        with pytest.raises(InvalidArgumentError, match=r"stay on disk.*dr\.read\(path\)"):
            use()
    with pytest.raises(InvalidArgumentError, match="--symmetrize"):
        file.symmetrized()


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_parts_of_it_are_read_without_the_rest(
    directed: bool, compress: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = dr.generators.rmat(11, 24, seed=1, symmetrize=not directed)
    graph = graph.with_weights(np.arange(graph.num_arcs, dtype=np.float32)) if directed else graph
    dr.write(graph, tmp_path / "g.drm", compress=compress)
    file = dr.open(tmp_path / "g.drm")
    monkeypatch.setattr("dromos.graph.store.stored._SCAN_BYTES", 1 << 16)  # windows cut rows
    rng = np.random.default_rng(1)
    for count in (0, 1, 30, graph.num_vertices):
        chosen = rng.permutation(graph.num_vertices)[:count]
        assert file.subgraph(chosen) == graph.subgraph(chosen)
    hub = int(graph.out_degree.argmax())
    for radius in range(3):
        assert file.egonet(hub, radius=radius) == graph.egonet(hub, radius=radius)
    part = rng.integers(3, size=graph.num_vertices)
    for ours, theirs in zip(file.cross_edges(part), graph.cross_edges(part), strict=True):
        assert np.array_equal(ours, theirs)
        assert getattr(ours, "dtype", None) == getattr(theirs, "dtype", None)


def test_parts_of_a_graph_without_arcs(tmp_path: Path) -> None:
    file = stored(dr.Graph.from_edges([], [], num_vertices=3), tmp_path)
    assert file.egonet(1, radius=2).num_vertices == 1
    assert file.subgraph([0, 2]).num_arcs == 0
    assert len(file.cross_edges([0, 1, 2]).src) == 0


def test_rows_that_do_not_fit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = stored(random_graph(1), tmp_path)
    monkeypatch.setattr("dromos.graph.store.paged.selected.available_memory", lambda: 100)
    with pytest.raises(ResourceError, match="give fewer vertices"):
        file.subgraph(np.arange(200))


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


@pytest.mark.parametrize(
    ("names", "kind"), [(None, ""), ([5, 70, 9], ", int labels"), (["a", "b", "c"], ", str labels")]
)
def test_its_repr_tells_of_labels_without_reading_them(names: list[int] | None, kind: str, tmp_path: Path) -> None:
    graph = dr.Graph.from_edges(names or [0, 1, 2], np.roll(names or [0, 1, 2], 1), labels=names is not None)
    dr.write(graph, tmp_path / "g.drm")
    file = dr.open(tmp_path / "g.drm")
    assert repr(file).startswith(f"<StoredGraph: 3 vertices, 3 edges, directed{kind}; ")
    assert "labels" not in file.held_bytes()


def test_a_budget_of_more_than_the_addresses_of_a_process_is_enough(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, seed=1)
    dr.write(graph, tmp_path / "g.drm")
    found = dr.bfs(dr.open(tmp_path / "g.drm"), 1, memory="4000000T")
    assert "pull" in str(found.trace.paths)  # a pull keeps rows for later ones
    np.testing.assert_array_equal(found.level, dr.bfs(graph, 1).level)


def test_a_budget_may_be_a_whole_float(tmp_path: Path) -> None:
    file = stored(random_graph(1), tmp_path)
    assert (dr.bfs(file, 1, memory=64e6, device="numpy").level == dr.bfs(file, 1, memory="64M").level).all()
    for size in (0.5, 1.5e6 + 0.5, float("nan"), float("inf"), 0.0, -4e9):
        with pytest.raises(InvalidArgumentError, match="is not a size"):
            dr.bfs(file, 1, memory=size, device="numpy")
