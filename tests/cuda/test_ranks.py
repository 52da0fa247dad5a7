"""Programs and algorithms on MPI ranks that share a GPU."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cluster.jobs import ROOT, run_job

pytestmark = pytest.mark.gpu


def test_programs_and_algorithms_on_gpu_ranks() -> None:
    """One test for all, so that kernels are compiled once, in parallel."""
    subprocess.run([sys.executable, "-m", "tests.cuda.ranks", "compile"], cwd=ROOT, check=True, timeout=600)
    for ranks in (2, 3):
        done = run_job("-m", "mpi4py", "-m", "tests.cuda.ranks", ranks=ranks)
        assert done.returncode == 0, done.stderr[-6000:]
        assert "runs agree" in done.stdout
    managed = {"DROMOS_TRANSPORT": "mpi", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    done = run_job("-m", "mpi4py", "-m", "tests.cuda.ranks", "transports", ranks=2, **managed)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "runs agree" in done.stdout
