"""The arguments of the kernels of programs, as records on the host: the same members as in ``kernels/frame.cuh``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda import context_members, edge_members, field_members, merged_members
from dromos.codegen.cuda.structures import record_type
from dromos.program import TypedProgram

__all__ = [
    "HEAD_BYTES",
    "LAUNCH_BYTES",
    "arguments_type",
    "control_type",
    "merged_type",
    "piece_type",
    "reduced_type",
    "row_type",
]

_P, _I, _U, _D, _L = np.dtype(np.uint64), np.dtype(np.int64), np.dtype(np.uint32), np.dtype(np.float64), np.uint64

_GRAPH: Final = np.dtype(
    [
        *((name, _P) for name in ("offsets", "targets", "weights", "in_offsets", "sources", "in_weights")),
        ("n", _I),
        ("max_degree", _I),
        ("classes", _I, (8,)),
    ],
    align=True,
)
_SLOT: Final = np.dtype(
    [
        *((name, _U) for name in ("size", "touched", "big", "huge", "misfits", "stop")),
        *((name, _L) for name in ("out", "in", "messages")),
    ],
    align=True,
)
_WORK: Final = np.dtype(
    [
        ("queue", _P, (2,)),
        ("member", _P, (2,)),
        *((name, _P) for name in ("touched", "hubs", "got", "visited", "far", "locks")),
        *((name, _P) for name in ("control", "partial", "censuses", "rows")),
        ("max_rows", _I),
    ],
    align=True,
)
_STEP: Final = np.dtype(
    [
        ("horizon", _I),
        ("nanoseconds", _I),
        *((name, np.int32) for name in ("policy", "selective")),
        *((name, _D) for name in ("alpha", "beta", "delta", "widest")),
    ],
    align=True,
)
row_type: Final = np.dtype(
    [(name, _L) for name in ("frontier", "out", "in", "messages", "nanoseconds", "pulled")], align=True
)
piece_type: Final = np.dtype(
    [
        *((name, _I) for name in ("first", "last", "start", "stop", "size")),
        *((name, _P) for name in ("received", "changed")),
    ],
    align=True,
)
LAUNCH_BYTES: Final = 8 + _SLOT.itemsize
"""The part of the control record that belongs to one launch of ``kernels/slices.cuh``."""
HEAD_BYTES: Final = 8 + 3 * _SLOT.itemsize
"""The part of the control record that is cleared before every launch."""


def reduced_type(typed: TypedProgram) -> np.dtype[Any]:
    """The values of a program's reductions."""
    found = [(f"r_{r.name}", typed.reduction_type(r.name)) for r in typed.ir.reductions]
    return np.dtype(found or [("nothing", np.dtype(np.int32))], align=True)


def merged_type(typed: TypedProgram) -> np.dtype[Any]:
    """Where accumulators lie."""
    return record_type(merged_members(typed))


@lru_cache(maxsize=256)
def control_type(typed: TypedProgram) -> np.dtype[Any]:
    """What a launch leaves for the host to read."""
    return np.dtype(
        [
            *((name, _U) for name in ("arrivals", "unused")),
            ("slots", _SLOT, (3,)),
            *((name, _U) for name in ("supersteps", "size", "flipped", "misfits", "finished", "pulled", "open")),
            *((name, _L) for name in ("out", "in")),
            ("untouched", _D),
            ("reduced", reduced_type(typed)),
        ],
        align=True,
    )


@lru_cache(maxsize=256)
def arguments_type(typed: TypedProgram) -> np.dtype[Any]:
    """All that a kernel is given, by value."""
    fields = record_type(field_members(typed))
    return np.dtype(
        [
            ("G", _GRAPH),
            *((name, fields) for name in ("S", "O", "P")),
            ("E", record_type(edge_members(typed))),
            ("K", record_type(context_members(typed))),
            ("A", merged_type(typed)),
            ("W", _WORK),
            ("step", _STEP),
        ],
        align=True,
    )
