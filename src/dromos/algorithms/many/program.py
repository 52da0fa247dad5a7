"""Joint traversal as a program: what a fixed path, slices, parts and the reference engine run.

A vertex has a bit for each source that has reached it, ``seen``, and for each that did so in the last level, ``fresh``.
Fresh bits go along the edges and are merged by OR. A group is one run; between two supersteps the new bits are counted,
so that memory grows with the vertices times the sources of a group in bits, and distances take room only where they
are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import dromos.program as dr
from dromos.dtypes import Array
from dromos.engines import Execution
from dromos.engines.joint_groups import Found, width_for
from dromos.graph import Graph
from dromos.plan import Stats
from dromos.runner import Session, on_host

__all__ = ["bytes_beside_program", "joint_program", "search_by_program"]

_BLOCK = 1 << 14  # vertices whose bits are told apart at once
_COUNTED = ("reached", "distance_sum", "inverse_sum", "depth")


@cache
def joint_program(width: int) -> type[dr.Program]:
    """The program for groups of ``64 * width`` sources."""

    class JointSearch(dr.Program):
        sources = dr.vertex_param(np.uint64, size=width)
        seen = dr.field(np.uint64, size=width)
        fresh = dr.field(np.uint64, size=width)
        combine = dr.OR
        kind = "traversal"

        def init(self, v: Any) -> Any:
            return {"seen": v.sources, "fresh": v.sources}

        def start(self, v: Any) -> Any:
            return (v.sources != 0).any()

        def compute(self, u: Any, edge: Any, v: Any) -> Any:
            return u.fresh

        def update(self, v: Any, message: Any) -> Any:
            new = [bits & ~known for bits, known in zip(message, v.seen, strict=True)]
            seen = [known | bits for bits, known in zip(message, v.seen, strict=True)]
            return {"seen": seen, "fresh": new}

        def active(self, old: Any, new: Any) -> Any:
            return (new.seen != old.seen).any()

    return JointSearch


class _Levels:
    """What a group has found so far, level by level."""

    def __init__(self, bits: Array, sources: Array, distance: Any) -> None:
        self.sources, self.seen, self.joint = sources, bits.copy(), len(np.unique(sources))
        self.reached, self.distance_sum = np.zeros(len(sources), np.int64), np.zeros(len(sources), np.int64)
        self.inverse_sum, self.depth = np.zeros(len(sources)), np.zeros(len(sources), np.int64)
        self.rows: Array | None = None
        if distance is not None:
            self.rows = np.full((len(sources), len(bits)), -1, distance)
            self.rows[np.arange(len(sources)), sources] = 0

    def save(self) -> dict[str, Array]:
        """See :class:`dromos.runner.loop.ResumableWatch`; the bits seen are those of the run itself."""
        counted = {name: getattr(self, name) for name in _COUNTED}
        rows = {} if self.rows is None else {"rows": self.rows}
        return {**counted, **rows, "joint": np.asarray(self.joint)}

    def restore(self, saved: Mapping[str, Array], state: Mapping[str, Array]) -> None:
        """See :class:`dromos.runner.loop.ResumableWatch`."""
        for name in _COUNTED:
            setattr(self, name, saved[name])
        if self.rows is not None:
            self.rows = saved["rows"]
        self.joint, self.seen = int(saved["joint"]), np.array(on_host(state["seen"]))

    def __call__(self, execution: Execution, stats: Stats) -> None:
        """Count the bits that are new since the superstep before."""
        level, seen = stats.superstep, on_host(execution.state["seen"])
        fresh = np.flatnonzero((seen != self.seen).any(axis=1))
        self.joint += len(fresh)
        for begin in range(0, len(fresh), _BLOCK):
            vertices = fresh[begin : begin + _BLOCK]
            bits = seen[vertices] & ~self.seen[vertices]
            found = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, : len(self.sources)]
            counts = found.sum(axis=0, dtype=np.int64)
            self.reached += counts
            self.distance_sum += level * counts
            self.inverse_sum += counts / level
            self.depth[counts > 0] = level
            if self.rows is not None:
                which, source = np.nonzero(found)
                self.rows[source, vertices[which]] = level
            self.seen[vertices] = seen[vertices]


def bytes_beside_program(sources: int, distance: Any) -> int:
    """What a group of so many sources takes for each vertex beside its program: the bits that it was given and those
    seen, who is new, and a distance from each source where that is asked for.

    >>> bytes_beside_program(64, None), bytes_beside_program(3, np.int16)
    (26, 32)
    """
    width = width_for(sources)
    return 2 * 8 * width + width + 9 + (0 if distance is None else sources * np.dtype(distance).itemsize)


def search_by_program(
    session: Session, graph: Graph, number: int, sources: Array, limit: int | None, distance: Any
) -> Found:
    """What the group ``sources`` finds, in one run."""
    begin = time.perf_counter()
    width = width_for(len(sources))
    places = np.arange(len(sources))
    bits = np.zeros((graph.num_vertices, width), np.uint64)
    np.bitwise_or.at(bits, (sources, places // 64), np.left_shift(np.uint64(1), (places % 64).astype(np.uint64)))
    levels = _Levels(bits, sources, distance)
    session.run(joint_program(width)(sources=bits), graph, max_iter=limit, watch=levels, every=1)
    return Found(
        number, sources, levels.reached, levels.distance_sum, levels.inverse_sum, levels.depth, levels.rows,
        levels.seen, int(levels.depth.max(initial=0)), 0, levels.joint, time.perf_counter() - begin,
    )  # fmt: skip
