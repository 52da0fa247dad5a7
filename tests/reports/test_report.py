"""The page that explains a run: what is in it, what cannot get into it, and that it works in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.errors import InvalidArgumentError, UnsupportedFormatError
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


_CLICKS = """
const metric = document.getElementById("metric");
metric.value = "frontier";
metric.dispatchEvent(new Event("change"));
document.getElementById("log").click();
document.querySelector("#steps-chart .bar").dispatchEvent(new Event("click"));
document.querySelectorAll("#runs button")[1].click();
document.querySelectorAll("#steps-table tbody tr")[0].click();
document.body.setAttribute("data-bars", document.querySelectorAll("#steps-chart .bar").length);
document.body.setAttribute("data-detail", document.getElementById("detail").textContent);
document.body.setAttribute("data-title", document.getElementById("subtitle").textContent);
"""


def test_in_a_browser(tmp_path: Path) -> None:
    first, second = _bfs(), _bfs(dr.generators.path(9))
    dom, errors = rendered(page([first, second]), tmp_path, then=_CLICKS)
    assert errors == []
    assert f'data-bars="{len(second.trace)}"' in dom
    assert second.trace[0].reason in dom
    assert 'data-title="9 vertices, 8 edges, on reference"' in dom
    assert 'id="comparison" hidden' not in dom
