"""The maximal independent set that a program finds by priorities, by greedy choices in the order of priorities.

The program decides many vertices at once, in a superstep over all arcs or those of the undecided. One thread that goes
through the vertices in order visits only the arcs of members, which have few. It takes less time by about a factor of
the average number of arcs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dromos.dtypes import read_only
from dromos.engines.cpu.memory import reused_empty
from dromos.graph import Graph
from dromos.parallel import num_threads, run_team

__all__ = ["independent_set"]

_BRIEF = 1 << 22  # the most arcs for a call that Ctrl-C need not stop, so that it may run on the caller's own thread
_LARGE = 1 << 17  # vertices: with fewer, starting supersteps takes longer than running them
_MANY = 1 << 23  # vertices: with so many, too many have draws that differ only in their lowest digit


def independent_set(graph: Graph, *, seed: int, threads: int | None = None) -> Mapping[str, Any]:
    """``member`` of each vertex of a symmetric graph without self-loops: 1, or 0 next to an earlier member.

    Those of the highest draws, ``dr.random(v, seed)`` to 30 binary digits, come first, ties by highest id. The result
    is empty if a program on so many ``threads`` is faster.

    >>> import dromos as dr
    >>> independent_set(dr.generators.path(3), seed=1)["member"].tolist()
    [True, False, True]
    """
    if graph.num_vertices >= _LARGE and num_threads(threads) * graph.num_vertices > graph.num_arcs:
        return {"steps": []}
    from dromos.engines.native import independent_set_kernels as kernels

    n, stop = graph.num_vertices, np.zeros(1, np.int64)
    digits = 1 + (n >= 1 << kernels.DIGIT_BITS) + (n >= _MANY)
    member = np.full(n, kernels.UNDECIDED, np.uint8)
    run_team(
        kernels.choose, read_only(graph.offsets), read_only(graph.targets), seed, digits,
        reused_empty(2 * n, np.int64), np.zeros(digits << kernels.DIGIT_BITS, np.int64), member, stop,
        threads=1, stop=None if graph.num_arcs < _BRIEF else stop,
    )  # fmt: skip
    return {"member": member.view(bool)}
