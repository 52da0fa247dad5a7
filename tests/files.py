"""Helpers for files that tests damage many times."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["overwrite"]


def overwrite(file: Path, data: bytes | bytearray) -> None:
    """Like ``file.write_bytes(data)``, but without truncating an existing file first.

    After a truncation, some file systems wait until the new data has reached the disk.
    """
    with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as out:
        out.write(data)
        out.truncate()
