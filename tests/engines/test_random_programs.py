"""Programs drawn at random on the engines that compile, against the reference engine.

``make random-programs`` and ``make random-programs-gpu`` run 500 of them; ``DROMOS_TEST_PATHS=all`` each on every path.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

import pytest

from dromos.engines.cpu import CpuEngine
from dromos.engines.cpu.initial import only_compiled
from tests.program.agreement import disagreements
from tests.program.random_programs import random_program

_EXAMPLES = int(os.environ.get("DROMOS_TEST_EXAMPLES", 0))
_PROGRAMS = os.environ.get("DROMOS_TEST_PROGRAMS", "")
"""A number of programs, or the seeds from one to another: "500", "200:300"."""
_ON_ALL_PATHS = 40
"""So many programs run on every legal path; the others on two that are drawn, and on the planner's own."""


def _seeds(otherwise: int) -> range:
    first, _, last = _PROGRAMS.rpartition(":")
    return range(int(first or 0), int(last)) if _PROGRAMS else range(otherwise)


def _paths(seed: int) -> int | None:
    return None if seed < _ON_ALL_PATHS or os.environ.get("DROMOS_TEST_PATHS") == "all" else 2


@pytest.mark.parametrize("seed", _seeds(max(4, _EXAMPLES // 5)))  # a program takes seconds to compile
def test_on_the_cpu(seed: int) -> None:
    engines = CpuEngine(threads=1), CpuEngine(threads=3)
    with only_compiled() if seed % 4 == 0 else nullcontext():  # otherwise NumPy initialises such small graphs
        assert list(disagreements(random_program(seed), seed, *engines, paths=_paths(seed))) == []


@pytest.mark.gpu
@pytest.mark.skipif(not (_EXAMPLES or _PROGRAMS), reason="DROMOS_TEST_PROGRAMS=500 in the environment asks for them")
@pytest.mark.parametrize("seed", _seeds(max(1, _EXAMPLES)))
def test_on_a_gpu(seed: int) -> None:
    from dromos.engines.cuda import CudaEngine

    assert list(disagreements(random_program(seed), seed, CudaEngine(), paths=_paths(seed))) == []
