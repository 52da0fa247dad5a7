"""The layout of the memory that a native team shares: its words, and the block with the call to run."""

from __future__ import annotations

from typing import Final

__all__ = [
    "BLOCK_ARGUMENTS", "BLOCK_ENTRY", "BLOCK_FIRST_THREAD", "BLOCK_THREADS", "BLOCK_WORDS", "CALLER_SLEEPS",
    "FUTEX_NUMBERS", "REMAINING", "ROUND", "SLEEPERS", "TEAM_WORDS",
]  # fmt: skip

_LINE: Final = 32  # words of 4 bytes: two cache lines, since adjacent lines are fetched in pairs
ROUND: Final = 0
SLEEPERS: Final = _LINE
REMAINING: Final = 2 * _LINE
CALLER_SLEEPS: Final = 3 * _LINE
TEAM_WORDS: Final = 4 * _LINE

# words of 8 bytes
BLOCK_ENTRY: Final = 0  # the address of the kernel's machine code; 0: the team is dismissed
BLOCK_THREADS: Final = 1
BLOCK_FIRST_THREAD: Final = 2  # the thread number of the first worker: 1 if the caller is thread 0
BLOCK_ARGUMENTS: Final = 3
BLOCK_WORDS: Final = 1024

FUTEX_NUMBERS: Final = {"x86_64": 202, "aarch64": 98}
"""The number of the system call on Linux."""
