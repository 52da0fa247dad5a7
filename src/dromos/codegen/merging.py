"""What merging means to a kernel, independent of the language."""

from __future__ import annotations

from typing import Final, Literal

from dromos.program.monoid import ANY, Monoid

__all__ = ["BETTER", "comes_first", "way_to_share"]

BETTER: Final = {"MIN": "<", "MAX": ">", "ARGMIN": "<", "ARGMAX": ">"}
"""The comparison of a replacing value with the replaced one, by the monoid's name; the same in Python and C++."""


def way_to_share(monoid: Monoid, components: int) -> Literal["store", "lock", "atomics"]:
    """How threads merge messages into one place: by a plain store, whole under a lock, or per component with atomics.

    >>> from dromos.program.monoid import MIN
    >>> way_to_share(ANY, 1), way_to_share(ANY, 2), way_to_share(MIN, 2)
    ('store', 'lock', 'atomics')
    """
    if monoid is ANY and components == 1:
        return "store"
    return "lock" if monoid is ANY or monoid.keyed else "atomics"


def comes_first(monoid: Monoid, pairs: list[tuple[str, str]], *, either: str, both: str) -> str:
    """The test whether one row precedes another, comparing numbers in order; a NaN never precedes.

    ``pairs``: the texts of the numbers of both rows; ``either``, ``both``: the language's "or" and "and".

    >>> from dromos.program.monoid import ARGMIN
    >>> comes_first(ARGMIN, [("a", "b"), ("x", "y")], either="or", both="and")
    'a < b or (a == b and (x < y))'
    """
    test = ""
    for new, best in reversed(pairs):
        first = f"{new} {BETTER[monoid.name]} {best}"
        test = f"{first} {either} ({new} == {best} {both} ({test}))" if test else first
    return test
