"""The functions that a program may use beside Python's operators. NumPy's (``np.minimum``) are traced too."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from dromos.program.types import IdType
from dromos.program.values import apply

__all__ = [
    "absolute",
    "arctan",
    "cast",
    "ceil",
    "cos",
    "exp",
    "expm1",
    "floor",
    "isfinite",
    "isnan",
    "log",
    "log1p",
    "maximum",
    "minimum",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "where",
]


def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """``if_true`` where ``condition`` holds, else ``if_false``: the branch of a program.

    >>> from dromos.program.values import Value
    >>> from dromos.program.expr import Expr
    >>> w = Value(Expr("weight"))
    >>> where(w < 0, 0, w)
    Value(where(lt(weight, const(int, 0)), const(int, 0), weight))
    """
    return apply("where", condition, if_true, if_false)


def minimum(a: Any, b: Any) -> Any:
    """``b`` if ``b < a``, else ``a``: a NaN in ``b`` never replaces a number in ``a``."""
    return apply("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """``b`` if ``b > a``, else ``a``: a NaN in ``b`` never replaces a number in ``a``."""
    return apply("max", a, b)


def cast(value: Any, dtype: DTypeLike | IdType) -> Any:
    """``value`` converted to ``dtype``: floats lose their fraction, and integers wrap around, as in NumPy.

    A float outside the range of an integer type becomes the nearest number of that type, and NaN becomes 0, on every
    processor.
    """
    return apply("cast", value, attr=("id" if isinstance(dtype, IdType) else np.dtype(dtype).name,))


def absolute(x: Any) -> Any:
    """The magnitude of ``x``; the same as ``abs(x)``."""
    return apply("abs", x)


def sqrt(x: Any) -> Any:
    """The square root."""
    return apply("sqrt", x)


def exp(x: Any) -> Any:
    """``e`` to the power of ``x``."""
    return apply("exp", x)


def expm1(x: Any) -> Any:
    """``exp(x) - 1``, exact for small ``x``."""
    return apply("expm1", x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return apply("log", x)


def log1p(x: Any) -> Any:
    """``log(1 + x)``, exact for small ``x``."""
    return apply("log1p", x)


def sin(x: Any) -> Any:
    """The sine."""
    return apply("sin", x)


def cos(x: Any) -> Any:
    """The cosine."""
    return apply("cos", x)


def tan(x: Any) -> Any:
    """The tangent."""
    return apply("tan", x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def arctan(x: Any) -> Any:
    """The inverse tangent."""
    return apply("arctan", x)


def floor(x: Any) -> Any:
    """The greatest whole number not above ``x``, in ``x``'s type."""
    return apply("floor", x)


def ceil(x: Any) -> Any:
    """The least whole number not below ``x``, in ``x``'s type."""
    return apply("ceil", x)


def isnan(x: Any) -> Any:
    """Whether ``x`` is not a number."""
    return apply("isnan", x)


def isfinite(x: Any) -> Any:
    """Whether ``x`` is neither infinite nor NaN."""
    return apply("isfinite", x)
