"""Compiled code that reads and checks pages of a store: many requests per call, without the GIL."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from dromos.graph.store.checksum_kernels import checksum, three_checksums
from dromos.graph.store.layout import ALIGNMENT
from dromos.graph.store.pack_kernels import bits_of, unpack_one
from dromos.graph.store.paged.section import MIXING
from dromos.intrinsics import load, store
from dromos.io_intrinsics import give_back, read_at
from dromos.jit import atomic_add, inline, kernel

SERVED, FAILED = 1, 2  # a failed request is marked with FAILED + the number of its worker

_MIXING = np.uint64(MIXING)
_BITS = np.uint64(8)
_ONE = np.uint64(1)


@inline
def read_fully(fd, data, begin, length, position, expected):
    """Read ``length`` bytes (whole disk blocks) at ``position``; return whether ``expected`` of them arrived."""
    done = np.int64(0)
    while done < expected:
        got = read_at(fd, data, begin + done, length - done, position + done)
        if got <= 0 or (got < length - done and got % ALIGNMENT != 0 and done + got < expected):
            return False
        done += got
    return True


@inline
def _chunks_match(data, tables, sums, chunk, begin, end, chunk_bytes):
    """Whether the chunks of ``data[begin:end]`` match their checksums, of which ``sums[chunk]`` is the first."""
    good = True
    at = begin
    while at + 3 * chunk_bytes <= end:
        x, y, z = three_checksums(
            data, tables, at, at + chunk_bytes, at + 2 * chunk_bytes, at + 3 * chunk_bytes
        )  # fmt: skip
        good &= x == load(sums, chunk) and y == load(sums, chunk + 1) and z == load(sums, chunk + 2)
        at += 3 * chunk_bytes
        chunk += 3
    while at < end:
        good &= checksum(data, tables, at, min(at + chunk_bytes, end)) == load(sums, chunk)
        at += chunk_bytes
        chunk += 1
    return good


@inline
def _fingerprint(words, begin, end):
    """The fingerprint of bytes ``begin..end``, as in :func:`dromos.graph.store.paged.section.fingerprints`."""
    flips = total = np.uint64(0)
    for i in range(begin // 8, end // 8):
        word = load(words, i)
        flips ^= word
        total += word
    if end % 8:
        word = load(words, end // 8) & ((_ONE << (_BITS * np.uint64(end % 8))) - _ONE)
        flips ^= word
        total += word
    return flips + _MIXING * total


@inline
def _in_range(ids, begin, end, count):
    """Whether all of ``ids[begin:end]`` are below ``count``."""
    most = ids.dtype.type(0)
    for i in range(begin, end):
        value = load(ids, i)
        most = value if value > most else most
    return np.uint64(most) < count or begin >= end


@kernel
def read_pages(
    thread, threads, worker, cursor, firsts, lasts, fd, offset, file_bytes, nbytes, page_bytes, chunk_bytes,
    block_pages, first_page, data, words, ids, num_vertices, sums, tables, checked, prints, outcome,
):  # fmt: skip
    """Read and check requests of one section, taking the next open one each time, until ``cursor`` is at their end.

    Request i is the pages ``firsts[i]..lasts[i]``. The section begins at ``offset`` in the file and has ``nbytes``
    bytes; ``data`` is the place in memory of those from ``first_page`` on, and ``words`` and ``ids`` view the same.
    Blocks of ``block_pages`` that were ``checked`` before are compared by fingerprint, others by checksum. ``ids`` is
    empty if the section holds no targets. Failed requests are left to the caller, which knows which error to raise.
    """
    before = first_page * page_bytes
    while True:
        number = atomic_add(cursor, 0, 1)
        if number >= firsts.size:
            break
        first, last = load(firsts, number), load(lasts, number)
        begin, end = first * page_bytes, min(last * page_bytes, nbytes)
        length = (end - begin + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        expected = min(length, file_bytes - offset - begin)
        good = expected >= end - begin and read_fully(fd, data, begin - before, length, offset + begin, expected)
        block = first // block_pages
        while good and block * block_pages < last:
            known = load(checked, block)
            stop = block + 1  # a run of blocks that are all known, or all new
            while stop * block_pages < last and load(checked, stop) == known:
                stop += 1
            low, high = max(block * block_pages, first), min(stop * block_pages, last)
            if not known:
                good = _chunks_match(
                    data, tables, sums, low * page_bytes // chunk_bytes, low * page_bytes - before,
                    min(high * page_bytes, end) - before, chunk_bytes,
                )  # fmt: skip
            for page in range(low, high):
                found = _fingerprint(words, page * page_bytes - before, min((page + 1) * page_bytes, end) - before)
                if not known:
                    store(prints, page, found)
                elif found != load(prints, page):
                    good = False
            block = stop
        if good and ids.size > 0:
            good = _in_range(ids, (begin - before) // ids.itemsize, (end - before) // ids.itemsize, num_vertices)
        store(outcome, number, np.int32(SERVED) if good else np.int32(FAILED + worker))


@kernel
def read_offsets(
    thread, threads, cursor, fd, position, nbytes, file_bytes, piece_bytes, chunk_bytes, data, words, tables, sums,
    into, firsts, lasts, failed,
):  # fmt: skip
    """Read and check pieces of a section of offsets, the next open one each time, and write its numbers to ``into``.

    The section begins at ``position`` in the file; pieces are read into ``data``, a buffer of this thread (``words``
    views it). ``firsts`` and ``lasts`` receive the first and the last number of each piece. ``failed[0]`` is set if a
    piece cannot be read, does not match its checksums or falls somewhere.
    """
    while load(failed, 0) == 0:
        piece = atomic_add(cursor, 0, 1)
        if piece >= firsts.size:
            break
        begin = piece * piece_bytes
        size = min(piece_bytes, nbytes - begin)
        length = (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        expected = min(length, file_bytes - position - begin)
        good = expected >= size and read_fully(fd, data, 0, length, position + begin, expected)
        if good:
            good = _chunks_match(data, tables, sums, begin // chunk_bytes, 0, size, chunk_bytes)
        if good:
            at, before = begin // words.itemsize, load(words, 0)
            store(firsts, piece, before)
            for i in range(size // words.itemsize):
                offset = load(words, i)
                good &= offset >= before
                store(into, at + i, offset)
                before = offset
            store(lasts, piece, before)
        if not good:
            store(failed, 0, 1)


@inline
def _packs_match(data, tables, sums, starts, checked, first, last, shift):
    """Whether all packs that were not ``checked`` before match their checksums.

    Pack p begins at ``data[4 * starts[p] + shift]``.
    """
    good = True
    pack = first
    while pack < last:
        at, end = 4 * load(starts, pack) + shift, 4 * load(starts, pack + 1) + shift
        three = pack + 3 <= last
        for i in range(pack, min(pack + 3, last)):
            three = three and not load(checked, i)
        if three:
            next_end, last_end = 4 * load(starts, pack + 2) + shift, 4 * load(starts, pack + 3) + shift
            x, y, z = three_checksums(data, tables, at, end, next_end, last_end)
            good &= x == load(sums, pack) and y == load(sums, pack + 1) and z == load(sums, pack + 2)
            pack += 3
        else:
            if not load(checked, pack):
                good &= checksum(data, tables, at, end) == load(sums, pack)
            pack += 1
    return good


@kernel
def read_packs(
    thread, threads, worker, cursor, firsts, lasts, fd, offset, file_bytes, page_packs, starts, num_arcs, pack_arcs,
    mask, num_vertices, data, words, first_page, out, sums, tables, checked, prints, outcome,
):  # fmt: skip
    """Read, check and unpack requests of packed targets, as :func:`read_pages` does.

    A page has ``page_packs`` packs of ``pack_arcs`` arcs; pack p is at the words ``starts[p]..starts[p + 1]`` of the
    section. Packs are read into ``data``, a buffer of this thread (``words`` views it), and unpacked to ``out``, the
    place of the arcs from ``first_page`` on.
    """
    before = first_page * page_packs * pack_arcs
    most_bits = bits_of(mask)
    while True:
        number = atomic_add(cursor, 0, 1)
        if number >= firsts.size:
            break
        first, last = load(firsts, number) * page_packs, min(load(lasts, number) * page_packs, sums.size)
        begin, end = offset + 4 * load(starts, first), offset + 4 * load(starts, last)
        low = begin // ALIGNMENT * ALIGNMENT
        length = (end - low + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        expected = min(length, file_bytes - low)
        good = length <= data.size and expected >= end - low and read_fully(fd, data, 0, length, low, expected)
        shift = offset - low
        good = good and _packs_match(data, tables, sums, starts, checked, first, last, shift)
        for pack in range(first, last if good else first):
            at, stop = load(starts, pack) + shift // 4, load(starts, pack + 1) + shift // 4
            arc = pack * pack_arcs
            found, whole, bad = unpack_one(
                data, words, at, stop, arc - before, min(num_arcs - arc, pack_arcs), most_bits, mask, num_vertices, out
            )
            if not whole or bad >= 0 or (load(checked, pack) and found != load(prints, pack)):
                good = False
                break
            store(prints, pack, found)
            store(checked, pack, np.uint8(1))
        store(outcome, number, np.int32(SERVED) if good else np.int32(FAILED + worker))


@kernel
def print_pieces(thread, threads, words, nbytes, piece_bytes, prints):
    """Compute the fingerprints of the pieces of ``nbytes`` bytes."""
    for piece in range(prints.size):
        begin = piece * piece_bytes
        store(prints, piece, _fingerprint(words, begin, min(begin + piece_bytes, nbytes)))


@kernel
def read_pieces(thread, threads, cursor, fd, position, nbytes, piece_bytes, data, words, prints, failed):
    """Read pieces of ``nbytes`` bytes from ``position`` of a file, the next open one each time; compare fingerprints.

    ``failed[0]`` is set if a piece cannot be read or differs from its fingerprint.
    """
    while load(failed, 0) == 0:
        piece = atomic_add(cursor, 0, 1)
        if piece >= prints.size:
            break
        begin = piece * piece_bytes
        length = min(piece_bytes, nbytes - begin)
        good = read_fully(fd, data, begin, length, position + begin, length)
        if not good or _fingerprint(words, begin, begin + length) != load(prints, piece):
            store(failed, 0, 1)


@kernel
def copy_pages(thread, threads, words, into, firsts, lasts, first_page, page_bytes):
    """Copy the pages ``firsts[i]..lasts[i]`` of a section to ``into``, the memory of those from ``first_page`` on."""
    before = first_page * page_bytes // 8
    for i in range(firsts.size):
        end = min(load(lasts, i) * page_bytes // 8, words.size)
        for word in range(load(firsts, i) * page_bytes // 8, end):
            store(into, word - before, load(words, word))


@kernel
def drop_pages(thread, threads, data, begins, ends, advice, failed):
    """Release the memory of ``data[begins[i]:ends[i]]``; ``failed[0]`` counts the refusals of the system."""
    for i in range(begins.size):
        if give_back(data, load(begins, i), load(ends, i) - load(begins, i), advice) != 0:
            store(failed, 0, load(failed, 0) + 1)
