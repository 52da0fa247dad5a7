"""Edge files of the Graph 500 reference code: packed, and pairs of int64."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dromos as dr
from dromos import Graph
from dromos.errors import (
    CorruptFileError,
    FileError,
    FormatError,
    InvalidArgumentError,
    UnsupportedFormatError,
)
from dromos.graph.formats import graph500, open_edges

from .random_graphs import graphs


def packed(*edges: tuple[int, int]) -> bytes:
    """As the C structure: two low words, and a word with the high half of v1 over that of v0."""
    return b"".join(
        struct.pack("<III", u & 0xFFFFFFFF, v & 0xFFFFFFFF, ((v >> 32) & 0xFFFF) << 16 | (u >> 32) & 0xFFFF)
        for u, v in edges
    )


@given(
    graph=graphs(weights=(None, "float32"), labels=(None,), directed=(False,)),
    layout=st.sampled_from(["packed", "int64"]),
)
def test_there_and_back(folder: Path, graph: Graph, layout: str) -> None:
    assume(graph.num_edges > 0)
    file = folder / f"g{'w' if graph.weights is not None else ''}.g500"
    graph.write(file, layout=layout, allow_loss=True)
    assert dr.read(file, layout=layout, num_vertices=graph.num_vertices) == graph


def test_directed_edges_by_option(tmp_path: Path) -> None:
    g = Graph.from_edges([0, 2, 1], [2, 1, 1])
    g.write(tmp_path / "g.g500", allow_loss=True)
    assert dr.read(tmp_path / "g.g500", directed=True) == g


def test_the_layouts(tmp_path: Path) -> None:
    file = tmp_path / "g.graph500"
    g = Graph.from_edges([0, 1], [1, 2], directed=False)
    g.write(file)
    assert file.read_bytes() == packed((0, 1), (1, 2))
    g.write(file, layout="int64")
    assert file.read_bytes() == struct.pack("<4q", 0, 1, 1, 2)


def test_ids_beyond_32_bits(tmp_path: Path) -> None:
    file = tmp_path / "g.g500"
    edges = [(2**32 + 7, 5), (3, 2**46 + 2**31)]
    file.write_bytes(packed(*edges))
    block = next(open_edges(file, layout="packed", scale=47).blocks)
    assert list(zip(block.src.tolist(), block.dst.tolist(), strict=True)) == edges


@pytest.mark.parametrize("layout", ["packed", "int64"])
@pytest.mark.parametrize("edges", [1, 3, 4, 12, 48])
def test_the_layout_is_found(tmp_path: Path, layout: str, edges: int) -> None:
    g = Graph.from_edges(np.arange(edges), np.arange(1, edges + 1), directed=False)
    g.write(tmp_path / "g.g500", layout=layout)
    g.write(tmp_path / "g.g500.gz", layout=layout)
    assert dr.read(tmp_path / "g.g500") == g
    assert dr.read(tmp_path / "g.g500.gz") == g


def test_a_layout_that_cannot_be_found_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "g.g500").write_bytes(bytes(48))
    with pytest.raises(FormatError, match="pass layout='packed' or layout='int64'"):
        dr.read(tmp_path / "g.g500")
    assert dr.read(tmp_path / "g.g500", layout="int64").num_edges == 3


def test_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph500, "_BLOCK", 7)
    g = Graph.from_edges(np.arange(30), np.arange(30)[::-1], np.arange(30, dtype=np.float32) + 0.5)
    g = g.symmetrized(dedupe=False)
    g.write(tmp_path / "g.g500")
    source = open_edges(tmp_path / "g.g500")
    assert source.num_edges == g.num_edges
    assert max(len(block.src) for block in source.blocks) == 7
    assert dr.read(tmp_path / "g.g500") == g


def test_scale_and_num_vertices(tmp_path: Path) -> None:
    (tmp_path / "g.g500").write_bytes(packed((0, 1)))
    assert dr.read(tmp_path / "g.g500", scale=5).num_vertices == 32
    assert dr.read(tmp_path / "g.g500", num_vertices=9).num_vertices == 9
    with pytest.raises(InvalidArgumentError, match="not both"):
        dr.read(tmp_path / "g.g500", scale=5, num_vertices=32)
    with pytest.raises(InvalidArgumentError, match=r"0\.\.47"):
        dr.read(tmp_path / "g.g500", scale=60)
    with pytest.raises(InvalidArgumentError, match="layout='zip'"):
        dr.read(tmp_path / "g.g500", layout="zip")
    with pytest.raises(FormatError, match="id 1: too large"):
        dr.read(tmp_path / "g.g500", num_vertices=1)


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"", {}, "empty"),
        (packed((0, 1))[:-1], {}, "not a whole number of edges"),
        (packed((0, 1), (1, -1)), {}, "edge 1 has the id -1: ids are not negative"),
        (struct.pack("<4q", 0, 1, -7, 2), {}, "edge 1 has the id -7"),
        (packed((0, 2**40)), {}, "edge 0 has the id 1099511627776: too large"),
        (packed((0, 1)), {"layout": "int64"}, "not a whole number of edges of 16"),
        (packed(*[(2**40, 2**40)] * 4), {}, "far too large"),
    ],
)
def test_damaged(tmp_path: Path, data: bytes, options: dict, message: str) -> None:
    (tmp_path / "bad.g500").write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        dr.read(tmp_path / "bad.g500", **options)
    assert caught.value.path == str(tmp_path / "bad.g500")


@pytest.mark.parametrize(("count", "message"), [(1, "fewer weights"), (3, "more weights")])
def test_weights_that_do_not_match(tmp_path: Path, count: int, message: str) -> None:
    (tmp_path / "g.g500").write_bytes(packed((0, 1), (1, 2)))
    np.ones(count, "<f4").tofile(tmp_path / "g.g500.weights")
    with pytest.raises(CorruptFileError, match=message):
        dr.read(tmp_path / "g.g500")


def test_weights_by_option_and_nan(tmp_path: Path) -> None:
    (tmp_path / "g.g500").write_bytes(packed((0, 1), (1, 2)))
    np.array([0.5, np.nan], "<f4").tofile(tmp_path / "w.bin")
    with pytest.raises(FormatError, match="NaN"):
        dr.read(tmp_path / "g.g500", weights=tmp_path / "w.bin")
    with pytest.raises(FileError, match="No such file"):
        dr.read(tmp_path / "g.g500", weights=tmp_path / "none.bin")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (Graph.from_edges([0], [1]), "direction of edges"),
        (Graph.from_edges(["a"], ["b"], directed=False), "labels"),
        (Graph.from_edges([0], [1], num_vertices=3, directed=False), "read the file with num_vertices=3"),
        (Graph.from_edges([0], [1], [0.1], directed=False), "float64 weights that float32 rounds"),
        (Graph.from_edges([0], [1], [1e300], directed=False), "float64 weights that float32 rounds"),
        (Graph.from_edges([], [], directed=False), "without edges"),
    ],
)
def test_what_cannot_be_held_is_refused(tmp_path: Path, graph: Graph, message: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=message):
        graph.write(tmp_path / "g.g500")
    assert list(tmp_path.iterdir()) == []


def test_weights_of_an_older_file_are_not_taken(tmp_path: Path) -> None:
    Graph.from_edges([0], [1], [2], directed=False).write(tmp_path / "g.g500")
    assert dr.read(tmp_path / "g.g500").weights.tolist() == [2, 2]
    with pytest.raises(FileError, match=r"g\.g500\.weights is in the same folder"):
        Graph.from_edges([0], [1], directed=False).write(tmp_path / "g.g500")
