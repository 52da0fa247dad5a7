"""The real graphs load right: their counts and edges agree with NumPy, NetworkX and SciPy."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse

import dromos as dr
from dromos import Graph

DATA = Path(__file__).parent.parent / "data"


def _pairs(name: str, **options: object) -> np.ndarray:
    with gzip.open(DATA / name) as file:
        return np.loadtxt(file, dtype=np.int64, **options)  # type: ignore[call-overload, no-any-return]


def _labelled_arcs(graph: Graph) -> list[tuple[int, int]]:
    src, dst, _ = graph.edges()
    names = np.arange(graph.num_vertices) if graph.labels is None else graph.labels.to_numpy()
    return sorted(zip(names[src].tolist(), names[dst].tolist(), strict=True))


def test_a_first_line_of_counts_is_no_edge() -> None:
    graph = dr.read(DATA / "email-Enron.txt.gz")
    assert (graph.num_vertices, graph.num_edges, graph.labels) == (36_692, 367_662, None)
    arcs = _pairs("email-Enron.txt.gz", skiprows=1)
    assert _labelled_arcs(graph) == sorted(map(tuple, arcs.tolist()))
    assert graph.symmetric


def test_sparse_ids_become_labels() -> None:
    graph = dr.read(DATA / "wiki-Vote.txt.gz")
    assert (graph.num_vertices, graph.num_edges) == (7_115, 103_689)
    arcs = _pairs("wiki-Vote.txt.gz", comments="#")
    assert _labelled_arcs(graph) == sorted(map(tuple, arcs.tolist()))
    assert graph.vertex_id(30) == np.unique(arcs).tolist().index(30)
    with gzip.open(DATA / "wiki-Vote.txt.gz") as file:
        theirs = nx.read_edgelist(file, nodetype=int, create_using=nx.DiGraph)
    assert (theirs.number_of_nodes(), theirs.number_of_edges()) == (graph.num_vertices, graph.num_edges)
    assert dr.read(DATA / "wiki-Vote.txt.gz", ids="dense").num_vertices == 8_298


def test_a_plain_list_of_edges() -> None:
    graph = dr.read(DATA / "ego-Facebook.txt.gz", directed=False)
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (4_039, 88_234, False)
    with gzip.open(DATA / "ego-Facebook.txt.gz") as file:
        theirs = nx.read_edgelist(file, nodetype=int)
    degrees = np.array([theirs.degree[v] for v in range(4_039)])
    assert np.array_equal(graph.out_degree, degrees)


@pytest.mark.parametrize(("name", "vertices", "edges"), [("PGPgiantcompo", 10_680, 24_316), ("4elt", 15_606, 45_878)])
def test_metis(name: str, vertices: int, edges: int) -> None:
    graph = dr.read(DATA / f"{name}.graph.gz")
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (vertices, edges, False)
    with gzip.open(DATA / f"{name}.graph.gz", "rt") as file:
        rows = [[int(v) - 1 for v in line.split()] for line in file.read().split("\n")[1 : vertices + 1]]
    assert all(graph.neighbors(v).tolist() == sorted(row) for v, row in enumerate(rows))


@pytest.mark.parametrize("end", [".e.gz", ".v.gz"])
def test_ldbc(end: str) -> None:
    graph = dr.read(DATA / f"p2p-Gnutella31{end}")
    assert (graph.num_vertices, graph.num_edges) == (62_586, 147_892)
    assert graph.weights is not None
    assert graph.weights.dtype == np.int32
    rows = _pairs("p2p-Gnutella31.e.gz")
    theirs = scipy.sparse.coo_array((rows[:, 2], (rows[:, 0] - 1, rows[:, 1] - 1)), shape=(62_586, 62_586)).tocsr()
    assert (graph.to_scipy() != theirs).nnz == 0


def test_ldbc_examples() -> None:
    directed = dr.read(DATA / "ldbc-example-directed.v")
    assert (directed.num_vertices, directed.num_edges, directed.directed) == (10, 17, True)
    undirected = dr.read(DATA / "ldbc-example-undirected.e", directed=False)
    assert (undirected.num_vertices, undirected.num_edges) == (9, 12)
    edge = undirected.neighbors(2).tolist()
    assert undirected.labels is not None
    assert undirected.labels.values_of(np.array(edge)).tolist() == [3, 4]


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`:DeprecationWarning")  # of SciPy 1.18
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_matrix_market_both_ways_with_scipy(tmp_path: Path, field: str, symmetric: bool) -> None:
    rng = np.random.default_rng(5)
    matrix = scipy.sparse.random_array((40, 40), density=0.1, rng=rng)
    matrix.data = np.ceil(matrix.data * 9) if field != "real" else matrix.data
    if symmetric:
        matrix = scipy.sparse.coo_array(matrix + matrix.T)
    if field == "pattern":
        matrix.data[:] = 1
    scipy.io.mmwrite(
        tmp_path / "a.mtx", matrix.astype(np.int32) if field == "integer" else matrix, field=field,
        symmetry="symmetric" if symmetric else "general", precision=17,
    )  # fmt: skip
    graph = dr.read(tmp_path / "a.mtx")
    assert graph.directed is not symmetric
    assert (graph.weights is None) == (field == "pattern")
    assert abs(graph.to_scipy() - matrix.tocsr()).max() == 0
    graph.write(tmp_path / "b.mtx")
    assert abs(scipy.io.mmread(tmp_path / "b.mtx").tocsr() - matrix.tocsr()).max() == 0


def test_the_files_that_are_written_are_read_by_networkx(tmp_path: Path) -> None:
    graph = dr.read(DATA / "wiki-Vote.txt.gz")
    graph.write(tmp_path / "w.txt")
    theirs = nx.read_edgelist(tmp_path / "w.txt", nodetype=int, create_using=nx.DiGraph)
    assert sorted(theirs.edges) == _labelled_arcs(graph)
