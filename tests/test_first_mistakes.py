"""Typical mistakes of beginners get a plain error that says what to do, or an answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dromos as dr
from dromos.errors import DromosError, UnknownFieldError

PLAIN = dr.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 3.0, 4.0], num_vertices=5)
NAMED = dr.Graph.from_edges(["ada", "ada", "bob"], ["bob", "eve", "eve"], directed=False)
EMPTY = dr.Graph.from_edges([], [])


class Foreign:
    """Stands for a graph of another library, by its name only."""


def foreign(module: str, name: str) -> object:
    return type(name, (Foreign,), {"__module__": module})()


MISTAKES = {
    # vertices
    "an id too large": (lambda: dr.bfs(PLAIN, 99), "the ids of this graph are 0..4"),
    "a negative id": (lambda: dr.bfs(PLAIN, -1), "the ids of this graph are 0..4"),
    "a float for a vertex": (lambda: dr.bfs(PLAIN, 1.0), "vertices are whole numbers"),
    "a name without names": (lambda: dr.bfs(PLAIN, "ada"), "this graph has no labels"),
    "a truth value for a vertex": (lambda: dr.bfs(PLAIN, True), "vertices are whole numbers"),
    "several sources at once": (lambda: dr.bfs(PLAIN, [0, 1]), "use dromos.multi_source_bfs"),
    "an array for a vertex": (lambda: dr.bfs(PLAIN, np.array([0, 1])), "not one vertex"),
    "a text file for a store": (lambda: dr.open(__file__), "dromos.read reads other formats"),
    "an id where there are names": (lambda: dr.bfs(NAMED, 0), "strings, such as 'ada'"),
    "bytes for a name": (lambda: dr.bfs(NAMED, b"ada"), "strings, such as 'ada'"),
    "an unknown name": (lambda: dr.bfs(NAMED, "zoe"), "no vertex is labelled 'zoe'"),
    "a vertex of an empty graph": (lambda: dr.bfs(EMPTY, 0), "the graph is empty"),
    "one name for a list": (lambda: dr.closeness(NAMED, sources="ada"), r"write \['ada'\]"),
    "one name for a subgraph": (lambda: NAMED.subgraph("ada"), r"write \['ada'\]"),
    "an unknown name in a subgraph": (lambda: NAMED.subgraph(["ada", "zoe"]), "labelled 'zoe'$"),
    "one name for seeds": (lambda: dr.sample_neighbors(NAMED, "ada", [2]), r"write \['ada'\]"),
    "no sources": (lambda: dr.betweenness(PLAIN, sources=[]), "give at least one"),
    # graphs
    "a graph of NetworkX": (lambda: dr.bfs(foreign("networkx.classes.graph", "Graph"), 0), r"from_networkx\(graph\)"),
    "a graph of igraph": (lambda: dr.bfs(foreign("igraph", "Graph"), 0), r"from_igraph\(graph\)"),
    "a matrix of SciPy": (lambda: dr.bfs(foreign("scipy.sparse._csr", "csr_array"), 0), r"from_scipy\(matrix\)"),
    "a frame of pandas": (lambda: dr.bfs(foreign("pandas", "DataFrame"), 0), r"from_pandas\(frame\)"),
    "an array": (lambda: dr.pagerank(np.eye(3)), r"from_edges\(src, dst\)"),
    "a file name": (lambda: dr.bfs("friends.txt", 0), r"dromos.read\(path\)"),
    "nothing": (lambda: dr.bfs(None, 0), r"dromos.read\(path\)"),
    "a directed graph for triangles": (lambda: dr.triangles(PLAIN), r"graph.symmetrized\(\)"),
    # options
    "a device of another name": (lambda: dr.bfs(PLAIN, 0, device="gpu"), "an NVIDIA GPU is 'cuda'"),
    "a number for a device": (lambda: dr.bfs(PLAIN, 0, device=0), "give a name such as 'cpu'"),
    "an unknown path": (lambda: dr.bfs(PLAIN, 0, path="fastest"), "sync-push-dd"),
    "no threads": (lambda: dr.bfs(PLAIN, 0, threads=0), "outside 1..512"),
    "a number for a checkpoint": (lambda: dr.bfs(PLAIN, 0, checkpoint=5), "the path of a folder"),
    "no size": (lambda: dr.bfs(PLAIN, 0, memory="lots"), "write it like '512M'"),
    "the word of another library": (lambda: dr.pagerank(PLAIN, damping=0.9), "did you mean 'alpha'"),
    "a share above 1": (lambda: dr.pagerank(PLAIN, alpha=1.5), r"in 0\.\.1"),
    "text for a number": (lambda: dr.pagerank(PLAIN, alpha="0.85"), r"in 0\.\.1"),
    "a negative tolerance": (lambda: dr.pagerank(PLAIN, tol=-1), "not a number of 0 or more"),
    "half a neighbour": (lambda: dr.k_core(NAMED, 2.5), "not a whole number"),
    "another weight": (lambda: dr.sssp(PLAIN, 0, weight="length"), "only weight='weight' or None"),
    "a class for a program": (lambda: dr.run(dr.Program, PLAIN), "give an instance"),
    # results
    "an unknown field": (lambda: dr.bfs(PLAIN, 0)["rank"], "it has level, parent"),
    "a vertex for a field": (lambda: dr.bfs(PLAIN, 0)[3], r"it has level, parent \(a vertex: result\.at\(3\)\)"),
    "a name for a field": (lambda: dr.bfs(NAMED, "ada")["bob"], r"\(a vertex: result\.at\('bob'\)\)"),
    "a row of an edge for a field": (lambda: dr.bridges(NAMED)[0], "it has source, target$"),
    "top by an unknown field": (lambda: dr.bfs(PLAIN, 0).top(3, by="rank"), "it has level, parent"),
    "top of text": (lambda: dr.bfs(PLAIN, 0).top("3"), "not a number of vertices"),
    "a negative number of rows": (lambda: dr.bfs(PLAIN, 0).head(-1), "not a number of rows"),
    "a path to an unknown vertex": (lambda: dr.bfs(NAMED, "ada").path_to("zoe"), "no vertex is labelled"),
    "a report that is no page": (lambda: dr.bfs(PLAIN, 0).report("run.txt"), "ends in .html"),
    "a table of unknown kind": (lambda: dr.bfs(PLAIN, 0).write("x.xyz"), ".parquet, .csv"),
    "a result as numbers": (lambda: np.asarray(dr.bfs(PLAIN, 0), dtype=float), r"result\['level'\]"),
    # making graphs
    "columns of two lengths": (lambda: dr.Graph.from_edges([0, 1], [1]), "one of each"),
    "no second column": (lambda: dr.Graph.from_edges([0, 1]), r"pairs such as \[\(0, 1\), \(1, 2\)\]"),
    "a number for edges": (lambda: dr.Graph.from_edges(5), "give two columns"),
    "triples": (lambda: dr.Graph.from_edges([(0, 1, 2.0)]), "give two columns"),
    "negative ids": (lambda: dr.Graph.from_edges([0, -1], [1, 2]), "labels=True"),
    "ids with a fraction": (lambda: dr.Graph.from_edges([0.5, 1], [1, 2]), "ids must be integers"),
    "account numbers": (lambda: dr.Graph.from_edges([0, 10**12], [1, 2]), "labels=True"),
    "too few vertices": (lambda: dr.Graph.from_edges([0, 1], [1, 2], num_vertices=2), "outside 0..1"),
    "a weight that is no number": (lambda: dr.Graph.from_edges([0], [1], [float("nan")]), "not a number"),
    "a missing weight": (lambda: dr.Graph.from_edges([0, 1], [1, 2], [1, None]), "pass float32, float64 or int32"),
    "one weight for all": (lambda: dr.Graph.from_edges([0, 1], [1, 2], 2), "one for each of 2 edges"),
    "weights of edges for arcs": (lambda: NAMED.with_weights([1, 2, 3]), "for each of 6 arcs, in the order of"),
    "labels twice": (lambda: dr.Graph.from_edges(["a"], ["b"], labels=["x"]), "leave labels= out"),
    "weights for weight": (lambda: dr.Graph.from_edges([0], [1], weights=[2]), "did you mean 'weight'"),
    "text for a truth value": (lambda: dr.Graph.from_edges([0], [1], directed="no"), "neither True nor False"),
    "names and numbers": (lambda: dr.Graph.from_edges(["a", 1], ["b", 2]), "all integers or all strings"),
    "a frame for two columns": (lambda: dr.Graph.from_edges(pd.DataFrame({"a": [0]})), r"from_pandas\(frame\)"),
    "NetworkX's words for columns": (lambda: dr.Graph.from_pandas(pd.DataFrame(), source="a"), "did you mean 'src'"),
    "a keyword of no function": (lambda: dr.Graph.from_arrow(None, foo=1), "no argument 'foo'; it takes src"),
    "a list for a frame": (lambda: dr.Graph.from_pandas([(0, 1)]), "expected a pandas data frame"),
    "our graph for NetworkX's": (lambda: dr.Graph.from_networkx(PLAIN), "expected a NetworkX graph"),
    "no file to read": (lambda: dr.read(None), "None is not the name of a file; give text such as 'graph.txt'"),
    "a number to open": (lambda: dr.open(5), "5 is not the name of a file"),
    "bytes to read": (lambda: dr.read(b"graph.txt"), "is not the name of a file"),
    "no file to write a graph to": (lambda: dr.write(PLAIN, None), "is not the name of a file"),
    "a number for a report": (lambda: dr.bfs(PLAIN, 0).report(5), "give text such as 'run.html'"),
    "a number to write a result to": (lambda: dr.bfs(PLAIN, 0).write(5), "give text such as 'result.parquet'"),
    "a file that is not there": (lambda: dr.read("no-such-file.txt"), "No such file"),
    "a store that is not there": (lambda: dr.open("no-such-file.drm"), "No such file"),
    "an unknown ending": (lambda: PLAIN.write("out.nosuch"), "pass format="),
    "a negative scale": (lambda: dr.generators.rmat(-1), "give a whole number within"),
    "low above high": (lambda: dr.generators.with_random_weights(PLAIN, 5, 1), "must not exceed"),
    "writing no graph": (lambda: dr.write(5, "x.drm"), "is not a graph"),
    "colours that are no numbers": (lambda: NAMED.plot(values="abc"), "one number per vertex"),
    "a large drawing": (lambda: dr.generators.path(501).plot(), r"g.egonet\(vertex\).plot\(\)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_an_error_that_says_what_to_do(mistake):
    call, says = MISTAKES[mistake]
    with pytest.raises(DromosError, match=says):
        call()


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("num_nodes", "num_vertices"),
        ("degree", "out_degree"),
        ("add_edge", "cannot be changed"),
        ("edgs", "edges"),
        ("in_neighbors", r"transpose\.neighbors"),
        ("has_edge", "in neighbors"),
    ],
)
def test_a_graph_says_what_it_calls_the_same(name, use):
    with pytest.raises(AttributeError, match=use):
        getattr(PLAIN, name)
    assert not hasattr(PLAIN, name)


def test_an_attribute_like_nothing_known_gets_no_suggestion():
    with pytest.raises(AttributeError, match=r"^a graph has no 'xyzzy'$"):
        PLAIN.xyzzy  # noqa: B018


def test_making_a_graph_by_its_class_tells_the_ways():
    with pytest.raises(TypeError, match="from_edges"):
        dr.Graph([(0, 1)])
    with pytest.raises(TypeError, match=r"from_networkx\(graph\)"):
        dr.Graph(foreign("networkx.classes.graph", "Graph"))
    with pytest.raises(TypeError, match=r"dromos\.read\(path\)"):
        dr.Graph("friends.txt")


def test_a_result_says_what_it_calls_the_same():
    with pytest.raises(AttributeError, match=r"use write\('result\.csv'\)"):
        dr.bfs(PLAIN, 0).to_csv  # noqa: B018


def test_generators_say_what_they_call_the_same():
    with pytest.raises(AttributeError, match=r"use dromos\.generators\.uniform"):
        dr.generators.erdos_renyi(10, 0.5)
    with pytest.raises(AttributeError, match=r"no generator 'xyzzy'$"):
        dr.generators.xyzzy(10)


def test_modularity_takes_the_answer_of_louvain():
    found = dr.louvain(NAMED, device="numpy")
    assert dr.modularity(NAMED, found) == dr.modularity(NAMED, found.community) == found.modularity


def test_pairs_are_edges():
    pairs = [(0, 1), (1, 2)]
    assert dr.Graph.from_edges(pairs) == dr.Graph.from_edges(np.array(pairs)) == dr.Graph.from_edges([0, 1], [1, 2])
    assert dr.Graph.from_edges([["a", "b"]]).labels.to_numpy().tolist() == ["a", "b"]


def test_an_unknown_field_is_a_key_error_with_a_plain_message():
    with pytest.raises(KeyError) as caught:
        dr.bfs(PLAIN, 0)["rank"]
    assert isinstance(caught.value, UnknownFieldError)
    assert str(caught.value) == "bfs has no field 'rank'; it has level, parent"


def test_results_are_compared_by_their_answers():
    one = dr.bfs(NAMED, "ada")
    assert one == dr.bfs(NAMED, "ada", device="reference")
    assert one != dr.bfs(NAMED, "bob")
    assert one != dr.sssp(NAMED, "ada")
    assert one != "bfs"


def test_a_frame_of_a_result_has_its_table():
    pandas = pytest.importorskip("pandas")
    result = dr.bfs(NAMED, "ada")
    assert pandas.DataFrame(result).to_dict("list") == result.to_pandas().to_dict("list")
    assert (np.asarray(result) == np.asarray(dr.bfs(NAMED, "ada"))).all()


def test_a_frame_of_many_rows_is_told_to_be_slow(monkeypatch):
    monkeypatch.setattr("dromos.runner.exports._MANY_ROWS", 2)
    with pytest.warns(dr.DromosWarning, match="to_pandas"):
        assert len(np.asarray(dr.bfs(NAMED, "ada"))) == 3
