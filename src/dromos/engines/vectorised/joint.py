"""Breadth-first searches from many sources at once on whole arrays: one bit per source, levels by OR."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Tell
from dromos.engines.joint_groups import Found, step_of, width_for
from dromos.engines.vectorised.arcs import places_of
from dromos.graph import Graph

__all__ = ["joint"]

_BLOCK: Final = 1 << 14  # vertices whose bits are unpacked at once
_FEW: Final = 4  # a frontier with fewer than one in so many of all arcs is pushed


def joint(
    graph: Graph,
    *,
    groups: Sequence[Array],
    consume: Callable[[Found], Any],
    limit: int | None = None,
    distance: Any = None,
    want_seen: bool = False,
    memory: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
    tell: Tell | None = None,
) -> Mapping[str, Any]:
    """Search from each group of sources (ids), and pass what it found to ``consume``, in order.

    ``tell`` may end the run during the first group or right after it, before anything is consumed, and not later. The
    memory is that of the compiled kernel, plus the bits of a quarter of the arcs if a level is pushed.

    >>> import dromos as dr
    >>> told = joint(dr.generators.path(4), groups=[np.array([0, 1])], consume=lambda found: print(found.distance_sum))
    [6 4]
    >>> [what for _, _, what, _ in told["steps"]]
    ['group 0: 2 sources, sharing degree 1, 3 of 3 levels pulled']
    """
    back, steps = graph.transpose, []
    width = width_for(max((len(group) for group in groups), default=1))
    for number, sources in enumerate(groups):
        begin = time.perf_counter()
        search = _Search(graph, back, sources, width, distance)
        while search.advance(limit):
            if tell is not None and number == 0:
                tell(0.0)
        if tell is not None and number == 0:
            tell(1 / len(groups))
        found = Found(
            number, sources, search.reached, search.distance_sum, search.inverse_sum, search.depth, search.rows,
            search.seen if want_seen else None, search.level, search.pulled, search.joint, time.perf_counter() - begin,
        )  # fmt: skip
        consume(found)
        steps.append(step_of(found))
        if progress is not None:
            progress(number + 1, len(groups))
    return {"steps": steps}


class _Search:
    """The searches of one group between two levels."""

    def __init__(self, graph: Graph, back: Graph, sources: Array, width: int, distance: Any) -> None:
        self._graph, self._back = graph, back
        count, n = len(sources), graph.num_vertices
        places = np.arange(count)
        self.seen = np.zeros((n, width), np.uint64)
        bits = np.left_shift(np.uint64(1), (places % 64).astype(np.uint64))
        np.bitwise_or.at(self.seen, (sources, places // 64), bits)
        self._fresh, self._frontier = self.seen.copy(), np.unique(sources)
        self._count, self.joint = count, len(self._frontier)
        self.level = self.pulled = 0
        self.reached, self.distance_sum, self.depth = (np.zeros(count, np.int64) for _ in range(3))
        self.inverse_sum = np.zeros(count)
        self.rows: Array | None = None
        if distance is not None:
            self.rows = np.full((count, n), -1, distance)
            self.rows[places, sources] = 0
        # nonempty rows of the transpose: reducing an empty one would give the first value of the next row
        self._open = np.flatnonzero(np.diff(back.offsets))

    def advance(self, limit: int | None) -> bool:
        """Search one level; return whether it found anything."""
        if not len(self._frontier) or (limit is not None and self.level >= limit):
            return False
        graph, back = self._graph, self._back
        few = _FEW * int(graph.out_degree[self._frontier].sum()) < graph.num_arcs
        if few:
            ends = graph.targets[places_of(graph.offsets, self._frontier)]
            bits = np.repeat(self._fresh[self._frontier], graph.out_degree[self._frontier], axis=0)
            order = np.argsort(ends, kind="stable")
            ends = ends[order]
            begins = np.flatnonzero(np.concatenate([[True], ends[1:] != ends[:-1]])) if len(ends) else ends
            reached, merged = ends[begins], np.bitwise_or.reduceat(bits[order], begins, axis=0) if len(ends) else bits
        else:
            reached = self._open
            merged = np.bitwise_or.reduceat(self._fresh[back.targets], back.offsets[reached], axis=0)
        merged &= ~self.seen[reached]
        new = merged.any(axis=1)
        self._fresh[self._frontier] = 0
        self._frontier = reached[new].astype(np.int64)
        if not len(self._frontier):
            return False
        self.level += 1
        self.pulled += not few
        bits = self._fresh[self._frontier] = merged[new]
        self.seen[self._frontier] |= bits
        self._count_bits(bits)
        return True

    def _count_bits(self, fresh: Array) -> None:
        self.joint += len(fresh)
        for begin in range(0, len(fresh), _BLOCK):
            words = np.ascontiguousarray(fresh[begin : begin + _BLOCK]).view(np.uint8)
            found = np.unpackbits(words, axis=1, bitorder="little")[:, : self._count]
            counts = found.sum(axis=0, dtype=np.int64)
            self.reached += counts
            self.distance_sum += self.level * counts
            self.inverse_sum += counts / self.level
            self.depth[counts > 0] = self.level
            if self.rows is not None:
                which, source = np.nonzero(found)
                self.rows[source, self._frontier[begin + which]] = self.level
