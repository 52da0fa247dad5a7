"""What machine code on disk depends on: the text of a kernel module, and of all modules of Dromos that it uses.

The machine code of a kernel contains code of other modules: the functions that it inlines, and their constants. If any
of those modules changes, the kernel is compiled again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["source_digest"]

_PACKAGE: Final = Path(__file__).parent
_IMPORT: Final = re.compile(
    r"^(?:from +dromos([\w.]*) +import +(\([^)]*\)|[^\n]*)|import +dromos([\w.]*))", re.MULTILINE
)


@cache
def source_digest(file: str) -> bytes:
    """A digest of ``file`` and of the modules of Dromos that it imports, directly or indirectly.

    >>> source_digest(__file__) == source_digest(__file__)
    True
    """
    texts: dict[Path, bytes] = {}
    waiting = [Path(file)]
    while waiting:
        path = waiting.pop()
        if path not in texts:
            texts[path] = path.read_bytes()
            waiting += _imported(texts[path].decode())
    # sorted, so that it does not depend on where the files lie: code for a wheel is compiled elsewhere
    return hashlib.sha256(b"".join(sorted(hashlib.sha256(text).digest() for text in texts.values()))).digest()


def _imported(text: str) -> Iterator[Path]:
    """The files of the modules that ``text`` imports from Dromos; for a package, the modules taken from it."""
    for match in _IMPORT.finditer(text):
        module, names = match[1] or match[3] or "", match[2] or ""
        inside = [f"{module}.{name}" for name in re.findall(r"\w+", names)]
        for candidate in (module, *inside):
            path = _PACKAGE.joinpath(*candidate.split(".")).with_suffix(".py")
            if candidate and path.is_file():
                yield path
