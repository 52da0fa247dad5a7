"""Where things stand in the memory that a native team shares: its words, and the block with the call to run."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ARRAY", "ARRAY_DATA", "ARRAY_SHAPE", "ARRAY_STRIDES", "BLOCK_ARGUMENTS", "BLOCK_ENTRY", "BLOCK_EXCEPTION",
    "BLOCK_FAILED", "BLOCK_FIRST_THREAD", "BLOCK_KERNEL", "BLOCK_THREADS", "BLOCK_WORDS", "CALLER_SLEEPS",
    "DONE", "FAILED", "FUTEX_NUMBERS", "REMAINING", "ROUND", "RUNNING", "SLEEPERS", "TEAM_WORDS",
]  # fmt: skip

_LINE: Final = 32  # words of 4 bytes: two cache lines, since neighbours are fetched in pairs
ROUND: Final = 0
SLEEPERS: Final = _LINE
REMAINING: Final = 2 * _LINE
CALLER_SLEEPS: Final = 3 * _LINE
TEAM_WORDS: Final = 4 * _LINE

# words of 8 bytes
BLOCK_ENTRY: Final = 0  # the address of the function that hands the arguments to the kernel; 0: the team is dismissed
BLOCK_KERNEL: Final = 1  # the address of the kernel's machine code
BLOCK_THREADS: Final = 2
BLOCK_FIRST_THREAD: Final = 3  # what the first worker is called: 1 where the caller is thread 0
BLOCK_FAILED: Final = 4  # the status of a kernel that raised
BLOCK_EXCEPTION: Final = 5  # the address of what it raised, as Numba describes it
BLOCK_ARGUMENTS: Final = 8
BLOCK_WORDS: Final = 1024

RUNNING, DONE, FAILED = range(3)
"""How a call stands."""

ARRAY: Final = 1 << 16
"""The kind of an argument that is an array: this, its dimensions, and 16 times the bytes of an item."""

# Offsets into NumPy's PyArrayObject, a part of its binary interface; dromos.team_calls compares them with an array.
ARRAY_DATA: Final = 16
ARRAY_SHAPE: Final = 32
ARRAY_STRIDES: Final = 40

FUTEX_NUMBERS: Final = {"x86_64": 202, "aarch64": 98}
"""The number of the system call on Linux."""
