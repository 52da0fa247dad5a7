"""Programs drawn at random on the engines that compile: every legal path against the reference engine."""

from __future__ import annotations

import os

import pytest

from dromos.engines.cpu import CpuEngine
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_PROGRAMS = int(os.environ.get("DROMOS_TEST_EXAMPLES", 4))  # each takes seconds to compile
_ON_DEVICE = int(os.environ.get("DROMOS_TEST_EXAMPLES", 24))


@pytest.mark.parametrize("seed", range(_PROGRAMS))
def test_on_the_cpu(seed: int) -> None:
    assert list(disagreements(random_program(seed), seed, CpuEngine(threads=1), CpuEngine(threads=3))) == []


@pytest.mark.gpu
@pytest.mark.parametrize("seed", range(_ON_DEVICE))
def test_on_a_gpu(seed: int) -> None:
    from dromos.engines.cuda import CudaEngine

    assert list(disagreements(random_program(seed), seed, CudaEngine())) == []
