"""Programs drawn at random on the engines that compile: every legal path against the reference engine."""

from __future__ import annotations

import os

import pytest

from dromos.engines.cpu import CpuEngine
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_EXAMPLES = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))
_PROGRAMS = os.environ.get("DROMOS_TEST_PROGRAMS", "")
"""A number of programs, or the seeds from one to another: "500", "200:300"."""
_ON_ALL_PATHS = 40
"""Of so many programs the CPU runs every legal path; of the others two that are drawn, and the planner's own."""


def _seeds(otherwise: int) -> range:
    first, _, last = _PROGRAMS.rpartition(":")
    return range(int(first or 0), int(last)) if _PROGRAMS else range(otherwise)


@pytest.mark.parametrize("seed", _seeds(max(4, _EXAMPLES // 5)))  # a program takes seconds to compile
def test_on_the_cpu(seed: int) -> None:
    engines, paths = (CpuEngine(threads=1), CpuEngine(threads=3)), None if seed < _ON_ALL_PATHS else 2
    assert list(disagreements(random_program(seed), seed, *engines, paths=paths)) == []


@pytest.mark.gpu
@pytest.mark.skipif(not (_EXAMPLES or _PROGRAMS), reason="DROMOS_TEST_PROGRAMS=500 in the environment asks for them")
@pytest.mark.parametrize("seed", _seeds(max(1, _EXAMPLES)))
def test_on_a_gpu(seed: int) -> None:
    from dromos.engines.cuda import CudaEngine

    assert list(disagreements(random_program(seed), seed, CudaEngine())) == []
