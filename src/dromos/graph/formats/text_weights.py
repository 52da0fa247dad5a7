"""Weights read from text: never changed by a rounding that nobody asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dromos.dtypes import Array

__all__ = ["WeightTrouble", "exact_float", "narrowed"]

_WHOLE = re.compile(r"[+-]?[0-9]+\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z|[+-]?inf(inity)?\Z", re.IGNORECASE)


class WeightTrouble(Exception):
    """A weight that cannot be kept; knows its row."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def exact_float(token: str, row: int, *, rounded: bool = False) -> tuple[float, bool]:
    """The double that ``token`` stands for, and whether it is a whole number.

    >>> exact_float("0.1e-3", 0)
    (0.0001, False)
    """
    if not _NUMBER.match(token):
        kind = "is not a number (NaN)" if token.lower().lstrip("+-") == "nan" else "is not a number"
        raise WeightTrouble(row, f"the weight {token!r} {kind}")
    value = float(token)
    whole = bool(_WHOLE.match(token))
    if whole and not rounded and (abs(value) == float("inf") or int(token) != value):
        raise WeightTrouble(
            row, f"the weight {token} is not exact in float64; pass weight_dtype='float64' to accept the rounding"
        )
    return value, whole


def narrowed(values: Array, whole: bool, dtype: np.dtype[Any] | None, token_of: Callable[[int], str] = str) -> Array:
    """Parsed weights in the type asked for, or in the smallest that keeps them: ``int32`` or ``float64``.

    ``whole`` tells that all are whole numbers; ``token_of`` gives the text of a row, to decide a tie of ``float32``.

    >>> narrowed(np.array([1.0, 2.0]), True, None).dtype
    dtype('int32')
    """
    if dtype == np.float32:
        return _single(values, token_of)
    fits = (values >= -(2.0**31)) & (values < 2.0**31)
    if dtype == np.int32:
        wrong = ~fits
        wrong[fits] = np.trunc(values[fits]) != values[fits]
        if wrong.any():
            row = int(np.argmax(wrong))
            raise WeightTrouble(row, f"the weight {values[row]!r} does not fit int32")
        return values.astype(np.int32)
    if dtype is None and whole and fits.all():
        return values.astype(np.int32)
    return values


def _single(values: Array, token_of: Callable[[int], str]) -> Array:
    """Doubles to singles, as if the text had been rounded to single precision at once."""
    with np.errstate(over="ignore"):
        result = values.astype(np.float32)
        overflown = np.isinf(result) & ~np.isinf(values)
        if overflown.any():
            row = int(np.argmax(overflown))
            raise WeightTrouble(row, f"the weight {values[row]!r} does not fit float32")
    rounded = result.astype(np.float64)
    rows = np.flatnonzero((values != rounded) & np.isfinite(values))
    with np.errstate(over="ignore"):  # the neighbor of the largest number is infinite
        others = np.nextafter(result[rows], np.where(values[rows] > rounded[rows], np.inf, -np.inf).astype(np.float32))
    on_tie = values[rows] - rounded[rows] == others.astype(np.float64) - values[rows]
    for row, other in zip(rows[on_tie].tolist(), others[on_tie], strict=True):
        exact, tie = Fraction(token_of(row)), Fraction(float(values[row]))
        if exact != tie:  # the first rounding put it on the tie: only the text tells the side
            lower, upper = sorted((result[row], other))
            result[row] = upper if exact > tie else lower
    return result
