"""Joint traversal as a program: what a fixed path and the reference engine run, and what the kernels are held against.

A vertex has a bit for each source that has reached it, ``seen``, and for each that did so in the last level, ``fresh``.
Fresh bits go along the edges and are merged by OR. The program starts from any state, so a level is one superstep from
the state before it.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

import dromos.program as dr
from dromos.dtypes import Array
from dromos.engines.native.joint_groups import Found, width_for
from dromos.graph import Graph
from dromos.runner import Session

__all__ = ["joint_program", "search_by_program"]


@cache
def joint_program(width: int) -> type[dr.Program]:
    """The program for groups of ``64 * width`` sources."""

    class JointSearch(dr.Program):
        seen_before = dr.vertex_param(np.uint64, size=width)
        front = dr.vertex_param(np.uint64, size=width)
        seen = dr.field(np.uint64, size=width)
        fresh = dr.field(np.uint64, size=width)
        combine = dr.OR
        kind = "traversal"

        def init(self, v: Any) -> Any:
            return {"seen": v.seen_before, "fresh": v.front}

        def start(self, v: Any) -> Any:
            return (v.front != 0).any()

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.fresh

        def update(self, v: Any, message: Any) -> Any:
            new = [bits & ~known for bits, known in zip(message, v.seen, strict=True)]
            seen = [known | bits for bits, known in zip(message, v.seen, strict=True)]
            return {"seen": seen, "fresh": new}

        def active(self, old: Any, new: Any) -> Any:
            return (new.fresh != 0).any()

    return JointSearch


def search_by_program(
    session: Session, graph: Graph, number: int, sources: Array, limit: int | None, distance: Any
) -> Found:
    """What the group ``sources`` finds, level by level."""
    begin = time.perf_counter()
    n, count = graph.num_vertices, len(sources)
    width = width_for(count)
    program = joint_program(width)
    places = np.arange(count)
    seen = np.zeros((n, width), np.uint64)
    np.bitwise_or.at(seen, (sources, places // 64), np.left_shift(np.uint64(1), (places % 64).astype(np.uint64)))
    front, joint, level = seen, len(np.unique(sources)), 0
    rows = np.full((count, n), -1, np.int32 if distance is None else distance)
    rows[places, sources] = 0
    while front.any() and (limit is None or level < limit):
        fields = session.run(program(seen_before=seen, front=front), graph, max_iter=1).fields
        level += 1
        front = fields["seen"] & ~seen
        seen = fields["seen"]
        joint += int(np.count_nonzero(front.any(axis=1)))
        found = np.unpackbits(front.view(np.uint8), axis=1, bitorder="little")[:, :count].astype(bool)
        rows[found.T] = level
    reached = rows > 0
    inverse = np.divide(1.0, rows, out=np.zeros(rows.shape), where=reached)
    return Found(
        number, sources, reached.sum(axis=1), np.where(reached, rows, 0).sum(axis=1, dtype=np.int64),
        inverse.sum(axis=1), rows.max(axis=1, initial=0).astype(np.int64), None if distance is None else rows, seen,
        int(rows.max(initial=0)), 0, joint, time.perf_counter() - begin,
    )  # fmt: skip
