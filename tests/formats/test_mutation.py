"""Every binary format, damaged thousands of times: see :mod:`tests.formats.mutation` for what may come out."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from .mutation import CASES, Case, mutants

ROOT = Path(__file__).parents[2]
COUNT, MEASURED_COUNT = 800, 200
CONSTANT, FACTOR = 2**22, 64  # what a read may allocate: some megabytes for buffers, and a multiple of the file
LIMITED_COUNT, LIMITED_MEGABYTES = 300, 256

_pools: list[pa.MemoryPool] = []  # Arrow keeps plain pointers to pools, so they must outlive their buffers


@pytest.fixture
def arrow_pool() -> pa.MemoryPool:
    """A pool that counts what Arrow allocates, which tracemalloc does not see."""
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    _pools.append(pool)
    pa.set_memory_pool(pool)
    yield pool
    pa.set_memory_pool(before)


def _most_allocated(case: Case, folder: Path, mutant: bytes) -> int:
    tracemalloc.start()
    try:
        case.judge(folder, mutant)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", CASES)
def test_an_error_or_the_right_graph(folder: Path, name: str, arrow_pool: pa.MemoryPool) -> None:
    case = CASES[name]
    data = case.intact(folder)
    assert case.judge(folder, data) == "same"
    outcomes = [case.judge(folder, mutant) for mutant in mutants(data, COUNT, seed=7)]
    most = max(_most_allocated(case, folder, mutant) for mutant in mutants(data, MEASURED_COUNT, seed=8))
    assert outcomes.count("error") > COUNT // 2
    assert max(most, arrow_pool.max_memory()) < CONSTANT + FACTOR * len(data)


def test_with_little_memory(folder: Path) -> None:
    """The same in a process of its own, which a crash would end and in which an absurd allocation fails."""
    arguments = [str(folder), str(LIMITED_COUNT), "11", str(LIMITED_MEGABYTES)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.formats.mutation", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [f"{name} {LIMITED_COUNT}" for name in CASES]
