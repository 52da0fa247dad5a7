"""Values of ``combine =``: commutative, associative ways to merge messages, and their properties as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dromos.errors import ProgramError

__all__ = ["AND", "ANY", "ARGMAX", "ARGMIN", "MAX", "MIN", "MONOIDS", "OR", "SUM", "Monoid", "monoid_of"]


@dataclass(frozen=True)
class Monoid:
    """A way to merge messages.

    ``operator`` is the IR's operator that merges two values (None: no single operator does). ``keyed`` merges compare
    the first component of a message, then the next ones, and keep the whole message that wins. One with ``parts``
    merges each component of a message by its own.
    """

    name: str
    operator: str | None
    idempotent: bool
    keyed: bool = False
    parts: tuple[Monoid, ...] = ()

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is again the one that is compared by identity."""
        whole = Monoid, (self.name, self.operator, self.idempotent, self.keyed, self.parts)
        return whole if self.parts else (_by_name, (self.name,))

    @property
    def has_identity(self) -> bool:
        """ANY has none: a vertex that got no message has nothing to vote for."""
        return self is not ANY

    def part(self, index: int) -> Monoid:
        """How the component ``index`` of a message is merged."""
        return self.parts[index] if self.parts else self

    def accumulator(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type in which messages of ``dtype`` are merged: sums of narrow integers widen to 64 bits.

        >>> SUM.accumulator(np.dtype(np.int32)), MIN.accumulator(np.dtype(np.int32))
        (dtype('int64'), dtype('int32'))
        """
        if self is not SUM or dtype.kind == "f":
            return dtype
        return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)

    def identity(self, dtype: np.dtype[Any]) -> Any:
        """The value that changes nothing when merged.

        >>> MIN.identity(np.dtype(np.float32)), SUM.identity(np.dtype(np.int64)), AND.identity(np.dtype(np.uint32))
        (np.float32(inf), np.int64(0), np.uint32(4294967295))
        """
        if self in (MIN, ARGMIN):
            return dtype.type(_highest(dtype))
        if self in (MAX, ARGMAX):
            return dtype.type(_lowest(dtype))
        if self is AND:
            return dtype.type(True) if dtype.kind == "b" else np.invert(dtype.type(0))
        return dtype.type(0)


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def _lowest(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


MIN: Final = Monoid("MIN", "min", idempotent=True)
"""The least message."""
MAX: Final = Monoid("MAX", "max", idempotent=True)
"""The greatest message."""
SUM: Final = Monoid("SUM", "add", idempotent=False)
"""The sum of all messages; integers are added in 64 bits."""
OR: Final = Monoid("OR", "or", idempotent=True)
"""Logical or of booleans, bitwise or of integers."""
AND: Final = Monoid("AND", "and", idempotent=True)
"""Logical and of booleans, bitwise and of integers."""
ANY: Final = Monoid("ANY", None, idempotent=True)
"""One of the messages, whichever; which one may differ between runs."""
ARGMIN: Final = Monoid("ARGMIN", None, idempotent=True, keyed=True)
"""Of messages that are tuples, the least one, by its first number and then the next ones; it is kept whole."""
ARGMAX: Final = Monoid("ARGMAX", None, idempotent=True, keyed=True)
"""Of messages that are tuples, the greatest one, by its first number and then the next ones; it is kept whole."""

MONOIDS: Final[Mapping[str, Monoid]] = {m.name: m for m in (MIN, MAX, SUM, OR, AND, ANY, ARGMIN, ARGMAX)}


def _by_name(name: str) -> Monoid:
    return MONOIDS[name]


def monoid_of(given: object, program: str) -> Monoid:
    """``given`` if it is one of the known monoids (or its name), else an error that lists them.

    >>> monoid_of("min", "SSSP")
    MIN
    >>> monoid_of((SUM, OR), "Counting").part(1)
    OR
    """
    if isinstance(given, tuple | list):
        return _product(tuple(monoid_of(part, program) for part in given), program)
    found = MONOIDS.get(given.upper()) if isinstance(given, str) else given
    if isinstance(found, Monoid) and MONOIDS.get(found.name) is found:
        return found
    raise ProgramError(
        f"combine = {given!r} is not a monoid that Dromos knows; use one of {', '.join(MONOIDS)}", program=program
    )


def _product(parts: tuple[Monoid, ...], program: str) -> Monoid:
    for part in parts:
        if part.operator is None:
            raise ProgramError(
                f"combine = {parts!r}: {part} keeps whole messages, so it cannot merge one part of them; a tuple is of "
                "MIN, MAX, SUM, OR and AND",
                program=program,
            )
    if not parts:
        raise ProgramError("combine = () merges nothing; name a monoid for each part of a message", program=program)
    name = "+".join(part.name for part in parts)
    return Monoid(name, None, idempotent=all(part.idempotent for part in parts), parts=parts)
