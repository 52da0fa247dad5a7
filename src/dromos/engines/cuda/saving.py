"""A run on a GPU as named arrays, for checkpoints: the device's data between two launches, as it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dromos.dtypes import Array
from dromos.engines.cuda.transfers import to_host
from dromos.engines.saving import Saved
from dromos.errors import InvalidArgumentError
from dromos.plan import Stats

if TYPE_CHECKING:
    from dromos.engines.cuda.execution import CudaExecution

__all__ = ["restore", "save"]

_MERGED, _SENT, _IDS = "merged.", "sent.", "ids"


def save(run: CudaExecution) -> dict[str, Array]:
    """See :class:`dromos.engines.saving.ResumableExecution`."""
    saved = {name: to_host(array) for name, array in _arrays(run, run.memory.made()).items()}
    if run.on_device.ids is not None:
        saved[_IDS] = to_host(run.on_device.ids)
    return saved


def restore(run: CudaExecution, saved: Saved, stats: Stats) -> None:
    """See :class:`dromos.engines.saving.ResumableExecution`."""
    import cupy

    if run.on_device.ids is not None and not np.array_equal(to_host(run.on_device.ids), saved[_IDS]):
        raise InvalidArgumentError(
            "vertices are numbered otherwise on this GPU than where the run was saved; remove the folder to begin anew"
        )
    made = [kind for kind in (_MERGED, _SENT) if any(name.startswith(kind) for name in saved)]
    for name, array in _arrays(run, made).items():
        array[...] = cupy.asarray(saved[name])
    run.resume_at(stats)


def _arrays(run: CudaExecution, made: list[str]) -> dict[str, Any]:
    """Arrays on the device by their names in a checkpoint; accumulators and copies of what was sent if in ``made``."""
    memory, buffers = run.memory, run.buffers
    merged = memory.merged if _MERGED in made else ()
    sent = memory.sent if _SENT in made else {}
    return {
        **{f"field.{name}": array for name, array in memory.fields.items()},
        **{f"edge.{name}": array for name, array in memory.edge_fields.items()},
        **{f"{_MERGED}{number}": array for number, array in enumerate(merged)},
        **{f"{_SENT}{name}": array for name, array in sent.items() if array is not memory.fields[name]},
        "queues": buffers.queues[:2],
        "bits": buffers.bits,
        "control": buffers.report[: buffers.control_type.itemsize],
    }
