"""The arguments of program kernels as records on the host: the structures of ``kernels/frame.cuh``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda import context_members, edge_members, field_members, merged_members
from dromos.codegen.cuda.structures import record_type
from dromos.dtypes import Array
from dromos.engines.cuda.records import record_of
from dromos.plan import Levels
from dromos.program import TypedProgram

__all__ = [
    "ARRIVALS",
    "BITMAPS",
    "HEAD_BYTES",
    "LAUNCH_BYTES",
    "ROW_LISTS",
    "arguments_type",
    "control_type",
    "graph_type",
    "levels_of",
    "merged_type",
    "piece_type",
    "reduced_type",
    "row_type",
]

_SLOT, _WORK, _STEP = (record_of("frame", name) for name in ("Slot", "Work", "Step"))
BITMAPS: Final = ("member0", "member1", "got", "visited", "far", "locks")
"""The bitmaps of a run, one bit per vertex each."""
graph_type: Final = record_of("frame", "Graph")
row_type: Final = record_of("frame", "Row")
piece_type: Final = record_of("slices", "Piece")
LAUNCH_BYTES: Final = 8 + _SLOT.itemsize
"""The part of the control record that belongs to one launch of ``kernels/slices.cuh``."""
HEAD_BYTES: Final = 8 + 3 * _SLOT.itemsize
"""The part of the control record that is cleared before every launch."""

ARRIVALS: Final = (0, 8)
"""Where in the control record the counter of the barriers lies, and its bytes."""
ROW_LISTS: Final = (8 + int(_SLOT.fields["big"][1]), 8)  # type: ignore[index]
"""The same of the lengths of the two lists of long rows, in the first slot."""


def reduced_type(typed: TypedProgram) -> np.dtype[Any]:
    """The values of a program's reductions."""
    found = [(f"r_{r.name}", typed.reduction_type(r.name)) for r in typed.ir.reductions]
    return np.dtype(found or [("nothing", np.dtype(np.int32))], align=True)


def merged_type(typed: TypedProgram) -> np.dtype[Any]:
    """The addresses of accumulators."""
    return record_type(merged_members(typed))


@lru_cache(maxsize=256)
def control_type(typed: TypedProgram) -> np.dtype[Any]:
    """The record that a launch leaves for the host to read."""
    return record_of("frame", "Control", {"Slot": _SLOT, "Reduced": reduced_type(typed)})


@lru_cache(maxsize=256)
def arguments_type(typed: TypedProgram) -> np.dtype[Any]:
    """All arguments of a kernel, passed by value."""
    inner = {
        "Graph": graph_type, "Fields": record_type(field_members(typed)),
        "EdgeFields": record_type(edge_members(typed)), "Context": record_type(context_members(typed)),
        "Merged": merged_type(typed), "Work": _WORK, "Step": _STEP,
    }  # fmt: skip
    return record_of("frame", "Arguments", inner)


def levels_of(rows: Array, switched: bool) -> Levels | None:
    """The supersteps of one step, from the rows of ``row_type`` that the device left; None if there is at most one.

    ``switched``: the device chose the direction of each.
    """
    if len(rows) < 2:
        return None
    # if the frontier's degrees were not needed, they were not summed; a push sends along all of them
    arcs = np.where(rows["out"] == 0, rows["messages"], rows["out"]).astype(np.int64)
    pulled = rows["pulled"].astype(bool) if switched else None
    return Levels(rows["frontier"].astype(np.int64), arcs, rows["nanoseconds"] / 1e9, pulled)
