"""Kernel skeletons: how a superstep walks the graph, for any program.

They are real Python modules that import a program's functions from ``hooks`` (an example, so that editors and linters
see complete modules). :mod:`dromos.engines.cpu.emit` substitutes a program's own hooks: everything above the line
``HOOKS_END`` is replaced. Only ``common`` is imported as it is. The host reads the constants that it needs, such as
sizes and positions in shared arrays, from the text of the skeletons (:func:`constants`): importing one would import the
compiler.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["FOLDER", "HOOKS_END", "constants"]

FOLDER: Final = Path(__file__).parent
HOOKS_END: Final = "# ---- everything above is replaced by a program's own hooks"
_NUMBERS: Final = re.compile(r"^([A-Z_]+(?:, [A-Z_]+)*) = (?:range\((\d+)\)|(\d+(?:, \d+)*))(?: *#.*)?$", re.MULTILINE)


def constants(skeleton: str, *names: str) -> tuple[int, ...]:
    """The integer constants of a skeleton under these names.

    >>> constants("claiming", "PUSH", "PULL")
    (0, 1)
    """
    return tuple(_constants(skeleton)[name] for name in names)


@cache
def _constants(skeleton: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for names, count, values in _NUMBERS.findall((FOLDER / f"{skeleton}.py").read_text()):
        numbers = range(int(count)) if count else map(int, values.split(", "))
        found.update(zip(names.split(", "), numbers, strict=True))
    return found
