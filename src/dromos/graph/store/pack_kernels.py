"""Compiled kernels that pack targets and unpack them again; :mod:`dromos.graph.store.packs` describes the format."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.intrinsics import load, load_unaligned, store
from dromos.jit import atomic_add, inline, kernel

BLOCK = 32  # arcs that share a bit width
GROUP = 256  # arcs that share a base
WIDTH_WORDS = 2  # eight blocks of a group, one byte for the width of each
SLACK_WORDS = 2  # after the last block, since a load takes a value together with the seven bytes after it
NOWHERE = np.iinfo(np.int64).max
BAD_PACK, BAD_ARC, NUM_FAULTS = range(3)

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_WORD = np.uint64(32)
_WORD_BITS = np.uint64(64)
_BYTE = np.uint64(7)


@kernel
def pack(thread, num_threads, ticket, targets, pack_arcs, mask, slots, lengths):
    """Pack ``targets`` into rows of ``slots``, one per pack; ``lengths`` receives the words that each takes."""
    header = WIDTH_WORDS + targets.itemsize // 4
    while True:
        number = atomic_add(ticket, 0, 1)
        if number >= lengths.size:
            break
        words = slots[number]
        begin = number * pack_arcs
        end = min(targets.size, begin + pack_arcs)
        groups = (end - begin + GROUP - 1) // GROUP
        at = header * groups
        for word in range(at):
            words[word] = 0
        before = np.uint64(0)
        for first in range(begin, end, BLOCK):
            last = min(end, first + BLOCK)
            group = header * ((first - begin) // GROUP)
            if (first - begin) % GROUP == 0:
                before = np.uint64(targets[first])
                words[group + WIDTH_WORDS] = np.uint32(before & _LOW)
                if header > WIDTH_WORDS + 1:
                    words[group + WIDTH_WORDS + 1] = np.uint32(before >> _WORD)
            bits, previous = np.uint64(0), before
            for i in range(first, last):
                value = np.uint64(targets[i])
                bits |= (value - previous) & mask
                previous = value
            width = 0
            while width < 64 and bits >> np.uint64(width):
                width += 1
            block = (first - begin) % GROUP // BLOCK
            words[group + block // 4] |= np.uint32(width << (8 * (block % 4)))
            waiting, filled = np.uint64(0), 0
            for i in range(first, first + BLOCK):
                gap = np.uint64(0)
                if i < last:
                    value = np.uint64(targets[i])
                    gap = (value - before) & mask
                    before = value
                left = width
                while left > 0:  # 32 bits at a time, so that they fit beside up to 31 pending bits
                    part = min(left, 32)
                    waiting |= (gap & _LOW) << np.uint64(filled)
                    filled += part
                    gap >>= _WORD
                    left -= part
                    if filled >= 32:
                        words[at] = np.uint32(waiting & _LOW)
                        waiting >>= _WORD
                        filled -= 32
                        at += 1
        for _ in range(SLACK_WORDS):
            words[at] = 0
            at += 1
        lengths[number] = at


@inline
def bits_of(mask):
    """The number of bits of a target."""
    bits = 0
    while bits < 64 and mask >> np.uint64(bits):
        bits += 1
    return bits


@inline
def unpack_one(data, words, at, stop, begin, count, most_bits, mask, num_vertices, out):
    """Unpack ``words[at:stop]`` (``data``, as bytes) to ``out[begin : begin + count]``.

    Returns the pack's fingerprint (the exclusive or of its words, and the low half of their sum), whether its widths
    add up to its length, and the first arc whose target is not a vertex, or -1. Whatever the bytes are, nothing is read
    outside of the pack or written outside of its arcs; a pack whose widths do not add up is skipped.
    """
    header = WIDTH_WORDS + out.itemsize // 4
    groups = (count + GROUP - 1) // GROUP
    blocks = (count + BLOCK - 1) // BLOCK
    length = stop - at - header * groups - SLACK_WORDS
    widest = 0
    if length >= 0:
        for block in range(blocks):
            width = np.int64(load(data, 4 * (at + header * (block // 8)) + block % 8))
            widest = max(widest, width)
            length -= width
    if length != 0 or widest > most_bits:
        return np.uint64(0), False, np.int64(-1)
    flips = total = np.uint64(0)
    for i in range(at, stop):  # vectorises
        word = np.uint64(load(words, i))
        flips ^= word
        total += word
    bit = 32 * (at + header * groups)
    value = np.uint64(0)
    for block in range(blocks):
        place = at + header * (block // 8)
        if block % 8 == 0:
            value = np.uint64(load(words, place + WIDTH_WORDS))
            if header > WIDTH_WORDS + 1:
                value |= np.uint64(load(words, place + WIDTH_WORDS + 1)) << _WORD
        width = np.int64(load(data, 4 * place + block % 8))
        step = np.uint64(width)
        ones = _ALL if width == 64 else (_ONE << step) - _ONE
        to = begin + BLOCK * block
        left = min(BLOCK, count - BLOCK * block)
        here = bit
        bit += BLOCK * width
        if left == BLOCK and width <= 14:  # a load has 57 usable bits, wherever in a byte they begin
            for i in range(to, to + BLOCK, 4):
                bits = load_unaligned(data, here >> 3) >> (np.uint64(here) & _BYTE)
                here += 4 * width
                value += bits & ones
                store(out, i, value & mask)
                bits >>= step
                value += bits & ones
                store(out, i + 1, value & mask)
                bits >>= step
                value += bits & ones
                store(out, i + 2, value & mask)
                bits >>= step
                value += bits & ones
                store(out, i + 3, value & mask)
        elif left == BLOCK and width <= 28:
            for i in range(to, to + BLOCK, 2):
                bits = load_unaligned(data, here >> 3) >> (np.uint64(here) & _BYTE)
                here += 2 * width
                value += bits & ones
                store(out, i, value & mask)
                bits >>= step
                value += bits & ones
                store(out, i + 1, value & mask)
        else:
            for i in range(to, to + left):
                shift = np.uint64(here) & _BYTE
                bits = load_unaligned(data, here >> 3) >> shift
                if shift + step > _WORD_BITS:
                    bits |= np.uint64(load(data, (here >> 3) + 8)) << (_WORD_BITS - shift)
                here += width
                value += bits & ones
                store(out, i, value & mask)
    found = flips | (total << _WORD)
    if num_vertices > np.int64(mask):
        return found, True, np.int64(-1)  # every value of these bits is a vertex
    most = load(out, begin)
    for i in range(begin, begin + count):  # a separate pass that vectorises, over data in the cache
        target = load(out, i)
        most = target if target > most else most
    if most >= num_vertices:
        for i in range(begin, begin + count):
            if np.int64(load(out, i)) >= num_vertices:
                return found, True, np.int64(i)
    return found, True, np.int64(-1)


@kernel
def unpack(
    thread, num_threads, ticket, data, words, starts, first_arc, num_arcs, pack_arcs, mask, num_vertices, out, prints,
    faults,
):  # fmt: skip
    """Unpack packs, each thread taking the next open one; ``out`` holds the arcs from ``first_arc`` on.

    ``prints`` receives a fingerprint of each pack. ``starts`` holds where in ``words`` (``data``, as bytes) each pack
    begins and where the last one ends. ``faults`` receives the first inconsistent pack and the first arc whose target
    is not a vertex.
    """
    most_bits = bits_of(mask)
    bad_pack = bad_arc = NOWHERE
    while True:
        number = atomic_add(ticket, 0, 1)
        if number >= starts.size - 1:
            break
        begin = number * pack_arcs
        found, whole, arc = unpack_one(
            data, words, load(starts, number), load(starts, number + 1), begin, min(num_arcs - begin, pack_arcs),
            most_bits, mask, num_vertices, out,
        )  # fmt: skip
        store(prints, number, found)
        if not whole:
            bad_pack = min(bad_pack, number)
        elif arc >= 0:
            bad_arc = min(bad_arc, first_arc + arc)
    faults[thread, BAD_PACK] = bad_pack
    faults[thread, BAD_ARC] = bad_arc
