"""What lists of edges look like in the wild, and how each is understood."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dromos as dr
from dromos import DromosWarning, Graph
from dromos.errors import FormatError, GraphDataError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.formats import open_edges
from dromos.graph.formats.base import EdgeBlock, EdgeSource
from dromos.graph.formats.reading import _collected
from dromos.graph.labels import Labels
from dromos.graph.store import convert


@pytest.fixture
def read(tmp_path: Path):  # type: ignore[no-untyped-def]
    def reader(text: str | bytes, name: str = "g.txt", **options: object) -> Graph:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return dr.read(tmp_path / name, **options)  # type: ignore[arg-type]

    return reader


def arcs(graph: Graph) -> list[tuple[object, ...]]:
    src, dst, weight = graph.edges()
    names = np.arange(graph.num_vertices) if graph.labels is None else graph.labels.to_numpy()
    columns = [names[src].tolist(), names[dst].tolist()] + ([] if weight is None else [weight.tolist()])
    return sorted(zip(*columns, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n", "0 1\n1 2", "0\t1\n1\t2\n", "0,1\n1,2\n", "0, 1\n1 , 2\n", "0;1\n1;2\n", "  0   1  \n\t1 \t2\t\n",
        "0 1\r\n1 2\r\n", "0 1\r\n1 2", "\n\n0 1\n\n1 2\n\n", "# c\n0 1\n# d\n1 2\n", "% c\n0 1\n1 2\n",
        "// c\n0 1\n1 2\n",
        "0 1 # why\n1 2 // so\n", "+0 +1\n001 0002\n", "0 1\n" + "#" * 100_000 + "\n1 2\n",
        "0 1\n" + " " * 9000 + "1 2\n",
        "0 1\n1 " + "0" * 40 + "2\n",
    ],
)  # fmt: skip
def test_ways_to_write_two_edges(read, text: str) -> None:  # type: ignore[no-untyped-def]
    assert arcs(read(text)) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "dtype", "values"),
    [
        ("0 1 5\n1 0 -7\n", "int32", [5, -7]),
        ("0 1 5\n1 0 2.5\n", "float64", [5.0, 2.5]),
        ("0,1,1e-3\n1,0,+.5\n", "float64", [0.001, 0.5]),
        ("0 1 3000000000\n1 0 1\n", "float64", [3e9, 1.0]),
        ("0 1 inf\n1 0 -Infinity\n", "float64", [np.inf, -np.inf]),
        ("0 1 1e400\n1 0 1e-400\n", "float64", [np.inf, 0.0]),
        ("0 1 0.1000000000000000055511151231257827021181583404541015625\n1 0 1\n", "float64", [0.1, 1.0]),
        ("0 1 4.9e-324\n1 0 2.2250738585072011e-308\n", "float64", [5e-324, 2.225073858507201e-308]),
    ],
)
def test_weights(read, text: str, dtype: str, values: list[float]) -> None:  # type: ignore[no-untyped-def]
    graph = read(text)
    assert graph.weights.dtype == dtype
    assert graph.weights.tolist() == values


def test_the_type_of_weights_may_be_chosen(read) -> None:  # type: ignore[no-untyped-def]
    assert read("0 1 5\n", weight_dtype="float32").weights.dtype == np.float32
    # Rounding to double first would end on the tie, and then on the even neighbour below.
    tie = "1.00000005960464477540"
    assert read(f"0 1 {tie}\n", weight_dtype="float32").weights.tolist() == [np.nextafter(np.float32(1), np.float32(2))]
    assert read("0 1 9007199254740993\n", weight_dtype="float64").weights.tolist() == [9007199254740992.0]
    with pytest.raises(InvalidArgumentError, match="weight_dtype='int8'"):
        read("0 1 5\n", weight_dtype="int8")
    assert read("0 1 5\n", weighted=False).weights is None
    with pytest.raises(FormatError, match="no weights"):
        read("0 1\n", weighted=True)


def test_ids_that_leave_some_out_become_labels(read) -> None:  # type: ignore[no-untyped-def]
    graph = read("30 1412\n-5 30\n")
    assert graph.labels.to_numpy().tolist() == [-5, 30, 1412]
    assert arcs(graph) == [(-5, 30), (30, 1412)]
    assert read("1 3\n", ids="dense").num_vertices == 4
    assert read("0 9223372036854775807\n").labels.to_numpy().tolist() == [0, 2**63 - 1]


def test_names(read) -> None:  # type: ignore[no-untyped-def]
    assert arcs(read("ada bob\nbob eve\n")) == [("ada", "bob"), ("bob", "eve")]
    assert arcs(read("New York\tBoston\t3\n")) == [("New York", "Boston", 3)]
    assert arcs(read("Zürich, Genève, 2.5\n")) == [("Zürich", "Genève", 2.5)]
    assert arcs(read("1 2\n", ids="names")) == [("1", "2")]


@pytest.mark.parametrize("labels", [None, [7, 5, 9, 2]])
@pytest.mark.parametrize("extension", [".txt", ".tsv"])
def test_the_numbers_of_a_file_of_our_own_as_names(tmp_path: Path, labels: list[int] | None, extension: str) -> None:
    """Its comment tells of numbers, and of a vertex that no row names."""
    file, store = tmp_path / f"g{extension}", tmp_path / "g.drm"
    dr.write(dr.Graph.from_edges([0, 1], [1, 2], num_vertices=4, labels=labels), file)
    names = ["0", "1", "2"] if labels is None else ["7", "5", "9"]
    graph = dr.read(file, ids="names")
    assert sorted(graph.labels.to_numpy().tolist()) == sorted(names)
    assert graph.num_vertices == 3
    assert sorted(arcs(graph)) == sorted([(names[0], names[1]), (names[1], names[2])])
    dr.write(graph, store)
    whole = store.read_bytes()
    convert(file, store, memory=32 << 20, ids="names")
    assert store.read_bytes() == whole
    assert dr.read(file).num_vertices == 4


def test_as_many_labels_as_vertices_are_read() -> None:
    source = EdgeSource(iter([EdgeBlock(np.array([5]), np.array([7]), None)]), num_vertices=3)
    source.labels = Labels.from_values([5, 7])
    build: dict[str, Any] = {"symmetrize": None, "dedupe": False, "drop_self_loops": False, "threads": 1}
    with pytest.raises(GraphDataError, match="2 labels for 3 vertices"):
        _collected(source, None, None, False, build)


def test_a_name_among_numbers_makes_all_ids_names(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.warns(DromosWarning, match=r"line 3 \('3 x'\) holds a name"):
        graph = read("1 2\n2 3\n3 x\n")
    assert arcs(graph) == [("1", "2"), ("2", "3"), ("3", "x")]
    with pytest.raises(FormatError, match=r"line 3: 'x' is not a whole number"):
        read("1 2\n2 3\n3 x\n", ids="dense")


def test_the_names_of_columns_are_no_edge(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.warns(DromosWarning, match="names of columns"):
        assert arcs(read("source\ttarget\n0\t1\n", "g.tsv")) == [(0, 1)]
    assert arcs(read("source\ttarget\n0\t1\n", "g.tsv", header="names")) == [(0, 1)]


def test_snap_headers(read) -> None:  # type: ignore[no-untyped-def]
    graph = read("# Undirected graph: x\n# Nodes: 5 Edges: 2\n0\t1\n1\t2\n")
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (5, 2, False)
    assert read("# Nodes: 2 Edges: 1\n30\t40\n").labels.to_numpy().tolist() == [30, 40]
    with pytest.raises(FormatError, match=r"g.txt: line 2: the header promises 3 edges, and the file has 2"):
        read("# Directed graph\n# Nodes: 5 Edges: 3\n0\t1\n1\t2\n")


def test_a_first_line_of_counts(read) -> None:  # type: ignore[no-untyped-def]
    graph = read("5 3\n0 1\n1 2\n2 0\n")
    assert (graph.num_vertices, graph.num_edges) == (5, 3)
    assert arcs(read("5 3\n0 1\n1 2\n2 0\n", header="none")) == [(0, 1), (1, 2), (2, 0), (5, 3)]
    assert arcs(read("0 1\n1 2\n2 0\n")) == [(0, 1), (1, 2), (2, 0)]
    weighted = read("5 2\n0 1 7\n1 2 8\n")
    assert (weighted.num_vertices, arcs(weighted)) == (5, [(0, 1, 7), (1, 2, 8)])
    from_one = read("4 3\n1 2\n2 4\n4 1\n")
    assert (from_one.num_vertices, from_one.labels.to_numpy().tolist()) == (4, [1, 2, 3, 4])


def test_a_first_line_that_may_be_counts_or_an_edge(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.warns(DromosWarning, match=r"line 1 \(3 4\) looks like counts"):
        assert arcs(read("3 4\n0 1\n1 2\n2 0\n")) == [(0, 1), (1, 2), (2, 0), (3, 4)]
    with pytest.raises(FormatError, match="line 1: the first line promises 3 vertices and 4 edges; the rest holds 3"):
        read("3 4\n0 1\n1 2\n2 0\n", header="counts")
    with pytest.raises(FormatError, match="line 1: the first line is not the counts"):
        read("a b\n0 1\n", header="counts")
    with pytest.raises(FormatError, match=r"line 1: the first line, which lacks .* promises 9 vertices and 9 edges"):
        read("9 9\n0 1 0.5\n")
    assert arcs(read("1 0\n")) == [(1, 0)]


def test_an_implausible_line_of_counts_is_an_edge(read) -> None:  # type: ignore[no-untyped-def]
    graph = read("4000000000000 1\n0 1\n")
    assert graph.num_vertices == 3


def test_further_columns(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(FormatError, match=r"line 1: there are more columns than expected"):
        read("0 1 2.5 1999\n")
    assert arcs(read("0 1 2.5 1999\n", extra_columns="ignore")) == [(0, 1, 2.5)]
    assert arcs(read("0 1 friend\n", extra_columns="ignore")) == [(0, 1)]


def test_a_list_without_edges(read) -> None:  # type: ignore[no-untyped-def]
    assert read("# nothing\n").num_vertices == 0
    assert read("# Nodes: 5 Edges: 0\n").num_vertices == 5


def test_options_are_checked(read) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InvalidArgumentError, match="header='perhaps' is not one of"):
        read("0 1\n", header="perhaps")
    with pytest.raises(InvalidArgumentError, match="'edges' has no option 'colour'"):
        read("0 1\n", colour="red")


def test_blocks_are_as_narrow_as_their_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dromos.graph.formats.text_file.BLOCK_BYTES", 64)
    lines = [f"{i} {i + 1}" for i in range(100)] + [f"{2**31} {2**40}"] + [f"{i} {i + 1}" for i in range(100)]
    (tmp_path / "g.txt").write_text("\n".join(lines))
    source = open_edges(tmp_path / "g.txt", threads=3)
    blocks = list(source.blocks)
    assert {block.src.dtype.name for block in blocks} == {"int32", "int64"}
    assert sum(block.src.dtype == np.int64 for block in blocks) == 1
    assert np.concatenate([block.dst for block in blocks]).tolist() == [int(line.split()[1]) for line in lines]
    assert source.sparse_ids


def test_a_stream_may_be_left_early_or_never_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dromos.graph.formats.text_file.BLOCK_BYTES", 64)
    (tmp_path / "g.txt").write_text("0 1\n" * 1000)
    open_edges(tmp_path / "g.txt")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source = open_edges(tmp_path / "g.txt", threads=2)
        next(source.blocks)
        source.blocks.close()  # type: ignore[attr-defined]


def test_gap_lists_have_no_comments_and_dense_ids(read) -> None:  # type: ignore[no-untyped-def]
    assert read("0 3\n", "g.el").num_vertices == 4
    assert arcs(read("0 1 2\n1 0 3\n", "g.wel")) == [(0, 1, 2), (1, 0, 3)]
    with pytest.raises(FormatError, match="line 1: '#' is not a whole number"):
        read("# 0 1\n", "g.el")
    with pytest.raises(FormatError, match="line 2: the id -1 is below 0"):
        read("0 1\n-1 2\n", "g.el")


def test_gap_lists_refuse_what_they_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "g.el"
    for graph, reason in [
        (Graph.from_edges([0], [1], num_vertices=3), "beyond the largest id that has an edge, 1"),
        (Graph.from_edges([], [], num_vertices=3), "has no edge"),
        (Graph.from_edges(["a"], ["b"]), "labels"),
        (Graph.from_edges([0], [1], directed=False), "undirected"),
        (Graph.from_edges([0], [1], [2]), "weights"),
    ]:
        with pytest.raises(UnsupportedFormatError, match=reason):
            graph.write(path)
        assert not path.exists()
    Graph.from_edges([0], [1], [2], directed=False).write(path, allow_loss=True)
    assert path.read_text() == "0 1\n1 0\n"
    assert dr.read(path, directed=False, symmetrize=False).num_edges == 1
    Graph.from_edges([0, 3], [1, 2], num_vertices=6).write(path, allow_loss=True)
    assert dr.read(path) == Graph.from_edges([0, 3], [1, 2])
