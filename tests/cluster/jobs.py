"""MPI jobs for tests: a script on several ranks of this machine, and what it said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def mpirun() -> str:
    """The launcher; a test is skipped where there is none."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed", exc_type=ImportError)
    found = shutil.which("mpirun", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if found is None:
        pytest.skip("there is no mpirun on this machine")
    return found


def run_job(*command: str, ranks: int, timeout: float = 600, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``python command…`` on ``ranks`` ranks; a job that hangs is killed with all its processes."""
    call = [mpirun(), "-n", str(ranks), "--oversubscribe"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        call.insert(1, "--allow-run-as-root")
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    settings = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "DROMOS_NUM_THREADS": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # a rank that waits sleeps: it would take as much time as those that it waits for, and other tests run beside it
        "OMPI_MCA_threads_pthreads_yield_strategy": "nanosleep",
        "OMPI_MCA_threads_pthreads_nanosleep_time": "20000",
        "OMPI_MCA_btl": "^ofi",  # a rank would look for fabrics to other machines, for a second
        **environment,
    }
    job = subprocess.Popen(
        [*call, sys.executable, *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=settings, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = job.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(job.pid, 9)
        _, err = job.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            pytest.fail(f"the job did not end in {timeout} s: {err[-6000:]}")
        raise
    return subprocess.CompletedProcess(job.args, job.returncode, out, err)
