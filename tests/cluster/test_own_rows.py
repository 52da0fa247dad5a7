"""Results that stay with their ranks: ``gather=False``, data sets, and the command line's files."""

from __future__ import annotations

from pathlib import Path

import pyarrow.dataset as ds

import dromos as dr
from tests.cluster.jobs import run_job


def test_results_stay_with_their_ranks(tmp_path: Path) -> None:
    done = run_job("-m", "mpi4py", "-m", "tests.cluster.own_rows", str(tmp_path), ranks=3)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "9 results agree" in done.stdout


def test_the_command_line_writes_what_ranks_have(tmp_path: Path) -> None:
    """Parents of shortest paths are found afterwards: that takes all ranks, each with its own part of the store."""
    graph = dr.generators.with_random_weights(dr.generators.grid(6, 5), 1, 9)
    dr.write(graph, tmp_path / "g.drm")
    expected = dr.sssp(graph, 0, device="numpy").distance.tolist()
    out = tmp_path / "distances"
    command = ("sssp", str(tmp_path / "g.drm"), "--source", "0", "--device", "mpi:numpy", "-o", str(out))
    done = run_job("-m", "dromos", *command, ranks=2)
    assert done.returncode == 0, done.stderr[-3000:]
    table = ds.dataset(out).to_table()
    assert table.column_names == ["vertex", "distance", "parent"]
    assert table["distance"].to_pylist() == expected
