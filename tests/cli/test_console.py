"""What is printed is what was said."""

from __future__ import annotations

import re
import sys

import pytest
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.cli.console import Work, _Share, err, out
from dromos.cli.results import _show_trace
from dromos.graph.summary import digits


@pytest.mark.parametrize("console", [out, err])
def test_words_between_colons_are_no_pictures(console) -> None:
    with console.capture() as got:
        console.print("device mpi:abacus: unknown")
    assert got.get() == "device mpi:abacus: unknown\n"


def test_a_bar_tells_its_share_only_where_there_is_a_whole() -> None:
    bar = Progress(disable=True)
    progress = Work(bar, "reading g.txt", then="building the graph")
    assert _Share().render(bar.tasks[0]).plain == ""
    progress(1, 4)
    assert _Share().render(bar.tasks[0]).plain == " 25%"
    progress(4, 4)
    progress(4, 4)  # some readers say it twice
    (task,) = bar.tasks
    assert (task.description, task.total, _Share().render(task).plain) == ("building the graph", None, "")


def test_a_full_bar_with_nothing_after_it_stays() -> None:
    bar = Progress(disable=True)
    Work(bar, "writing g.drm")(4, 4)
    assert _Share().render(bar.tasks[0]).plain == "100%"


def test_help_texts_show_their_defaults() -> None:
    for command, default in (("bfs", "all cores"), ("convert", "from"), ("plan", "what is free")):
        shown = re.sub(r"[\s│]+", " ", CliRunner().invoke(app, [command, "--help"]).output)
        assert f"[default: {default}" in shown


def test_a_trace_fits_a_terminal(monkeypatch, capsys) -> None:
    graph = dr.generators.path(30)
    screen = Console(file=sys.stderr, force_terminal=True, width=80, no_color=True)
    monkeypatch.setattr("dromos.cli.results.err", screen)
    _show_trace(dr.bfs(graph, 0, device="reference"))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().err).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["superstep", "frontier", "out-edges", "path", "ms", "reason"]
    assert any(line.strip() == "…" for line in lines)
    assert any(line.split()[:1] == ["29"] for line in lines)


def test_a_trace_in_a_terminal_shows_what_was_read(monkeypatch, capsys, tmp_path) -> None:
    dr.write(dr.generators.rmat(10, 64, seed=1), tmp_path / "g.drm")
    screen = Console(file=sys.stderr, force_terminal=True, width=80, no_color=True)
    monkeypatch.setattr("dromos.cli.results.err", screen)
    result = dr.bfs(dr.open(tmp_path / "g.drm"), 0, memory="64M", device="numpy")
    _show_trace(result)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().err).splitlines()
    assert lines[0].split() == ["superstep", "frontier", "out-edges", "path", "ms", "MiB", "read", "reason"]
    assert f"{digits(result.trace[0].read / 2**20)} " in lines[1]
    words = ["bfs", str(tmp_path / "g.drm"), "--source", "0", "--memory", "64M", "--device", "cpu", "--trace"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert re.search(r" read .* --memory holds", capsys.readouterr().err)
