"""Names of a function: registers, or places in memory with a type that holds all their values."""

from __future__ import annotations

from typing import Final

from dromos.compiler.expressions import Expressions
from dromos.compiler.frames import Widened
from dromos.compiler.values import LoweringError, Shape, Value, shape_of, unified_shapes

__all__ = ["RETURNED", "Variables"]

RETURNED: Final = "return"
"""The name under which a function's result is kept; no variable can have it."""


class Variables(Expressions):
    """Writes assignments to names."""

    def assign(self, name: str, value: Value) -> None:
        """Assign a value to a name: as a register if it is the only assignment, else in memory."""
        frame = self.frame
        if name in frame.source.once and name not in frame.shapes:
            frame.variables[name] = value
            frame.seen[name] = shape_of(value)
            frame.scopes[-1].append(name)
            return
        self.keep(name, value)

    def keep(self, name: str, value: Value) -> None:
        """Assign a value to a variable in memory."""
        frame, shape = self.frame, shape_of(value)
        known = frame.shapes.get(name)
        wide = shape if known is None else unified_shapes(known, shape)
        _require_same_meaning(name, known, shape, wide, name in frame.source.inverted)
        frame.shapes[name] = wide
        if known is not None and wide != known:
            raise Widened(frame)
        slot = frame.variables.get(name)
        if slot is None:
            slot = frame.variables[name] = self.slot(wide)
        self.put(slot, self.converted(value, wide))


def _require_same_meaning(name: str, known: Shape, new: Shape, wide: Shape, inverted: bool) -> None:
    """Refuse a variable of two types, unless both are signed integers, both unsigned ones, or truths.

    Numba distinguishes the successive values of a name; here they share one type. A truth is 0 or 1 in any integer
    type, but ``~`` of it is another number there, so a name that is ``inverted`` must be one or the other.
    """
    if known is None or known == new or name == RETURNED:
        return
    if isinstance(known, str) and isinstance(new, str):
        signs = {known[0], new[0]} - (set() if inverted else {"b"})
        if len(signs) > 1 or "f" in signs:
            raise LoweringError(f"{name} is of two types, {known} and {new}")
    elif isinstance(known, tuple) and isinstance(new, tuple) and isinstance(wide, tuple):
        for old, other, both in zip(known, new, wide, strict=True):
            _require_same_meaning(name, old, other, both, inverted)
