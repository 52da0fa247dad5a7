"""The structures of the kernels as record types on the host, read from the kernels' own files.

A structure is declared once, in a ``.cuh`` file. A pointer has 8 bytes on the host too, so a record with the same
members, aligned as in C, is passed to a kernel by value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import numpy as np

from dromos.engines.cuda.compiler import FOLDER

__all__ = ["number_of", "record_of"]

_NUMBERS: Final = {"i64": "i8", "u64": "u8", "unsigned": "u4", "int": "i4", "double": "f8"}
_STRUCTURE: Final = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_MEMBERS: Final = re.compile(r"(?:const )?((?:unsigned )?\w+)(\*?) (.+)", re.DOTALL)


def record_of(
    file: str,
    structure: str,
    types: Mapping[str, np.dtype[Any]] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> np.dtype[Any]:
    """The type of the structure of that name in ``kernels/<file>.cuh``.

    Args:
        file: the name of the file.
        structure: that of the structure; one with functions, or without a line of its own for its end, is not found.
        types: of members that are structures themselves.
        sizes: of arrays whose length is a name.

    >>> record_of("frame", "Step").names
    ('horizon', 'nanoseconds', 'policy', 'selective', 'alpha', 'beta', 'delta', 'widest')
    """
    known = {name: np.dtype(code) for name, code in _NUMBERS.items()} | dict(types or {})
    members = []
    for statement in _structures(file)[structure].split(";")[:-1]:
        found = _MEMBERS.fullmatch(statement.strip())
        assert found is not None, f"{file}.cuh, {structure}: {statement}"
        dtype = np.dtype(np.uint64) if found[2] else known[found[1]]
        for declared in found[3].split(","):
            name, *lengths = re.findall(r"\w+", declared)
            shape = tuple(int(one) if one.isdigit() else (sizes or {})[one] for one in lengths)
            members.append((name, dtype, shape))
    return np.dtype(members, align=True)


@lru_cache(maxsize=64)
def number_of(file: str, name: str) -> int:
    """The integer that ``kernels/<file>.cuh`` defines under that name.

    >>> number_of("native_components", "SAMPLES")
    512
    """
    found = re.search(rf"^#define {name} (\d+)\b", (FOLDER / f"{file}.cuh").read_text(), re.MULTILINE)
    assert found is not None, f"{file}.cuh defines no number {name}"
    return int(found[1])


@lru_cache(maxsize=16)
def _structures(file: str) -> dict[str, str]:
    """The members of each structure of a file, without comments."""
    text = re.sub(r"//[^\n]*", "", (FOLDER / f"{file}.cuh").read_text())
    return dict(_STRUCTURE.findall(text))
