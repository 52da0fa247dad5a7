"""Every kernel of every program and path compiles for compute capability 9.0, without a device."""

from __future__ import annotations

import pytest

from dromos.engines.cuda.engine import NATIVE
from tests.cuda.compiling import compile_in_ranges, compile_native, compile_program, compile_relabelling, compile_wide
from tests.cuda.every_program import typed_programs

pytest.importorskip("cupy_backends.cuda.libs.nvrtc", reason="CuPy's compiler is not installed")
pytestmark = pytest.mark.nvrtc


@pytest.mark.parametrize("number", range(len(typed_programs())))
def test_programs(number: int) -> None:
    assert compile_program(typed_programs()[number], "sm_90") >= 3


@pytest.mark.parametrize("name", ["BFS", "SSSP"])
def test_ids_of_eight_bytes(name: str) -> None:
    """What a block gathers in shared memory is twice as large then."""
    typed = next(typed for typed in typed_programs() if typed.ir.name == name)
    assert compile_wide(typed, "sm_90") >= 3


def test_messages_range_by_range_of_rows() -> None:
    typed = next(typed for typed in typed_programs() if typed.ir.name == "SSSP")
    assert compile_in_ranges(typed, "sm_90") == 3


@pytest.mark.parametrize("name", NATIVE)
def test_native_kernels(name: str) -> None:
    assert compile_native(name, "sm_90")


def test_relabelling() -> None:
    assert compile_relabelling("sm_90")
