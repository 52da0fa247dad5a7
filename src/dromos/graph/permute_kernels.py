"""Compiled kernels that renumber vertices: an order by degree, and rows that are renamed and sorted."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

from dromos.intrinsics import prefetch_to_write
from dromos.jit import atomic_add, kernel

DIGIT_BITS = 8
_FEW = 32  # arcs of a row that are sorted by insertion


@kernel
def count_classes(thread, num_threads, degree, descending, counts):
    """``counts[thread, c]``: vertices of this thread's range in class ``c``; the last one holds all higher degrees."""
    mine = counts[thread]
    last = mine.size - 1
    for v in range(degree.size * thread // num_threads, degree.size * (thread + 1) // num_threads):
        c = min(degree[v], last)
        mine[last - c if descending else c] += 1


@kernel
def place_by_class(thread, num_threads, degree, descending, cursors, order):
    """Write the vertices of this thread's range at the cursors of their classes, in ascending order."""
    mine = cursors[thread]
    last = mine.size - 1
    for v in range(degree.size * thread // num_threads, degree.size * (thread + 1) // num_threads):
        c = min(degree[v], last)
        c = last - c if descending else c
        order[mine[c]] = v
        mine[c] += 1


@kernel
def shuffle(thread, num_threads, bits, last, picks, order):
    """Swap the ids at ``last[0]`` and below, each with a random one up to it, until the random ``bits`` are used up.

    A position is drawn with as many bits as the last one has, and drawn again if it lies beyond.
    """
    i, used = last[0], 0
    mask = 1
    while mask < i:
        mask = mask * 2 + 1
    while i > 0 and used < bits.size:
        first, count = i, 0
        while i > 0 and used < bits.size and count < picks.size:
            if i <= mask >> 1:
                mask >>= 1
            place = bits[used] & mask
            used += 1
            picks[count] = place
            if place <= i:
                prefetch_to_write(order, place)
                count += 1
                i -= 1
        for k in range(count):
            place = picks[k]
            held = order[place]
            order[place] = order[first - k]
            order[first - k] = held
    last[0] = i


@kernel
def invert(thread, num_threads, old_ids, new_ids):
    """``new_ids[old_ids[i]] = i``."""
    for i in range(old_ids.size * thread // num_threads, old_ids.size * (thread + 1) // num_threads):
        new_ids[old_ids[i]] = i


@kernel
def sum_degrees(thread, num_threads, offsets, old_ids, starts, sums):
    """``starts[i + 1]``: the arcs of this thread's rows up to ``i``; ``sums[thread]``: of all its rows."""
    total = 0
    for i in range(old_ids.size * thread // num_threads, old_ids.size * (thread + 1) // num_threads):
        u = old_ids[i]
        total += offsets[u + 1] - offsets[u]
        starts[i + 1] = total
    sums[thread] = total


@kernel
def add_bases(thread, num_threads, bases, starts):
    """Add the sums of the preceding threads."""
    rows = starts.size - 1
    base = bases[thread]
    for i in range(rows * thread // num_threads, rows * (thread + 1) // num_threads):
        starts[i + 1] += base


@kernel
def _sort_few(ids, words, weighted):
    for i in range(1, ids.size):
        key = ids[i]
        at = i
        if weighted:
            word = words[i]
            while at > 0 and ids[at - 1] > key:
                ids[at] = ids[at - 1]
                words[at] = words[at - 1]
                at -= 1
            words[at] = word
        else:
            while at > 0 and ids[at - 1] > key:
                ids[at] = ids[at - 1]
                at -= 1
        ids[at] = key


@kernel
def _sort_digit(ids, words, weighted, shift, counts, sorted_ids, sorted_words):
    """One stable pass by a digit whose values are counted in ``counts``."""
    mask = (1 << DIGIT_BITS) - 1
    total = 0
    for digit in range(counts.size):
        count = counts[digit]
        counts[digit] = total
        total += count
    for i in range(ids.size):
        key = ids[i]
        digit = (key >> shift) & mask
        at = counts[digit]
        counts[digit] = at + 1
        sorted_ids[at] = key
        if weighted:
            sorted_words[at] = words[i]


@kernel
def permute_rows(
    thread, num_threads, ticket, bounds, passes, offsets, targets, words, weighted, old_ids, new_ids, starts, into,
    words_into, spare_ids, spare_words, digit_counts,
):  # fmt: skip
    """Row ``i`` becomes that of ``old_ids[i]`` under new ids, sorted; parallel arcs keep their order.

    Threads take runs of rows, ``bounds[c]..bounds[c + 1]``. A long row is radix-sorted: it alternates between its place
    and the thread's row of ``spare_ids`` and ``spare_words``, digit by digit, and ends in its place. ``digit_counts``
    also has a row per thread, with room for all values of every digit.
    """
    own_ids, own_words, counts = spare_ids[thread], spare_words[thread], digit_counts[thread]
    values = 1 << DIGIT_BITS
    mask = values - 1
    while True:
        run = atomic_add(ticket, 0, 1)
        if run >= bounds.size - 1:
            return
        for i in range(bounds[run], bounds[run + 1]):
            u = old_ids[i]
            begin, first, length = starts[i], offsets[u], starts[i + 1] - starts[i]
            row, row_words = into[begin : begin + length], words_into[begin : begin + length if weighted else begin]
            if length <= _FEW:
                for k in range(length):
                    row[k] = new_ids[targets[first + k]]
                if weighted:
                    for k in range(length):
                        row_words[k] = words[first + k]
                _sort_few(row, row_words, weighted)
                continue
            a, a_words = own_ids[:length], own_words[: length if weighted else 0]
            c, c_words = row, row_words
            if passes % 2 == 0:
                a, c = c, a
                a_words, c_words = c_words, a_words
            for digit in range(passes * values):
                counts[digit] = 0
            for k in range(length):
                v = new_ids[targets[first + k]]
                a[k] = v
                for p in range(passes):
                    counts[p * values + ((v >> (p * DIGIT_BITS)) & mask)] += 1
            if weighted:
                for k in range(length):
                    a_words[k] = words[first + k]
            for p in range(passes):
                of_digit = counts[p * values : (p + 1) * values]
                _sort_digit(a, a_words, weighted, p * DIGIT_BITS, of_digit, c, c_words)
                a, c = c, a
                a_words, c_words = c_words, a_words
