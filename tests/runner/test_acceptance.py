"""Bad input and unusual surroundings, as a person would type them, on every algorithm and the CPU engine."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import dromos as dr
from dromos.errors import (
    FieldOverflowError,
    FileError,
    GraphDataError,
    IllegalPathError,
    InvalidArgumentError,
    ProgramError,
    UnknownVertexError,
    UntraceableError,
)

ALGORITHMS = {
    "bfs": lambda graph, **how: dr.bfs(graph, 0, **how),
    "sssp": lambda graph, **how: dr.sssp(graph, 0, **how),
    "pagerank": dr.pagerank,
    "random_walk_with_restart": lambda graph, **how: dr.random_walk_with_restart(graph, 0, **how),
    "connected_components": dr.connected_components,
    "strongly_connected_components": dr.strongly_connected_components,
    "betweenness": dr.betweenness,
    "core_numbers": dr.core_numbers,
    "k_core": dr.k_core,
    "spmv": lambda graph, **how: dr.spmv(graph, np.ones(graph.num_vertices), **how),
    "triangles": dr.triangles,
    "clustering": dr.clustering,
    "label_propagation": dr.label_propagation,
    "belief_propagation": lambda graph, **how: dr.belief_propagation(
        graph, np.zeros((graph.num_vertices, 2)), np.zeros((2, 2)), **how
    ),
    "degree_distribution": lambda graph, **how: dr.degree_distribution(graph),
    "degree_centrality": lambda graph, **how: dr.degree_centrality(graph),
    "assortativity": lambda graph, **how: dr.assortativity(graph),
    "transitivity": dr.transitivity,
    "louvain": dr.louvain,
    "eigenvector": dr.eigenvector,
    "katz": dr.katz,
    "hits": dr.hits,
    "node_similarity": dr.node_similarity,
    "random_walks": dr.random_walks,
    "minimum_spanning_forest": dr.minimum_spanning_forest,
    "maximal_independent_set": dr.maximal_independent_set,
    "maximal_matching": dr.maximal_matching,
    "coloring": dr.coloring,
    "truss_numbers": dr.truss_numbers,
    "bridges": dr.bridges,
    "biconnected_components": dr.biconnected_components,
    "articulation_points": dr.articulation_points,
    "edge_betweenness": dr.edge_betweenness,
    "leiden": dr.leiden,
    "modularity": lambda graph, **how: dr.modularity(graph, np.arange(graph.num_vertices)),
}
MANY_SOURCES = {  # they take bad input and odd graphs in tests/many, or with their numbers
    "all_pairs", "closeness", "diameter", "distances", "eccentricity", "harmonic", "multi_source_bfs",
    "neighbourhood_function", "personalized_pagerank", "radius",
}  # fmt: skip
OF_ORDERS = {
    "longest_paths",
    "topological_levels",
}  # undirected graphs have none: test_edges_and_orders
BY_SOURCE = ("bfs", "sssp", "random_walk_with_restart")
ONE_KERNEL = ("triangles", "clustering", "label_propagation", "transitivity", "louvain", "leiden",
              "truss_numbers", "edge_betweenness", "node_similarity", "random_walks")  # fmt: skip
ON_THE_HOST = ("degree_distribution", "degree_centrality", "assortativity", "modularity")
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
runs_somewhere = pytest.mark.parametrize("name", [name for name in ALGORITHMS if name not in ON_THE_HOST])


def people():
    return dr.Graph.from_edges(np.array(["ada", "bob", "bob"]), np.array(["bob", "cy", "ada"]))


def test_every_algorithm_is_in_the_list():
    from dromos import algorithms

    assert set(ALGORITHMS) | MANY_SOURCES | OF_ORDERS == set(algorithms.__all__)


# ---- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda graph, vertex: dr.bfs(graph, vertex),
        lambda graph, vertex: dr.sssp(graph, vertex),
        lambda graph, vertex: dr.random_walk_with_restart(graph, vertex),
        lambda graph, vertex: dr.betweenness(graph, sources=[vertex]),
        lambda graph, vertex: dr.pagerank(graph, personalization={vertex: 1.0}),
    ],
    ids=["bfs", "sssp", "random_walk_with_restart", "betweenness", "pagerank"],
)
def test_a_vertex_that_does_not_exist(call):
    with pytest.raises(UnknownVertexError, match="no vertex is labelled 'dan'"):
        call(people(), "dan")
    with pytest.raises(UnknownVertexError, match="no vertex is labelled 0"):  # an id where there are labels
        call(people(), 0)
    for vertex in (3, -1, 2**70, 1.5, None):
        with pytest.raises(UnknownVertexError, match="no vertex"):
            call(dr.generators.path(3), vertex)


@every_algorithm
def test_an_empty_graph(name):
    none = np.empty(0, dtype=np.int64)
    graph = dr.Graph.from_edges(none, none, num_vertices=0, directed=False)
    if name in BY_SOURCE:
        with pytest.raises(UnknownVertexError, match="the graph is empty"):
            ALGORITHMS[name](graph)
    else:
        result = ALGORITHMS[name](graph)
        assert all(len(result[field]) == 0 for field in result)
        result.verify()


@every_algorithm
def test_vertices_without_edges(name):
    none = np.empty(0, dtype=np.int64)
    graph = dr.Graph.from_edges(none, none, num_vertices=3, directed=False)
    ALGORITHMS[name](graph).verify()


def test_weights_that_are_not_allowed():
    with pytest.raises(GraphDataError, match=r"edge 1 is not a number \(NaN\)"):
        dr.Graph.from_edges([0, 1], [1, 2], np.array([1.0, np.nan]))
    ring = dr.Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(GraphDataError, match="NaN"):
        ring.with_weights(np.array([1.0, np.nan, 1.0]))
    negative = ring.with_weights(np.array([1.0, -5.0, 1.0]))
    with pytest.raises(InvalidArgumentError, match="weight"):
        dr.pagerank(negative)
    with pytest.raises(dr.errors.NegativeCycleError, match="cycle"):
        dr.sssp(negative, 0)
    assert dr.sssp(ring.with_weights(np.array([2.0, -1.0, 1.0])), 0).distance.tolist() == [0, 2, 1]


class Sound(dr.Program):
    x = dr.field(np.int32, init=1)
    combine = dr.SUM

    def compute(self, u, edge, v):
        return u.x

    def update(self, v, message):
        return message


@pytest.mark.parametrize("combine", [max, None, "median", np.add])
def test_a_combine_that_is_no_monoid(combine):
    program = type("Wrong", (Sound,), {"combine": combine})
    with pytest.raises(ProgramError, match=r"combine.*MIN|combine.*SUM"):
        dr.run(program(), dr.generators.path(3))


def test_a_field_that_is_never_initialised():
    program = type("Bare", (Sound,), {"x": dr.field(np.int32)})
    with pytest.raises(ProgramError, match=r"x.*init"):
        dr.run(program(), dr.generators.path(3))


def test_an_if_that_cannot_be_traced():
    class Branch(Sound):
        def update(self, v, message):
            if message > 3:
                return v.x
            return message

    line = Branch.update.__code__.co_firstlineno + 1
    with pytest.raises(UntraceableError, match=rf"Branch\.update \(.*:{line}\).*write dr\.where\(condition, a, b\)"):
        dr.run(Branch(), dr.generators.path(3))


@pytest.mark.parametrize("path", ["auto", "sync-push-dd", "sync-pull-td"])
def test_an_int32_sum_that_overflows(path):
    with pytest.raises(FieldOverflowError, match="wider type"):
        dr.run(Sound(), dr.generators.complete(20), max_iter=20, path=path)


@runs_somewhere
def test_a_path_that_is_none_and_one_that_is_not_legal(name):
    graph = dr.generators.grid(3, 3)
    with pytest.raises(InvalidArgumentError, match="'zigzag' is not a path"):
        ALGORITHMS[name](graph, path="zigzag")
    if name in ONE_KERNEL:
        with pytest.raises(InvalidArgumentError, match="runs as one kernel, so it has no paths"):
            ALGORITHMS[name](graph, path="sync-push-dd")
    elif name in ("bfs", "pagerank", "random_walk_with_restart", "betweenness", "belief_propagation", "coloring",
                  "minimum_spanning_forest", "maximal_matching", "bridges", "biconnected_components",
                  "articulation_points"):  # fmt: skip
        with pytest.raises(IllegalPathError, match="async"):
            ALGORITHMS[name](graph, path="async-push-dd")


@runs_somewhere
@pytest.mark.parametrize("threads", [0, 1000, -1, 1.5, "2"])
def test_numbers_of_threads_that_cannot_be(name, threads):
    with pytest.raises(InvalidArgumentError, match="threads="):
        ALGORITHMS[name](dr.generators.grid(3, 3), threads=threads)


@runs_somewhere
def test_a_store_that_changed_underneath(name, tmp_path):
    file = tmp_path / "g.drm"
    dr.generators.grid(3, 3).write(file)
    graph = dr.read(file)
    dr.generators.grid(4, 4).write(file)
    with pytest.raises(FileError, match=r"g\.drm: the file was changed.*read it again"):
        ALGORITHMS[name](graph)


# ---- surroundings --------------------------------------------------------------------------------------------------


def answers(graph):
    return [dr.bfs(graph, 0, threads=2).level.tolist(), dr.connected_components(graph, threads=2).count,
            dr.sssp(graph, 0, threads=2).distance.tolist()]  # fmt: skip


def test_algorithms_run_in_several_threads_at_once():
    graph = dr.generators.grid(12, 12)
    expected, found = answers(graph), []
    callers = [threading.Thread(target=lambda: found.append(answers(graph))) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [expected] * 6


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_algorithms_run_after_a_fork():
    code = """
import multiprocessing
import dromos as dr
from tests.runner.test_acceptance import answers
graph = dr.generators.grid(12, 12)
expected = answers(graph)
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(answers, [graph, graph]) == [expected] * 2
assert answers(graph) == expected
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], timeout=120, check=True)


LONG = """
import numpy as np
import dromos as dr

class Endless(dr.Program):
    x = dr.field(np.float64, init=1.0)
    combine = dr.SUM
    def compute(self, u, edge, v): return 0.01 * u.x
    def update(self, v, message): return message
    def active(self, old, new): return True
"""


# The command line, with a line printed whenever a team of threads sets out with a kernel that can be stopped.
TELLING = """
from dromos import teams
team, name = (teams.NativeTeam, "try_run") if teams.is_supported() else (teams.PythonTeam, "run")
run = getattr(team, name)
def telling(self, kernel, args, stop, *more):
    if stop is not None:
        print("running", flush=True)
    return run(self, kernel, args, stop, *more)
setattr(team, name, telling)
from dromos.cli import main
main()
"""
# The same for a generator, which waits there: the signal cannot come too late.
WAITING = """
import importlib, sys
rmat = importlib.import_module("dromos.graph.generators.rmat")  # the package has a function of that name
run_team = rmat.run_team
def waiting(*args, **how):
    print("running", flush=True)
    sys.stdin.readline()
    run_team(*args, **how)
rmat.run_team = waiting
from dromos.cli import main
main()
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (TELLING, ("run", "endless.py:Endless", "g.drm", "-o", "out.parquet")),
        (TELLING, ("betweenness", "g.drm", "-o", "out.parquet")),
        (WAITING, ("generate", "rmat", "out.drm", "--scale", "8")),
    ],
    ids=["a program without an end", "a long kernel", "a generator"],
)
def test_ctrl_c_ends_a_command(code, words, tmp_path):
    (tmp_path / "endless.py").write_text(LONG)
    dr.generators.grid(300, 300).write(tmp_path / "g.drm")
    before = {path.name for path in tmp_path.iterdir()}
    child = subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=tmp_path, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "running\n"
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=600)  # a busy machine may be compiling another kernel just then
    finally:
        child.kill()
        child.wait()
    assert child.returncode == 130, said
    assert "interrupted; no partial files are left behind" in said
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == before


# ---- results -------------------------------------------------------------------------------------------------------


def test_tables_and_the_best_have_labels():
    result = dr.pagerank(people())
    assert result.to_arrow().column("vertex").to_pylist() == ["ada", "bob", "cy"]
    frame = result.to_pandas()
    assert frame["vertex"].tolist() == ["ada", "bob", "cy"]
    assert frame["rank"].sum() == pytest.approx(1)
    assert [vertex for vertex, _ in result.top(2)] == ["bob", "ada"]  # equals by id
    assert dr.bfs(people(), "ada").to_pandas()["parent"].tolist() == ["ada", "ada", "bob"]


def test_a_trace_is_drawn(tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    trace = dr.bfs(dr.generators.rmat(8), 1).trace
    axes = trace.plot()
    assert sum(bar.get_height() for bar in axes.patches) == pytest.approx(sum(row.seconds for row in trace) * 1e3)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [*trace.paths, "frontier"]
    axes.figure.savefig(tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 1000
