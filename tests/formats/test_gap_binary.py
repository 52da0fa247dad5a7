"""GAP's serialized graphs, .sg and .wsg."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos import Graph
from dromos.errors import CorruptFileError, FileError, UnsupportedFormatError
from dromos.graph.formats import gap

from .random_graphs import graphs


@given(graph=graphs(weights=(None,), labels=(None,)), suffix=st.sampled_from(["", ".gz", ".zst"]))
def test_sg_there_and_back(folder: Path, graph: Graph, suffix: str) -> None:
    file = folder / f"g.sg{suffix}"
    graph.write(file)
    back = dr.read(file)
    assert back == graph
    assert back.transpose == graph.transpose


@given(graph=graphs(weights=("int32",), labels=(None,)))
def test_wsg_there_and_back(folder: Path, graph: Graph) -> None:
    file = folder / "g.wsg"
    graph.write(file)
    back = dr.read(file)
    assert back == graph
    assert back.transpose == graph.transpose


def test_the_bytes_are_those_of_gap(tmp_path: Path) -> None:
    file = tmp_path / "g.wsg"
    Graph.from_edges([0, 0, 2], [1, 2, 0], [7, 8, -9]).write(file)
    rows = struct.pack("<4q6i", 0, 2, 2, 3, 1, 7, 2, 8, 0, -9)
    columns = struct.pack("<4q6i", 0, 1, 2, 3, 2, -9, 0, 7, 0, 8)
    assert file.read_bytes() == struct.pack("<?qq", True, 3, 3) + rows + columns


def test_unsorted_rows_keep_their_order(tmp_path: Path) -> None:
    file = tmp_path / "g.sg"
    file.write_bytes(_undirected(3, [0, 2, 3, 4], [2, 1, 0, 0]))
    g = dr.read(file)
    assert g.targets.tolist() == [2, 1, 0, 0]
    assert g.symmetric
    assert not g.sorted


@pytest.mark.parametrize("name", ["g.wsg", "g.wsg.gz"])
def test_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(gap, "_BLOCK", 1000)
    rng = np.random.default_rng(3)
    g = Graph.from_edges(*rng.integers(0, 700, size=(2, 3000)), rng.integers(-9, 9, 3000), num_vertices=700)
    g.write(tmp_path / name)
    assert dr.read(tmp_path / name) == g


def test_several_threads(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    g = Graph.from_edges(*rng.integers(0, 9000, size=(2, 80_000)), num_vertices=9000)
    g.write(tmp_path / "g.sg")
    assert dr.read(tmp_path / "g.sg") == g


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    Graph.from_edges([0], [1]).write(tmp_path / "g.sg", progress=lambda *step: seen.append(step))
    assert seen[-1][0] == seen[-1][1] > 0
    dr.read(tmp_path / "g.sg", progress=lambda *step: seen.append(step))
    assert seen[-1] == ((tmp_path / "g.sg").stat().st_size,) * 2


def _undirected(vertices: int, offsets: list[int], targets: list[int]) -> bytes:
    head = struct.pack("<?qq", False, len(targets), vertices)
    return head + struct.pack(f"<{len(offsets)}q", *offsets) + struct.pack(f"<{len(targets)}i", *targets)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\1\0\0", "cut short"),
        (b"\2" + bytes(32), "first byte is 2"),
        (struct.pack("<?qq", True, 2**60, 3), "promises 3 vertices"),
        (struct.pack("<?qq", True, 1, 2**40), "promises"),
        (struct.pack("<?qq", False, -1, 0), "promises"),
        (_undirected(2, [0, 1, 2], [1, 0]) + b"x", "bytes, and the file has"),
        (_undirected(2, [0, 1, 2], [1, 0])[:-1], "bytes, and the file has"),
        (_undirected(2, [0, 3, 2], [1, 0]), "offsets do not rise"),
        (_undirected(2, [1, 1, 2], [1, 0]), "offsets do not rise"),
        (_undirected(2, [0, 1, 1], [1, 0]), "offsets do not rise"),
        (_undirected(2, [0, 1, 2], [1, 2]), "vertex 2, outside 0..1"),
        (_undirected(2, [0, 1, 2], [-1, 0]), "vertex -1, outside 0..1"),
        (_undirected(2, [0, 1, 2], [1, 1]), "lacks its reverse"),
        (
            struct.pack("<?qq", True, 1, 2) + struct.pack("<3qi", 0, 1, 1, 1) + struct.pack("<3qi", 0, 1, 1, 0),
            "transpose",
        ),
    ],
)
def test_damaged(tmp_path: Path, data: bytes, message: str) -> None:
    file = tmp_path / "bad.sg"
    file.write_bytes(data)
    with pytest.raises(CorruptFileError, match=message) as caught:
        dr.read(file)
    assert caught.value.path == str(file)


@pytest.mark.parametrize("data", [struct.pack("<?qq", False, 2**60, 3), _undirected(2, [0, 1, 2], [1, 0]) + b"x"])
def test_damaged_behind_a_compression(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "bad.sg.gz"
    file.write_bytes(gzip.compress(data))
    with pytest.raises(CorruptFileError, match=r"cut short|goes on"):
        dr.read(file)
    file.write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(CorruptFileError):
        dr.read(file)


@pytest.mark.parametrize(
    ("name", "graph", "message"),
    [
        ("g.wsg", Graph.from_edges([0], [1], [0.5]), "int32 weights, and the graph has float64"),
        ("g.wsg", Graph.from_edges([0], [1]), "the graph has no weights"),
        ("g.sg", Graph.from_edges([0], [1], [3]), "cannot hold weights"),
        ("g.sg", Graph.from_edges(["a"], ["b"]), "cannot hold labels"),
    ],
)
def test_what_cannot_be_held_is_refused(tmp_path: Path, name: str, graph: Graph, message: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=message):
        graph.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_loss_that_was_accepted(tmp_path: Path) -> None:
    Graph.from_edges(["a"], ["b"], [3]).write(tmp_path / "g.sg", allow_loss=True)
    assert dr.read(tmp_path / "g.sg") == Graph.from_edges([0], [1])


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        dr.read(tmp_path / "none.sg")
    (tmp_path / "folder.sg").mkdir()
    with pytest.raises(FileError, match="directory"):
        dr.read(tmp_path / "folder.sg")
