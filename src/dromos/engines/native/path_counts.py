"""Sums of path counts and of dependencies, even if the counts exceed the range of a float.

Across a lattice of a thousand steps a side there are more shortest paths than a 64-bit float can represent. From the
level on at which counts become large they are kept as a float times a power of ``UNIT``, which is 2^512: the float is
in [2^-256, 2^256), the power in a separate array. Each number has only one such pair, so that of two counts the larger
has the larger power or the same; a term that is two powers smaller is beyond the last digit of a sum.

A dependency per path is (1 + dependency) / paths: its power is the negative of its vertex's, and needs no array.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

from dromos.intrinsics import load
from dromos.jit import inline

PER_UNIT = 2.0**-512
TOP = 2.0**256
LARGE = 2.0**200  # a level after, counts are still below TOP: no vertex has 2^56 neighbors


@inline
def row_sum(table, targets, begin, end):
    """The sum of ``table`` over a row, as four partial sums, since each waits for its last addition."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    at = begin
    while at + 4 <= end:
        a += load(table, load(targets, at))
        b += load(table, load(targets, at + 1))
        c += load(table, load(targets, at + 2))
        d += load(table, load(targets, at + 3))
        at += 4
    while at < end:
        a += load(table, load(targets, at))
        at += 1
    return (a + b) + (c + d)


@inline
def far_paths(table, exponent, targets, begin, end):
    """The sum of path counts with powers, as ``(float, power)``."""
    paths = 0.0
    power = load(exponent, load(targets, begin))
    for at in range(begin, end):
        w = load(targets, at)
        value = load(table, w)
        if value != 0.0:
            other = load(exponent, w)
            if other == power:
                paths += value
            elif other > power:
                paths = value + (paths * PER_UNIT if other == power + 1 else 0.0)
                power = other
            elif other + 1 == power:
                paths += value * PER_UNIT
    if paths >= TOP:
        paths *= PER_UNIT
        power += 1
    return paths, power


@inline
def far_dependencies(table, exponent, targets, begin, end, power):
    """The sum of dependencies per path, in units of the vertex with ``power``."""
    same, next_up = 0.0, 0.0
    for at in range(begin, end):
        w = load(targets, at)
        value = load(table, w)
        if value != 0.0:
            other = load(exponent, w)
            if other == power:
                same += value
            elif other == power + 1:
                next_up += value
    return same + next_up * PER_UNIT
