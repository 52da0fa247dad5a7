"""Copies through buffers by compiled threads, with functions in place of the driver's: no device is needed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from dromos.engines.cuda import staging_kernels as kernels
from dromos.parallel import run_team

SLOTS, CHUNK = 2, 64
_Words = {count: ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_int64] * count) for count in (1, 2, 4)}


class Driver:
    """Does at once what the driver does later; ``fails_at``: from this copy on it refuses all."""

    def __init__(self, fails_at: int = -1) -> None:
        self.calls: list[str] = []
        self._fails_at = fails_at
        self.functions = {
            kernels.SET_CONTEXT: _Words[1](self._note("context")),
            kernels.COPY: _Words[4](self._copy),
            kernels.RECORD: _Words[2](self._note("record")),
            kernels.WAIT: _Words[1](self._note("wait")),
        }

    def _note(self, name: str) -> Any:
        def called(*arguments: int) -> int:
            self.calls.append(name)
            return 0

        return called

    def _copy(self, target: int, source: int, length: int, stream: int) -> int:
        self.calls.append("copy")
        if 0 <= self._fails_at < self.calls.count("copy"):
            return 700
        ctypes.memmove(target, source, length)
        return 0


def sent(values: np.ndarray[Any, Any], threads: int, driver: Driver) -> tuple[Any, Any, Any]:
    target, staged = np.zeros_like(values), np.zeros(threads * SLOTS * CHUNK, np.uint8)
    plan = np.zeros(kernels.PLAN_WORDS, np.int64)
    for place, function in driver.functions.items():
        plan[place] = ctypes.cast(function, ctypes.c_void_p).value or 0
    plan[kernels.SOURCE], plan[kernels.TARGET] = values.ctypes.data, target.ctypes.data
    plan[kernels.STAGED], plan[kernels.SIZE] = staged.ctypes.data, values.nbytes
    plan[kernels.CHUNK], plan[kernels.SLOTS] = CHUNK, SLOTS
    lanes, progress = np.zeros(threads * kernels.lane_words(SLOTS), np.int64), np.zeros(2, np.int64)
    arrived = np.zeros(-(-values.nbytes // CHUNK), np.int64)
    run_team(kernels.send_chunks, plan, lanes, progress, arrived, threads=threads)
    return target, arrived, progress


@pytest.mark.parametrize("size", [1, CHUNK, 5 * CHUNK + 3, 40 * CHUNK])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_chunks_arrive(size: int, threads: int) -> None:
    values = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    driver = Driver()
    target, arrived, progress = sent(values, threads, driver)
    assert (target == values).all()
    assert arrived.all()
    assert progress[1] == 0
    assert driver.calls.count("copy") == driver.calls.count("record") == driver.calls.count("wait") == len(arrived)
    assert driver.calls.count("context") == threads


def test_a_copy_that_fails_ends_the_others() -> None:
    values = np.ones(50 * CHUNK, np.uint8)
    driver = Driver(fails_at=4)
    target, arrived, progress = sent(values, 2, driver)
    assert progress[1] == 700
    assert not arrived.all()
    assert not target.all()
    assert driver.calls.count("copy") < len(arrived)
