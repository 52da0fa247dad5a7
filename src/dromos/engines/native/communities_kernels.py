"""Local moving, refinement and aggregation, the three steps of Louvain and Leiden, on one thread.

The order of the moves decides the answer, so that one thread makes them, and the same seed gives the same communities
on any machine. For large levels there are :mod:`dromos.engines.native.communities_batch_kernels` and
:mod:`dromos.engines.native.communities_team_kernels`.

What a vertex compares are the weights of its edges to the communities around it, less what chance would give: the
product of both sums of weights times ``scale``, the resolution over twice the weight of all edges.

A level's graph has no self-loops: what lies inside a vertex of it is only part of its ``strength``. ``weights`` of size
0 stand for ones. What a step adds up for a group lies beside what else it reads of the group, so that both come with
one line of memory; the sums are 0 before and after each step.

Rows are visited in random order, and groups around a vertex lie anywhere: what is needed is asked for ahead, which
spares a third of the time where it does not fit the cache. The inner loops use ``load`` and ``store``, which do not
ask whether an index is negative, and save a sixth.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.engines.native.community_levels import BLOCK, HUB, LEAST_GAIN
from dromos.engines.native.community_numbers import SPREAD
from dromos.intrinsics import atomic_add, load, load_relaxed, prefetch, store
from dromos.jit import inline, kernel

_AHEAD = 16  # arcs between the request for a neighbour's group and its use, and between that for a group and its use
_ROWS_AHEAD = 4  # vertices between the request for a row and its use, and between that for its place and its use
_USUAL = 8  # more long rows of late that lead into their own community than others
_LONG = 16  # arcs
_IN_CACHE = 1 << 16  # vertices whose groups need not be asked for
_PATIENCE = 1023  # vertices between two looks at the stop flag
_SPREAD = np.uint64(SPREAD)
_WAITING = 1  # in the queue
_TOUCHED = 2  # a hub whose neighbours have moved, but too few for another community to gain more
_HUB = 4  # and one of the others, or none


@inline
def _ask_for_row(later, latest, offsets, targets):
    """Ask for where the row of ``latest`` begins, and for the row of ``later``, of which that was asked before."""
    prefetch(offsets, latest)
    prefetch(targets, np.int64(load(offsets, later)))


@inline
def _add(table, place, c, weight, seen, found):
    """Add a weight to the sum of group ``c``; how many were ``seen`` now."""
    so_far = load(table, place)
    store(seen, found, c)  # written over by the next one if it was seen before: no branch to guess
    store(table, place, so_far + weight)
    return found + np.int64(so_far == 0)


@inline
def _shuffle(order, n, seed):
    """Write the numbers below ``n`` in an order drawn from a seed; see ``community_numbers.shuffled``."""
    for i in range(n):
        store(order, i, i)
    for i in range(n - 1, 0, -1):
        count = np.uint64(i + 1)
        random = seed + count * _SPREAD
        random = (random ^ (random >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        random = (random ^ (random >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        random ^= random >> np.uint64(31)
        j = np.int64(((random >> np.uint64(32)) * count) >> np.uint64(32))
        moved = load(order, i)
        store(order, i, load(order, j))
        store(order, j, moved)


@inline
def _number(group, stride, first, numbers, groups, found):
    """Number the groups at every ``stride``-th entry from ``first`` on by their first vertex; how many there are.

    Into ``found``, which may be the same array. What they were called before is below ``groups``.
    """
    for c in range(groups):
        store(numbers, c, -1)
    count = np.int64(0)
    for v in range(found.size):
        c = np.int64(load(group, stride * v + first))
        given = np.int64(load(numbers, c))
        if given < 0:
            given = count
            store(numbers, c, given)
            count += 1
        store(found, v, given)
    return count


@inline
def _sum_up(begin, end, v, old, targets, weights, community, table, seen, inner):
    """Add up the weights of a vertex's edges by community; the number of communities ``seen``.

    ``inner``: most are expected to lead into its own community, whose sum is then not kept in memory, where each
    addition would wait for the one before. Elsewhere the branch for it would often be guessed wrong.
    """
    found = np.int64(0)
    if weights.size:  # several loops: a test for each arc is a tenth of the time
        for arc in range(begin, end):
            u, weight = load(targets, arc), np.float64(load(weights, arc))
            if u != v and weight > 0:
                c = load(community, u)
                found = _add(table, 2 * np.int64(c), c, weight, seen, found)
    elif inner:
        own = np.int64(0)
        for arc in range(begin, end):
            u = load(targets, arc)
            c = load(community, u)
            if c == old:
                own += np.int64(u != v)
            else:
                found = _add(table, 2 * np.int64(c), c, 1.0, seen, found)
        store(table, 2 * old, np.float64(own))
    else:
        for arc in range(begin, end):
            u = load(targets, arc)
            if u != v:
                c = load(community, u)
                found = _add(table, 2 * np.int64(c), c, 1.0, seen, found)
    return found


@inline
def _choose(v, old, k, scale, table, size, free, seen, found):
    """The community that gains most for a vertex, and its lead over the next best; the sums are 0 again."""
    least, share = LEAST_GAIN * k, scale * k
    alone = load(size, old) == 1
    best, gain = old, load(table, 2 * old) - share * (load(table, 2 * old + 1) - k)
    store(table, 2 * old, 0.0)
    second, enough = -np.inf if alone else 0.0, gain + least  # it may also be alone
    for i in range(found):
        c = np.int64(load(seen, i))
        gained = load(table, 2 * c) - share * load(table, 2 * c + 1)
        store(table, 2 * c, 0.0)
        if c != old:
            if gained > enough:
                second = max(second, gain)
                best, gain, enough = c, gained, gained + least
            else:
                second = max(second, gained)
    if gain < -least and not alone:
        last = free.size - 1
        free[last] -= 1
        best = np.int64(free[free[last]])
        gain, second = 0.0, gain
    return best, gain - second


@inline
def _leave(v, old, best, k, community, table, size, free):
    """Make a move."""
    store(community, v, best)
    store(table, 2 * best + 1, load(table, 2 * best + 1) + k)
    store(size, best, load(size, best) + 1)
    left = load(size, old) - 1
    store(size, old, left)
    if left > 0:
        store(table, 2 * old + 1, load(table, 2 * old + 1) - k)
    else:
        store(table, 2 * old + 1, 0.0)  # without what rounding would leave
        last = free.size - 1
        free[free[last]] = old
        free[last] += 1


@inline
def _call_neighbours(begin, end, old, best, n, last, length, targets, weights, community, queue, state, room):
    """Put neighbours of a vertex that moved into the queue, from ``last`` on; how long it is then.

    Whether a neighbour waits already is as good as random, so that there is no branch for it: an entry is written, and
    counts or not. There is room for it, as the vertex itself does not wait.
    """
    for arc in range(begin, end):
        u = np.int64(load(targets, arc))
        was, there = np.int64(load(state, u)), np.int64(load(community, u))
        if was >= _HUB:
            if was != _HUB + _WAITING and there != best:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                left = load(room, u) - (weight + weight if there == old else weight)
                store(room, u, left)
                if left >= 0:
                    store(state, u, _HUB + _TOUCHED)
                    continue
                store(state, u, _HUB + _WAITING)
                store(queue, last, u)
                length += 1
                last = last + 1 if last + 1 < n else np.int64(0)
        else:
            joins = np.int64(there != best) & (was ^ _WAITING)
            store(queue, last, u)
            store(state, u, was | joins)
            length += joins
            last += joins
            last = last if last < n else np.int64(0)
    return length


@inline
def move_all(
    offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
):  # fmt: skip
    """Move vertices to the community around them that gains most, until no move gains; number the communities then.

    How many there are. All arrays but the graph and ``community`` are overwritten. ``queue`` gets the first visits, in
    an order drawn from ``seed``; ``table`` for each community a sum of weights and its total strength; ``size`` its
    members; ``free`` the numbers of communities without members, their count in its last entry.

    A hub always has neighbours that move, and each visit is long, so it is looked at again only when they may matter:
    ``room`` is what its community gains over the next best. A neighbour that moves takes its weight of it, twice where
    it was in the same community, and until it is used up no other community gains more. As totals change too, all hubs
    that were touched are looked at in the end.
    """
    n = strength.size
    for v in range(n):
        store(table, 2 * v, 0.0)
        store(table, 2 * v + 1, 0.0)
        store(size, v, 0)
        store(state, v, _HUB + _WAITING if load(offsets, v + 1) - load(offsets, v) >= HUB else _WAITING)
    for v in range(n):
        c = np.int64(load(community, v))
        store(table, 2 * c + 1, load(table, 2 * c + 1) + load(strength, v))
        store(size, c, load(size, c) + 1)
    unused = np.int64(0)
    for c in range(n):
        store(free, unused, c)
        unused += np.int64(load(size, c) == 0)
    store(free, n, unused)
    _shuffle(queue, n, seed)
    first, length, steps, inner = np.int64(0), np.int64(n), np.int64(0), np.int64(0)
    while True:
        if length == 0:
            for v in range(n):
                if load(state, v) == _HUB + _TOUCHED:
                    store(state, v, _HUB + _WAITING)
                    store(queue, length, v)
                    length += 1
            if length == 0:
                break
            first = np.int64(0)
        steps += 1
        if steps & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        v = np.int64(load(queue, first))
        latest = np.int64(load(queue, min(first + 2 * _ROWS_AHEAD, n - 1)))
        later = np.int64(load(queue, min(first + _ROWS_AHEAD, n - 1)))
        _ask_for_row(later, latest, offsets, targets)
        prefetch(strength, latest)
        prefetch(community, latest)
        prefetch(table, 2 * np.int64(load(community, later)))
        first = first + 1 if first + 1 < n else np.int64(0)
        length -= 1
        kind = np.int64(load(state, v)) & _HUB
        store(state, v, kind)
        old, k = np.int64(load(community, v)), load(strength, v)
        begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
        found = _sum_up(begin, end, v, old, targets, weights, community, table, seen, inner >= _USUAL)
        if end - begin >= _LONG:
            is_inner = 4 * load(table, 2 * old) >= 3.0 * np.float64(end - begin)
            inner = min(inner + 1, 2 * _USUAL) if is_inner else max(inner - 1, 0)
        best, lead = _choose(v, old, k, scale, table, size, free, seen, found)
        if kind != 0:
            store(room, v, lead)
        if best != old:
            _leave(v, old, best, k, community, table, size, free)
            last = first + length if first + length < n else first + length - n
            length = _call_neighbours(
                begin, end, old, best, n, last, length, targets, weights, community, queue, state, room
            )
    return _number(community, 1, 0, seen, n, community)


@kernel
def move(
    offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
):  # fmt: skip
    """See :func:`move_all`."""
    return move_all(
        offsets, targets, weights, strength, scale, seed, community, queue, table, size, state, room, free, seen, stop
    )


@inline
def start_part(v, offsets, targets, weights, strength, community, label, table, ahead):
    """Make a vertex a part of its own; see :func:`refine_all`. ``ahead``: ask for communities ahead of their use."""
    inside, end, here = 0.0, np.int64(load(offsets, v + 1)), load(community, v)
    if weights.size:
        for arc in range(load(offsets, v), end):
            if ahead:
                prefetch(community, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            u = load(targets, arc)
            inside += np.float64(load(weights, arc)) if u != v and load(community, u) == here else 0.0
    else:
        count = np.int64(0)
        for arc in range(load(offsets, v), end):
            if ahead:
                prefetch(community, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            u = load(targets, arc)
            count += np.int64(u != v) & np.int64(load(community, u) == here)
        inside = np.float64(count)
    store(label, 2 * v, here)
    store(label, 2 * v + 1, v)
    store(table, 4 * v, 0.0)
    store(table, 4 * v + 1, load(strength, v))
    store(table, 4 * v + 2, inside)
    store(table, 4 * v + 3, 1.0)


@inline
def join_part(
    order, i, last, offsets, targets, weights, strength, scale, total, label, table, seen, front, ahead, shared
):  # fmt: skip
    """Let the vertex at place ``i`` of the order, which ends with ``last``, join the best part; see :func:`refine_all`.

    ``seen`` is used from ``front`` on; ``ahead``: ask for labels ahead of their use; ``shared``: other threads write to
    other communities.
    """
    latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, last)))
    prefetch(table, 4 * latest)
    prefetch(label, 2 * latest)
    _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, last))), latest, offsets, targets)
    v = np.int64(load(order, i))
    here, k = load(label, 2 * v), load(strength, v)
    around, inside = load(total, here), load(table, 4 * v + 2)
    if load(table, 4 * v + 3) != 1.0 or inside <= 0 or inside < scale * k * (around - k):
        return
    begin, end = np.int64(load(offsets, v)), np.int64(load(offsets, v + 1))
    found = front
    if weights.size == 0 and not shared and 4 * inside >= 3.0 * np.float64(end - begin):
        for arc in range(begin, end):  # the few outside are counted too, and left out below
            if ahead:
                prefetch(label, 2 * np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            r = load(label, 2 * np.int64(load(targets, arc)) + 1)
            found = _add(table, 4 * np.int64(r), r, 1.0, seen, found)
    else:
        for arc in range(begin, end):
            if ahead:
                prefetch(label, 2 * np.int64(load(targets, min(arc + _AHEAD, end - 1))))
            u = np.int64(load(targets, arc))
            if load(label, 2 * u) == here and u != v:
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                if weight > 0:
                    r = load(label, 2 * u + 1)
                    found = _add(table, 4 * np.int64(r), r, weight, seen, found)
    best, gain, joined = v, LEAST_GAIN * k, 0.0
    for j in range(front, found):
        part = np.int64(load(seen, j))
        common, other = load(table, 4 * part), load(table, 4 * part + 1)
        gained = common - scale * k * other
        is_better = gained > gain and part != v and load(label, 2 * part) == here
        if is_better and load(table, 4 * part + 2) >= scale * other * (around - other):
            best, gain, joined = part, gained, common
        store(table, 4 * part, 0.0)
    if best != v:
        store(label, 2 * v + 1, best)
        store(table, 4 * best + 1, load(table, 4 * best + 1) + k)
        store(table, 4 * best + 2, load(table, 4 * best + 2) + (inside - 2 * joined))
        store(table, 4 * best + 3, load(table, 4 * best + 3) + 1.0)
        store(table, 4 * v + 3, 0.0)


@inline
def refine_all(
    offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
):  # fmt: skip
    """Merge vertices within their communities, from single ones on, into well-connected parts; how many.

    A vertex that is still alone joins the part that gains most, of those whose edges to the rest of the community are
    at least what chance would give. ``part`` gets the numbers of the parts. What else is not given is overwritten:
    ``label`` gets for each vertex its community and its part; ``table``, for each part, a sum of weights, the sum of
    strengths, the weight of its edges to the rest, and the number of its members.
    """
    n = strength.size
    for v in range(n):
        store(total, v, 0.0)
    for v in range(n):
        c = np.int64(load(community, v))
        store(total, c, load(total, c) + load(strength, v))
    _shuffle(order, n, seed)
    ahead = n > _IN_CACHE
    for v in range(n):
        if v & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        start_part(v, offsets, targets, weights, strength, community, label, table, ahead)
    for i in range(n):
        if i & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return np.int64(0)
        join_part(
            order, i, n - 1, offsets, targets, weights, strength, scale, total, label, table, seen, np.int64(0), ahead,
            False,
        )  # fmt: skip
    return _number(label, 2, 1, seen, n, part)


@kernel
def refine(
    offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
):  # fmt: skip
    """See :func:`refine_all`."""
    return refine_all(
        offsets, targets, weights, strength, scale, seed, community, order, total, label, table, seen, part, stop
    )


@inline
def add_row(
    c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, counts, base, seen,
    front, ahead,
):  # fmt: skip
    """Write the row of group ``c`` from ``at`` on; where it ends. ``sums`` are used from ``base`` on, ``seen`` from
    ``front`` on. ``counts`` are the same memory as whole numbers, which are added faster where each arc counts one.

    ``ahead``: ask for groups ahead of their use.
    """
    found, n = front, order.size
    for i in range(load(starts, c), load(starts, c + 1)):
        latest = np.int64(load(order, min(i + 2 * _ROWS_AHEAD, n - 1)))
        _ask_for_row(np.int64(load(order, min(i + _ROWS_AHEAD, n - 1))), latest, offsets, targets)
        v = np.int64(load(order, i))
        end = np.int64(load(offsets, v + 1))
        for arc in range(load(offsets, v), end):
            if ahead:
                prefetch(group, np.int64(load(targets, min(arc + 2 * _AHEAD, end - 1))))
                prefetch(sums, base + np.int64(load(group, load(targets, min(arc + _AHEAD, end - 1)))))
            d = load(group, load(targets, arc))
            if weights.size == 0:  # its own too: whether a neighbour is in it is hard to guess
                found = _add(counts, base + np.int64(d), d, 1, seen, found)
            elif d != c and load(weights, arc) > 0:
                found = _add(sums, base + np.int64(d), d, np.float64(load(weights, arc)), seen, found)
    for i in range(front, found):
        d = load(seen, i)
        place = base + np.int64(d)
        if d != c:
            store(new_targets, at, d)
            store(new_weights, at, load(sums, place) if weights.size else np.float64(load(counts, place)))
            at += 1
        store(sums, place, 0.0)
    return at


@inline
def _members(group, groups, starts, order):
    """Write where each group begins into ``starts``, and the vertices by group into ``order``."""
    for c in range(groups + 1):
        store(starts, c, 0)
    for v in range(group.size):
        c = np.int64(load(group, v))
        store(starts, c, load(starts, c) + 1)
    end = np.int64(0)
    for c in range(groups + 1):
        end += load(starts, c)
        store(starts, c, end)
    for v in range(group.size - 1, -1, -1):
        c = np.int64(load(group, v))
        end = load(starts, c) - 1
        store(starts, c, end)
        store(order, end, v)


@inline
def aggregate_all(
    offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
    sums, counts, seen, stop,
):  # fmt: skip
    """The graph whose vertices are the groups ``0..new_strength.size - 1``; how many arcs it has.

    ``starts``, ``order``, ``sums``, of which ``counts`` is another view, and ``seen`` are overwritten.
    """
    groups, start, at = new_strength.size, np.int64(0), np.int64(0)
    _members(group, groups, starts, order)
    for c in range(groups):
        store(sums, c, 0.0)
        store(new_strength, c, 0.0)
    for v in range(group.size):
        c = np.int64(load(group, v))
        store(new_strength, c, load(new_strength, c) + load(strength, v))
    store(new_offsets, 0, 0)
    for c in range(groups):
        if c & _PATIENCE == 0 and load_relaxed(stop, 0) != 0:
            return at
        at = add_row(
            c, offsets, targets, weights, group, starts, order, new_targets, new_weights, at, sums, counts, start,
            seen, start, group.size > _IN_CACHE,
        )  # fmt: skip
        store(new_offsets, c + 1, at)
    return at


@kernel
def aggregate(
    offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
    sums, counts, seen, stop,
):  # fmt: skip
    """See :func:`aggregate_all`."""
    return aggregate_all(
        offsets, targets, weights, strength, group, starts, order, new_offsets, new_targets, new_weights, new_strength,
        sums, counts, seen, stop,
    )  # fmt: skip


@kernel
def within(thread, threads, offsets, targets, weights, group, found, cursor, stop):
    """The weight of the arcs within groups, for each :data:`BLOCK` vertices; on any number of threads."""
    n = offsets.size - 1
    while True:
        block = np.int64(atomic_add(cursor, 0, 1))
        if block >= found.size or load_relaxed(stop, 0) != 0:
            return
        inside = 0.0
        for v in range(block * BLOCK, min((block + 1) * BLOCK, n)):
            end, here = np.int64(load(offsets, v + 1)), load(group, v)
            for arc in range(load(offsets, v), end):
                prefetch(group, np.int64(load(targets, min(arc + _AHEAD, end - 1))))
                weight = np.float64(load(weights, arc)) if weights.size else 1.0
                inside += weight if load(group, load(targets, arc)) == here else 0.0
        store(found, block, inside)


@kernel
def number(group, numbers, found):
    """Number groups by their first vertex, into ``found``; ``numbers`` has room for all. How many groups."""
    return _number(group, 1, 0, numbers, numbers.size, found)


@kernel
def cut(fine, coarse, starts, order, latest, numbers, found):
    """Number the pairs of groups that vertices are in by their first vertex, into ``found``.

    By groups of ``fine``: ``latest`` gets for each group of ``coarse`` the last of ``fine`` that it was seen with.
    """
    _members(fine, starts.size - 1, starts, order)
    for c in range(latest.size):
        store(latest, c, -1)
    count = np.int64(0)
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(coarse, v))
        if load(latest, c) != load(fine, v):
            store(latest, c, load(fine, v))
            store(numbers, c, count)
            count += 1
        store(found, v, load(numbers, c))
    _number(found, 1, 0, order, count, found)


@kernel
def sort_by_group(order, group, cursors, found):
    """Write the vertices of ``order`` by group into ``found``; ``cursors`` begin where each group does."""
    for i in range(order.size):
        v = np.int64(load(order, i))
        c = np.int64(load(group, v))
        at = load(cursors, c)
        store(found, at, v)
        store(cursors, c, at + 1)


@kernel
def shuffle(order, seed):
    """Write the numbers below ``order.size`` in an order drawn from a seed; see ``community_numbers.shuffled``."""
    _shuffle(order, order.size, seed)
