"""Graphs from and to SciPy, NetworkX, Arrow, pandas, polars and DLPack."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from networkx.utils import edges_equal, nodes_equal

from dromos import Graph
from dromos.errors import GraphDataError
from dromos.graph.columns import as_numpy, choose_columns

pl = pytest.importorskip("polars")


class ByDLPack:
    """An array that only speaks DLPack, as a tensor of another library does."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __dlpack__(self, **options: object) -> object:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


class OnADevice(ByDLPack):
    def __dlpack__(self, **options: object) -> object:
        raise BufferError("the tensor lies on cuda:0")


class OnlyCStream:
    """A table that only speaks the Arrow C stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class TestArrays:
    def test_dlpack(self) -> None:
        g = Graph.from_edges(ByDLPack(np.array([0, 1])), ByDLPack(np.array([1, 2])), ByDLPack(np.array([0.5, 1.5])))
        assert g == Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])

    def test_dlpack_shares_memory(self) -> None:
        values = np.arange(5)
        assert np.shares_memory(as_numpy(ByDLPack(values)), values)

    def test_dlpack_of_a_device(self) -> None:
        with pytest.raises(GraphDataError, match=r"cuda:0.*move it to the CPU"):
            as_numpy(OnADevice(np.arange(3)))

    def test_read_only_and_strided(self) -> None:
        src = np.arange(8)
        src.flags.writeable = False
        assert Graph.from_edges(src[::2], src[1::2]).edges().src.tolist() == [0, 2, 4, 6]

    def test_other_byte_order(self) -> None:
        g = Graph.from_edges(np.array([0, 1], ">i4"), np.array([1, 2], ">i8"), np.array([0.5, 2], ">f4"))
        assert g == Graph.from_edges([0, 1], [1, 2], np.array([0.5, 2], np.float32))

    def test_masked(self) -> None:
        with pytest.raises(GraphDataError, match="masked"):
            Graph.from_edges(np.ma.array([0, 1], mask=[0, 1]), [1, 0])

    def test_numbers_among_strings(self) -> None:
        with pytest.raises(GraphDataError, match="int, str"):
            Graph.from_edges(["a", 1], ["b", "c"])

    def test_arrow_nulls(self) -> None:
        with pytest.raises(GraphDataError, match="1 missing"):
            Graph.from_edges(pa.array([0, None]), pa.array([1, 2]))

    def test_bool_weights_are_counted_as_ones(self) -> None:
        assert Graph.from_edges([0, 1], [1, 0], [True, False]).weights.tolist() == [1, 0]

    def test_complex_weights(self) -> None:
        with pytest.raises(GraphDataError, match="complex"):
            Graph.from_edges([0], [1], [1j])

    def test_ragged(self) -> None:
        with pytest.raises(GraphDataError, match="not a column"):
            Graph.from_edges([[0], [1, 2]], [1, 0])

    @pytest.mark.parametrize("series", [pd.Series, pl.Series])
    def test_series(self, series: type) -> None:
        assert Graph.from_edges(series(["a", "b"]), series(["b", "c"])).num_vertices == 3
        assert Graph.from_edges(series([0, 1]), series([1, 2]), series([1.5, 2.5])).weights.tolist() == [1.5, 2.5]


class TestSciPy:
    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    def test_every_kind(self, kind: str) -> None:
        dense = np.array([[0, 2.5, 0], [0, 1, 0], [3, 0, 0]])
        g = Graph.from_scipy(sp.csr_array(dense).asformat(kind))
        assert np.array_equal(g.to_scipy().toarray(), dense)
        assert g.num_edges == 3

    def test_duplicates_are_parallel_edges(self) -> None:
        g = Graph.from_scipy(sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2)))
        assert g.weights.tolist() == [1, 2]
        matrix = g.to_scipy()
        matrix.sum_duplicates()
        assert matrix.toarray().tolist() == [[0, 3], [0, 0]]
        assert g.weights.tolist() == [1, 2]

    def test_bool_is_unweighted(self) -> None:
        matrix = sp.csr_array(np.array([[False, True], [True, False]]))
        assert Graph.from_scipy(matrix, directed=False).weights is None
        assert Graph.from_scipy(matrix, weighted=True).weights.tolist() == [1, 1]

    def test_undirected_must_be_symmetric(self) -> None:
        with pytest.raises(GraphDataError, match="both directions"):
            Graph.from_scipy(sp.csr_array([[0, 1], [0, 0]]), directed=False)

    def test_shares_what_scipy_leaves_alone(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2], [0.5, 1.5])
        assert np.shares_memory(g.to_scipy().data, g.weights)

    def test_unsorted_rows_are_copied(self) -> None:
        g = Graph.from_csr(np.array([0, 2, 2]), np.array([1, 0], np.int32))
        matrix = g.to_scipy()
        matrix.sort_indices()
        assert matrix.indices.tolist() == [0, 1]
        assert g.targets.tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            (sp.csr_array((2, 3)), "as many columns"),
            (np.eye(2), "SciPy sparse"),
            (sp.csr_array([[1j]]), "complex"),
            (sp.csr_array([[np.nan]]), "NaN"),
        ],
    )
    def test_refused(self, matrix: object, message: str) -> None:
        with pytest.raises(GraphDataError, match=message):
            Graph.from_scipy(matrix)


NODES = st.one_of(
    st.permutations(range(6)), st.sets(st.integers(-(2**63), 2**63 - 1), max_size=6).map(list),
    st.sets(st.text(max_size=4), max_size=6).map(list),
)  # fmt: skip
WEIGHTS = st.one_of(
    st.none(),
    st.just(st.integers(-(2**31), 2**31 - 1)),
    st.just(st.floats(allow_nan=False)),
)


@st.composite
def networkx_graphs(draw: st.DrawFn) -> nx.Graph:
    kind = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
    nodes = draw(NODES)
    graph = kind()
    graph.add_nodes_from(nodes)
    weights = draw(WEIGHTS)
    if nodes:
        for u, v in draw(st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=12)):
            graph.add_edge(u, v, **({} if weights is None else {"weight": draw(weights)}))
    return graph


class TestNetworkX:
    @given(networkx_graphs())
    def test_there_and_back(self, graph: nx.Graph) -> None:
        back = Graph.from_networkx(graph).to_networkx()
        assert back.is_directed() == graph.is_directed()
        assert nodes_equal(back.nodes, graph.nodes)
        assert sorted(_edges(back), key=repr) == sorted(_edges(graph), key=repr)
        if not graph.is_multigraph():
            assert edges_equal(back.edges(data=True), graph.edges(data=True), directed=graph.is_directed())

    def test_numbers_out_of_order_stay_ids(self) -> None:
        graph = nx.Graph()
        graph.add_nodes_from([2, 0, 1])
        graph.add_edge(2, 0)
        g = Graph.from_networkx(graph)
        assert g.labels is None
        assert g.edges().src.tolist() == [0]
        assert g.edges().dst.tolist() == [2]

    def test_parallel_edges_and_loops_of_a_multigraph(self) -> None:
        graph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (1, 1)])
        g = Graph.from_networkx(graph)
        assert (g.num_edges, g.num_arcs) == (4, 6)
        assert sorted(g.to_networkx().edges()) == [(0, 1), (0, 1), (1, 1), (1, 1)]

    @pytest.mark.parametrize("nodes", [[(0, 1), (1, 1)], ["a", 1], [1.5, 2], [True, False], [frozenset()]])
    def test_nodes_that_cannot_be_labels(self, nodes: list) -> None:
        graph = nx.Graph()
        graph.add_nodes_from(nodes)
        with pytest.raises(GraphDataError, match="relabel_nodes"):
            Graph.from_networkx(graph)

    def test_some_weights_missing(self) -> None:
        graph = nx.Graph([(0, 1, {"weight": 2}), (1, 2)])
        with pytest.raises(GraphDataError, match="only 1 of 2 edges"):
            Graph.from_networkx(graph)
        assert Graph.from_networkx(graph, weight=None).weights is None

    def test_another_attribute(self) -> None:
        assert Graph.from_networkx(nx.Graph([(0, 1, {"km": 2.5})]), weight="km").weights.tolist() == [2.5, 2.5]
        for data in ({"km": 2.5}, {}):
            with pytest.raises(GraphDataError, match="no edge has the attribute 'miles'"):
                Graph.from_networkx(nx.Graph([(0, 1, data)]), weight="miles")
        assert Graph.from_networkx(nx.empty_graph(2), weight="km").weights is None

    @given(networkx_graphs(), st.data())
    def test_node_attributes_there_and_back(self, graph: nx.Graph, data: st.DataObject) -> None:
        values = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans(), st.text(), st.just(("x", [1])))
        one_kind = data.draw(st.sampled_from([values, st.integers(0, 9), st.booleans(), st.floats(0, 1)]))
        for node in graph:
            graph.nodes[node].update(data.draw(st.dictionaries(st.sampled_from(["a", "b"]), one_kind)))
            graph.nodes[node]["all"] = data.draw(one_kind)
        g = Graph.from_networkx(graph)
        for there in (g.to_networkx(), g.transpose.to_networkx(), pickle.loads(pickle.dumps(g)).to_networkx()):
            assert _typed(there) == _typed(graph)
        if len(graph):
            kept = data.draw(st.lists(st.sampled_from(list(graph)), min_size=1, unique=True))
            assert _typed(g.subgraph(kept).to_networkx()) == _typed(graph.subgraph(kept))
            moved = g.relabel_by_degree(named=True).graph
            assert _typed(moved.to_networkx()) == _typed(graph)

    def test_node_attributes_are_those_of_the_moment(self) -> None:
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, 1, "age")
        g = Graph.from_networkx(graph)
        graph.nodes[0]["age"] = 99
        assert g.vertex_data["age"].tolist() == [1, 1, 1]
        assert g.vertex_data["age"].dtype == np.int64
        with pytest.raises(ValueError, match="read-only"):
            g.vertex_data["age"][0] = 5

    def test_views_of_graphs(self) -> None:
        graph = nx.karate_club_graph().subgraph([3, 0, 33])
        g = Graph.from_networkx(graph, weight=None)
        assert dict(zip(g.labels.to_numpy().tolist(), g.vertex_data["club"], strict=True)) == dict(
            graph.nodes(data="club")
        )

    def test_not_a_graph(self) -> None:
        with pytest.raises(GraphDataError, match="expected a NetworkX graph, not dict"):
            Graph.from_networkx({})

    def test_weights_that_are_text(self) -> None:
        with pytest.raises(GraphDataError, match="not numbers"):
            Graph.from_networkx(nx.Graph([(0, 1, {"weight": "far"})]))


def _typed(graph: nx.Graph) -> dict:
    """The attributes of the nodes with their types: 1, 1.0 and True are equal to Python."""
    return {node: {name: (type(value), value) for name, value in held.items()} for node, held in graph.nodes(data=True)}


class TestVertexData:
    def test_columns_given(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2], [0.5, 1.5], directed=False)
        ages = np.array([3, 4, 5], np.int8)
        h = g.with_vertex_data({"age": ages, "name": ["x", None, "z"]})
        ages[0] = 9
        assert h == g
        assert h.vertex_data["age"].tolist() == [3, 4, 5]
        assert h.vertex_data["age"].dtype == np.int8
        assert h.with_weights(None).vertex_data["name"].tolist() == ["x", None, "z"]
        assert list({**h.vertex_data, "new": ages}) == ["age", "name", "new"]
        assert repr(h.with_vertex_data(None).vertex_data) == "<vertex data: none>"
        assert len(g.vertex_data) == 0
        assert h.vertex_data.get("colour") is None
        with pytest.raises(KeyError, match="no data 'colour'; they have age, name"):
            h.vertex_data["colour"]

    def test_of_directed_graphs_made_undirected(self) -> None:
        g = Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": [1, 2, 3]})
        assert g.symmetrized().vertex_data["age"].tolist() == [1, 2, 3]
        assert g.egonet(1).vertex_data["age"].tolist() == [2, 3]

    @pytest.mark.parametrize("column", [[1, 2], np.arange(4), []])
    def test_wrong_lengths(self, column: object) -> None:
        with pytest.raises(GraphDataError, match=r"'age' has \d values for 3 vertices"):
            Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": column})

    def test_what_is_no_columns_is_refused(self) -> None:
        with pytest.raises(GraphDataError, match="int is no vertex data; give columns by name"):
            Graph.from_edges([0], [1]).with_vertex_data(5)  # type: ignore[arg-type]

    @pytest.mark.parametrize("column", [5, np.array(5), "red"])
    def test_no_column(self, column: object) -> None:
        with pytest.raises(GraphDataError, match="'age' is not a column"):
            Graph.from_edges([0, 1], [1, 2]).with_vertex_data({"age": column})


def _edges(graph: nx.Graph) -> list:
    pairs = graph.edges(data="weight")
    return [(*(pair if graph.is_directed() else sorted(pair)), w) for *pair, w in pairs]


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


class TestIgraph:
    igraph = pytest.importorskip("igraph")

    @given(st.booleans(), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
    def test_edges_weights_and_numbers_are_kept(self, directed: bool, pairs: list[tuple[int, int]]) -> None:
        other = self.igraph.Graph(6, pairs, directed=directed)
        other.es["weight"] = [float(i) for i in range(len(pairs))]
        graph = Graph.from_igraph(other)
        src, dst = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
        expected = Graph.from_edges(src, dst, np.arange(len(pairs), dtype=float), num_vertices=6, directed=directed)
        assert graph == expected
        assert Graph.from_igraph(other, weight=None).weights is None

    def test_names_and_other_attributes(self) -> None:
        other = self.igraph.Graph.TupleList([("dam", "mill", 5), ("mill", "town", 4)], edge_attrs="length")
        graph = Graph.from_igraph(other, weight="length")
        assert graph.labels is not None
        assert graph.labels.to_numpy().tolist() == ["dam", "mill", "town"]
        assert graph.to_arrow().to_pylist()[0] == {"src": "dam", "dst": "mill", "weight": 5}
        assert Graph.from_igraph(other).weights is None
        other.vs["height"] = [12, None, 25]
        assert {name: column.tolist() for name, column in Graph.from_igraph(other).vertex_data.items()} == {
            "height": [12, None, 25]
        }
        unnamed = Graph.from_igraph(other, labels=None)
        assert unnamed.labels is None
        assert unnamed.vertex_data["name"].tolist() == ["dam", "mill", "town"]

    def test_what_cannot_be_kept_is_refused(self) -> None:
        other = self.igraph.Graph.TupleList([("dam", "mill")])
        with pytest.raises(GraphDataError, match="no attribute 'length'; they have none"):
            Graph.from_igraph(other, weight="length")
        other.vs["name"] = ["dam", None]
        with pytest.raises(GraphDataError, match="1 of 2 vertices have no 'name'"):
            Graph.from_igraph(other)
        other.vs["name"] = ["dam", 3]
        with pytest.raises(GraphDataError, match="strings and numbers"):
            Graph.from_igraph(other)
        with pytest.raises(GraphDataError, match="expected an igraph graph, not list"):
            Graph.from_igraph([])


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
