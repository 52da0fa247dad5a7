"""What an expression means: its value, computed node by node with NumPy scalars of exactly the inferred types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from dromos.dtypes import Array
from dromos.program.expr import Expr, walk
from dromos.program.types import Typing

__all__ = ["convert", "evaluate", "evaluate_arrays", "evaluate_in_silence"]


def _power(base: Any, exponent: Any) -> Any:
    """As C's ``pow``: NumPy takes an exponent of 0.5 for a square root, which has another value at -inf and -0."""
    found = np.power(base, exponent)
    is_root = exponent == 0.5
    if not np.any(is_root):
        return found
    return np.where(is_root & (np.isneginf(base) | (base == 0)), np.absolute(base), found)[()]


_MEANING: Final[Mapping[str, Callable[..., Any]]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": lambda a, b: np.floor_divide(a, b) if a.dtype.kind in "iu" else np.floor(a / b),
    "mod": np.remainder,
    "pow": _power,
    "neg": np.negative,
    "abs": np.absolute,
    "min": lambda a, b: b if b < a else a,
    "max": lambda a, b: b if b > a else a,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "invert": np.invert,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "where": lambda condition, a, b: a if condition else b,
    **{name: getattr(np, name) for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos", "tan", "tanh")},
    **{name: getattr(np, name) for name in ("arctan", "floor", "ceil", "isnan", "isfinite")},
}

_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)
_Step = Callable[[list[Any], Callable[[Expr], Any]], Any]

_ON_ARRAYS: Final[Mapping[str, Callable[..., Any]]] = {
    **_MEANING,
    "min": lambda a, b: np.where(b < a, b, a),
    "max": lambda a, b: np.where(b > a, b, a),
    "where": np.where,
}


def convert(value: Any, dtype: np.dtype[Any]) -> Any:
    """``value`` as a scalar of ``dtype``: integers wrap around, floats outside an integer type stop at its ends.

    >>> convert(300, np.dtype(np.int8)), convert(0.5, np.dtype(np.bool_)), convert(-1e30, np.dtype(np.int8))
    (np.int8(44), np.True_, np.int8(-128))
    """
    if type(value) is dtype.type:
        return value
    return _as(np.asarray(value), dtype)[()]


def _constant(value: Any, dtype: np.dtype[Any]) -> Any:
    """A constant in its own type.

    A Python integer beyond ``int64`` keeps its value: it takes the type of what it meets, and was found to fit there.
    """
    if type(value) is int and not _INT64.min <= value <= _INT64.max:
        return np.uint64(value) if 0 < value <= _UINT64.max else np.float64(value)
    return convert(value, dtype)


def evaluate(expr: Expr, typing: Typing, leaf: Callable[[Expr], Any]) -> Any:
    """The value of ``expr``; ``leaf`` gives the values of its symbols.

    Integers wrap around and a division by zero gives NumPy's result, silently, as compiled code does.

    >>> from dromos.program.expr import build, const
    >>> from dromos.program.types import GraphTypes
    >>> typing = Typing(GraphTypes(weight=np.dtype(np.float32)), lambda node, _: ...)
    >>> evaluate(build("add", Expr("weight"), const(1)), typing, lambda node: 2.5)
    np.float32(3.5)
    """
    with np.errstate(all="ignore"):
        return evaluate_in_silence(expr, typing, leaf)


def evaluate_in_silence(expr: Expr, typing: Typing, leaf: Callable[[Expr], Any]) -> Any:
    """As :func:`evaluate`, for callers with many expressions who have told NumPy once to be silent."""
    plan = typing.plans.get(expr)
    if plan is None:
        plan = typing.plans[expr] = _planned(expr, typing)
    if len(plan) == 1:  # a constant is what most programs say of who sends and who wants a message
        return plan[0]([], leaf)
    values: list[Any] = []
    for step in plan:
        values.append(step(values, leaf))
    return values[-1]


def _planned(root: Expr, typing: Typing) -> list[_Step]:
    """A step for each node under ``root``, arguments first: it is given the values of those before it."""
    nodes = list(walk([root]))
    places = {node: place for place, node in enumerate(nodes)}
    with np.errstate(all="ignore"):
        return [_step(node, typing, [places[arg] for arg in node.args]) for node in nodes]


def _step(node: Expr, typing: Typing, places: list[int]) -> _Step:
    """What computes ``node``; its arguments stand at ``places``. Whatever is known of the types is decided here."""
    operands, (result, _) = typing.signature(node)
    scalar = result.type

    def typed(value: Any) -> Any:
        return value if type(value) is scalar else convert(value, result)

    if node.op == "const":
        constant = _constant(node.value, result)
        return lambda values, leaf: constant
    if node.op == "table":
        return lambda values, leaf: leaf(node)
    if not node.args:
        return lambda values, leaf: typed(leaf(node))
    if node.op == "at":
        table, place, count = places
        return lambda values, leaf: typed(_row(values[table], int(values[place]), int(values[count]), *node.attr))
    if node.op == "cast":
        (given,) = places
        return lambda values, leaf: typed(values[given])
    meaning = _MEANING[node.op]
    if all(typing.of(arg).dtype == dtype for arg, dtype in zip(node.args, operands, strict=True)):
        if len(places) == 2:
            first, second = places
            return lambda values, leaf: typed(meaning(values[first], values[second]))
        return lambda values, leaf: typed(meaning(*[values[at] for at in places]))
    pairs = list(zip(places, operands, strict=True))
    return lambda values, leaf: typed(meaning(*[convert(values[at], dtype) for at, dtype in pairs]))


def evaluate_arrays(roots: Sequence[Expr], typing: Typing, leaf: Callable[[Expr], Any]) -> list[Array]:
    """The values of several expressions on whole arrays, one element after the other as :func:`evaluate` means it.

    ``leaf`` gives arrays of one length, or numbers; a root that depends on no array comes back without dimensions.

    >>> from dromos.program.expr import build, const
    >>> from dromos.program.types import GraphTypes
    >>> typing = Typing(GraphTypes(weight=np.dtype(np.float32)), lambda node, _: ...)
    >>> evaluate_arrays([build("add", Expr("weight"), const(1))], typing, lambda node: np.array([2.5, 3.5]))
    [array([3.5, 4.5], dtype=float32)]
    """
    key = tuple(roots)
    plan = typing.plans.get(key)
    if plan is None:
        plan = typing.plans[key] = _planned_on_arrays(key, typing)
    steps, places = plan
    values: list[Array] = []
    with np.errstate(all="ignore"):
        for step in steps:
            values.append(step(values, leaf))
    return [values[place] for place in places]


def _planned_on_arrays(roots: tuple[Expr, ...], typing: Typing) -> tuple[list[_Step], list[int]]:
    """As :func:`_planned` for whole arrays and several roots, and where the values of the roots stand."""
    nodes = list(walk(roots))
    places = {node: place for place, node in enumerate(nodes)}
    with np.errstate(all="ignore"):
        steps = [_step_on_arrays(node, typing, [places[arg] for arg in node.args]) for node in nodes]
    return steps, [places[root] for root in roots]


def _step_on_arrays(node: Expr, typing: Typing, places: list[int]) -> _Step:
    """As :func:`_step` for whole arrays."""
    operands, (result, _) = typing.signature(node)
    if node.op == "const":
        constant = np.array(_constant(node.value, result))
        constant.flags.writeable = False  # it is given out again and again
        return lambda values, leaf: constant
    if node.op == "table":
        return lambda values, leaf: leaf(node)
    if not node.args:
        return lambda values, leaf: _as(np.asarray(leaf(node)), result)
    if node.op == "at":
        table, place, count = places
        return lambda values, leaf: _as(_rows(values[table], values[place], values[count], *node.attr), result)
    if node.op == "cast":
        (given,) = places
        return lambda values, leaf: _as(values[given], result)
    meaning = _ON_ARRAYS[node.op]
    if all(typing.of(arg).dtype == dtype for arg, dtype in zip(node.args, operands, strict=True)):
        return lambda values, leaf: _as(np.asarray(meaning(*[values[at] for at in places])), result)
    pairs = list(zip(places, operands, strict=True))
    return lambda values, leaf: _as(np.asarray(meaning(*[_as(values[at], dtype) for at, dtype in pairs])), result)


def _row(table: Array, place: int, count: int, component: int, size: int | None) -> Any:
    """A vertex's value by its id; 0 for an id that no vertex has."""
    if not 0 <= place < count:
        return 0
    return table[place] if size is None else table[place, component]


def _rows(table: Array, places: Array, count: Array, component: int, size: int | None) -> Array:
    """As :func:`_row`, of many vertices."""
    places = np.asarray(places).astype(np.int64)
    inside = (places >= 0) & (places < count)
    column = table if size is None else table[:, component]
    if len(column) == 0:
        return np.zeros(places.shape, column.dtype)
    return np.where(inside, column[np.where(inside, places, 0)], column.dtype.type(0))


def _as(array: Array, dtype: np.dtype[Any]) -> Array:
    if array.dtype.kind == "f" and dtype.kind in "iu":
        return _whole(array, dtype)
    return array if array.dtype == dtype else array.astype(dtype)


def _whole(array: Array, dtype: np.dtype[Any]) -> Array:
    """Floats without their fractions; those outside of ``dtype`` stop at its ends, and NaN is 0.

    NumPy leaves these to the processor.
    """
    ends = np.iinfo(dtype)
    below, above = array <= ends.min, array >= 2.0 ** (ends.bits - (dtype.kind == "i"))
    whole = np.where(below | above | np.isnan(array), 0, array).astype(dtype)
    return np.where(above, ends.max, np.where(below, ends.min, whole)).astype(dtype)
