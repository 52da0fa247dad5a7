"""The programs compute what their names say, on every path that is legal for them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from dromos.errors import FieldOverflowError, IllegalPathError
from dromos.graph import Graph
from dromos.program import GraphTypes, analyse
from tests.program import programs
from tests.program.running import run
from tests.program.small_graphs import graphs
from tests.sizes import examples


def as_networkx(graph):
    out = nx.MultiDiGraph()
    out.add_nodes_from(range(graph.num_vertices))
    edges = graph.edges(arcs=True)
    out.add_weighted_edges_from(zip(edges.src.tolist(), edges.dst.tolist(), edges.weight.tolist(), strict=True))
    return out


def to_array(values, n, missing):
    return np.array([values.get(v, missing) for v in range(n)])


@examples(8)
@given(graph=graphs(max_vertices=6))
def test_every_legal_path_gives_the_same_answer(graph):
    for program in programs.examples(graph.num_vertices):
        facts = analyse(program.typed(GraphTypes(np.dtype(np.int32), np.dtype(np.float32))))
        expected, _ = run(program, graph, "sync-push-dd")
        for path in facts.legal_paths:
            found, _ = run(program, graph, path)
            for name in expected:
                if name == "parent":  # a choice among equals
                    continue
                np.testing.assert_allclose(
                    found[name], expected[name], rtol=1e-7, atol=1e-7, err_msg=f"{program} {path}"
                )


@examples(15)
@given(graph=graphs())
def test_traversals_agree_with_networkx(graph):
    n, other = graph.num_vertices, as_networkx(graph)
    bfs, _ = run(programs.BFS(source=0), graph)
    level = to_array(nx.single_source_shortest_path_length(other, 0), n, -1)
    assert bfs["level"].tolist() == level.tolist()
    for v, parent in enumerate(bfs["parent"]):
        if level[v] > 0:
            assert other.has_edge(parent, v)
            assert level[parent] == level[v] - 1

    length = to_array(nx.single_source_dijkstra_path_length(other, 0), n, np.inf)
    distance, _ = run(programs.SSSP(source=0), graph)
    assert distance["distance"].tolist() == length.tolist()
    found, _ = run(programs.SSSPWithParents(source=0), graph)
    assert found["distance"].tolist() == length.tolist()
    passed, _ = run(programs.Parents(distance=length), graph)
    for v in range(n):
        for parent in (found["parent"][v], passed["parent"][v]):
            if v != 0 and np.isfinite(length[v]):
                assert min(d["weight"] for d in other[parent][v].values()) + length[parent] == length[v]
    reached, _ = run(programs.Reach(source=0), graph)
    assert reached["reached"].tolist() == np.isfinite(length).tolist()


@examples(10)
@given(graph=graphs())
def test_ranks_agree_with_networkx(graph):
    other = nx.MultiDiGraph(as_networkx(graph))
    for *_, data in other.edges(data=True):
        data["weight"] = 1
    expected = to_array(nx.pagerank(other, tol=1e-12, max_iter=500), graph.num_vertices, 0)
    found, _ = run(programs.PageRank(), graph)
    np.testing.assert_allclose(found["rank"], expected, atol=1e-7)
    teleport = np.zeros(graph.num_vertices)
    teleport[0] = 1.0
    personal, _ = run(programs.PersonalizedPageRank(teleport=teleport), graph)
    expected = to_array(nx.pagerank(other, personalization={0: 1}, tol=1e-12, max_iter=500), graph.num_vertices, 0)
    np.testing.assert_allclose(personal["rank"], expected, atol=1e-7)


@examples(10)
@given(graph=graphs(directed=False))
def test_components_cores_and_centrality_agree_with_networkx(graph):
    other = nx.Graph(as_networkx(graph).to_undirected())
    found, _ = run(programs.Components(), graph)
    for component in nx.connected_components(other):
        assert {int(found["label"][v]) for v in component} == {min(component)}

    simple = Graph.from_edges(*np.array([(u, v) for u, v in other.edges if u != v], dtype=np.int64).reshape(-1, 2).T,
                              num_vertices=graph.num_vertices, directed=False, threads=1)  # fmt: skip
    other.remove_edges_from(nx.selfloop_edges(other))
    core, _ = run(programs.KCore(k=2), simple)
    assert set(np.flatnonzero(core["degree"] >= 2)) == set(nx.k_core(other, 2))

    centrality = np.zeros(graph.num_vertices)
    for source in range(graph.num_vertices):
        forward, steps = run(programs.BCForward(source=source), simple)
        backward, _ = run(
            programs.BCBackward(depth=forward["level"].max(), level=forward["level"], paths=forward["paths"]),
            simple.transpose,
        )
        backward["dependency"][source] = 0
        centrality += backward["dependency"]
        assert len(steps) <= graph.num_vertices
    expected = to_array(nx.betweenness_centrality(other, normalized=False), graph.num_vertices, 0)
    np.testing.assert_allclose(centrality / 2, expected, atol=1e-9)


@examples(10)
@given(graph=graphs())
def test_linear_programs_agree_with_matrices(graph):
    n = graph.num_vertices
    edges = graph.edges(arcs=True)
    matrix = np.zeros((n, n))
    np.add.at(matrix, (edges.src, edges.dst), edges.weight)
    x = np.arange(n, dtype=float)
    found, _ = run(programs.SpMV(x=x), graph)
    np.testing.assert_allclose(found["y"], x @ matrix)

    count = np.zeros((n, n))
    np.add.at(count, (edges.src, edges.dst), 1)
    prior = np.stack([x / n, -x / n], axis=1)
    belief = prior
    for _ in range(5):
        belief = prior + count.T @ belief @ np.array([[0.01, -0.01], [-0.01, 0.01]])
    found, _ = run(programs.BeliefPropagation(prior=prior), graph)
    np.testing.assert_allclose(found["belief"], belief)


def test_residual_pagerank_matches_the_plain_one_without_dangling_vertices():
    graph = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 0])
    plain, _ = run(programs.PageRank(), graph)
    for path in ("sync-pull-td", "async-push-dd"):
        delta, _ = run(programs.DeltaPageRank(), graph, path)
        np.testing.assert_allclose(delta["rank"] / 4, plain["rank"], atol=1e-8)


def test_sets_of_sources_travel_as_bits():
    found, _ = run(programs.ReachSets(), Graph.from_edges(np.arange(69), np.arange(1, 70)))
    assert found["seen"][69].tolist() == [2**64 - 1, 2**6 - 1]


def test_edge_values_are_written_after_the_update():
    graph = Graph.from_edges([0, 0], [1, 2], [2.0, 3.0])
    found, _ = run(programs.Hebb(), graph)
    # superstep 0: signals (1, 2, 3) send 2 and 3; then the edges grow by 0.5 * u * v of the new signals (1, 2, 3)
    assert found["signal"].tolist() == [1.0, 3.0, 4.5]
    assert found["strength"].tolist() == [4.5, 6.75]


def test_a_path_that_would_change_the_answer_is_refused_with_the_reason():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(IllegalPathError, match=r"PageRank: cannot run on async-push-dd: .*It runs on sync-push-dd"):
        run(programs.PageRank(), graph, "async-push-dd")


def test_an_integer_that_outgrows_its_field_is_an_error():
    class Count(programs.KCore):
        degree = programs.dr.field(np.int8)

        def update(self, v, message):
            return v.degree + message

    graph = Graph.from_edges(np.arange(1, 131), np.zeros(130, dtype=np.int64))
    with pytest.raises(FieldOverflowError, match=r"Count.update: 130 does not fit field 'degree' of type int8"):
        run(Count(k=2), graph)


def test_an_empty_frontier_ends_a_run_before_it_starts():
    class Nobody(programs.BFS):
        def start(self, v):
            return v.id < 0

    _, history = run(Nobody(source=0), Graph.from_edges([0], [1]))
    assert len(history) == 0


def test_statistics_describe_the_next_frontier():
    graph = Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 0])
    _, history = run(programs.BFS(source=0), graph, "sync-push-dd")
    assert [row.before.frontier for row in history] == [1, 2, 1]
    assert [row.before.out_degree for row in history] == [2, 2, 1]
    assert [row.after.messages for row in history] == [2, 2, 1]
    assert history[-1].after.finished == "frontier empty"
