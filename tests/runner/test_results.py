"""Results: fields by name, tables, files and the greatest values."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet
import pytest

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.errors import (
    FileError,
    GraphDataError,
    InvalidArgumentError,
)
from dromos.runner import Result


@pytest.fixture
def result():
    graph = dr.Graph.from_edges(["ada", "bob", "eve"], ["bob", "eve", "ian"], [2.5, 1.0, 4.0])
    return dr.sssp(graph, "bob", device="reference")


def test_fields_by_name(result):
    assert list(result) == ["distance", "parent"]
    assert result["distance"].tolist() == result.distance.tolist() == [np.inf, 0.0, 1.0, 5.0]
    assert "distance" in dir(result)
    assert result.vertices.tolist() == ["ada", "bob", "eve", "ian"]
    assert result.at("ada") == {"distance": np.inf, "parent": None}
    assert result.at("ian") == {"distance": 5.0, "parent": "eve"}
    with pytest.raises(KeyError, match="sssp has no field 'level'; it has distance, parent"):
        result["level"]
    with pytest.raises(AttributeError, match="no 'level'"):
        result.level  # noqa: B018


def test_tables_have_labels_put_back(result, tmp_path):
    expected = {
        "vertex": ["ada", "bob", "eve", "ian"],
        "distance": [np.inf, 0.0, 1.0, 5.0],
        "parent": [None, "bob", "bob", "eve"],
    }
    assert result.to_arrow().to_pydict() == expected
    frame = result.to_pandas()
    assert frame.columns.tolist() == list(expected)
    assert frame.vertex.tolist() == expected["vertex"]
    result.write(tmp_path / "r.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "r.parquet").to_pydict() == expected
    with pytest.raises(FileError, match=r"'\.txt' is not one of \.parquet"):
        result.write(tmp_path / "r.txt")


def test_labels_that_no_table_holds_are_told(tmp_path):
    found = dr.bfs(dr.Graph.from_edges(["\ud800"], ["a"]), "a", device="reference")
    with pytest.raises(GraphDataError, match="a lone surrogate"):
        found.to_arrow()
    with pytest.raises(GraphDataError, match="a lone surrogate"):
        found.write(tmp_path / "levels.csv")


@pytest.mark.parametrize("labels", [["ada", "None", ""], [7, 0, -1]])
def test_a_file_of_numpy_tells_missing_labels_from_others(labels, tmp_path):
    graph = dr.Graph.from_edges([0], [1], num_vertices=3, labels=labels)
    dr.bfs(graph, labels[0], device="reference").write(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as found:
        assert found["vertex"].tolist() == labels
        assert found["parent"][found["parent_present"]].tolist() == [labels[0], labels[0]]
        assert found["parent_present"].tolist() == [True, True, False]
    dr.bfs(graph.subgraph(labels[:2]), labels[0], device="reference").write(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz", allow_pickle=False) as found:
        assert sorted(found) == ["level", "parent", "vertex"]


@pytest.mark.parametrize(
    "call",
    [
        dr.edge_betweenness,
        dr.degree_distribution,
        lambda graph: dr.distances(graph, [2]),
        lambda graph: dr.personalized_pagerank(graph, [2]),
    ],
)
def test_a_table_whose_rows_are_no_vertices_has_no_row_of_one(call):
    with pytest.raises(InvalidArgumentError, match=r"the rows of .* are not vertices"):
        call(dr.generators.cycle(4)).at(2)


def test_top_leaves_out_what_is_infinite_and_orders_equals_by_id(result):
    assert result.top(2) == [("ian", 5.0), ("eve", 1.0)]
    assert result.top(9) == [("ian", 5.0), ("eve", 1.0), ("bob", 0.0)]
    assert result.top(0) == []
    ring = dr.core_numbers(dr.generators.cycle(5), device="reference")
    assert ring.top(2) == [(0, 2), (1, 2)]
    assert ring.top(np.int64(2)) == [(0, 2), (1, 2)]
    assert ring.head(np.uint8(2))["vertex"] == [0, 1]
    with pytest.raises(InvalidArgumentError, match="k=-1"):
        result.top(-1)


def test_the_top_of_groups_are_the_largest():
    graph = dr.Graph.from_edges(["a", "c", "d", "f"], ["b", "d", "e", "g"], directed=False)
    components = dr.connected_components(graph, device="numpy")
    assert components.top(2) == [("c", 3), ("a", 2)]  # equals by id
    assert components.top_rows(9) == {"label": ["c", "a", "f"], "vertices": [3, 2, 2]}
    assert components.top(0) == []
    assert components.top(1, by="size") == [("c", 3)]  # a field that is named orders vertices
    with pytest.raises(InvalidArgumentError, match="k=-1"):
        components.top(-1)
    assert sum(size for _, size in dr.louvain(graph).top()) == graph.num_vertices
    assert "modularity=0.625;" in repr(dr.louvain(graph))
    empty = dr.coloring(dr.Graph.from_edges([], [], num_vertices=0, directed=False), device="numpy")
    assert empty.top_rows(3) == {"color": [], "vertices": []}


def test_a_repr_tells_sizes_iterations_time_and_path(result):
    text = repr(result)
    assert text.startswith("<sssp of 4 vertices: distance (on demand), parent (on demand); 3 iterations in ")
    assert "on reference (async-push-dd 3)" in text
    assert "compiling" not in text
    result.seconds, result.compile_seconds = 4.0, 3.5
    assert "3 iterations in 4 s, 3.5 s of it compiling, on reference" in repr(result)


def test_a_repr_shows_the_first_of_many_numbers():
    values = {"groups": [1 / 3] * 2_000, "few": [2.0, 1 / 3]}
    text = repr(Result("some", dr.generators.path(3), {}, values=values))
    assert "groups=[0.333333, 0.333333, 0.333333, … 2,000 in all], few=[2, 0.333333];" in text


def test_only_algorithms_have_verifiers():
    with pytest.raises(InvalidArgumentError, match="has no verifier"):
        dr.run(BFS(source=0), dr.generators.path(3), device="reference").verify()


def test_edge_fields_are_kept_apart_from_the_table():
    class Touch(dr.Program):
        heat = dr.field(np.float64, init=1.0)
        used = dr.edge_field(np.int32, init=0)
        combine = dr.SUM

        def compute(self, u, edge, v):
            return u.heat

        def update(self, v, message):
            return {"heat": v.heat + message}

        def edge_update(self, u, edge, v):
            return edge.used + 1

        def active(self, old, new):
            return False

    found = dr.run(Touch(), dr.Graph.from_edges([0, 0], [1, 2]), device="reference")
    assert found["used"].tolist() == [1, 1]
    assert found.to_arrow().column_names == ["vertex", "heat"]


def test_numbers_about_the_graph_are_found_when_somebody_looks():
    counted = []
    result = Result("some", dr.generators.path(3), {}, values={"count": lambda: counted.append(1) or 7, "k": 2})
    assert counted == []
    assert (result.count, result.k, dict(result.values_of_graph)) == (7, 2, {"count": 7, "k": 2})
    assert "count=7, k=2" in repr(result)
    assert counted == [1]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_greatest_of_large_whole_numbers_come_first(dtype):
    """Beyond 2^53 neighbours are one float."""

    class Given(dr.Program):
        value = dr.vertex_param(dtype)
        x = dr.field(dtype)
        combine = dr.MAX

        def init(self, v):
            return v.value

        def compute(self, u, edge, v):
            return u.x

        def update(self, v, message):
            return v.x

    values = np.array([2**62 + 1, 2**62 + 3, 2**62, 2**62 + 2], dtype)
    result = dr.run(Given(value=values), dr.generators.path(4), device="numpy")
    assert [vertex for vertex, _ in result.top(4)] == [1, 3, 0, 2]
