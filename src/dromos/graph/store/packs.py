"""Packed targets: gaps between consecutive arcs, each block of 32 in as few bits as its largest gap needs.

A pack holds a fixed number of arcs (4096 by default; the last pack may hold fewer) in words of 4 bytes. Each pack can
be unpacked alone, so a row is found by the number of its first arc::

    for each group of 256 arcs:  8 bytes with the widths of its blocks, then its base: its first target (4 or 8 bytes)
    for each block of 32 arcs:   32 gaps of ``width`` bits each, the first in the lowest bits: ``width`` words
    two words of zeros           so that a reader may load eight bytes wherever a gap begins

A gap is the difference to the previous target, modulo the least power of two that holds every vertex; the gap of a
group's first arc is 0. So rows need not be sorted, a row may begin anywhere, and a decoder needs no row offsets: it
sums the gaps and masks off the high bits. Sorted rows have small gaps and take few bits.

An index beside the packs has two numbers per pack: its length in words, and the CRC-32 of its bytes.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dromos.dtypes import Array
from dromos.errors import CorruptFileError, InvalidArgumentError, UnsupportedFormatError
from dromos.graph.store.checksums import piece_checksums
from dromos.graph.store.layout import Section
from dromos.parallel import num_threads, run_team

__all__ = [
    "LEAST_PACK",
    "MOST_PACK",
    "PACK_ARCS",
    "PackIndex",
    "PackWriter",
    "PackedTargets",
    "check_pack_arcs",
    "gap_mask",
    "num_packs",
    "unpack",
]

PACK_ARCS = 4096
LEAST_PACK, MOST_PACK = 256, 1 << 16
_BATCH_ARCS = 1 << 20  # packed together on all threads while the previous batch is written
_SMALL = 1 << 16


def check_pack_arcs(pack_arcs: int) -> None:
    """Refuse a pack size that the header of a store cannot represent."""
    if not LEAST_PACK <= pack_arcs <= MOST_PACK or pack_arcs & (pack_arcs - 1):
        raise InvalidArgumentError(f"pack_arcs={pack_arcs} is not a power of two from {LEAST_PACK} to {MOST_PACK}")


def num_packs(num_arcs: int, pack_arcs: int) -> int:
    """The number of packs for ``num_arcs`` arcs."""
    return -(-num_arcs // pack_arcs)


def gap_mask(num_vertices: int) -> np.uint64:
    """The mask of the bits of a target.

    >>> int(gap_mask(5)), int(gap_mask(4)), int(gap_mask(1))
    (7, 3, 0)
    """
    return np.uint64((1 << max(num_vertices - 1, 0).bit_length()) - 1)


@dataclass(frozen=True)
class PackIndex:
    """Where each pack lies among the words of its section, and the checksum of its bytes."""

    starts: Array
    sums: Array
    pack_arcs: int

    @classmethod
    def of(cls, entries: Array, section: Section, pack_arcs: int, path: Path) -> PackIndex:
        """Make it from the index section, whose lengths must add up to the section of the packs."""
        lengths, sums = entries[::2].astype(np.int64), np.ascontiguousarray(entries[1::2]).view(np.uint32)
        starts = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=starts[1:])
        if int(lengths.min(initial=0)) < 0 or 4 * int(starts[-1]) != section.nbytes:
            raise CorruptFileError(
                f"section {section.name.replace('targets', 'packs')}: the lengths of the packs do not add up to the "
                f"bytes {section.offset:,}..{section.end:,} of the targets; the file is damaged: write or copy it "
                "again", path=path,
            )  # fmt: skip
        starts.flags.writeable = sums.flags.writeable = False
        return cls(starts, sums, pack_arcs)

    @property
    def nbytes(self) -> int:
        """Bytes of the index in memory."""
        return int(self.starts.nbytes + self.sums.nbytes)

    def check(
        self, data: memoryview, first: int, last: int, section: Section, path: Path, skip: Array | None = None
    ) -> None:
        """Compare the packs ``first..last`` with their checksums, except those to ``skip``.

        ``data`` begins with the first of them.
        """
        new = np.ones(last - first, dtype=bool) if skip is None else ~skip
        at = section.offset + 4 * int(self.starts[first])
        bounds = 4 * (self.starts[first : last + 1] - self.starts[first])
        inside = np.flatnonzero(new)
        if not len(inside):
            return
        begin, end = int(inside[0]), int(inside[-1]) + 1
        sums = piece_checksums(np.frombuffer(data, dtype=np.uint8), bounds[begin : end + 1])
        wrong = begin + np.flatnonzero((sums != self.sums[first + begin : first + end]) & new[begin:end])
        if len(wrong):
            low, high = bounds[wrong[0] : wrong[0] + 2].tolist()
            raise CorruptFileError(
                f"section {section.name}, pack {first + int(wrong[0]):,} (bytes {at + low:,}..{at + high:,}) fails its "
                "checksum: the file is damaged; write or copy it again", path=path,
            )  # fmt: skip


class PackWriter:
    """Packs targets that arrive in pieces, and keeps the index of the packs."""

    def __init__(self, num_vertices: int, pack_arcs: int = PACK_ARCS) -> None:
        check_pack_arcs(pack_arcs)
        if sys.byteorder != "little":
            raise UnsupportedFormatError("packs are written and read on little-endian machines only")
        self.pack_arcs, self._mask = pack_arcs, gap_mask(num_vertices)
        self._entries: list[Array] = []

    @property
    def index(self) -> Array:
        """The entries of the index, for its section."""
        return np.concatenate(self._entries) if self._entries else np.empty(0, dtype=np.int32)

    def packed(self, pieces: Iterable[Array]) -> Iterator[Array]:
        """The packs of all targets; the length of every piece but the last is a whole number of packs."""
        for piece in pieces:
            for begin in range(0, len(piece), _BATCH_ARCS):
                yield self._packed(piece[begin : begin + _BATCH_ARCS])

    def _packed(self, targets: Array) -> Array:
        from dromos.graph.store import pack_kernels as kernels

        targets = targets.view()
        targets.flags.writeable = False
        count = num_packs(len(targets), self.pack_arcs)
        words = targets.itemsize // 4
        header = (kernels.WIDTH_WORDS + words) * -(-self.pack_arcs // kernels.GROUP)
        slots = np.empty((count, header + words * self.pack_arcs + kernels.SLACK_WORDS), dtype=np.uint32)
        lengths = np.zeros(count, dtype=np.int64)
        team = 1 if targets.size < _SMALL else num_threads()
        run_team(
            kernels.pack, np.zeros(1, np.int64), targets, self.pack_arcs, self._mask, slots, lengths, threads=team
        )  # fmt: skip
        packs = [slots[number, :length] for number, length in enumerate(lengths.tolist())]
        entries = np.empty((count, 2), dtype=np.uint32)
        entries[:, 0] = lengths
        entries[:, 1] = [zlib.crc32(pack.data) for pack in packs]
        self._entries.append(entries.reshape(-1).view(np.int32))
        return np.concatenate(packs)


def unpack(
    data: Array,
    index: PackIndex,
    first: int,
    last: int,
    out: Array,
    *,
    section: Section,
    num_vertices: int,
    path: Path | None,
    threads: int | None = 1,
) -> Array:
    """Unpack the packs ``first..last`` into ``out``; ``data`` (bytes) begins with the first of them.

    Returns a fingerprint of each pack, much quicker to compare than its checksum: a flipped bit always changes it, and
    a pack from elsewhere has the same one with a chance of 2^-64. Inconsistent packs raise a
    :class:`~dromos.errors.CorruptFileError` with the byte position, whatever their checksums say.
    """
    from dromos.graph.store import pack_kernels as kernels

    data = data.view()
    data.flags.writeable = False
    starts = index.starts[first : last + 1] - index.starts[first]
    words = data[: len(data) // 4 * 4].view(np.uint32)
    team = 1 if last - first < 2 else min(num_threads(threads), last - first)
    faults = np.full((team, kernels.NUM_FAULTS), kernels.NOWHERE, dtype=np.int64)
    prints = np.zeros(last - first, dtype=np.uint64)
    first_arc = first * index.pack_arcs
    run_team(
        kernels.unpack, np.zeros(1, np.int64), data, words, starts, first_arc, len(out), index.pack_arcs,
        gap_mask(num_vertices), num_vertices, out, prints, faults, threads=team,
    )  # fmt: skip
    bad_pack, bad_arc = faults.min(axis=0).tolist()
    if bad_pack != kernels.NOWHERE:
        number = first + bad_pack
        reason = "the widths of its blocks do not add up to its length"
    elif bad_arc != kernels.NOWHERE:
        number = bad_arc // index.pack_arcs
        reason = f"arc {bad_arc:,} leads to {out[bad_arc - first_arc]:,}, and there are {num_vertices:,} vertices"
    else:
        return prints
    raise CorruptFileError(
        f"section {section.name}, pack {number:,}, byte {section.offset + 4 * int(index.starts[number]):,}: {reason}; "
        "the file is damaged: write or copy it again", path=path,
    )  # fmt: skip


class PackedTargets:
    """The packed targets of an open store: supports slices and single entries, which are unpacked at each access."""

    def __init__(self, data: Any, index: PackIndex, section: Section, num_arcs: int, num_vertices: int, path: Path):
        self._data, self._index, self._section = data, index, section  # data: the bytes of the whole store, by slices
        self._num_vertices, self._path = num_vertices, path
        self.size, self.dtype = num_arcs, section.dtype

    @property
    def num_packs(self) -> int:
        """How many packs there are."""
        return len(self._index.sums)

    def check(self) -> None:
        """Compare every pack with its checksum."""
        batch = max(1, _BATCH_ARCS // self._index.pack_arcs)
        for first in range(0, self.num_packs, batch):
            last = min(first + batch, self.num_packs)
            self._index.check(self._bytes_of(first, last).data, first, last, self._section, self._path)

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, slice):
            return self[place : place + 1][0]
        begin, end, _ = place.indices(self.size)
        arcs = self._index.pack_arcs
        first, last = begin // arcs, max(begin // arcs, num_packs(end, arcs))
        out = np.empty(min(last * arcs, self.size) - first * arcs, dtype=self.dtype)
        unpack(
            self._bytes_of(first, last), self._index, first, last, out,
            section=self._section, num_vertices=self._num_vertices, path=self._path, threads=None,
        )  # fmt: skip
        return out[begin - first * arcs : end - first * arcs]

    def _bytes_of(self, first: int, last: int) -> Array:
        """The packs ``first..last``."""
        begin, end = self._index.starts[first], self._index.starts[last]
        data: Array = self._data[self._section.offset + 4 * int(begin) : self._section.offset + 4 * int(end)]
        return data
