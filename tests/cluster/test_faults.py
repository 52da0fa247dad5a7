"""A rank that dies at the worst moments: the job ends, names the rank, leaves no result, and goes on to the same bytes.

The long form is ``make stress-ranks``.
"""

from __future__ import annotations

from pathlib import Path

from tests.cluster.faults import Faults
from tests.cluster.faulty import DATA_SET


def test_faults_and_a_restart(tmp_path: Path) -> None:
    jobs = Faults(tmp_path, 2)
    assert jobs.fault("memory", 1, 2) is not None
    assert jobs.fault("kill while saving", 0, 3) is not None
    assert jobs.fault(DATA_SET, 1, 1) is not None
    jobs.restarted()
