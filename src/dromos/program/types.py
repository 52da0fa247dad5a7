"""Number types of expressions: NumPy's promotion, with the types of ids and weights taken from the graph.

A Python number is *weak*: it takes the type of what it meets, so ``0.5 * v.rank`` stays ``float32`` when rank is.
Unlike NumPy, integers never turn into floats silently (``int64`` with ``uint64``), small integers divide to
``float64``, and arithmetic on two truth values is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.errors import ProgramTypeError
from dromos.program.expr import OPERATORS, Expr, walk

__all__ = ["BOOL", "FIELD_DTYPES", "FLOAT64", "ID", "INT64", "GraphTypes", "IdType", "NumberType", "Type", "Typing"]

BOOL: Final = np.dtype(np.bool_)
INT32: Final = np.dtype(np.int32)
INT64: Final = np.dtype(np.int64)
FLOAT64: Final = np.dtype(np.float64)
FIELD_DTYPES: Final = tuple(
    np.dtype(t) for t in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64, np.float32, np.float64)
)


class IdType:
    """The type of vertex ids, which the graph decides (``int32`` while it fits)."""

    def __repr__(self) -> str:
        return "ID"


ID: Final = IdType()
"""The type of a field or parameter that holds a vertex: ``int32`` while the ids of the graph fit, else ``int64``."""
NumberType = np.dtype[Any] | IdType


@dataclass(frozen=True)
class GraphTypes:
    """What a graph decides: the type of its ids and of its weights (None: unweighted, every edge weighs 1)."""

    id: np.dtype[Any] = INT32
    weight: np.dtype[Any] | None = None

    def resolve(self, dtype: NumberType) -> np.dtype[Any]:
        return self.id if isinstance(dtype, IdType) else dtype


class Type(NamedTuple):
    """A number type; ``weak`` for a bare Python number that takes the type of what it meets."""

    dtype: np.dtype[Any]
    weak: bool = False

    def __str__(self) -> str:
        return str(self.dtype)


class Signature(NamedTuple):
    """What an operator's arguments are converted to, and the type of its result."""

    operands: tuple[np.dtype[Any], ...]
    result: Type


def promote(left: Type, right: Type) -> Type:
    """The common type of two operands.

    >>> str(promote(Type(np.dtype(np.float32)), Type(FLOAT64, weak=True)))
    'float32'
    >>> str(promote(Type(np.dtype(np.int32)), Type(FLOAT64, weak=True)))
    'float64'
    """
    if left.weak and right.weak:
        return Type(np.promote_types(left.dtype, right.dtype), weak=True)
    if left.weak or right.weak:
        strong, weak = (right, left) if left.weak else (left, right)
        if _RANK[strong.dtype.kind] >= _RANK[weak.dtype.kind]:
            return strong
        return Type(weak.dtype)
    common = np.promote_types(left.dtype, right.dtype)
    if common.kind == "f" and left.dtype.kind in "iu" and right.dtype.kind in "iu":
        raise ProgramTypeError(f"{left} and {right} have no common integer type; cast one of them with dr.cast")
    return Type(common)


_LARGEST_FLOAT: Final = int(np.finfo(np.float64).max)
_RANK: Final[Mapping[str, int]] = {"b": 0, "i": 1, "u": 1, "f": 2}


def _same(types: Sequence[Type]) -> Signature:
    common = reduce(promote, types)
    return Signature((common.dtype,) * len(types), common)


def _arithmetic(op: str, types: Sequence[Type]) -> Signature:
    signature = _same(types)
    if signature.result.dtype.kind == "b" and op not in ("min", "max"):
        raise ProgramTypeError(
            f"{op!r} does not apply to truth values; use & | ^ ~, or dr.cast one of them to a number"
        )
    return signature


def _real(op: str, types: Sequence[Type]) -> Signature:
    common = reduce(promote, types)
    if common.dtype.kind != "f":
        common = Type(FLOAT64, weak=common.weak)
    return Signature((common.dtype,) * len(types), common)


def _comparison(op: str, types: Sequence[Type]) -> Signature:
    return Signature(_same(types).operands, Type(BOOL))


def _predicate(op: str, types: Sequence[Type]) -> Signature:
    return Signature(_real(op, types).operands, Type(BOOL))


def _bits(op: str, types: Sequence[Type]) -> Signature:
    signature = _same(types)
    if signature.result.dtype.kind == "f":
        raise ProgramTypeError(
            f"bit operation {op!r} does not apply to {signature.result}; it needs integers or truth values"
        )
    return signature


def _shift(op: str, types: Sequence[Type]) -> Signature:
    signature = _bits(op, types)
    if signature.result.dtype.kind == "b":
        raise ProgramTypeError(f"{op!r} does not apply to truth values; dr.cast them to an integer type first")
    return signature


def _choice(op: str, types: Sequence[Type]) -> Signature:
    if types[0].dtype.kind != "b":
        raise ProgramTypeError(f"the condition of where() is {types[0]}, not a truth value; compare it with something")
    common = promote(types[1], types[2])
    return Signature((BOOL, common.dtype, common.dtype), common)


def _lookup(op: str, types: Sequence[Type]) -> Signature:
    table, place, count = types
    if place.dtype.kind not in "iu":
        raise ProgramTypeError(f"self.at() takes the id of a vertex, an integer, not {place}")
    return Signature((table.dtype, INT64, count.dtype), Type(table.dtype))


_RULES: Final[Mapping[str, Callable[[str, Sequence[Type]], Signature]]] = {
    "arithmetic": _arithmetic,
    "rounding": _arithmetic,
    "real": _real,
    "comparison": _comparison,
    "predicate": _predicate,
    "bits": _bits,
    "shift": _shift,
    "choice": _choice,
    "lookup": _lookup,
}


def is_within(number: Expr, dtype: np.dtype[Any]) -> bool:
    """Whether an expression is no constant, or one within the range of ``dtype``.

    >>> from dromos.program.expr import const
    >>> is_within(const(300), np.dtype(np.int8)), is_within(const(10**19), FLOAT64), is_within(const(10**400), FLOAT64)
    (False, True, False)
    """
    if number.op != "const" or isinstance(number.value, (bool, np.bool_)):
        return True
    if dtype.kind in "iu":
        return bool(np.iinfo(dtype).min <= number.value <= np.iinfo(dtype).max)
    return dtype.kind != "f" or not isinstance(number.value, int) or abs(number.value) <= _LARGEST_FLOAT


def require_fit(number: Expr, dtype: np.dtype[Any]) -> None:
    """Refuse a constant that is outside the type that it is used in, where it would become another number."""
    if not is_within(number, dtype):
        raise ProgramTypeError(
            f"{number.value} does not fit {dtype}, the type of the other operand; declare that field with a wider "
            "type, or dr.cast that operand"
        )


def _require_64_bits(number: Expr, dtype: np.dtype[Any]) -> None:
    """Refuse a constant to be cast that no number type holds; others wrap round, as all integers do that are cast."""
    if number.op == "const" and number.attr[0] == "int" and not -(1 << 63) <= number.value < 1 << 64:
        if dtype.kind != "f":
            raise ProgramTypeError(f"{number.value} does not fit any integer type")
        require_fit(number, dtype)


@dataclass
class Typing:
    """The types of a program's expressions on a graph; ``leaves`` types what the program declares."""

    graph: GraphTypes
    leaves: Callable[[Expr, Typing], Type]
    _known: dict[Expr, Signature] = field(default_factory=dict, repr=False)
    plans: dict[Expr | tuple[Expr, ...], Any] = field(default_factory=dict, repr=False)
    """What an interpreter keeps about expressions."""

    def of(self, node: Expr) -> Type:
        """The type of ``node``."""
        return self.signature(node).result

    def signature(self, node: Expr) -> Signature:
        """The types that ``node``'s arguments are converted to, and that of its result."""
        if node not in self._known:
            for part in walk([node]):  # arguments first, so that a long chain needs no deep recursion
                if part not in self._known:
                    self._known[part] = self._infer(part)
        return self._known[node]

    def _infer(self, node: Expr) -> Signature:
        if node.op == "cast":
            target = node.attr[0]
            dtype = self.graph.id if target == "id" else np.dtype(target)
            _require_64_bits(node.args[0], dtype)
            return Signature((self.of(node.args[0]).dtype,), Type(dtype))
        if node.op in OPERATORS:
            signature = _RULES[OPERATORS[node.op]](node.op, [self.of(arg) for arg in node.args])
            for argument, dtype in zip(node.args, signature.operands, strict=True):
                require_fit(argument, dtype)
            return signature
        return Signature((), self._leaf(node))

    def _leaf(self, node: Expr) -> Type:
        match node.op:
            case "const":
                kind = node.attr[0]
                return _WEAK.get(kind) or Type(np.dtype(kind))
            case "weight":
                # without weights every edge weighs 1: a bare number, so the program's own types decide
                return Type(INT64, weak=True) if self.graph.weight is None else Type(self.graph.weight)
            case "id":
                return Type(self.graph.id)
            case "superstep":
                return Type(INT32)
            case "out_degree" | "in_degree" | "num_vertices" | "num_arcs":
                return Type(INT64)
        return self.leaves(node, self)


_WEAK: Final[Mapping[str, Type]] = {
    "bool": Type(BOOL),
    "int": Type(INT64, weak=True),
    "float": Type(FLOAT64, weak=True),
}
