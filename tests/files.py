"""Files that tests damage many times over."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["overwrite"]


def overwrite(file: Path, data: bytes | bytearray) -> None:
    """As ``file.write_bytes(data)``, but a file that is there is not emptied first.

    Of one that was, some file systems wait until what came after has reached the disk.
    """
    with open(os.open(file, os.O_RDWR | os.O_CREAT, 0o666), "r+b") as out:
        out.write(data)
        out.truncate()
