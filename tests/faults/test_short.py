"""A short form of ``make faults``: a few of every kind, without compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.running import NAMES, inject
from tests.stream.stores import no_thread_stays


@pytest.mark.parametrize("kind", NAMES)
def test_a_fault_is_a_typed_error_that_tells_the_place_or_the_right_answer(kind: str, tmp_path: Path) -> None:
    with no_thread_stays():
        for seed in range(6):
            outcome = inject(seed, kind, tmp_path)
            assert outcome.fine, outcome


@pytest.mark.parametrize("kind", ["cut file", "input error", "lying disk", "too small a budget"])
def test_faults_are_reached(kind: str, tmp_path: Path) -> None:
    assert any(inject(seed, kind, tmp_path).result.endswith("Error") for seed in range(8))
