"""Programs drawn at random on the engines that compile: every legal path against the reference engine."""

from __future__ import annotations

import os

import pytest

from dromos.engines.cpu import CpuEngine
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_ASKED = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))
_ON_CPU = max(4, _ASKED // 5)  # a program takes seconds to compile


@pytest.mark.parametrize("seed", range(_ON_CPU))
def test_on_the_cpu(seed: int) -> None:
    assert list(disagreements(random_program(seed), seed, CpuEngine(threads=1), CpuEngine(threads=3))) == []


@pytest.mark.gpu
@pytest.mark.skipif(not _ASKED, reason="DROMOS_TEST_EXAMPLES=200 in the environment asks for 200 programs")
@pytest.mark.parametrize("seed", range(max(1, _ASKED)))
def test_on_a_gpu(seed: int) -> None:
    from dromos.engines.cuda import CudaEngine

    assert list(disagreements(random_program(seed), seed, CudaEngine())) == []
