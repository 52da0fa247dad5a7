"""What can go wrong with a store, before it is opened, while it is read, or because there is too little memory.

A kind is a function of a generator of random numbers and of the file. It may damage the file at once, and may return a
*reader*, which stands between the run and the system's positioned reads from then on.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

__all__ = ["BUDGET", "KINDS", "Kind", "Read", "Reader"]

Read = Callable[[memoryview, int], int]
"""One positioned read: fills the beginning of a buffer, returns how many bytes it did."""
Reader = Callable[[Read, memoryview, int, bool], int]
"""A read with a fault in it: the true one, the buffer, the position, and whether it goes past the system's cache."""
Kind = Callable[[np.random.Generator, Path], "Reader | None"]

BLOCK: Final = 4096
_READS: Final = 40
"""Faults during a run happen at one of so many reads, rather at an early one; a run has between 5 and 60 of them."""


def _size(file: Path) -> int:
    return file.stat().st_size


def _patch(file: Path, at: int, data: bytes) -> None:
    with file.open("r+b") as out:
        out.seek(at)
        out.write(data)


def _block(file: Path, number: int) -> bytes:
    with file.open("rb") as store:
        store.seek(number * BLOCK)
        return store.read(BLOCK)


def _flip(rng: np.random.Generator, file: Path) -> None:
    at = int(rng.integers(_size(file)))
    with file.open("rb") as store:
        store.seek(at)
        byte = store.read(1)[0]
    _patch(file, at, bytes([byte ^ 1 << int(rng.integers(8))]))


def _some_read(rng: np.random.Generator) -> int:
    return int(rng.integers(rng.integers(1, _READS)))


# ---- on disk, before the file is opened ----------------------------------------------------------------------------


def flipped_bit(rng: np.random.Generator, file: Path) -> None:
    """A wrong bit anywhere in the file."""
    _flip(rng, file)


def zeroed_page(rng: np.random.Generator, file: Path) -> None:
    """A disk block that was never written."""
    at = int(rng.integers(_size(file) // BLOCK)) * BLOCK
    _patch(file, at, bytes(BLOCK))


def swapped_pages(rng: np.random.Generator, file: Path) -> None:
    """Two whole disk blocks, each in the place of the other."""
    one, other = rng.choice(_size(file) // BLOCK, 2, replace=False).tolist()
    first, second = _block(file, one), _block(file, other)
    _patch(file, one * BLOCK, second)
    _patch(file, other * BLOCK, first)


def cut_file(rng: np.random.Generator, file: Path) -> None:
    """A copy that ended too early."""
    os.truncate(file, int(rng.integers(_size(file))))


def grown_file(rng: np.random.Generator, file: Path) -> None:
    """A copy with something behind its end."""
    with file.open("ab") as out:
        out.write(rng.bytes(int(rng.integers(1, 3 * BLOCK))))


# ---- the file changes while a run reads it ---------------------------------------------------------------------------


def _at_one_read(rng: np.random.Generator, act: Callable[[], None]) -> Reader:
    left = [_some_read(rng)]

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        left[0] -= 1
        if left[0] == -1:
            act()
        return true_read(buffer, position)

    return read


def cut_while_read(rng: np.random.Generator, file: Path) -> Reader:
    """The file is truncated, which would be a SIGBUS for who had mapped it."""
    length = int(rng.integers(_size(file)))
    return _at_one_read(rng, lambda: os.truncate(file, length))


def replaced_while_read(rng: np.random.Generator, file: Path) -> Reader:
    """Another file, of the same length, takes its name."""
    other = file.with_suffix(".new")
    data = bytearray(file.read_bytes())
    data[int(rng.integers(len(data)))] ^= 1
    other.write_bytes(data)
    return _at_one_read(rng, lambda: [other.replace(file)].clear())


def removed_while_read(rng: np.random.Generator, file: Path) -> Reader:
    """The file loses its name."""
    return _at_one_read(rng, file.unlink)


def written_while_read(rng: np.random.Generator, file: Path) -> Reader:
    """A bit changes in place, and the time of the last modification is set back."""
    status = file.stat()

    def write() -> None:
        _flip(rng, file)
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    return _at_one_read(rng, write)


# ---- the disk --------------------------------------------------------------------------------------------------------


def input_error(rng: np.random.Generator, file: Path) -> Reader:
    """EIO at one read, as a bad sector gives it."""

    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    return _at_one_read(rng, fail)


def dead_disk(rng: np.random.Generator, file: Path) -> Reader:
    """EIO at every read from one on."""
    left = [_some_read(rng)]

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return true_read(buffer, position)

    return read


def short_reads(rng: np.random.Generator, file: Path) -> Reader:
    """Reads that bring less than was asked for, even within a disk block."""
    sizes = rng.integers(1, 3 * BLOCK, 97).tolist()

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        return true_read(buffer[: sizes[position // 512 % len(sizes)]], position)

    return read


def lying_disk(rng: np.random.Generator, file: Path) -> Reader:
    """One read brings a wrong bit; before and afterwards the same block is right."""
    left, draw = [_some_read(rng)], float(rng.random())
    bit = 1 << int(rng.integers(8))

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        got = true_read(buffer, position)
        left[0] -= 1
        if left[0] == -1 and got:
            buffer[int(draw * got)] ^= bit
        return got

    return read


def misdirected_read(rng: np.random.Generator, file: Path) -> Reader:
    """One read brings blocks of another place of the same file, whole and with no error."""
    left, shift = [_some_read(rng)], BLOCK * int(rng.integers(1, 9))

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        left[0] -= 1
        if left[0] == -1 and position >= shift:
            return true_read(buffer, position - shift)
        return true_read(buffer, position)

    return read


def stalled_disk(rng: np.random.Generator, file: Path) -> Reader:
    """One read that takes long: mostly a twentieth of a second, sometimes two seconds."""
    seconds = 2.0 if rng.random() < 0.05 else 0.05
    return _at_one_read(rng, lambda: time.sleep(seconds))


def no_direct_reads(rng: np.random.Generator, file: Path) -> Reader:
    """The system takes the flag for direct reads and then refuses them, from one read on."""
    left = [_some_read(rng)]

    def read(true_read: Read, buffer: memoryview, position: int, direct: bool) -> int:
        left[0] -= direct
        if left[0] < 0 and direct:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return true_read(buffer, position)

    return read


BUDGET: Final = "too small a budget"

KINDS: Final[dict[str, Kind]] = {
    kind.__name__.replace("_", " "): kind
    for kind in (
        flipped_bit, zeroed_page, swapped_pages, cut_file, grown_file, cut_while_read, replaced_while_read,
        removed_while_read, written_while_read, input_error, dead_disk, short_reads, lying_disk, misdirected_read,
        stalled_disk, no_direct_reads,
    )
}  # fmt: skip
