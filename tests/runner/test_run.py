"""Running: the loop, fixed paths, limits, results and what goes wrong."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pyarrow.parquet
import pytest

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.engines.null import NullEngine
from dromos.engines.reference import ReferenceEngine
from dromos.errors import (
    FieldOverflowError,
    FileError,
    GraphDataError,
    IllegalPathError,
    InvalidArgumentError,
    MissingDependencyError,
    UntraceableError,
)
from dromos.plan import PATHS, Path, Stats
from dromos.runner import Result, Session
from dromos.runner.devices import engine_for
from dromos.runner.loop import iterate
from tests.program.programs import PageRank

DEVICES = pytest.mark.parametrize("device", ["reference", "cpu"])


class Hops(dr.Program):
    """How far a vertex is from the source; every path is legal."""

    source = dr.param(int)
    hops = dr.field(np.int32)
    combine = dr.MIN

    def init(self, v):
        return dr.where(v.id == self.source, 0, np.iinfo(np.int32).max)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return u.hops + 1

    def update(self, v, message):
        return dr.minimum(v.hops, message)


@DEVICES
@pytest.mark.parametrize("path", ["auto", *map(str, PATHS)])
def test_a_program_runs_on_every_path(device, path):
    result = dr.run(Hops(source=1), dr.generators.path(4), device=device, path=path)
    assert result.hops.tolist() == [1, 0, 1, 2]
    assert result.finished == "frontier empty"
    assert result.device == device
    if path != "auto":
        assert set(result.trace.paths) == {path}


@DEVICES
def test_compile_once_run_often_with_other_parameters(device):
    runner = dr.compile(Hops(source=0), dr.generators.path(3), device=device)
    assert runner().hops.tolist() == [0, 1, 2]
    assert runner(source=2).hops.tolist() == [2, 1, 0]
    assert runner(max_iter=1).hops.tolist()[:2] == [0, 1]
    assert "Hops(source=0)" in repr(runner)
    with pytest.raises(InvalidArgumentError, match="Hops has no parameter sauce"):
        runner(sauce=2)


@DEVICES
def test_max_iter_cuts_a_run_off(device):
    graph = dr.generators.path(6)
    for limit in range(5):
        result = dr.run(BFS(source=0), graph, max_iter=limit, device=device)
        assert result.level.max() == limit
        assert result.finished == ""
        assert result.iterations == limit
    assert dr.run(BFS(source=0), graph, max_iter=6, device=device).finished == "frontier empty"


class Scripted:
    """An execution that fuses as many supersteps as it may."""

    def __init__(self, total):
        self.total, self.horizons = total, []
        self.caps = ReferenceEngine().prepare(BFS(source=0), dr.generators.path(3)).caps
        self.stats = Stats(0, 1, 1, 1)

    def step(self, path, horizon=1):
        self.horizons.append(horizon)
        done = min(self.stats.superstep + (horizon or self.total), self.total)
        self.stats = Stats(done, 1, 1, 1, finished="frontier empty" if done == self.total else "")
        return self.stats


def test_fused_supersteps_are_bounded_by_limits_and_watchers():
    free = Scripted(500)
    history = iterate(free, Path())
    assert (free.horizons, len(history)) == ([None], 1)
    limited = Scripted(500)
    iterate(limited, Path(), max_iter=70)
    assert (limited.horizons, limited.stats.superstep) == ([70], 70)
    told = []
    watched = Scripted(150)
    iterate(watched, Path(), progress=lambda done, total: told.append((done, total)))
    assert told == [(64, 0), (128, 0), (150, 0)]


def test_a_fused_step_says_how_many_supersteps_it_ran():
    graph = dr.generators.path(50)
    result = dr.run(BFS(source=0), graph, path="sync-push-dd", device="cpu")
    assert result.trace.supersteps == result.iterations == 50
    assert sum(row.supersteps for row in result.trace) == 50


def test_a_path_that_would_change_the_answer_is_refused_with_the_reason():
    graph = dr.generators.path(3)
    with pytest.raises(IllegalPathError, match=r"BFS: cannot run on async-push-dd: update\(\) reads the superstep"):
        dr.bfs(graph, 0, path="async-push-dd", device="reference")
    with pytest.raises(InvalidArgumentError, match="'sideways' is not a path"):
        dr.bfs(graph, 0, path="sideways")


def test_an_engine_that_lacks_a_path_says_so():
    class Poor(ReferenceEngine):
        name = "poor"

        def prepare(self, program, graph):
            execution = super().prepare(program, graph)
            execution.caps = type(execution.caps)(3, 4, "traversal", (Path.parse("sync-push-dd"),))
            return execution

    with pytest.raises(InvalidArgumentError, match="the engine 'poor' has no path sync-pull-td; it has sync-push-dd"):
        dr.run(BFS(source=0), dr.generators.path(3), device=Poor(), path="sync-pull-td")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threads": 0}, InvalidArgumentError, "threads=0 is outside"),
        ({"threads": 1000}, InvalidArgumentError, "threads=1000 is outside"),
        ({"device": "abacus"}, InvalidArgumentError, "choose one of 'auto', 'cpu', 'cuda', 'numpy', 'reference'"),
        ({"max_iter": -1}, InvalidArgumentError, "max_iter=-1"),
        ({"max_iter": 1.5}, InvalidArgumentError, "max_iter=1.5"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        dr.run(BFS(source=0), dr.generators.path(3), **options)


def test_what_is_no_program_and_what_is_no_graph():
    import networkx as nx

    with pytest.raises(InvalidArgumentError, match="BFS is a class; give an instance"):
        dr.run(BFS, dr.generators.path(3))
    with pytest.raises(InvalidArgumentError, match=r"not a dromos\.Program"):
        dr.run("BFS", dr.generators.path(3))
    with pytest.raises(InvalidArgumentError, match=r"graph is a networkx\.Graph; make .*from_networkx"):
        dr.bfs(nx.path_graph(3), 0)


def test_programs_that_are_not_well_formed():
    class Branching(Hops):
        def update(self, v, message):
            if message < v.hops:
                return message
            return v.hops

    with pytest.raises(UntraceableError, match=r"Branching\.update .*dr\.where"):
        dr.run(Branching(source=0), dr.generators.path(3))
    with pytest.raises(dr.DromosError, match="combine = 'median' is not a monoid"):
        type("Median", (Hops,), {"combine": "median"})(source=0)
    with pytest.raises(dr.DromosError, match="field 'extra' is never initialised"):
        type("Bare", (Hops,), {"extra": dr.field(np.int32), "init": lambda self, v: {"hops": 0}})(source=0)


@DEVICES
def test_an_integer_that_outgrows_its_field_is_an_error(device):
    class Walks(dr.Program):
        count = dr.field(np.int32, init=1)
        combine = dr.SUM

        def compute(self, u, edge, v):
            return u.count

        def update(self, v, message):
            return v.count + message

        def active(self, old, new):
            return self.superstep < 40

    with pytest.raises(FieldOverflowError, match=r"does not fit|outgrew|overflow"):
        dr.run(Walks(), dr.generators.complete(4), device=device)


def test_a_store_that_changed_underneath_is_refused(tmp_path):
    file = tmp_path / "g.drm"
    dr.generators.path(5).write(file)
    graph = dr.read(file)
    assert dr.bfs(graph, 0, device="reference").level.max() == 4
    dr.generators.path(9).write(file)
    with pytest.raises(FileError, match=r"g\.drm: the file was changed, replaced or removed .* read it again"):
        dr.bfs(graph, 0, device="reference")
    graph = dr.read(file)
    file.unlink()
    with pytest.raises(FileError, match="changed"):
        dr.pagerank(graph, device="reference")


@pytest.mark.parametrize("part", ["transpose", "without weights", "in memory"])
def test_what_lies_on_a_changed_store_is_refused_and_nothing_else(tmp_path, part):
    file = tmp_path / "g.drm"
    dr.generators.with_random_weights(dr.generators.rmat(4, symmetrize=False), 1, 9).write(file, transpose=True)
    graph = dr.read(file, mmap=part != "in memory")
    if part == "transpose":
        graph = graph.transpose
    elif part == "without weights":
        graph = graph.with_weights(None)
    before = dr.bfs(graph, 1, device="reference").level
    with open(file, "r+b") as store:  # in place: the map sees it
        store.seek(4096 + 8)
        store.write(b"\xff" * 64)
    if part == "in memory":
        assert np.array_equal(dr.bfs(graph, 1, device="reference").level, before)
    else:
        with pytest.raises(FileError, match=r"g\.drm: the file was changed"):
            dr.bfs(graph, 1, device="reference")


def test_the_default_device_comes_from_the_environment(monkeypatch):
    monkeypatch.setenv("DROMOS_DEVICE", "reference")
    assert engine_for().name == "reference"
    monkeypatch.setenv("DROMOS_DEVICE", "toaster")
    with pytest.raises(InvalidArgumentError, match="'toaster' is not a device"):
        engine_for()


def test_the_null_engine_takes_steps_and_gives_nothing():
    session = Session("nothing", dr.generators.path(3), device=NullEngine())
    assert session.run(BFS(source=0)).finished == "frontier empty"
    assert session.native("triangles") is None
    with pytest.raises(InvalidArgumentError, match="the engine 'null' has no such kernel"):
        session.require_native("triangles")


# ---- results --------------------------------------------------------------------------------------------------------


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
    with pytest.raises(FileError, match=r"'\.txt' is none of \.parquet"):
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


def test_a_repr_tells_sizes_iterations_time_and_path(result):
    text = repr(result)
    assert text.startswith("<sssp of 4 vertices: distance (on demand), parent (on demand); 3 iterations in ")
    assert "on reference (async-push-dd 3)" in text
    assert "compiling" not in text
    result.seconds, result.compile_seconds = 4.0, 3.5
    assert "3 iterations in 4 s, 3.5 s of it compiling, on reference" in repr(result)


def test_only_algorithms_have_verifiers():
    with pytest.raises(InvalidArgumentError, match="there is no verifier"):
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


# ---- traces ---------------------------------------------------------------------------------------------------------


def test_a_trace_has_a_row_a_step():
    graph = dr.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 0])
    trace = dr.bfs(graph, 0, path="sync-push-dd", device="reference").trace
    assert [row.superstep for row in trace] == [0, 1, 2]
    assert [row.frontier for row in trace] == [1, 2, 1]
    assert [row.out_degree for row in trace] == [2, 2, 1]
    assert [row.in_degree for row in trace] == [1, 2, 2]
    assert all(row.reason == "fixed by the caller" and row.bytes > 0 for row in trace)
    assert trace.to_arrow().column_names[:3] == ["phase", "superstep", "supersteps"]
    assert len(trace.to_pandas()) == 3
    assert len(trace[1:]) == 2
    assert pickle.loads(pickle.dumps(trace)) == trace


def test_a_composition_names_its_phases():
    trace = dr.strongly_connected_components(dr.generators.cycle(4), device="reference").trace
    assert {row.phase for row in trace} == {"Reach"}
    two = dr.betweenness(dr.generators.path(3), sources=[0], device="reference").trace
    assert [row.phase for row in two][:1] == ["Paths"]
    assert "Dependencies" in repr(two)


def test_a_long_trace_is_shown_without_its_middle():
    trace = dr.bfs(dr.generators.path(60), 0, device="reference").trace
    lines = repr(trace).splitlines()
    assert len(lines) == 2 + 21
    assert any(set(line.split()) == {"…"} for line in lines)


def test_plotting_without_matplotlib_tells_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'dromos\[plot\]'"):
        dr.bfs(dr.generators.path(3), 0, device="reference").trace.plot()


def test_plotting_draws_a_bar_a_step():
    pytest.importorskip("matplotlib").use("Agg")
    axes = dr.bfs(dr.generators.path(5), 0, device="reference", path="sync-push-dd").trace.plot()
    assert len(axes.patches) == 5
    shared = dr.bfs(dr.generators.path(5), 0, device="numpy+reference", share=0.5, split="low", path="sync-push-dd")
    assert list(shared.trace[0].busy) == ["numpy", "reference", "exchange"]
    assert len(shared.trace.plot().patches) == 5 * (1 + 3)


# ---- Ctrl-C ---------------------------------------------------------------------------------------------------------


ENDLESS = """
import os, random, signal, sys, threading
import numpy as np
import dromos as dr

class Endless(dr.Program):
    x = dr.field(np.float64, init=1.0)
    combine = dr.SUM
    def compute(self, u, edge, v): return 0.5 * u.x
    def update(self, v, message): return message
    def active(self, old, new): return True

device, times = sys.argv[1], int(sys.argv[2])
graph = dr.generators.grid(40, 40)
dr.run(Endless(), graph, device=device, path="sync-push-td", max_iter=2)
chance = random.Random(7)
for count in range(times):
    try:
        threading.Timer(0.03 + 0.03 * chance.random(), os.kill, (os.getpid(), signal.SIGINT)).start()
        dr.run(Endless(), graph, device=device, path="sync-push-td")
    except KeyboardInterrupt:
        print(count, flush=True)
"""


@pytest.mark.parametrize(("device", "times"), [("reference", 2), ("cpu", 40)])
def test_ctrl_c_ends_a_run_wherever_it_comes(device, times):
    words = [sys.executable, "-c", ENDLESS, device, str(times)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(count) for count in range(times)]


@pytest.mark.parametrize(
    "how",
    [
        {"device": "reference"},
        {"device": "numpy"},
        {"device": "numpy", "slices": 2, "parts": 2},
        {"device": "cpu"},
        {"device": "cpu", "path": "sync-push-td"},
    ],
    ids=lambda how: " ".join(map(str, how.values())),
)
def test_the_last_value_of_a_reduction_is_in_the_result(how):
    graph = dr.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 3])
    result = dr.run(PageRank(), graph, **how)
    assert (result.finished, type(result.change)) == ("converged", float)
    assert 0 < result.change < 1e-6
    assert result.dangling == pytest.approx(result.rank[3])
    assert dict(result.values_of_graph) == {"dangling": result.dangling, "change": result.change}
    started = dr.run(PageRank(), graph, max_iter=0, device=how["device"])
    assert (started.change, started.dangling) == (0, 0.25)


def test_a_reduction_of_no_vertices_is_its_identity():
    empty = dr.Graph.from_edges([], [], num_vertices=0)
    found = [dr.run(PageRank(), empty, device=device).change for device in ("reference", "numpy", "cpu")]
    assert found == [0, 0, 0]


def test_who_has_a_reduction_runs_in_supersteps():
    class Counted(Hops):
        @dr.reduction(dr.SUM)
        def reached(self, v):
            return dr.cast(v.hops < 100, np.int64)

    graph = dr.generators.path(4)
    with pytest.raises(IllegalPathError, match="the reduction 'reached' is folded at the end of each superstep"):
        dr.run(Counted(source=0), graph, path="async-push-dd", device="reference")
    assert dr.run(Counted(source=0), graph, device="reference").reached == 4


def test_calls_of_a_kernel_are_numbered():
    result = dr.eigenvector(dr.generators.grid(9, 9), device="cpu")
    assert [row.superstep for row in result.trace] == list(range(len(result.trace)))


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


def test_a_limit_may_be_a_number_of_numpy():
    from dromos.algorithms.bfs import BFS

    path = dr.generators.path(9)
    assert dr.run(BFS(source=0), path, max_iter=np.int64(3), device="numpy").iterations == 3
