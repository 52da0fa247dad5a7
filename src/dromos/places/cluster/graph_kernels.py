"""Compiled kernels that distribute vertices and arcs to ranks; one thread each, since every core has a rank."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dromos.jit import inline, kernel


@kernel
def count_ends(thread, num_threads, src, dst, degree):
    """Add every edge to the ``degree`` of both of its ends; a self-loop to one."""
    for i in range(src.size):
        degree[src[i]] += 1
        if src[i] != dst[i]:
            degree[dst[i]] += 1


@kernel
def deal_by_degree(thread, num_threads, degree, places, starts, new_ids, old_ids):
    """Renumber vertices: the largest degree first, dealt out in turn to the ranges that begin at ``starts``.

    ``places`` has an entry of 0 for each degree that occurs, and one more.
    """
    ranges = starts.size
    for v in range(degree.size):
        places[degree[v]] += 1
    before = 0
    for d in range(places.size - 1, -1, -1):
        count = places[d]
        places[d] = before
        before += count
    for v in range(degree.size):
        place = places[degree[v]]
        places[degree[v]] = place + 1
        new = starts[place % ranges] + place // ranges
        new_ids[v] = new
        old_ids[new] = v


@kernel
def sum_degrees(thread, num_threads, degree, old_ids, offsets):
    """The offsets of rows whose lengths are the degrees of ``old_ids``."""
    end = offsets[0]
    for i in range(old_ids.size):
        end += degree[old_ids[i]]
        offsets[i + 1] = end


@kernel
def renumber(thread, num_threads, ends, new_ids, renumbered):
    """``renumbered = new_ids[ends]``; ids are known to be in range."""
    for i in range(ends.size):
        renumbered[i] = new_ids[ends[i]]


@inline
def owner_of(v, bounds):
    """The index ``r`` of the range ``bounds[r]..bounds[r + 1]`` that contains ``v``."""
    ranges = bounds.size - 1
    found = int(v * (ranges / bounds[ranges]))  # a close guess if all ranges are about equal; a division is much slower
    while bounds[found] > v:
        found -= 1
    while bounds[found + 1] <= v:
        found += 1
    return found


@kernel
def count_arcs(thread, num_threads, src, dst, bounds, counts):
    """``counts[r]``: the number of arcs, both of every edge, that start in range ``r``."""
    for i in range(src.size):
        counts[owner_of(src[i], bounds)] += 1
        if src[i] != dst[i]:
            counts[owner_of(dst[i], bounds)] += 1


@kernel
def place_arcs(thread, num_threads, src, dst, weights, bounds, cursors, sources, targets, arc_weights):
    """Write both arcs of every edge at the cursor of the range that contains their source."""
    weighted = weights.size > 0
    for i in range(src.size):
        for turn in range(1 if src[i] == dst[i] else 2):
            source, target = (src[i], dst[i]) if turn == 0 else (dst[i], src[i])
            owner = owner_of(source, bounds)
            at = cursors[owner]
            cursors[owner] = at + 1
            sources[at] = source
            targets[at] = target
            if weighted:
                arc_weights[at] = weights[i]


@kernel
def count_digits(thread, num_threads, width, targets, low, high):
    """Count each value of the lowest ``width`` bits, and each value of the others; shifted by one entry."""
    mask = (1 << width) - 1
    for i in range(targets.size):
        low[(targets[i] & mask) + 1] += 1
        high[(targets[i] >> width) + 1] += 1
    for places in (low, high):
        for digit in range(1, places.size):
            places[digit] += places[digit - 1]


@kernel
def sort_by_low(thread, num_threads, first, width, sources, targets, weights, places, arcs, to_weights):
    """Arcs as ``row << 32 | target``, stably sorted by the lowest ``width`` bits of their targets.

    One word per arc: scattered writes to some thousands of places take longer than anything else here.
    """
    weighted = weights.size > 0
    mask = (1 << width) - 1
    for i in range(targets.size):
        digit = targets[i] & mask
        at = places[digit]
        places[digit] = at + 1
        arcs[at] = ((sources[i] - first) << 32) | targets[i]
        if weighted:
            to_weights[at] = weights[i]


@kernel
def sort_by_high(thread, num_threads, width, arcs, weights, places, to_arcs, to_weights):
    """Sort arcs stably by the other bits of their targets."""
    weighted = weights.size > 0
    for i in range(arcs.size):
        digit = (arcs[i] & 0xFFFFFFFF) >> width
        at = places[digit]
        places[digit] = at + 1
        to_arcs[at] = arcs[i]
        if weighted:
            to_weights[at] = weights[i]


@kernel
def fill_rows(thread, num_threads, arcs, weights, cursors, row_targets, row_weights):
    """Move each arc to its row, from ``cursors[row]`` on; rows keep the order of the arcs."""
    weighted = weights.size > 0
    for i in range(arcs.size):
        row = arcs[i] >> 32
        at = cursors[row]
        cursors[row] = at + 1
        row_targets[at] = arcs[i] & 0xFFFFFFFF
        if weighted:
            row_weights[at] = weights[i]
