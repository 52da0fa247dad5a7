"""A forest with a root for each tree: numbers in preorder, so that a subtree is a range of them.

Everything is done by NumPy on whole arrays, at most log V times, whatever the shape of the trees: a path of a million
vertices takes as long as a star. Each edge becomes two arcs, and the tour along all of them (Tarjan and Vishkin, "An
efficient parallel biconnectivity algorithm", 1985) is a list, in which places are found by walking from many of its
elements at once (Helman and JaJa, "Designing practical efficient algorithms for symmetric multiprocessors", 1999).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array

__all__ = ["RootedForest", "over_subtrees", "places_along", "rooted"]

_STRIDE: Final = 8  # elements of a list from one that is walked from to the next, on average
_BLOCK: Final = 1 << 18  # elements that are looked at together, where temporary arrays are larger than theirs


class RootedForest(NamedTuple):
    """Trees over vertices, which are numbered in preorder; a tree's root is one of its leaves, or its only vertex."""

    number: Array
    """Of each vertex."""
    vertex: Array
    """Of each number."""
    above: Array
    """By number: the number of the parent; -1 at a root."""
    last: Array
    """By number: the last one in the subtree, which begins with the number itself."""


def rooted(source: Array, target: Array, tree: Array) -> RootedForest:
    """The forest of edges between ``source`` and ``target``, in the order of both.

    ``tree`` names each vertex's tree by one of its own vertices.

    >>> forest = rooted(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([0, 0, 0, 0, 4]))
    >>> forest.vertex.tolist(), forest.above.tolist(), forest.last.tolist()
    ([3, 1, 0, 2, 4], [-1, 0, 1, 1, -1], [3, 3, 2, 3, 4])
    """
    n, ids = len(tree), tree.dtype
    degree = np.bincount(source, minlength=n).astype(ids) + np.bincount(target, minlength=n).astype(ids)
    leaves, alone = np.flatnonzero(degree == 1), np.flatnonzero(degree == 0)
    roots = np.full(n, -1, ids)
    roots[tree[leaves]] = leaves
    roots = roots[roots >= 0]
    number, above, last = np.empty(n, ids), np.full(n, -1, ids), np.empty(n, ids)
    number[alone] = last[n - len(alone) :] = np.arange(n - len(alone), n)
    del leaves, alone
    if len(source):
        there, back, heads = _places(source, target, degree, roots)
        begins = np.zeros(2 * len(source), np.uint8)
        begins[np.minimum(there, back)] = 1
        begins[heads] = 2  # a tree's first arc counts twice: for the root and for its child
        count = np.cumsum(begins, dtype=ids)
        number[roots] = count[heads] - 2
        child = np.where(there < back, target, source)
        number[child] = count[np.minimum(there, back)] - 1
        above[number[child]] = number[np.where(there < back, source, target)]
        last[number[child]] = number[child] + np.abs(there - back) // 2  # two arcs for each vertex below the child
        last[number[roots]] = number[roots] + np.bincount(tree, minlength=n)[tree[roots]] - 1
    vertex = np.empty(n, ids)
    vertex[number] = np.arange(n, dtype=ids)
    return RootedForest(number, vertex, above, last)


def _places(source: Array, target: Array, degree: Array, roots: Array) -> tuple[Array, Array, Array]:
    """Where both arcs of each edge stand on a tour that goes along every tree, and where the trees begin there.

    Arcs lie by the vertex that they leave. Behind an arc to a vertex comes the one that lies behind its reverse, behind
    the last one the first.
    """
    arcs = 2 * len(source)
    kind: Any = np.int32 if arcs < 1 << 31 else np.int64
    first = (np.cumsum(degree) - degree).astype(kind)
    there = np.arange(len(source), dtype=kind) + _below(target, source, degree, kind)
    by_target = np.argsort(target, kind="stable")
    back = np.empty(len(source), kind)
    back[by_target] = np.arange(len(source), dtype=kind)
    del by_target
    back += _below(source, target + 1, degree, kind)
    beside = np.arange(1, arcs + 1, dtype=kind)
    beside[(first + degree - 1)[degree > 0]] = first[degree > 0]
    following = np.empty(arcs, kind)
    following[there], following[back] = beside[back], beside[there]
    del beside
    heads = first[roots]  # the only arcs of the roots, which are leaves; a tour ends with their reverses
    del first
    tails = np.empty(arcs, kind)
    tails[there], tails[back] = back, there
    following[tails[heads]] = np.append(heads[1:], -1)
    del tails
    place = places_along(following, int(heads[0]))
    return place[there], place[back], place[heads]


def _below(ends: Array, bounds: Array, degree: Array, kind: Any) -> Array:
    """How many of ``ends`` are less than each of ``bounds``.

    >>> _below(np.array([0, 2, 2]), np.array([3, 2, 0]), np.empty(3), np.int32).tolist()
    [3, 1, 0]
    """
    counts: Array = np.zeros(len(degree) + 1, kind)
    np.cumsum(np.bincount(ends, minlength=len(degree)), out=counts[1:])
    return counts[bounds]


def places_along(following: Array, first: int) -> Array:
    """Where each element stands in a list of all of them: which one follows each, -1 behind the last.

    >>> places_along(np.array([2, -1, 1], np.int32), 0).tolist()
    [0, 2, 1]
    """
    size, kind = len(following), following.dtype
    is_start = _drawn(size)
    is_start[first] = True
    starts = np.flatnonzero(is_start).astype(kind)
    pieces = len(starts)
    which = np.full(size + 1, pieces, kind)  # by element the number of the piece that it is in; behind all: none
    which[starts] = np.arange(pieces, dtype=kind)
    length, after = np.zeros(pieces + 1, kind), np.full(pieces + 1, pieces, kind)
    place = np.zeros(size, kind)  # at first within the piece
    walkers, at, steps = np.arange(pieces, dtype=kind), following[starts], 1
    del starts
    while len(walkers):
        done = is_start[at] | (at < 0)
        length[walkers[done]], after[walkers[done]] = steps, which[at[done]]
        walkers, at = walkers[~done], at[~done]
        which[at], place[at] = walkers, steps
        at, steps = following[at], steps + 1
    left = length  # from each piece's beginning to the end of the list
    while (after < pieces).any():
        left, after = left + left[after], after[after]
    for begin in range(0, size, _BLOCK):
        place[begin : begin + _BLOCK] += size - left[which[:size][begin : begin + _BLOCK]]
    return place


def _drawn(size: int) -> Array:
    """Marks at random, one of :data:`_STRIDE`; the same ones each time."""
    draw, is_drawn = np.random.default_rng(0), np.empty(size, dtype=bool)
    for begin in range(0, size, _BLOCK):
        block = is_drawn[begin : begin + _BLOCK]
        block[:] = draw.integers(0, _STRIDE, len(block), np.uint8) == 0
    return is_drawn


def over_subtrees(values: Array, last: Array, merge: np.ufunc) -> Array:
    """What ``merge`` (the least or the greatest) makes of the values of each subtree; all arrays are by number.

    >>> over_subtrees(np.array([5, 3, 4, 1]), np.array([3, 2, 2, 3]), np.minimum).tolist()
    [1, 3, 4, 1]
    """
    size = last - np.arange(len(last), dtype=last.dtype) + 1
    digits = np.frexp(size.astype(np.float64))[1].astype(np.uint8)  # binary ones: a range is two powers of two at most
    order = np.argsort(digits, kind="stable").astype(last.dtype)
    bounds = np.searchsorted(digits[order], np.arange(1, int(digits.max(initial=0)) + 2))
    found, merged = np.empty_like(values), values  # of as many values from each on as the power says
    for power, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if power:
            half = 1 << power - 1
            merged = merge(merged[:-half], merged[half:])
        here = order[begin:end]
        found[here] = merge(merged[here], merged[last[here] + 1 - (1 << power)])
    return found
