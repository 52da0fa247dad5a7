"""A run on the CPU as named arrays, for checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dromos.dtypes import Array
from dromos.engines.saving import Saved, pack, put_back, reductions_of
from dromos.plan import Stats

if TYPE_CHECKING:
    from dromos.engines.cpu.execution import CpuExecution

__all__ = ["restore", "save"]


def save(run: CpuExecution) -> dict[str, Array]:
    """See :class:`dromos.engines.saving.ResumableExecution`."""
    front, claims = run.frontier, run.claims
    return pack(
        run.state, run.edge_state, run.reductions.values(),
        frontier=None if front.always else front.queue[: front.size],
        untouched=None if claims is None else np.asarray(claims.untouched),
    )  # fmt: skip


def restore(run: CpuExecution, saved: Saved, stats: Stats) -> None:
    """See :class:`dromos.engines.saving.ResumableExecution`."""
    put_back(saved, run.state, run.edge_state)
    if not run.frontier.always:
        run.frontier.restore(saved["frontier"])
    if run.claims is not None:
        run.claims.restore(float(saved["untouched"]))
    run.resume_at(stats, reductions_of(saved))
