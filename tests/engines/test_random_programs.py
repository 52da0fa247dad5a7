"""Programs drawn at random on the engines that compile: every legal path against the reference engine."""

from __future__ import annotations

import os

import pytest

from dromos.engines.cpu import CpuEngine
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_EXAMPLES = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))
_PROGRAMS = int(os.environ.get("DROMOS_TEST_PROGRAMS", 0))
_ON_CPU = max(4, _EXAMPLES // 5, _PROGRAMS)  # a program takes seconds to compile
_ON_GPU = max(_EXAMPLES, _PROGRAMS)
_ON_ALL_PATHS = 40
"""Of so many programs the CPU runs every legal path; of the others two that are drawn, and the planner's own."""


@pytest.mark.parametrize("seed", range(_ON_CPU))
def test_on_the_cpu(seed: int) -> None:
    engines, paths = (CpuEngine(threads=1), CpuEngine(threads=3)), None if seed < _ON_ALL_PATHS else 2
    assert list(disagreements(random_program(seed), seed, *engines, paths=paths)) == []


@pytest.mark.gpu
@pytest.mark.skipif(not _ON_GPU, reason="DROMOS_TEST_PROGRAMS=500 in the environment asks for 500 programs")
@pytest.mark.parametrize("seed", range(max(1, _ON_GPU)))
def test_on_a_gpu(seed: int) -> None:
    from dromos.engines.cuda import CudaEngine

    assert list(disagreements(random_program(seed), seed, CudaEngine())) == []
