"""The maximal independent set that a program finds by priorities, by greedy choices in their order.

The program decides many vertices at once, in a superstep over all arcs or those of the undecided. One thread that goes
through the vertices in order looks at the arcs of members only, which have few: in about as much less time as a vertex
has arcs.
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

_BRIEF = 1 << 22  # the most arcs for a call that Ctrl-C need not stop, so that the caller's own thread may do it
_LARGE = 1 << 17  # vertices: of fewer, starting supersteps takes longer than what they do
_MANY = 1 << 23  # vertices: of so many, too many have draws that differ in their lowest digit only


def independent_set(graph: Graph, *, seed: int, threads: int | None = None) -> Mapping[str, Any]:
    """``member`` of each vertex of a symmetric graph without self-loops: 1, or 0 next to one that came before.

    Those of the highest draws, ``dr.random(v, seed)`` to 30 binary digits, come first, of equal ones the highest id.
    Nothing is answered where a program on so many ``threads`` is done sooner.

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
