"""Programs and algorithms on MPI ranks that share a GPU."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cluster.jobs import ROOT, run_job

pytestmark = pytest.mark.gpu
_LIMIT = 300


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Compiled in parallel before the ranks ask for them."""
    subprocess.run([sys.executable, "-m", "tests.cuda.ranks", "compile"], cwd=ROOT, check=True, timeout=_LIMIT)


def _check(*words: str, ranks: int, **environment: str) -> None:
    done = run_job("-m", "mpi4py", "-m", "tests.cuda.ranks", *words, ranks=ranks, timeout=_LIMIT, **environment)
    assert done.returncode == 0, done.stderr[-6000:]
    assert "runs agree" in done.stdout


def test_programs_and_algorithms_on_gpu_ranks() -> None:
    _check(ranks=2)


@pytest.mark.skipif(not os.environ.get("DROMOS_TEST_EXAMPLES"), reason="takes minutes where others use the GPU")
def test_everything_on_gpu_ranks() -> None:
    for ranks in (2, 3, 4):
        _check("all", ranks=ranks)
    managed = {"DROMOS_TRANSPORT": "mpi", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    _check("transports", ranks=2, **managed)
