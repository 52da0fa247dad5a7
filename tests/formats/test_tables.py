"""Tables of edges: Parquet, Arrow IPC and CSV."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dromos as dr
from dromos import Graph
from dromos.errors import (
    CorruptFileError,
    DromosError,
    FileError,
    FormatError,
    InvalidArgumentError,
    UnsupportedFormatError,
)
from dromos.graph.formats import open_edges, table_rows

from .random_graphs import graphs

KINDS = [("g.parquet", None), ("g.pq", "zstd"), ("g.pq", "snappy"), ("g.arrow", None), ("g.feather", "lz4")]


def save(table: pa.Table, file: Path) -> None:
    """Write a table as a program other than Dromos does."""
    if file.suffix in (".parquet", ".pq"):
        pq.write_table(table, file)
    elif file.suffix == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.feather.write_feather(table, file)


class TestOwnFiles:
    @given(graph=graphs(), kind=st.sampled_from(KINDS))
    def test_there_and_back(self, folder: Path, graph: Graph, kind: tuple) -> None:
        file = folder / kind[0]
        graph.write(file, compression=kind[1])
        assert dr.read(file) == graph

    @pytest.mark.parametrize("name", ["g.parquet", "g.arrow"])
    @pytest.mark.parametrize("labels", [None, "str"])
    def test_several_batches(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, labels: str | None
    ) -> None:
        names = [f"n{i}" for i in range(50)] if labels else None
        g = Graph.from_edges(np.arange(49), np.arange(1, 50), np.arange(49) / 8, labels=names, num_vertices=50)
        monkeypatch.setattr(table_rows, "ROWS_A_BATCH", 10)
        g.write(tmp_path / name)
        assert dr.read(tmp_path / name) == g
        source = open_edges(tmp_path / name)
        assert source.num_edges == 49
        assert sum(len(block.src) for block in source.blocks) == 49

    def test_other_programs_read_it(self, tmp_path: Path) -> None:
        g = Graph.from_edges(["b", "a"], ["a", "c"], [1.5, 2.5])
        g.write(tmp_path / "g.parquet")
        g.write(tmp_path / "g.feather")
        expected = {"src": ["b", "a"], "dst": ["a", "c"], "weight": [1.5, 2.5]}
        assert pd.read_parquet(tmp_path / "g.parquet").to_dict("list") == expected
        assert pyarrow.feather.read_table(tmp_path / "g.feather").to_pydict() == expected

    @pytest.mark.parametrize("name", ["g.parquet", "g.arrow"])
    def test_rows_changed_by_another_program(self, tmp_path: Path, name: str) -> None:
        file = tmp_path / name
        Graph.from_edges([0, 1], [1, 2], num_vertices=5).write(file)
        reader = pq.read_table if name == "g.parquet" else lambda path: pa.ipc.open_file(path.read_bytes()).read_all()
        table = reader(file)
        save(table.slice(1), file)
        with pytest.raises(CorruptFileError, match="metadata=False"):
            dr.read(file)
        assert dr.read(file, metadata=False).num_edges == 1
        save(table.take([1, 0]), file)
        with pytest.raises(CorruptFileError, match="checksum"):
            dr.read(file)
        save(table.rename_columns(["a", "b"]).replace_schema_metadata(table.schema.metadata), file)
        with pytest.raises(CorruptFileError, match="columns are not those"):
            dr.read(file)
        entries = dict(table.schema.metadata)
        save(table.replace_schema_metadata(entries | {b"dromos": entries[b"dromos"].replace(b"5", b"9")}), file)
        with pytest.raises(CorruptFileError, match="fails its checksum"):
            dr.read(file)

    def test_options_against_the_note(self, tmp_path: Path) -> None:
        Graph.from_edges([0], [1]).write(tmp_path / "g.pq")
        with pytest.raises(InvalidArgumentError, match="metadata=False"):
            dr.read(tmp_path / "g.pq", ids="names")
        with pytest.raises(InvalidArgumentError, match="metadata=False"):
            dr.read(tmp_path / "g.pq", num_vertices=9)
        assert dr.read(tmp_path / "g.pq", num_vertices=9, metadata=False).num_vertices == 9

    def test_unknown_compression(self, tmp_path: Path) -> None:
        for name in ("g.parquet", "g.arrow"):
            with pytest.raises(InvalidArgumentError, match="'shrink'"):
                Graph.from_edges([0], [1]).write(tmp_path / name, compression="shrink")
        assert list(tmp_path.iterdir()) == []

    def test_labels_that_are_no_utf8(self, tmp_path: Path) -> None:
        with pytest.raises(DromosError, match="surrogate"):
            Graph.from_edges([0], [1], labels=["\ud800", "b"]).write(tmp_path / "g.parquet")
        assert list(tmp_path.iterdir()) == []


ALL = ["t.parquet", "t.feather", "t.csv"]


@pytest.mark.parametrize("name", ALL)
class TestOtherFiles:
    def read(self, tmp_path: Path, name: str, columns: dict, **options: object) -> Graph:
        save(pa.table(columns), tmp_path / name)
        return dr.read(tmp_path / name, **options)

    def test_columns_by_name(self, tmp_path: Path, name: str) -> None:
        columns = {"km": [5, 6], "to": [1, 2], "from": [0, 1], "note": ["x", "y"]}
        g = self.read(tmp_path, name, columns, src="from", dst="to", weight="km")
        assert g == Graph.from_edges([0, 1], [1, 2], [5, 6])

    def test_columns_by_position(self, tmp_path: Path, name: str) -> None:
        g = self.read(tmp_path, name, {"from": [0, 1], "to": [1, 2], "weight": [0.5, 1.5], "day": [3, 4]})
        assert g == Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])

    def test_sparse_ids_are_labels(self, tmp_path: Path, name: str) -> None:
        g = self.read(tmp_path, name, {"src": [10**12, 7], "dst": [7, 30]})
        assert g.labels.to_numpy().tolist() == [7, 30, 10**12]
        g = self.read(tmp_path, name, {"src": [0], "dst": [3]}, ids="dense")
        assert g == Graph.from_edges([0], [3])
        g = self.read(tmp_path, name, {"src": [0], "dst": [3]}, num_vertices=6)
        assert g == Graph.from_edges([0], [3], num_vertices=6)

    def test_strings_are_labels(self, tmp_path: Path, name: str) -> None:
        g = self.read(tmp_path, name, {"src": ["2020-01-01", "true"], "dst": ["NA", "12:00"]})
        assert g == Graph.from_edges(["2020-01-01", "true"], ["NA", "12:00"])

    def test_numbers_as_names(self, tmp_path: Path, name: str) -> None:
        g = self.read(tmp_path, name, {"src": [0], "dst": [1]}, ids="names")
        assert g == Graph.from_edges(["0"], ["1"])

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"src": [0.5, 1.5], "dst": [1, 2]}, "'src' holds"),
            ({"src": [1, None], "dst": [1, 2]}, "'src'"),
            ({"src": [1]}, "two columns"),
            ({"src": [1], "dst": [2], "weight": [float("nan")]}, "'weight' holds NaN"),
            ({"src": [1], "dst": [2], "weight": ["far"]}, "'weight' holds"),
            ({"src": [1], "dst": [2], "weight": pa.array([None], pa.float64())}, "'weight'"),
            ({"src": [1], "dst": pa.array([2**63], pa.uint64())}, r"2\^63|int64"),
        ],
    )
    def test_refused(self, tmp_path: Path, name: str, columns: dict, message: str) -> None:
        with pytest.raises(FormatError, match=message) as caught:
            self.read(tmp_path, name, columns)
        assert caught.value.path == str(tmp_path / name)

    def test_missing_column(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(FormatError, match="no column 'u'; the columns are src, dst"):
            self.read(tmp_path, name, {"src": [0], "dst": [1]}, src="u")

    def test_strings_for_dense_ids(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(FormatError, match="'src' holds"):
            self.read(tmp_path, name, {"src": ["a"], "dst": ["b"]}, ids="dense")
        with pytest.raises(InvalidArgumentError, match="ids='sparse'"):
            dr.read(tmp_path / name, ids="sparse")

    def test_no_file_no_bytes_no_rows(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(FileError, match="No such file"):
            dr.read(tmp_path / name)
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(CorruptFileError, match="empty"):
            dr.read(tmp_path / name)
        assert (
            self.read(tmp_path, name, {"src": pa.array([], pa.int64()), "dst": pa.array([], pa.int64())}).num_vertices
            == 0
        )

    def test_another_format(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
        with pytest.raises(FormatError):
            dr.read(tmp_path / name)


def test_arrow_stream_and_batches(tmp_path: Path) -> None:
    table = pa.table({"src": [0, 1], "dst": [1, 2]})
    with pa.ipc.new_stream(tmp_path / "s.arrow", table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    assert dr.read(tmp_path / "s.arrow") == Graph.from_edges([0, 1], [1, 2])


def test_feather_of_the_first_version(tmp_path: Path) -> None:
    (tmp_path / "t.feather").write_bytes(b"FEA1" + bytes(40))
    with pytest.raises(UnsupportedFormatError, match="version 1"):
        dr.read(tmp_path / "t.feather")


@pytest.mark.parametrize(
    "kind", [pa.int8(), pa.uint16(), pa.uint64(), pa.dictionary(pa.int8(), pa.string()), pa.large_string()]
)
def test_types_of_columns(tmp_path: Path, kind: pa.DataType) -> None:
    texts = pa.types.is_dictionary(kind) or kind == pa.large_string()
    values = pa.array(["a", "b"] if texts else [0, 1])
    column = values.dictionary_encode() if pa.types.is_dictionary(kind) else values.cast(kind)
    pq.write_table(pa.table({"src": column, "dst": column.take(pa.array([1, 0]))}), tmp_path / "t.pq")
    expected = Graph.from_edges(["a", "b"], ["b", "a"]) if texts else Graph.from_edges([0, 1], [1, 0])
    assert dr.read(tmp_path / "t.pq") == expected


class TestCsv:
    @given(graph=graphs(directed=(True,)), suffix=st.sampled_from(["", ".gz"]))
    def test_there_and_back(self, folder: Path, graph: Graph, suffix: str) -> None:
        """Where nothing is refused, the same edges between the same names come back, with the same weights."""
        file = folder / f"g.csv{suffix}"
        try:
            graph.write(file)
        except UnsupportedFormatError:
            return
        back = dr.read(file)
        assert back.num_vertices == graph.num_vertices
        assert rows(back) == rows(graph)

    def test_the_text(self, tmp_path: Path) -> None:
        Graph.from_edges(["a", 'q"'], ["b,c", "a"], np.array([0.1, 2], np.float32)).write(tmp_path / "g.csv")
        expected = '"src","dst","weight"\n"a","b,c",0.10000000149011612\n"q""","a",2\n'
        assert (tmp_path / "g.csv").read_text() == expected

    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (Graph.from_edges([0], [1], directed=False), "directed=False"),
            (Graph.from_edges([0], [2]), "vertices without edges"),
            (Graph.from_edges([0], [1], labels=["7", "8"]), "ids='names'"),
            (Graph.from_edges([], [], num_vertices=1), "vertices without edges"),
        ],
    )
    def test_what_cannot_be_held_is_refused(self, tmp_path: Path, graph: Graph, message: str) -> None:
        with pytest.raises(UnsupportedFormatError, match=message):
            graph.write(tmp_path / "g.csv")
        assert list(tmp_path.iterdir()) == []
        graph.write(tmp_path / "g.csv", allow_loss=True)
        assert dr.read(tmp_path / "g.csv").num_edges == graph.num_edges

    @pytest.mark.parametrize(
        ("text", "message", "line"),
        [
            ("src,dst\n0,1\n2\n", "Expected 2 columns, got 1", 3),
            ("src,dst\n0,1\n1,0.5\n0,2.5\n", "'dst' holds numbers like 0.5", 3),
            ("src,dst\n0,1\n,1\n", "'src' is empty", 3),
            ("src,dst,weight\n0,1,2\n1,2,far\n", "'weight' holds 'far'", 3),
            ("src,dst,weight\n0,1,2\n1,2,nan\n", "'weight' holds NaN", 3),
            ("src,dst\n0,1\n1,99999999999999999999\n", "'dst' holds '99999999999999999999'", 3),
            ("src,dst\n0.0,1\n", "'src' holds numbers like 0.0", 2),
            ("0,1\n1,2\n", "looks like an edge", 1),
            ("src,src\n0,1\n", "same name", None),
            ("src\n0\n", "two columns", None),
            ("src,dst\n\xff,1\n", "UTF8", None),
        ],
    )
    def test_damaged(self, tmp_path: Path, text: str, message: str, line: int | None) -> None:
        (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
        with pytest.raises(FormatError, match=message) as caught:
            dr.read(tmp_path / "t.csv")
        assert line is None or caught.value.line == line
        assert caught.value.path == str(tmp_path / "t.csv")

    def test_a_name_after_many_numbers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dromos.graph.formats.csv_table._BLOCK", 40)
        (tmp_path / "t.csv").write_text("src,dst\n" + "0,1\n" * 30 + "ada,1\n")
        with pytest.raises(FormatError, match=r"'src' holds 'ada'.*ids='names'") as caught:
            dr.read(tmp_path / "t.csv")
        assert caught.value.line == 32
        assert dr.read(tmp_path / "t.csv", ids="names").num_vertices == 3

    def test_weights_that_turn_into_decimals(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("dromos.graph.formats.csv_table._BLOCK", 40)
        (tmp_path / "t.csv").write_text("src,dst,weight\n" + "0,1,3\n" * 30 + "0,1,2.5\n")
        assert dr.read(tmp_path / "t.csv").weights.tolist() == [3.0] * 30 + [2.5]

    def test_delimiter_quotes_and_blank_lines(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text('\ufeffsrc;dst\n\n"a;\nb";""\n', encoding="utf-8")
        assert dr.read(tmp_path / "t.csv", delimiter=";") == Graph.from_edges(["a;\nb"], [""])

    def test_one_name_makes_all_ids_names(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("src,dst\n0,1\n1,x\n")
        assert dr.read(tmp_path / "t.csv") == Graph.from_edges(["0", "1"], ["1", "x"])

    def test_cut_gz(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"src,dst\n" + b"0,1\n" * 999)[:-12])
        with pytest.raises(CorruptFileError):
            dr.read(tmp_path / "t.csv.gz")


def rows(graph: Graph) -> list:
    table = graph.to_arrow().to_pylist()
    return sorted(table, key=lambda row: [str(value) for value in row.values()])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
@pytest.mark.parametrize(
    ("columns", "named", "told"),
    [
        (("when", "who", "whom", "times"), {}, "columns when, who; not read: whom, times"),
        (("src", "dst", "times"), {}, "columns src, dst; not read: times"),
        (("when", "who", "whom"), {"src": "who", "dst": "whom"}, None),
        (("who", "whom", "weight"), {}, None),
    ],
)
def test_columns_that_are_not_read_are_told_of(name, columns, named, told, tmp_path, caplog):
    table = pa.table({column: [number, number + 1] for number, column in enumerate(columns)})
    write = {"csv": pa.csv.write_csv, "parquet": pq.write_table, "feather": pa.feather.write_feather}
    write[name.partition(".")[2]](table, tmp_path / name)
    with caplog.at_level(logging.INFO, logger="dromos.read"):
        dr.read(tmp_path / name, **named)
    said = [record.getMessage() for record in caplog.records if "not read" in record.getMessage()]
    assert len(said) == (told is not None)
    assert all(told in text and "src=, dst= and weight= choose columns" in text for text in said)
