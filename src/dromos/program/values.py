"""The symbolic values that a program's functions are called with: Python's operators build expressions.

:class:`Value` is one number; :class:`Vector` is a short, fixed row of them. A vector is a Python-side convenience: the
IR only ever holds scalars, so every backend handles vectors without knowing them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias, overload

import numpy as np

from dromos.errors import ProgramError, ProgramTypeError, UntraceableError
from dromos.program.expr import Expr, build, const
from dromos.program.place import here

__all__ = ["Operand", "Value", "Vector", "apply", "lift"]

_BRANCH_MEND = (
    "write dr.where(condition, a, b) for a choice, dr.minimum and dr.maximum for min() and max(), "
    "and & | ~ for and, or, not"
)


def _binary(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: apply(op, self, other)


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: apply(op, other, self)


class _Operators:
    """The operators that scalars and vectors share."""

    __hash__ = None  # type: ignore[assignment]  # `==` builds an expression, so a symbol cannot be a key

    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("truediv"), _reflected("truediv")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __rpow__ = _reflected("pow")
    __and__, __rand__ = _binary("and"), _reflected("and")
    __or__, __ror__ = _binary("or"), _reflected("or")
    __xor__, __rxor__ = _binary("xor"), _reflected("xor")
    __lshift__, __rlshift__ = _binary("lshift"), _reflected("lshift")
    __rshift__, __rrshift__ = _binary("rshift"), _reflected("rshift")
    __lt__, __le__ = _binary("lt"), _binary("le")
    __gt__, __ge__ = _binary("gt"), _binary("ge")
    __eq__, __ne__ = _binary("eq"), _binary("ne")

    def __neg__(self) -> Any:
        return apply("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return apply("abs", self)

    def __invert__(self) -> Any:
        return apply("invert", self)

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, int) and not isinstance(exponent, bool) and 1 <= exponent <= 8:
            power: Any = self  # exact for integers, and cheaper than pow
            for _ in range(exponent - 1):
                power = power * self
            return power
        return apply("pow", self, exponent)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        op = _UFUNCS.get(ufunc.__name__)
        if op is None or method != "__call__" or options:
            raise ProgramError(f"np.{ufunc.__name__} cannot be traced; see dromos.program for what can", **here())
        return apply(op, *inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.where and len(args) == 3 and not options:
            return apply("where", *args)
        raise ProgramError(f"np.{function.__name__} cannot be traced; see dromos.program for what can", **here())


_UFUNCS: Final[Mapping[str, str]] = {
    **{name: name for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh", "arctan")},
    **{name: name for name in ("floor", "ceil", "isnan", "isfinite", "invert")},
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "power": "pow",
    "negative": "neg",
    "absolute": "abs",
    "minimum": "min",
    "maximum": "max",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
    "equal": "eq",
    "not_equal": "ne",
    "left_shift": "lshift",
    "right_shift": "rshift",
    **{f"bitwise_{name}": name for name in ("and", "or", "xor")},
}


class Value(_Operators):
    """One symbolic number."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def __repr__(self) -> str:
        return f"Value({self.expr!r})"

    def __bool__(self) -> NoReturn:
        raise UntraceableError(
            "a symbol has no truth value while the program is traced (an if, and, or, not, while, min, max); "
            f"{_BRANCH_MEND}",
            **here(),
        )

    def _refuse(self) -> NoReturn:
        raise UntraceableError(
            "a symbol has no numeric value while the program is traced (an int(), float(), range() or math function); "
            "use dr.cast and the functions of dr, such as dr.sqrt",
            **here(),
        )

    def __int__(self) -> int:
        self._refuse()

    def __index__(self) -> int:
        raise UntraceableError(
            "a symbol cannot be an index while the program is traced (of a list, in range()); declare values by vertex "
            "with `table = dr.vertex_param(dtype)`, and write v.table for table[v.id]",
            **here(),
        )

    def __float__(self) -> float:
        self._refuse()

    def __iter__(self) -> Iterator[Value]:
        raise UntraceableError("a scalar symbol cannot be looped over; only vectors can", **here())

    def __len__(self) -> int:
        raise UntraceableError("a scalar symbol has no len(); only vectors have one", **here())

    def __round__(self, digits: int | None = None) -> NoReturn:
        raise UntraceableError("round() needs a number, not a symbol; write dr.floor(x + 0.5)", **here())

    def __divmod__(self, other: Any) -> NoReturn:
        raise UntraceableError("divmod() needs numbers, not symbols; write a // b and a % b", **here())

    __rdivmod__ = __divmod__

    def __matmul__(self, other: Any) -> NoReturn:
        raise UntraceableError("@ has no meaning for symbols; write (a * b), or (a * b).sum() of vectors", **here())

    __rmatmul__ = __matmul__


class Vector(_Operators):
    """A row of symbolic numbers of a fixed size; operators work component by component.

    >>> a = Vector([Expr("weight"), const(2)])
    >>> (a + 1).exprs
    (add(weight, const(int, 1)), const(int, 3))
    """

    __slots__ = ("exprs",)

    def __init__(self, exprs: Sequence[Expr]) -> None:
        self.exprs = tuple(exprs)

    def __len__(self) -> int:
        return len(self.exprs)

    def __iter__(self) -> Iterator[Value]:
        return (Value(expr) for expr in self.exprs)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Vector: ...
    def __getitem__(self, index: int | slice) -> Value | Vector:
        if isinstance(index, slice):
            return Vector(self.exprs[index])
        return Value(self.exprs[index])

    def __repr__(self) -> str:
        return f"Vector({list(self.exprs)!r})"

    def __bool__(self) -> NoReturn:
        raise UntraceableError(f"a vector of symbols has no truth value; {_BRANCH_MEND}", **here())

    def _fold(self, op: str) -> Value:
        total = self[0]
        for part in self[1:]:
            total = apply(op, total, part)
        return total

    def sum(self) -> Value:
        """The sum of the components."""
        return self._fold("add")

    def min(self) -> Value:
        """The least component."""
        return self._fold("min")

    def max(self) -> Value:
        """The greatest component."""
        return self._fold("max")

    def any(self) -> Value:
        """Whether any component is true."""
        return self._fold("or")

    def all(self) -> Value:
        """Whether all components are true."""
        return self._fold("and")


Operand: TypeAlias = Value | Vector | bool | int | float | np.generic


def lift(value: Any) -> Value | Vector:
    """``value`` as a symbol: a number becomes a constant, a row of numbers a vector.

    >>> lift(1), lift([1, 2.5])
    (Value(const(int, 1)), Vector([const(int, 1), const(float, 2.5)]))
    """
    if isinstance(value, Value | Vector):
        return value
    if isinstance(value, bool | int | float | np.generic):
        return Value(const(value))
    if isinstance(value, list | tuple | np.ndarray):
        parts = [lift(part) for part in value]
        if parts and all(isinstance(part, Value) for part in parts):
            return Vector([part.expr for part in parts if isinstance(part, Value)])
    raise ProgramTypeError(f"{value!r} is neither a number, a symbol, nor a row of them", **here())


def apply(op: str, *operands: Any, attr: tuple[Any, ...] = ()) -> Any:
    """``op`` on operands of which some may be vectors; a scalar is repeated to meet them."""
    lifted = [lift(operand) for operand in operands]
    sizes = {len(operand) for operand in lifted if isinstance(operand, Vector)}
    if not sizes:
        return Value(build(op, *(operand.expr for operand in lifted if isinstance(operand, Value)), attr=attr))
    if len(sizes) > 1:
        raise ProgramTypeError(f"vectors of sizes {sorted(sizes)} cannot be combined in {op!r}", **here())
    (size,) = sizes
    rows = [operand.exprs if isinstance(operand, Vector) else (operand.expr,) * size for operand in lifted]
    return Vector([build(op, *parts, attr=attr) for parts in zip(*rows, strict=True)])
