"""Results on disk: a row at a time, resumable, never half-written."""

from __future__ import annotations

import json

import pytest

from benchmarks import record, stream_growth
from benchmarks.__main__ import main

KEY = ("graph", "peer")


def rows_of(folder):
    return [(row["graph"], row["peer"], row["seconds"]) for row in record.load("speed", folder)["rows"]]


def test_every_row_is_on_disk_at_once(tmp_path):
    ledger = record.Ledger("speed", key=KEY, folder=tmp_path)
    ledger.add({"graph": "a", "peer": "x", "seconds": 1.0})
    assert rows_of(tmp_path) == [("a", "x", 1.0)]
    assert record.load("speed", tmp_path)["complete"] is False
    assert "not run to its end" in (tmp_path / "speed.md").read_text()
    ledger.add({"graph": "b", "peer": "x", "seconds": 2.0})
    ledger.save(complete=True)
    kept = record.load("speed", tmp_path)
    assert kept["complete"] is True
    assert kept["machine"]["cores"] >= 1
    assert rows_of(tmp_path) == [("a", "x", 1.0), ("b", "x", 2.0)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["speed.json", "speed.md"]
    assert "| b | x | 2 |" in (tmp_path / "speed.md").read_text()


def test_a_run_that_dies_while_writing_leaves_the_earlier_rows(tmp_path, monkeypatch):
    ledger = record.Ledger("speed", key=KEY, folder=tmp_path)
    ledger.add({"graph": "a", "peer": "x", "seconds": 1.0})

    def full_disk(*_: object, **__: object) -> str:
        raise OSError("no space left")

    monkeypatch.setattr(record.json, "dumps", full_disk)
    with pytest.raises(OSError, match="no space"):
        ledger.add({"graph": "b", "peer": "x", "seconds": 2.0})
    assert rows_of(tmp_path) == [("a", "x", 1.0)]


def test_a_run_that_goes_on_keeps_what_is_there_and_tells_the_runs_apart(tmp_path):
    first = record.Ledger("speed", key=KEY, folder=tmp_path)
    first.add({"graph": "a", "peer": "x", "seconds": 1.0})
    first.add({"graph": "a", "peer": "y", "seconds": 2.0})
    second = record.Ledger("speed", key=KEY, folder=tmp_path, keep=lambda row: True, order=lambda row: row["peer"])
    assert second.done == {("a", "x"), ("a", "y")}
    second.add({"graph": "a", "peer": "x", "seconds": 3.0})  # in place of the first
    second.save(complete=True)
    assert rows_of(tmp_path) == [("a", "x", 3.0), ("a", "y", 2.0)]
    kept = record.load("speed", tmp_path)
    assert [row["run"] for row in kept["rows"]] == [1, 0]
    assert len(kept["runs"]) == 2
    assert "Run 1:" in (tmp_path / "speed.md").read_text()
    assert record.Ledger("speed", key=KEY, folder=tmp_path).rows == []


def test_results_of_an_older_form_are_taken_over(tmp_path):
    about = {"date": "then", "commit": "0000000", "command": "python -m benchmarks speed"}
    old = {**about, "rows": [{"graph": "a", "peer": "x", "seconds": 1.0}]}
    (tmp_path / "speed.json").write_text(json.dumps(old))
    ledger = record.Ledger("speed", key=KEY, folder=tmp_path, keep=lambda row: True)
    ledger.add({"graph": "b", "peer": "x", "seconds": 2.0})
    kept = record.load("speed", tmp_path)
    assert kept["runs"][0] == about
    assert [row["run"] for row in kept["rows"]] == [0, 1]


def test_a_chart_is_drawn_from_the_results(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.algorithms import chart

    rows = [
        {"graph": graph, "row": row, "peer": peer, "ratio": ratio}
        for graph, row, peer, ratio in (("kron9", "bfs", "SciPy", 0.5), ("kron9", "bfs", "GAP", 1.5))
    ]
    chart([*rows, {"graph": "kron9", "row": "sssp", "peer": "GAP", "note": "stopped"}], tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_benchmark_is_named(capsys):
    with pytest.raises(SystemExit):
        main(["algoritms"])
    assert "no benchmark algoritms; there are" in capsys.readouterr().err


def test_the_command_keeps_and_shows_results(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    assert main(["programs", "--scale", "6", "--graphs", "grid", "--rows", "bfs"]) == 0
    (row,) = record.load("programs", tmp_path)["rows"]
    assert (row["graph"], row["program"]) == ("grid16", "bfs")
    assert row["ratio"] == pytest.approx(row["user_s"] / row["built_in_s"])
    assert main(["programs", "--scale", "6", "--graphs", "grid", "--rows", "bfs", "--resume"]) == 0
    assert record.load("programs", tmp_path)["rows"] == [row]  # not measured again
    assert main(["programs", "--chart"]) == 0
    assert "grid16" in capsys.readouterr().out


@pytest.mark.parametrize("file", sorted(record.RESULTS.rglob("*.json")), ids=lambda file: file.stem)
def test_a_ratio_is_ours_over_the_peers(file):
    for row in json.loads(file.read_text())["rows"]:
        if row.keys() >= {"ratio", "ours_s", "peer_s"}:
            assert row["ratio"] == pytest.approx(row["ours_s"] / row["peer_s"])


def test_growth_is_summed_up_by_scale(tmp_path):
    """A second table under the rows: nanoseconds per arc within one budget, and how far they are apart."""
    ledger = record.Ledger("growth", folder=tmp_path, summary=stream_growth.summary)
    for scale, nanoseconds, first in ((20, 2.0, None), (26, 3.0, None), (20, 1.0, 4.0), (26, 2.0, 5.0)):
        row = {"graph": f"kron{scale}", "order": "input", "memory": "2G", "ns_per_arc": nanoseconds}
        row["algorithm"] = "bfs" if first is None else "pagerank, an iteration"
        ledger.add(row if first is None else {**row, "first_ns_per_arc": first})
    ledger.add({"graph": "kron26", "order": "input", "memory": "1G", "ns_per_arc": 9.0, "algorithm": "bfs"})
    ledger.save(complete=True)
    assert [row["largest / least"] for row in ledger.summary] == [1.5, 1.25, 2.0]
    assert [row["largest / smallest graph's"] for row in ledger.summary] == [1.5, 1.25, 2.0]
    faster = [
        {"graph": f"kron{s}", "order": "input", "memory": "2G", "ns_per_arc": t, "algorithm": "bfs"}
        for s, t in ((20, 3.0), (22, 1.0), (24, 2.0))
    ]
    assert stream_growth.summary(faster)[0]["largest / smallest graph's"] == 1
    assert stream_growth.summary(faster)[0]["largest / least"] == 3
    last = (tmp_path / "growth.md").read_text().splitlines()[-1]
    assert last == "| input | pagerank, an iteration | 1 | 2 | 2 | 2 |"
