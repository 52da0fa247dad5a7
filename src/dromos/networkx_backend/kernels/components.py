"""Strongly connected components in NetworkX's order."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.dtypes import Array
from dromos.jit import kernel

__all__ = ["strong_components"]


def strong_components(offsets: Array, targets: Array, members: Array, ends: Array) -> int:
    """Write nodes by component to ``members``, and the end of each component to ``ends``; return how many there are."""
    n = len(members)
    preorder, lowlink, done = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.bool_)
    stack, pending = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    return int(
        _strong_components(offsets, targets, members, ends, preorder, lowlink, done, offsets[:n].copy(), stack, pending)
    )


@kernel
def _strong_components(offsets, targets, members, ends, preorder, lowlink, done, next_arc, stack, pending):
    """Tarjan's algorithm in Nuutila's form: depth-first, a component is complete when its first node is left.

    ``preorder``, ``lowlink`` and ``done`` must hold 0, ``next_arc`` the start of each row.
    """
    waiting = count = components = filled = 0
    for start in range(members.size):
        if done[start]:
            continue
        stack[0] = start
        depth = 1
        while depth > 0:
            node = stack[depth - 1]
            if preorder[node] == 0:
                count += 1
                preorder[node] = count
            arc = next_arc[node]
            end = offsets[node + 1]
            while arc < end and preorder[targets[arc]] != 0:
                arc += 1
            if arc < end:
                next_arc[node] = arc + 1
                stack[depth] = targets[arc]
                depth += 1
                continue
            next_arc[node] = end
            low = preorder[node]
            for arc in range(offsets[node], end):
                other = targets[arc]
                if not done[other]:
                    low = min(low, lowlink[other] if preorder[other] > preorder[node] else preorder[other])
            lowlink[node] = low
            depth -= 1
            if low == preorder[node]:
                members[filled] = node
                filled += 1
                done[node] = True
                while waiting > 0 and preorder[pending[waiting - 1]] > preorder[node]:
                    waiting -= 1
                    members[filled] = pending[waiting]
                    done[pending[waiting]] = True
                    filled += 1
                ends[components] = filled
                components += 1
            else:
                pending[waiting] = node
                waiting += 1
    return components
