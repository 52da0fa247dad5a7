"""Ranks of one machine that share memory."""

from __future__ import annotations

from tests.cluster.jobs import run_job


def test_ranks_of_one_machine_share_memory() -> None:
    done = run_job("-m", "tests.cluster.sharing", ranks=3)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "shared" in done.stdout
