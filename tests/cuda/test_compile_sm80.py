"""Every kernel of every program and path compiles for compute capability 8.0, without a device."""

from __future__ import annotations

import pytest

from dromos.engines.cuda.engine import NATIVE
from tests.cuda.compiling import compile_native, compile_program, compile_relabelling
from tests.cuda.every_program import typed_programs

pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
pytestmark = pytest.mark.nvrtc


@pytest.mark.parametrize("number", range(len(typed_programs())))
def test_programs(number: int) -> None:
    assert compile_program(typed_programs()[number], "sm_80") >= 3


@pytest.mark.parametrize("name", NATIVE)
def test_native_kernels(name: str) -> None:
    assert compile_native(name, "sm_80")


def test_relabelling() -> None:
    assert compile_relabelling("sm_80")
