"""Whole numbers given by callers: Python's or NumPy's, and nothing that only resembles one."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["whole_number"]


def whole_number(value: Any) -> int | None:
    """``value`` as an int, or None if it is not a whole number: a truth value, a float, text, an array of several.

    >>> import numpy as np
    >>> whole_number(np.int8(3)), whole_number(3.0), whole_number(np.True_), whole_number(np.array([1, 2]))
    (3, None, None, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None
