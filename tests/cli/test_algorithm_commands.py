"""Algorithms from the command line: files out, tables, traces, and trouble told."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.cli.advice import in_options, speak_as
from dromos.cli.algorithms import COMMANDS
from dromos.engines.cuda import why_unavailable

WIDEST = """
import numpy as np
import dromos as dr

class WidestPath(dr.Program):
    source = dr.param(int)
    cap = dr.param(float, np.inf)
    bonus = dr.vertex_param(float)
    width = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v):
        return dr.where(v.id == self.source, self.cap, 0.0)

    def start(self, v):
        return v.id == self.source

    def compute(self, u, edge, v):
        return dr.minimum(u.width, edge.weight + v.bonus)

    def update(self, v, message):
        return dr.maximum(v.width, message)
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """The command line in this process, on the reference engine, in a folder with a few graphs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DROMOS_DEVICE", "reference")
    dr.Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 0], [4, 9, 3, 1]).write("g.drm")
    Path("sparse.txt").write_text("7 4000000000000\n")
    Path("names.csv").write_text("src,dst\nada,bob\nbob,eve\neve,ada\nada,zoe\n")
    dr.generators.complete(4).write("k4.drm")
    dr.generators.complete(4).write("k4.npz", allow_loss=True)
    dr.Graph.from_edges([0, 0], [0, 1], directed=False).write("loop.drm")
    dr.Graph.from_edges([0, 1, 2], [1, 2, 0]).write("directed.drm")
    Path("widest.py").write_text(WIDEST)

    def run(*words: object):
        return CliRunner().invoke(app, [str(word) for word in words])

    return run


def test_every_algorithm_has_a_command_with_help(call):
    assert set(COMMANDS) == {name.replace("_", "-") for name in dr.algorithms.__all__}
    for name in COMMANDS:
        shown = call(name, "--help")
        assert shown.exit_code == 0
        assert "--trace" in shown.output
        assert "``" not in shown.output


def test_a_fixed_number_of_iterations(call):
    done = call("pagerank", "g.drm", "--tol", 0, "--max-iter", 7, "--on-limit", "return", "--json", "--verify")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["iterations"] == 7


COUNTS_OF_K4 = {"coloring": 4, "maximal-matching": 2, "minimum-spanning-forest": 3, "biconnected-components": 1}


@pytest.mark.parametrize("name", COUNTS_OF_K4)
def test_kernels_that_are_programs_too_on_disk_and_with_checkpoints(call, name):
    for words in (("--memory", "64M", "--device", "numpy"), ("--path", "sync-pull-td"), ("--checkpoint", "saved")):
        done = call(name, "k4.drm", *words, "--trace", "--json")
        assert done.exit_code == 0, done.output
        said = json.loads(done.stdout)
        assert said["count"] == COUNTS_OF_K4[name]
        assert "native" not in said["paths"]


def test_bridges_on_disk(call):
    done = call("bridges", "k4.drm", "--memory", "64M", "--device", "numpy", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["count"] == 0


@pytest.mark.parametrize(
    "words",
    [("bfs", "g.drm", "--source", 3), ("run", "widest.py", "g.drm", "-p", "source=3", "-p", "bonus=0=0")],
)
@pytest.mark.parametrize(("share", "split"), [(0.5, "high"), ("auto", "auto")])
def test_a_graph_is_split_over_devices(call, words, share, split):
    done = call(*words, "--device", "numpy+numpy", "--share", share, "--split", split, "--trace", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["device"] == "numpy+numpy"
    assert "ms by part" in done.stderr


@pytest.mark.parametrize("deal", ["rows", "pages", "targets"])
def test_pages_are_dealt_over_devices(call, deal):
    done = call("bfs", "g.drm", "--source", 3, "--device", "numpy+numpy", "--deal", deal, "--trace", "--json")
    assert done.exit_code == 0, done.output
    told = "" if deal == "rows" else f" with slices=1, parts=2, deal={deal}"
    assert json.loads(done.stdout)["device"] == f"numpy+numpy{told}"
    assert "ms by part" in done.stderr


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("pagerank", "g.drm", "--max-iter", 1, "--tol", 0), "raise --max-iter or --tol, or lower --alpha, or get"),
        (("katz", "g.drm", "--max-iter", 1, "--tol", 0), "lower --alpha, or raise --max-iter or --tol, or get"),
        (("hits", "g.drm", "--max-iter", 1, "--tol", 0), "the result so far with --on-limit return"),
        (("pagerank", "g.drm", "--dtype", "halves"), "--dtype halves is neither float64 nor float32"),
        (("bfs", "g.drm", "--source", 0, "--depth-limit", -1), "--depth-limit -1"),
        (("run", "names.csv", "g.drm"), "FILE.py:CLASS"),
        (("label-propagation", "g.drm", "--checkpoint", "saved"), "leave --checkpoint out"),
        (("bfs", "g.drm", "--source", 0, "--device", "numpy+numpy", "--share", 2), "--share 2.0"),
        (("bfs", "g.drm", "--source", 0, "--device", "numpy+numpy", "--share", "half"), "is not a number from 0 to 1"),
        (("bfs", "g.drm", "--source", 0, "--device", "numpy+numpy", "--split", "odd"), "--split odd"),
        (("bfs", "g.drm", "--source", 0, "--device", "numpy+numpy", "--deal", "odd"), "--deal odd is not one of"),
        (("bfs", "g.drm", "--source", 0, "--device", "numpy", "--deal", "pages"), "--device cuda:0+cuda:1"),
        (("bfs", "g.drm", "--source", 0, "--memory", "64M", "--deal", "pages"), "leave --deal out"),
        (("bfs", "g.drm", "--source", 0, "--host-memory", "1G"), "--host-memory 1G is for a graph on disk on a GPU"),
        (("bfs", "g.drm", "--source", 0, "--host-memory", "1G", "--verify"), "leave --host-memory out"),
        (("bfs", "g.drm", "--source", 0, "--host-memory", "1G"), "GPU: use --device cuda; on the CPU, --memory is"),
        (("bfs", "k4.npz", "--source", 0, "--memory", "1G"), "k4.drm` (this is not a Dromos store: it does not begin "),
        (("convert", "g.drm", "out.drm", "--memory", "64M", "--src", "a"), "the format 'drm' has no option 'src'"),
        (
            ("convert", "sparse.txt", "out.drm", "--memory", "64M", "--ids", "dense"),
            "are sparse names, give --ids names",
        ),
        (("convert", "k4.npz", "out.drm", "--memory", "64M", "--transpose"), "leave --memory out, or take the list"),
        (("bfs", "g.drm", "--source", 0, "--memory", "64M", "--format", "csv"), "--format csv is another format"),
        (("triangles", "directed.drm"), "undirected graphs; convert the file first: `dromos convert --symmetrize IN "),
        (("louvain", "directed.drm", "--memory", "64M"), "undirected graphs; convert the file first: `dromos convert"),
        (("core-numbers", "loop.drm", "--memory", "64M"), "sets a budget for it), or leave --memory out"),
    ],
)
def test_errors_speak_of_options(call, words, advice):
    done = call(*words)
    assert done.exit_code != 0
    assert advice in in_options(str(done.exception))


def test_names_of_options_are_found_without_a_value():
    speak_as(get_command(app).commands["pagerank"])  # type: ignore[attr-defined]
    assert in_options("max_iter is 3, tol is not") == "--max-iter is 3, tol is not"
    assert in_options("np.max_iter and 'max_iter' and max_iter()") == "np.max_iter and 'max_iter' and max_iter()"


def test_answers_go_to_files_of_every_kind(call):
    for extension in ("parquet", "csv", "json", "npz", "csv.gz"):
        done = call("sssp", "g.drm", "--source", 0, "-o", f"out.{extension}", "--verify")
        assert done.exit_code == 0, done.output
        assert done.output == ""
    expected = [0.0, 4.0, 7.0, np.inf]
    table = pyarrow.parquet.read_table("out.parquet")
    assert table.column_names == ["vertex", "distance", "parent"]
    assert table["distance"].to_pylist() == expected
    assert pyarrow.csv.read_csv("out.csv")["parent"].to_pylist() == [0, 0, 1, -1]
    assert pyarrow.csv.read_csv("out.csv.gz")["distance"].to_pylist() == expected
    assert json.loads(Path("out.json").read_text())["distance"] == [0.0, 4.0, 7.0, None]
    assert np.load("out.npz")["distance"].tolist() == expected


def test_labels_come_back_in_files_and_tables(call):
    done = call("bfs", "names.csv", "--source", "bob", "-o", "out.csv")
    assert done.exit_code == 0, done.output
    table = pyarrow.csv.read_csv("out.csv")
    rows = dict(zip(table["vertex"].to_pylist(), table["parent"].to_pylist(), strict=True))
    assert rows == {"bob": "bob", "eve": "bob", "ada": "eve", "zoe": "ada"}
    shown = call("bfs", "names.csv", "--source", "bob")
    assert "zoe" in shown.output
    assert "level int32" in shown.output


def test_a_summary_for_programs_and_a_trace(call):
    done = call("k-core", "k4.drm", "--k", 3, "--json", "--trace")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["algorithm"], told["count"], told["k"], told["device"]) == ("k-core", 4, 3, "reference")
    call("bfs", "g.drm", "--source", 0, "--save-trace", "trace.csv", "--path", "sync-push-td")
    assert pyarrow.csv.read_csv("trace.csv")["path"].to_pylist() == ["sync-push-td"] * 2
    assert "fixed by the caller" in call("bfs", "g.drm", "--source", 0, "--trace", "--path", "sync-push-dd").stderr


def test_arguments_become_what_the_functions_take(call):
    np.save("x.npy", np.array([1.0, 10, 100, 1000]))
    for x in ("x.npy", "0=1,1=10,2=100,3=1000"):
        call("spmv", "g.drm", "--x", x, "-o", "y.json", "--unweighted")
        assert json.loads(Path("y.json").read_text())["y"] == [110.0, 100.0, 0.0, 1.0]
    graph = dr.read("g.drm")
    for words, weight in (((), None), (("--weighted",), "weight")):
        call("closeness", "g.drm", *words, "-o", "near.json")
        near = json.loads(Path("near.json").read_text())["centrality"]
        assert near == dr.closeness(graph, weight=weight).centrality.tolist()
    call("betweenness", "k4.drm", "--sources", "0,2", "--no-normalized", "-o", "b.json")
    assert len(json.loads(Path("b.json").read_text())["centrality"]) == 4
    done = call("belief-propagation", "k4.drm", "--prior", "1,-1;0,0;0,0;0,0", "--coupling", "0.1,-0.1;-0.1,0.1",
                "-o", "belief.csv")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert pyarrow.csv.read_csv("belief.csv").column_names == ["vertex", "belief_0", "belief_1"]
    personal = call("pagerank", "names.csv", "--personalization", "ada=1", "--json")
    assert json.loads(personal.stdout)["finished"] == "converged"


def test_no_work_is_done_for_a_file_that_cannot_be_written(call, monkeypatch):
    monkeypatch.setattr("dromos.graph.formats.read", lambda *given, **how: pytest.fail("the graph was read"))
    for option, name in (("-o", "x.csv"), ("-o", "rows"), ("--save-trace", "x.csv"), ("--report", "x.html")):
        done = call("bfs", "g.drm", "--source", 0, option, f"nowhere/{name}")
        assert "the folder nowhere does not exist" in str(done.exception)


def test_a_table_says_how_many_rows_there_are_more(call):
    dr.generators.path(40).write("path.drm")
    assert "the first 10 of 40 rows" in call("bfs", "path.drm", "--source", 0).output
    assert "rows" not in call("bfs", "path.drm", "--source", 0, "--top", 3).output.splitlines()[-1]
    assert "rows" not in call("bfs", "k4.drm", "--source", 0).output.splitlines()[-1]


def test_all_pairs_writes_one_file_and_leaves_a_graph_on_disk_only_if_asked(call):
    here = call("all-pairs", "k4.drm", "-o", "pairs.parquet", "--device", "numpy", "--json")
    assert "streamed" not in json.loads(here.stdout)["device"]
    assert pyarrow.parquet.read_table("pairs.parquet").num_rows == 4
    there = call("all-pairs", "k4.drm", "--to", "pairs.parquet", "--device", "numpy", "--memory", "64M", "--json")
    assert "streamed" in json.loads(there.stdout)["device"]


def test_a_program_of_ones_own(call):
    done = call("run", "widest.py:WidestPath", "g.drm", "-p", "source=0", "-p", "cap=8", "-p", "bonus=1=0.5",
                "-o", "w.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert json.loads(Path("w.json").read_text())["width"] == [8.0, 4.5, 8.0, 0.0]
    assert call("run", "widest.py", "g.drm", "-p", "source=0", "-p", "bonus=0=0", "--max-iter", 0).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("bfs", "g.drm", "--source", "9"), "no vertex 9"),
        (("bfs", "g.drm", "--source", "ada"), "'ada' is not a vertex"),
        (("bfs", "names.csv", "--source", "bill"), "no vertex is labelled 'bill'"),
        (("bfs", "g.drm", "--source", "0", "-o", "out.xlsx"), "'.xlsx' is not one of"),
        (("bfs", "g.drm", "--source", "0", "--path", "async-push-dd"), "reads the superstep number"),
        (("bfs", "g.drm", "--source", "0", "--path", "zigzag"), "is not a path"),
        (("bfs", "g.drm", "--source", "0", "--threads", "0"), "threads=0"),
        (("bfs", "g.drm", "--source", "0", "--device", "abacus"), "'abacus' is not a device"),
        *(
            [(("bfs", "g.drm", "--source", "0", "--device", "cuda"), "or use device='cpu'")]
            if why_unavailable()
            else []
        ),
        (("pagerank", "g.drm", "--personalization", "0"), "not VERTEX=NUMBER"),
        (("pagerank", "g.drm", "--personalization", "0=much"), "'much' is not a number"),
        (("spmv", "g.drm", "--x", "nowhere.npy"), "nowhere.npy"),
        (("run", "widest.py:Widest", "g.drm"), "it has WidestPath"),
        (("run", "nowhere.py:X", "g.drm"), "no such file"),
        (("run", "widest.py:WidestPath", "g.drm", "-p", "sauce=0"), "WidestPath has source, cap, bonus"),
        (("run", "widest.py:WidestPath", "g.drm"), "needs source=..., bonus=...; give parameters as -p"),
    ],
)
def test_trouble_is_told(call, words, said):
    before = {path.name for path in Path().iterdir()}
    done = call(*words)
    assert done.exit_code != 0
    assert isinstance(done.exception, dr.DromosError)
    assert said in str(done.exception)
    assert {path.name for path in Path().iterdir()} - {"__pycache__"} == before  # which Python leaves beside a program


def test_a_graph_stays_on_disk_within_a_budget(call):
    shown = call("bfs", "g.drm", "--source", 0, "--memory", "64M", "--device", "numpy", "--json")
    assert shown.exit_code == 0, shown.output
    summary = json.loads(shown.stdout)
    assert summary["device"] == "numpy, streamed"
    assert summary["bytes_read"] > 0
    dr.Graph.from_edges([0, 1, 2], [1, 2, 0], [4, 9, 6]).write("circle.drm", transpose=True)
    for words, share in ((("--weighted",), 1 / 3), ((), 1 / 2)):  # 1 / 3: the mean of 4, 9 and 6, halved, over 9
        shown = call("clustering", "circle.drm", "--memory", "64M", "--device", "numpy", "--json", *words)
        assert json.loads(shown.stdout)["average"] == pytest.approx(share), shown.output
    assert call("run", "widest.py", "k4.drm", "-p", "source=0", "-p", "bonus=0=1", "--memory", "1k").exit_code != 0
    for words in (("names.csv", "--source", "ada"), ("g.drm", "--source", 0, "--verify")):
        refused = call("bfs", *words, "--memory", "64M")
        assert refused.exit_code != 0
        assert "store" in str(refused.exception) or "--verify" in str(refused.exception)


@pytest.mark.parametrize("words", [("multi-source-bfs", "--sources", "0,2"), ("closeness",), ("harmonic",)], ids=str)
def test_searches_from_many_sources_leave_the_graph_on_disk_as_others_do(call, words):
    """They have a ``memory`` of their own, for a group of sources in memory."""
    name, *rest = words
    shown = json.loads(call(name, "k4.drm", *rest, "--memory", "64M", "--device", "numpy", "--json").stdout)
    assert shown["device"] == "numpy, streamed"
    assert shown["bytes_read"] > 0
    inside = call(name, "k4.drm", *rest, "--memory", "64M", "--device", "numpy", "--verify", "--json")
    assert "streamed" not in json.loads(inside.stdout)["device"]


@pytest.mark.parametrize(
    "words",
    [("bfs", "g.drm", "--source", 0, "--device", "numpy"), ("closeness", "g.drm"), ("convert", "names.csv", "out.drm")],
    ids=lambda words: words[0],
)
def test_a_budget_is_shown_as_it_was_typed(call, words):
    refused = call(*words, "--memory", "0.01k")
    assert isinstance(refused.exception, dr.errors.ResourceError)
    assert "memory=0.01k is too little" in str(refused.exception)


def test_the_top_rows_of_edges_have_their_ends_and_names_stay_as_they_are(call):
    dr.Graph.from_edges(["a", "b", "[c]", "[c]"], ["b", "[c]", "a", "d"], directed=False).write("kite.drm")
    found = call("truss-numbers", "kite.drm", "--top", 3)
    assert found.exit_code == 0, found.output
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in found.output.splitlines() if "│" in line]
    assert sorted(rows) == [["a", "[c]", "3"], ["a", "b", "3"], ["b", "[c]", "3"]]
    found = call("degree-centrality", "kite.drm", "--top", 1)
    assert "[c]" in found.output


def test_plan_says_which_extra_to_install(call, monkeypatch):
    note = "pip install 'dromos[cuda13]'"
    place = SimpleNamespace(place="gpu", memory=1, moved=1, seconds=None, note=note, how="", engine="gpu")
    monkeypatch.setattr("dromos.runner.prediction.predictions", lambda *given: [place])
    assert "[cuda13]" in call("plan", "k4.drm").output
