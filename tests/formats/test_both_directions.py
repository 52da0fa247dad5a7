"""Undirected graphs in files that list every edge in both directions: one edge for each pair, on every way in."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dromos as dr
from dromos.cli import app
from dromos.graph import store

DATA = Path(__file__).parent.parent / "data"
TEXTS = {
    "both directions": ("0 1\n1 0\n1 2\n2 1\n", 2, 4),
    "names": ("ada bob\nbob ada\neve bob\nbob eve\n", 2, 4),
    "labels and a loop": ("7 9\n9 7\n7 7\n", 2, 3),
    "parallel pairs": ("0 1\n0 1\n1 0\n1 0\n", 2, 4),
    "weights": ("0 1 2.5\n1 0 2.5\n2 1 -0.0\n1 2 0\n", 2, 4),
    "one is missing": ("0 1\n1 0\n1 2\n", 3, 3),
    "another weight": ("0 1 2\n1 0 3\n", 2, 2),
    "one direction": ("0 1\n1 2\n", 2, 2),
    "loops only": ("0 0\n1 1\n", 2, 2),
    "as often": ("0 1\n0 1\n1 0\n", 3, 3),
}
WAYS = ({"directed": False}, {"symmetrize": True})


@pytest.mark.parametrize("name", TEXTS)
def test_pairs_become_one_edge_with_and_without_a_memory_budget(name, tmp_path, caplog):
    text, merged, kept = TEXTS[name]
    (tmp_path / "g.txt").write_text(text)
    for way in WAYS:
        for keep, edges in ((False, merged), (True, kept)):
            caplog.clear()
            with caplog.at_level(logging.INFO, logger="dromos"):
                graph = dr.read(tmp_path / "g.txt", **way, keep_parallel=keep)
            assert graph.num_edges == edges
            said = [record.message for record in caplog.records if "both directions" in record.message]
            assert len(said) == (merged != kept and not keep)
            store.convert(tmp_path / "g.txt", tmp_path / "g.drm", memory=32 << 20, **way, keep_parallel=keep)
            assert dr.read(tmp_path / "g.drm") == graph
    assert dr.read(tmp_path / "g.txt").num_arcs == len(text.splitlines())  # directed: every line


def test_a_real_file():
    graph = dr.read(DATA / "email-Enron.txt.gz", directed=False)
    assert (graph.num_edges, int(graph.out_degree.max())) == (183_831, 1_383)


def test_a_snap_header_that_says_undirected_does_not_say_how(tmp_path):
    (tmp_path / "g.txt").write_text("# Undirected graph: g.txt\n# Nodes: 3 Edges: 4\n0 1\n1 0\n1 2\n2 1\n")
    assert dr.read(tmp_path / "g.txt").num_edges == 2
    store.convert(tmp_path / "g.txt", tmp_path / "g.drm", memory=32 << 20)
    assert dr.read(tmp_path / "g.drm").num_edges == 2


def test_a_file_that_says_how_it_lists_edges_is_believed(tmp_path):
    twice = dr.Graph.from_edges([0, 1], [1, 0], directed=False)  # two parallel edges
    for name in ("g.txt", "g.mtx", "g.drm"):
        twice.write(tmp_path / name)
        assert dr.read(tmp_path / name) == twice


def test_whole_graphs_that_hold_both_directions(tmp_path):
    both = dr.Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 1])
    for name in ("g.drm", "g.npz"):
        both.write(tmp_path / name)
        for way in WAYS:
            assert dr.read(tmp_path / name, **way).num_edges == 2
            assert dr.read(tmp_path / name, **way, keep_parallel=True).num_edges == 4


def test_merged_weights_are_not_doubled(tmp_path):
    (tmp_path / "g.txt").write_text("0 1 2\n1 0 2\n")
    graph = dr.read(tmp_path / "g.txt", directed=False, dedupe=True, merge_weights="sum")
    assert np.asarray(graph.weights).tolist() == [2, 2]


@pytest.mark.parametrize("budget", [(), ("--memory", "32M")])
def test_the_command_line_says_so(budget, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("g.txt").write_text("0 1\n1 0\n")
    done = CliRunner().invoke(app, ["convert", "g.txt", "g.drm", "--undirected", *budget])
    assert done.exit_code == 0, done.output
    assert "g.txt lists every edge in both directions" in done.stderr
    assert "--keep-parallel" in done.stderr
    assert dr.read("g.drm").num_edges == 1
    done = CliRunner().invoke(app, ["convert", "g.txt", "g.drm", "--undirected", "--keep-parallel", *budget])
    assert done.stderr == ""
    assert dr.read("g.drm").num_edges == 2
