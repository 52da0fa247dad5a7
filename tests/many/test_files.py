"""Distances and indices in files: right, whole or not there, and refused where they are damaged."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos.errors import CorruptFileError, FieldOverflowError, FileError, InvalidArgumentError, ResourceError
from tests.algorithms.support import examples, graphs, on_every_device

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def graph():
    return dr.generators.rmat(9, seed=7)


@pytest.fixture
def built(graph, tmp_path):
    file = tmp_path / "g.reach"
    return file, dr.reachability_index(graph, 2, file)


def test_all_pairs_in_groups_that_fit_the_budget(graph, tmp_path):
    file = tmp_path / "pairs.parquet"
    result = dr.all_pairs(graph, file, memory=100_000, device="cpu")
    assert len(result.group) == 8
    result.verify()
    table = pyarrow.parquet.read_table(file).to_pandas().set_index("source")
    whole = dr.distances(graph, range(graph.num_vertices)).distance
    assert np.array_equal(np.stack(table.distance.sort_index()), whole)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]


def test_all_pairs_of_labelled_sources(tmp_path):
    graph = dr.Graph.from_edges(["ada", "bob"], ["bob", "eve"])
    for device in ("reference", "cpu"):
        dr.all_pairs(graph, tmp_path / "p.parquet", sources=["bob"], wide=True, device=device)
        assert pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pylist() == [
            {"source": "bob", "distance": [-1, 0, 1]}
        ]


def test_a_distance_too_great_for_16_bits_is_refused(tmp_path):
    path = dr.generators.path(40_000)
    with pytest.raises(FieldOverflowError, match="wide=True"):
        dr.all_pairs(path, tmp_path / "p.parquet", sources=[0], device="cpu")
    assert list(tmp_path.iterdir()) == []


def test_no_room_on_disk_leaves_nothing_behind(tmp_path):
    graph = dr.generators.uniform(1 << 11, 1 << 14, seed=1)
    warm = tmp_path / "warm"
    warm.mkdir()
    dr.all_pairs(graph, warm / "p.parquet")  # so that no kernel is compiled, and kept on disk, under the limit
    dr.reachability_index(graph, 2, warm / "g.reach")
    target = tmp_path / "target"
    target.mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(FileError, match="File too large"):
            dr.all_pairs(graph, target / "p.parquet")
        with pytest.raises(FileError, match="File too large"):
            dr.reachability_index(graph, 2, target / "g.reach")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(target.iterdir()) == []


def test_a_disk_that_cannot_hold_the_index_is_seen_before_the_work(graph, tmp_path, monkeypatch):
    from dromos.algorithms import reachability

    monkeypatch.setattr(reachability.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 1000}))
    with pytest.raises(ResourceError, match="free on the disk"):
        dr.reachability_index(graph, 2, tmp_path / "g.reach")


@on_every_device
@examples(15)
@given(graph=graphs(low=1, high=12), k=st.integers(1, 4))
def test_the_index_is_exact(device, tmp_path_factory, graph, k):
    n = graph.num_vertices
    index = dr.reachability_index(graph, k, tmp_path_factory.mktemp("index") / "g.reach", device=device)
    level = dr.distances(graph, range(n), depth_limit=k).distance
    u, v = np.divmod(np.arange(n * n), n)
    assert np.array_equal(index.reachable(u, v), (level >= 0).ravel())
    assert all(index.reachable(a, b) == (level[a, b] >= 0) for a, b in zip(u.tolist(), v.tolist(), strict=True))


def test_the_index_of_a_real_graph_and_of_some_sources(tmp_path):
    graph = dr.read(DATA / "wiki-Vote.txt.gz")
    names = graph.labels.to_numpy()
    some = [name for name in names[:400].tolist() if graph.out_degree[graph.vertex_id(name)]]
    index = dr.reachability_index(graph, 3, tmp_path / "w.reach", sources=some)
    expected = dr.distances(graph, some, depth_limit=3).distance >= 0
    for place in range(0, len(some), 11):
        assert np.array_equal(index.reachable(some[place], names), expected[place])
    other = next(name for name in names[400:].tolist() if graph.out_degree[graph.vertex_id(name)])
    with pytest.raises(InvalidArgumentError, match="build one that includes it"):
        index.reachable(other, names[0])
    assert "at most 3 steps" in repr(index)


def test_any_number_of_steps(tmp_path):
    index = dr.reachability_index(dr.generators.path(300), None, tmp_path / "p.reach")
    assert index.reachable(0, 299)
    assert index.k is None


def test_an_index_for_another_graph_is_refused(built):
    with pytest.raises(InvalidArgumentError, match="another graph"):
        dr.ReachabilityIndex.open(built[0], dr.generators.rmat(9, seed=8))


def test_a_cut_index_is_refused(built, graph):
    file, _ = built
    data = file.read_bytes()
    for size in (0, 7, 20, 3000, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:size])
        with pytest.raises(FileError):
            dr.ReachabilityIndex.open(file, graph)
    file.write_bytes(data + b"x")
    with pytest.raises(CorruptFileError, match="bytes"):
        dr.ReachabilityIndex.open(file, graph)


def test_a_flipped_byte_anywhere_is_found(built, graph):
    file, _ = built
    data = file.read_bytes()
    everyone = np.arange(graph.num_vertices)

    def ask_all():
        index = dr.ReachabilityIndex.open(file, graph)
        for vertex in everyone.tolist():
            index.reachable(vertex, everyone)

    for place in (0, 14, 30, 4096, len(data) // 2, len(data) - 20, len(data) - 6, len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 0x41
        file.write_bytes(bytes(damaged))
        with pytest.raises((FileError, InvalidArgumentError)):
            ask_all()


def test_what_is_no_index_is_refused(tmp_path, graph):
    (tmp_path / "x.reach").write_bytes(b"something else entirely")
    with pytest.raises(FileError, match="not a reachability index"):
        dr.ReachabilityIndex.open(tmp_path / "x.reach", graph)
    with pytest.raises(FileError, match="No such file"):
        dr.ReachabilityIndex.open(tmp_path / "nowhere.reach", graph)


def test_questions_that_make_no_sense(built):
    _, index = built
    for pair in ((0, 512), (-1, 0), ([0, 512], 1)):
        with pytest.raises(dr.errors.UnknownVertexError):
            index.reachable(*pair)
    with pytest.raises(InvalidArgumentError, match="whole numbers"):
        index.reachable([0.5], [1])
