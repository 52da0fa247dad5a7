"""Random numbers that a program draws: by counting, without a state, so that every engine and path draws the same."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from dromos.errors import ProgramTypeError
from dromos.program.functions import cast
from dromos.program.place import here
from dromos.program.values import lift

__all__ = ["random"]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FACTORS: Final = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)))
_DIGITS: Final = 53  # of a float64
_WORD: Final = 1 << 64


def random(*numbers: Any) -> Any:
    """A float64 in [0, 1), uniformly distributed, that depends only on the given integers.

    The same integers give the same number at every vertex and edge, on every engine, path and device, and with any
    number of threads. So pass everything that should make draws differ, as in
    ``dr.random(v.id, self.superstep, self.seed)``. Negative integers and truth values are allowed; floats are refused.
    The order of the integers matters. A vector gives a vector.

    ``random(i)`` is the i-th number of SplitMix64 with seed 0, ``random(a, i)`` the i-th with the a-th as the seed, and
    so on. It is not cryptographically secure.

    >>> import numpy as np
    >>> import dromos as dr
    >>> class Coins(dr.Program):
    ...     seed = dr.param(int)
    ...     draw = dr.field(np.float64)
    ...     combine = dr.ANY
    ...     def init(self, v): return dr.random(v.id, self.seed)
    ...     def start(self, v): return False
    ...     def compute(self, u, edge, v): return u.draw
    ...     def update(self, v, message): return message
    >>> dr.run(Coins(seed=7), dr.generators.path(4), device="reference").draw.round(3).tolist()
    [0.265, 0.254, 0.729, 0.954]
    """
    if not numbers:
        raise ProgramTypeError(
            "dr.random() needs integers to depend on, such as dr.random(v.id, self.superstep)", **here()
        )
    word: Any = None
    for number in numbers:
        count = _word(number) * _STEP + _STEP
        word = _mixed(count if word is None else word + count)
    return cast(word >> (64 - _DIGITS), np.float64) * 2.0**-_DIGITS


def _word(number: Any) -> Any:
    """An integer modulo 2^64. Of a symbol's type nothing is known yet; an operation on bits refuses floats later."""
    if isinstance(number, float | np.floating):
        raise ProgramTypeError(f"dr.random takes integers, not {number!r}", **here())
    if isinstance(number, int | np.integer):
        return lift(np.uint64(int(number) % _WORD))
    return cast(lift(number) ^ 0, np.uint64)


def _mixed(word: Any) -> Any:
    for shift, factor in _FACTORS:
        word = (word ^ (word >> shift)) * factor
    return word ^ (word >> 31)
