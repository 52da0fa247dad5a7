"""Every command that the documentation shows runs, on small files of the names that it gives."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAM = """
import numpy as np
import dromos as dr

class {name}(dr.Program):
    source = dr.param(int, 0)
    width = dr.field(np.float64)
    combine = dr.MAX

    def init(self, v): return dr.where(v.id == self.source, np.inf, 0.0)
    def start(self, v): return v.id == self.source
    def compute(self, u, edge, v): return dr.minimum(u.width, edge.weight)
    def update(self, v, message): return dr.maximum(v.width, message)
"""


def commands() -> list[str]:
    """The lines of shell blocks that call ``dromos``, without their comments."""
    blocks = [block for page in PAGES for block in re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)]
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("dromos ")]


def test_there_are_commands():
    assert len(commands()) >= 10


@pytest.mark.parametrize("command", commands())
def test_a_documented_command_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("socketserver.BaseServer.serve_forever", lambda *_: None)  # `dromos serve` would stay
    monkeypatch.setattr("webbrowser.open", lambda *_: True)
    graph = dr.generators.with_random_weights(dr.generators.rmat(6, seed=3), 1, 9)
    words = shlex.split(command)[1:]
    made = {"generate": len(words) - 1, "convert": 2}.get(words[0])
    for place, word in enumerate(words):
        name, _, program = word.partition(":")
        if program:
            Path(name).write_text(PROGRAM.format(name=program))
        elif word.endswith(".csv") and words[0] == "convert" and place != made:
            columns = [words[words.index(option) + 1] for option in ("--src", "--dst", "--weight")]
            graph = dr.Graph.from_edges(["ada"], ["bob"], [3])
            Path(word).write_text(",".join(columns) + "\nada,bob,3\n")
        elif re.search(r"\.(drm|txt|parquet)", word) and place != made and words[place - 1] != "-o":
            graph.write(word)
    if "--scale" in words:  # the same command, sooner done
        words[words.index("--scale") + 1] = "6"
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (done.output, done.exception)
    if "-o" in words:
        assert Path(words[words.index("-o") + 1]).stat().st_size > 0
    if made is not None:
        assert dr.read(words[made]).num_vertices == graph.num_vertices
