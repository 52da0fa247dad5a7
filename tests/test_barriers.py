"""Barriers between the threads of a team: no thread passes early, and published values are seen; also on few cores."""

from __future__ import annotations

import numpy as np
import pytest

from dromos.jit import LINE, barrier, kernel, publish, published, team_memory, total
from dromos.parallel import run_team

ROUNDS = 3000


@kernel
def march(thread, threads, memory, rounds, plain, wrong):  # type: ignore[no-untyped-def]
    """In each round, every thread writes to its own cell and publishes, then reads the cells of all others."""
    for number in range(1, rounds + 1):
        plain[thread * LINE] = number
        publish(memory, thread, number, 0, number + thread)
        publish(memory, thread, number, 1, 1)
        barrier(memory, thread, threads, number)
        for other in range(threads):
            seen = plain[other * LINE]  # a neighbor may be at most a round ahead
            if seen != number and seen != number + 1:
                wrong[thread * LINE] += 1
            if published(memory, other, number, 0) != number + other:
                wrong[thread * LINE] += 1
        if total(memory, threads, number, 1) != threads:
            wrong[thread * LINE] += 1


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_threads_march_in_step(threads: int) -> None:
    plain, wrong = (np.zeros(threads * LINE, dtype=np.int64) for _ in range(2))
    run_team(march, team_memory(threads), ROUNDS, plain, wrong, threads=threads)
    assert not wrong.any()
    assert plain[::LINE].tolist() == [ROUNDS] * threads
