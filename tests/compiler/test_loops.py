"""Loops of kernels: what they compute, and what LLVM is told of them and of memory."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dromos.compiler.compile import argument_shapes, kernel_text
from dromos.compiler.machine import parsed
from dromos.parallel import run_team
from tests.compiler import kernels

VALUES = np.array([5, -1, 2, 7])


@pytest.fixture
def text() -> str:
    shapes = argument_shapes((VALUES, np.zeros(3, np.int64)))
    return kernel_text(kernels.loops.function, shapes, for_team=True).text


def test_continue_and_break() -> None:
    out = np.zeros(3, np.int64)
    run_team(kernels.loops, VALUES, out, threads=1)
    assert out.tolist() == [14, 0 + 1 + 3, 4]


def test_each_loop_has_one_way_back_which_forbids_unrolling_at_run_time(text: str) -> None:
    described = re.findall(r"br label %\w+, !llvm\.loop (!\d+)", text)
    assert len(set(described)) == len(described) == 3
    assert all(f"{name} = distinct !{{{name}, !0}}" in text for name in described)
    assert '!0 = !{!"llvm.loop.unroll.runtime.disable"}' in text


def test_elements_are_read_and_written_at_their_own_alignment(text: str) -> None:
    aligned = re.findall(r"(?:load i64|store i64 \S+), ptr %r\d+, align (\d+)", str(parsed(text)))
    assert set(aligned) == {"8"}
