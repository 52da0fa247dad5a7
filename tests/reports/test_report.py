"""The page that explains a run: what is in it, what cannot get into it, and that it works in a browser."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.algorithms.bfs import BFS
from dromos.cli import app
from dromos.errors import InvalidArgumentError, UnsupportedFormatError
from dromos.runner.explanation import Explanation
from dromos.runner.report import page, write_report
from dromos.runner.report.data import degree_bins, run_data
from dromos.runner.trace import Trace, TraceRow
from tests.reports.browser import rendered


def _bfs(graph: dr.Graph | None = None, source: object = 0) -> dr.Result:
    return dr.bfs(dr.generators.star(6) if graph is None else graph, source, device="reference")


def _embedded(text: str) -> list[dict[str, object]]:
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def test_a_page_holds_the_run() -> None:
    result = _bfs()
    (run,) = _embedded(page([result]))
    assert (run["name"], run["device"], run["supersteps"]) == ("bfs", "reference", result.trace.supersteps)
    steps = run["trace"]["steps"]
    assert [step["path"] for step in steps] == [row.path for row in result.trace]
    assert [step["reason"] for step in steps] == [row.reason for row in result.trace]
    assert run["top"]["field"] == "level"


def test_labels_cannot_break_out_of_the_page() -> None:
    graph = dr.Graph.from_edges(["</script><script>alert(1)</script>"], ["b & <i>"])
    text = page([_bfs(graph, "</script><script>alert(1)</script>")])
    assert "alert(1)</script>" not in text
    assert any("</script>" in str(row[0]) for row in _embedded(text)[0]["top"]["rows"])


@pytest.mark.parametrize("graph", [dr.Graph.from_edges([], [], num_vertices=1), dr.generators.path(2)])
def test_small_graphs_have_pages(graph: dr.Graph) -> None:
    assert _embedded(page([_bfs(graph)]))[0]["supersteps"] >= 1


def test_values_that_are_not_finite_are_valid_json() -> None:
    graph = dr.Graph.from_edges([0], [1], np.array([2.5]), num_vertices=3)
    result = dr.sssp(graph, 0, device="reference")
    (run,) = _embedded(page([result]))
    assert run["fields"][0]["finite"] == 2
    assert run["fields"][0]["max"] == 2.5


def test_long_runs_are_joined_and_lose_nothing() -> None:
    row = TraceRow("p", 0, 1, 5, 7, 7, "sync-push-dd", "why", None, 0.001, 3, 12)
    result = _bfs()
    result.trace = Trace(row._replace(superstep=i) for i in range(4000))
    steps = run_data(result)["trace"]["steps"]
    assert len(steps) < 1600
    assert sum(step["edges"] for step in steps) == 7 * 4000
    assert (steps[0]["first"], steps[-1]["last"]) == (0, 3999)


def test_degree_bins_count_every_vertex() -> None:
    degrees = np.random.default_rng(1).integers(0, 5000, 1000)
    bins = degree_bins(degrees)
    assert sum(count for _, _, count in bins) == 1000
    for low, high, count in bins:
        assert count == np.count_nonzero((degrees >= low) & (degrees <= high))


def test_a_page_is_refused_where_it_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedFormatError, match=r"ends in \.html"):
        write_report([_bfs()], tmp_path / "run.pdf")
    with pytest.raises(InvalidArgumentError, match="at least one result"):
        page([])
    assert list(tmp_path.iterdir()) == []


def test_command_line(tmp_path: Path) -> None:
    graph = tmp_path / "g.el"
    graph.write_text("0 1\n1 2\n1 3\n")
    out = tmp_path / "run.html"
    call = ["bfs", str(graph), "--source", "0", "--device", "reference", "--report", str(out), "--top", "2"]
    result = CliRunner().invoke(app, call)
    assert result.exit_code == 0, result.output
    assert "<title>bfs" in out.read_text()
    assert "level" in result.output
    with pytest.raises(InvalidArgumentError, match="--top 0"):
        CliRunner().invoke(app, [*call[:-1], "0"], catch_exceptions=False)


def test_notebooks_show_results_and_traces() -> None:
    result = _bfs(dr.Graph.from_edges(["<b>"], ["c"]), "<b>")
    assert "&lt;b&gt;" in result._repr_html_()
    assert "<b>" not in result._repr_html_()
    assert result.trace._repr_html_().count("<rect") == len(result.trace)


def test_a_page_tells_what_other_paths_cost_and_where_memory_is() -> None:
    result = dr.bfs(dr.generators.star(6), 0, device="numpy", explain=True)
    (run,) = _embedded(page([result]))
    costs = run["otherPaths"]
    assert [cost["path"] for cost in costs][:1] == ["auto"]
    assert {"sync-push-dd", "sync-pull-td"} <= {cost["path"] for cost in costs}
    assert all(cost["ms"] > 0 and cost["supersteps"] == result.iterations for cost in costs)
    assert ["host", "answer", sum(values.nbytes for values in result.values())] in run["memory"]
    assert not _bfs().other_paths


def test_a_path_that_takes_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dromos.runner.explanation._LEAST_LIMIT", -1.0)
    monkeypatch.setattr("dromos.runner.explanation._MOST_TIMES_AS_LONG", -1)
    costs = dr.bfs(dr.generators.path(200), 0, device="numpy", explain=True).other_paths
    assert costs
    assert all(cost.stopped and cost.supersteps < 200 for cost in costs)


def test_other_paths_take_no_time_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(self: Explanation, *_: object) -> None:
        self.seconds = 1000.0

    monkeypatch.setattr(Explanation, "compare_paths", compare)
    assert dr.bfs(dr.generators.path(3), 0, device="numpy", explain=True).seconds < 0


def test_the_generated_code_is_on_the_page() -> None:
    sources = _embedded(page([_bfs()]))[0]["sources"]
    assert [(source["name"], source["language"]) for source in sources] == [("BFS", "Python, compiled")]
    assert "def " in sources[0]["text"]
    on_gpu = next(_bfs()._explanation.sources("cuda"))
    assert on_gpu[1] == "CUDA C++"
    assert "struct Fields" in on_gpu[2]


def test_a_result_of_a_local_program_can_be_pickled() -> None:
    class Local(BFS):
        pass

    again = pickle.loads(pickle.dumps(dr.run(Local(source=0), dr.generators.path(3), device="reference")))
    assert again.level.tolist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(_bfs()._explanation)).programs.keys() == {"BFS"}


def test_time_is_told_by_processor() -> None:
    (run,) = _embedded(page([dr.bfs(dr.generators.path(9), 0, device="numpy+numpy")]))
    assert all({"numpy", "exchange"} <= step["parts"].keys() for step in run["trace"]["steps"])


def test_time_on_disk_is_told_by_part(tmp_path: Path) -> None:
    dr.write(dr.generators.path(9, directed=False), tmp_path / "path.drm")
    result = dr.bfs(dr.open(tmp_path / "path.drm"), 0, memory="64M", device="numpy")
    (run,) = _embedded(page([result]))
    assert all(step["parts"].keys() == {"kernels", "disk", "host"} for step in run["trace"]["steps"])
    for row in result.trace:
        assert all(taken >= 0 for taken in row.busy.values())
        assert sum(row.busy.values()) <= 1.02e3 * row.seconds + 0.1  # three digits are told of each


def test_explaining_on_the_command_line_needs_a_report(tmp_path: Path) -> None:
    graph = tmp_path / "g.el"
    graph.write_text("0 1\n1 2\n")
    call = ["bfs", str(graph), "--source", "0", "--device", "numpy", "--explain"]
    with pytest.raises(InvalidArgumentError, match="--report"):
        CliRunner().invoke(app, call, catch_exceptions=False)
    done = CliRunner().invoke(app, [*call, "--report", str(tmp_path / "run.html")])
    assert done.exit_code == 0, done.output
    assert _embedded((tmp_path / "run.html").read_text())[0]["otherPaths"]


def test_a_notebook_shows_the_page_in_a_frame(tmp_path: Path) -> None:
    shown = _bfs().report()
    assert shown is not None
    frame = f"<!doctype html><html><head></head><body>{shown._repr_html_()}</body></html>"
    wait = """const inner = document.querySelector("iframe");
    while (!inner.contentDocument?.querySelector("#steps-chart .bar")) await new Promise((go) => setTimeout(go, 50));
    document.body.setAttribute("data-inner", inner.contentDocument.getElementById("title").textContent);"""
    dom, errors = rendered(frame, tmp_path, then=wait)
    assert errors == []
    assert 'data-inner="bfs"' in dom


_CLICKS = """
const metric = document.getElementById("metric");
metric.value = "frontier";
metric.dispatchEvent(new Event("change"));
document.body.setAttribute("data-metrics", [...metric.options].filter((o) => !o.hidden).map((o) => o.value).join(" "));
document.getElementById("log").click();
document.querySelector("#steps-chart .bar").dispatchEvent(new Event("click"));
document.querySelectorAll("#runs button")[1].click();
document.querySelectorAll("#steps-table tbody tr")[0].click();
document.body.setAttribute("data-bars", document.querySelectorAll("#steps-chart .bar").length);
document.body.setAttribute("data-detail", document.getElementById("detail").textContent);
document.body.setAttribute("data-title", document.getElementById("subtitle").textContent);
"""


def test_in_a_browser(tmp_path: Path) -> None:
    first = dr.bfs(dr.generators.star(6), 0, device="numpy+numpy", explain=True)
    second = _bfs(dr.generators.path(9))
    dom, errors = rendered(page([first, second]), tmp_path, then=_CLICKS)
    assert errors == []
    assert f'data-bars="{len(second.trace)}"' in dom
    assert second.trace[0].reason in dom
    assert 'data-title="9 vertices, 8 edges, on reference"' in dom
    assert 'id="comparison" hidden' not in dom
    assert 'data-metrics="ms frontier edges messages bytes parts"' in dom
    assert 'id="other-paths" hidden' in dom  # of the second run, which is shown now
    assert "<summary>BFS (Python, compiled)</summary>" in dom


def test_the_time_of_reading_a_graph_whole_is_told_apart(tmp_path: Path) -> None:
    graph = dr.generators.rmat(10, 8, seed=1)
    graph.write(tmp_path / "g.drm")
    result = dr.pagerank(dr.open(tmp_path / "g.drm"), memory="1G", device="cpu")
    (run,) = _embedded(page([result]))
    first, *others = run["trace"]["steps"]
    assert (first["path"], first["readingMs"]) == ("read", pytest.approx(result.trace[0].seconds * 1e3))
    assert not any(step["readingMs"] or step["partsMs"] for step in others)
    streamed = dr.pagerank(dr.open(tmp_path / "g.drm"), memory="20M", device="cpu")
    (run,) = _embedded(page([streamed]))
    assert all(step["partsMs"] == pytest.approx(step["ms"]) for step in run["trace"]["steps"])
    assert not any(step["readingMs"] for step in run["trace"]["steps"])
