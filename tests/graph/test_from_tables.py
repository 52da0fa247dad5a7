"""Graphs from and to tables of Arrow, pandas and polars."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dromos import Graph
from dromos.errors import GraphDataError
from dromos.graph.columns import choose_columns

pl = pytest.importorskip("polars")


class OnlyCStream:
    """A table that only speaks the Arrow C stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class TestTables:
    TABLE = pa.table({"src": [0, 1], "dst": [1, 2], "weight": [0.5, 1.5]})
    GRAPH = Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])

    @pytest.mark.parametrize(
        "table", [TABLE, OnlyCStream(TABLE), TABLE.to_batches()[0], TABLE.to_reader(), pl.from_arrow(TABLE)], ids=type
    )
    def test_anything_with_the_c_stream(self, table: object) -> None:
        assert Graph.from_arrow(table) == self.GRAPH

    def test_pandas_and_back(self) -> None:
        frame = self.GRAPH.to_pandas()
        assert Graph.from_pandas(frame) == self.GRAPH

    def test_polars_strings(self) -> None:
        frame = pl.DataFrame({"a": ["x", "y"], "b": ["y", "z"]}, schema_overrides={"a": pl.Categorical})
        assert Graph.from_polars(frame).labels.to_numpy().tolist() == ["x", "y", "z"]

    def test_pandas_categories_and_nullables(self) -> None:
        frame = pd.DataFrame(
            {"src": pd.Categorical(["x", "y"]), "dst": ["y", "x"], "weight": pd.array([1, 2], "Int64")}
        )
        assert Graph.from_pandas(frame).weights.tolist() == [1, 2]

    def test_labels_stand_in_the_place_of_ids(self) -> None:
        g = Graph.from_edges(["a", "c"], ["b", "a"])
        assert Graph.from_arrow(g.to_arrow()).to_arrow() == g.to_arrow()
        assert g.to_arrow().column("src").to_pylist() == ["a", "c"]

    def test_options_of_from_edges(self) -> None:
        g = Graph.from_arrow(pa.table({"u": [10, 20], "v": [20, 30]}), labels=True, directed=False)
        assert g.labels.to_numpy().tolist() == [10, 20, 30]
        assert not g.directed

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"src": [0.5], "dst": [1]}, "'src' holds double"),
            ({"src": [0], "dst": [None]}, "'dst' has 1 missing"),
            ({"src": [0], "dst": [1], "weight": [float("nan")]}, "'weight' holds NaN in row 1"),
            ({"src": [0], "dst": [1], "weight": ["far"]}, "'weight' holds string"),
            ({"src": [0]}, "two columns of vertices"),
            ({"src": [b"x"], "dst": [b"y"]}, "'src' holds binary"),
            ({"src": [0], "dst": ["a"]}, "different kinds"),
        ],
    )
    def test_refused(self, columns: dict, message: str) -> None:
        with pytest.raises(GraphDataError, match=message):
            Graph.from_arrow(pa.table(columns))

    def test_pandas_mixed_column(self) -> None:
        with pytest.raises(GraphDataError, match="data frame"):
            Graph.from_pandas(pd.DataFrame({"src": [1, "a"], "dst": [1, 2]}))

    def test_no_table(self) -> None:
        with pytest.raises(GraphDataError, match="not dict"):
            Graph.from_arrow({"src": [0], "dst": [1]})

    def test_empty(self) -> None:
        assert Graph.from_arrow(pa.table({"src": pa.nulls(0), "dst": pa.nulls(0)})).num_vertices == 0


class TestChooseColumns:
    @pytest.mark.parametrize(
        ("names", "given", "expected"),
        [
            (["dst", "src"], {}, ("src", "dst", None)),
            (["id", "source", "target"], {}, ("source", "target", None)),
            (["weight", "a", "b"], {}, ("a", "b", "weight")),
            (["a", "b", "c"], {"dst": "a"}, ("b", "a", None)),
            (["src", "dst", "w"], {"src": "dst", "dst": "src", "weight": "w"}, ("dst", "src", "w")),
            (["src", "dst"], {"src": "dst"}, ("dst", "src", None)),
        ],
    )
    def test_chosen(self, names: list[str], given: dict, expected: tuple) -> None:
        assert choose_columns(names, given.get("src"), given.get("dst"), given.get("weight")) == expected

    def test_refused(self) -> None:
        with pytest.raises(GraphDataError, match="no column 'w'; the columns are a, b"):
            choose_columns(["a", "b"], None, None, "w")
        with pytest.raises(GraphDataError, match="same name"):
            choose_columns(["a", "a"], None, None, None)
        with pytest.raises(GraphDataError, match="asked for twice"):
            choose_columns(["a", "b"], "a", "a", None)


class TestTexts:
    """Strings in Arrow's memory are numbered there, however they are held."""

    SRC, DST = ["c", "a", "c", "é"], ["a", "b", "b", "c"]

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
    @pytest.mark.parametrize("chunks", [1, 3])
    def test_every_form_gives_the_same_graph(self, kind: pa.DataType, chunks: int) -> None:
        columns = {
            name: pa.chunked_array([pa.array(part.tolist(), kind) for part in np.array_split(values, chunks)])
            for name, values in (("src", self.SRC), ("dst", self.DST))
        }
        graph = Graph.from_arrow(pa.table(columns), directed=False)
        assert graph.labels.to_numpy().tolist() == ["c", "a", "é", "b"]
        assert graph == Graph.from_edges(self.SRC, self.DST, directed=False)

    def test_one_column_of_categories_some_of_them_unused(self) -> None:
        frame = pd.DataFrame({"src": pd.Categorical(self.SRC, ["z", "é", "a", "c"]), "dst": self.DST})
        assert Graph.from_pandas(frame) == Graph.from_edges(self.SRC, self.DST)
        with pytest.raises(GraphDataError, match="num_vertices=9"):
            Graph.from_pandas(frame, num_vertices=9)

    def test_missing_and_mixed_columns_are_refused(self) -> None:
        with pytest.raises(GraphDataError, match="1 missing"):
            Graph.from_edges(pa.array(["a", None]), pa.array(["b", "c"]))
        with pytest.raises(GraphDataError, match="different kinds"):
            Graph.from_arrow(pa.table({"src": ["a"], "dst": [1]}))
        nothing = pa.array([], pa.string())
        assert Graph.from_arrow(pa.table({"src": nothing, "dst": nothing})).labels is None
