"""Expressions of a kernel."""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

import numpy as np

from dromos.compiler.arithmetic import binary, compare, unary
from dromos.compiler.builtins import handlers
from dromos.compiler.frames import Frame, NeedsSlot
from dromos.compiler.intrinsic import Intrinsic
from dromos.compiler.scalars import Kind, kind_of_number, memory_bytes
from dromos.compiler.source import Part
from dromos.compiler.values import (
    ArrayValue,
    LoweringError,
    Named,
    Scalar,
    Slot,
    Value,
    constant,
    shape_of,
    unified_shapes,
)
from dromos.compiler.writer import LENGTH, SIZE, Writer

__all__ = ["Expressions"]

_MISSING: Final = object()


class Expressions(Writer, ABC):
    """Writes the instructions that compute expressions."""

    frame: Frame

    @abstractmethod
    def call(self, function: Callable[..., Any], args: list[Value]) -> Value:
        """Write a function's body in place of its call."""

    def number(self, node: ast.expr) -> Scalar:
        """An expression that must be a number."""
        value = self.value(node)
        if not isinstance(value, Scalar):
            raise self.wrong(node, "not a number")
        return value

    def wrong(self, node: ast.AST, why: str) -> LoweringError:
        """The error for code that cannot be compiled."""
        error = LoweringError(f"{self.frame.source.name}: {ast.unparse(node).splitlines()[0]!r}: {why}")
        error.is_placed = True
        return error

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        write = _WRITERS.get(type(node))
        if write is None:
            raise self.wrong(node, f"no {type(node).__name__}")
        found: Value = write(self, node)
        return found

    # ---- names ---------------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Value:
        known = self.frame.variables.get(node.id)
        if known is not None:
            return self.get(known) if isinstance(known, Slot) else known
        if node.id in self.frame.shapes:
            slot = self.frame.variables[node.id] = self.slot(self.frame.shapes[node.id])
            return self.get(slot)
        if node.id in self.frame.source.local:
            raise NeedsSlot(self.frame, node.id)
        return self._constant(node, self.known(node))

    def _constant(self, node: ast.expr, value: Any) -> Value:
        if isinstance(value, tuple):
            parts = tuple(self._constant(node, part) for part in value)
            return Named(parts, value._fields) if hasattr(value, "_fields") else parts
        if isinstance(value, np.ndarray):
            return self.constant_array(value)
        kind = kind_of_number(value)
        if kind is None:
            raise self.wrong(node, "no number of the module")
        return constant(kind, value.item() if hasattr(value, "item") else value)

    def known(self, node: ast.expr) -> Any:
        """What a name or an attribute of the module refers to at compile time."""
        if isinstance(node, ast.Name):
            if node.id in self.frame.source.local:
                return _MISSING
            return self.frame.source.names.get(node.id, getattr(builtins, node.id, _MISSING))
        if isinstance(node, ast.Attribute):
            owner = self.known(node.value)
            if isinstance(owner, ModuleType) or hasattr(owner, "_fields"):
                return getattr(owner, node.attr, _MISSING)
        return _MISSING

    def _attribute(self, node: ast.Attribute) -> Value:
        known = self.known(node)
        if known is not _MISSING:
            return self._constant(node, known)
        owner = self.value(node.value)
        if isinstance(owner, ArrayValue):
            if node.attr == "size":
                return Scalar("i64", self.word(owner, SIZE))
            if node.attr == "shape":
                return tuple(Scalar("i64", self.word(owner, LENGTH + i)) for i in range(owner.kind.dimensions))
            if node.attr == "itemsize":
                return constant("i64", memory_bytes(owner.kind.element))
        if isinstance(owner, Named) and node.attr in owner.names:
            part: Value = owner[owner.names.index(node.attr)]
            return part
        raise self.wrong(node, "no such attribute")

    # ---- elements ------------------------------------------------------------------------------------------------

    def element(self, node: ast.Subscript, array: ArrayValue) -> str:
        """The address of an element."""
        indices = self._indices(node, array)
        if len(indices) != array.kind.dimensions:
            raise self.wrong(node, "not one index for each dimension")
        return self.address(array, indices)

    def _indices(self, node: ast.Subscript, array: ArrayValue) -> list[Scalar]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) > array.kind.dimensions:
            raise self.wrong(node, "more indices than dimensions")
        return [self.wrapped(array, axis, self._whole(node, part)) for axis, part in enumerate(parts)]

    def _whole(self, node: ast.Subscript, part: ast.expr) -> Scalar:
        """An index, or a bound of a slice."""
        index = self.number(part)
        if index.kind[0] not in "iu":
            raise self.wrong(node, f"an index is a whole number, not {index.kind}")
        return index

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(owner, ArrayValue):
            if isinstance(node.slice, ast.Slice) and node.slice.step is None:
                ends = (node.slice.lower, node.slice.upper)
                return self.cut(owner, *(None if part is None else self._whole(node, part) for part in ends))
            indices = self._indices(node, owner)
            if len(indices) < owner.kind.dimensions:
                return self.view(owner, indices)
            return self.load(owner.kind.element, self.address(owner, indices))
        if not isinstance(owner, tuple):
            raise self.wrong(node, "neither an array nor a tuple")
        if isinstance(node.slice, ast.Slice):
            bounds = [self._fixed(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            return owner[slice(*bounds)]
        place = self._fixed(node.slice)
        if place is None or not -len(owner) <= place < len(owner):
            raise self.wrong(node, "no such part")
        return owner[place]

    def _fixed(self, node: ast.expr | None) -> int | None:
        """A whole number that is known at compile time, else None."""
        if node is None:
            return None
        found = self.number(node).constant
        if not isinstance(found, int):
            raise self.wrong(node, "not known before the kernel runs")
        return found

    # ---- operators -----------------------------------------------------------------------------------------------

    def _operation(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        return self.operated(node, type(node.op), left, right)

    def operated(self, node: ast.AST, op: type[ast.operator], left: Value, right: Value) -> Value:
        """``left op right``."""
        if isinstance(left, Scalar) and isinstance(right, Scalar):
            return binary(self, op, left, right)
        if isinstance(left, tuple) and isinstance(right, tuple) and op is ast.Add:
            return left + right
        raise self.wrong(node, "an operator between these types")

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.new("b", f"xor i1 {self.truth(self.value(node.operand)).text}, true")
        return unary(self, type(node.op), self.number(node.operand))

    def _compare(self, node: ast.Compare) -> Value:
        if len(node.ops) > 1:
            return self._decided(node)
        left, right = self.value(node.left), self.value(node.comparators[0])
        if isinstance(node.ops[0], ast.Eq) and isinstance(left, tuple) and isinstance(right, tuple):
            return self._equal_tuples(node, left, right)
        if not isinstance(left, Scalar) or not isinstance(right, Scalar):
            raise self.wrong(node.comparators[0] if isinstance(left, Scalar) else node.left, "not a number")
        return compare(self, type(node.ops[0]), left, right)

    def _equal_tuples(self, node: ast.AST, left: tuple[Value, ...], right: tuple[Value, ...]) -> Scalar:
        """Whether all parts of two tuples of numbers are equal."""
        if len(left) != len(right):
            raise self.wrong(node, "tuples of different lengths")
        found = constant("b", True)
        for a, b in zip(left, right, strict=True):
            if not isinstance(a, Scalar) or not isinstance(b, Scalar):
                raise self.wrong(node, "tuples of more than numbers")
            found = self.new("b", f"and i1 {found.text}, {compare(self, ast.Eq, a, b).text}")
        return found

    def _decided(self, node: ast.expr) -> Scalar:
        """The truth value of a condition that is decided by branches."""
        yes, no, end = self.label("yes"), self.label("no"), self.label("end")
        self.branch(node, yes, no, truths_only=True)
        self.begin(yes)
        self.go(end)
        self.begin(no)
        self.go(end)
        self.begin(end)
        return self.new("b", f"phi i1 [ true, %{yes} ], [ false, %{no} ]")

    def decision(self, node: ast.expr) -> bool | None:
        """Whether a condition holds, if that is known at compile time, else None."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.Name):
            value = self.known(node)
            if value is _MISSING:
                value = self.frame.variables.get(node.id)
                value = value.constant if isinstance(value, Scalar) else None
            return None if kind_of_number(value) is None else bool(value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.decision(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            is_and = isinstance(node.op, ast.And)
            for part in node.values:  # an operand after an unknown one may decide, but the first is evaluated
                inner = self.decision(part)
                if inner is None:
                    return None
                if inner is not is_and:
                    return inner
            return is_and
        return None

    def branch(self, node: ast.expr, yes: str, no: str, *, truths_only: bool = False) -> None:
        """Branch to ``yes`` or ``no``; ``truths_only``: used as a value, so the parts must be truths."""
        known = self.decision(node)
        if known is not None and not truths_only:
            self.go(yes if known else no)
        elif isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                following = self.label("next")
                if isinstance(node.op, ast.And):
                    self.branch(part, following, no, truths_only=truths_only)
                else:
                    self.branch(part, yes, following, truths_only=truths_only)
                self.begin(following)
            self.branch(node.values[-1], yes, no, truths_only=truths_only)
        elif isinstance(node, ast.Compare) and len(node.ops) > 1:
            left = self.number(node.left)
            for position, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
                right = self.number(right_node)
                test = compare(self, type(op), left, right)
                last = position == len(node.ops) - 1
                following = yes if last else self.label("next")
                self.fork(test.text, following, no)
                if not last:
                    self.begin(following)
                left = right
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes, truths_only=False)
        else:
            value = self.number(node)
            if truths_only and value.kind != "b":
                raise self.wrong(node, "and, or between numbers")
            self.fork(self.truth(value).text, yes, no)

    def _either(self, node: ast.IfExp) -> Value:
        known = self.decision(node.test)
        if known is not None:
            return self.value(node.body if known else node.orelse)
        yes, no, end = self.label("then"), self.label("else"), self.label("end")
        self.branch(node.test, yes, no)
        before = self.lines
        parts = []
        for label, part in ((yes, node.body), (no, node.orelse)):
            self.lines = []
            self.begin(label)
            value = self.value(part)
            parts.append((value, self.lines, self.block))
        shape = unified_shapes(shape_of(parts[0][0]), shape_of(parts[1][0]))
        joined = []
        for value, lines, block in parts:
            self.lines, self.block, self.reachable = lines, block, True
            joined.append((self.converted(value, shape), block))
            self.go(end)
            before += lines
        self.lines = before
        self.begin(end)
        return self.joined(shape, *joined)

    # ---- calls ---------------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        if node.keywords:
            raise self.wrong(node, "arguments by name")
        element = self._element_type(node.func)
        if element is not None:
            (argument,) = node.args
            return self.cast(self.number(argument), element)
        function = self.known(node.func)
        if function is len and len(node.args) == 1:
            return self._length(node.args[0])
        known = handlers().get(id(function))
        if known is None and not isinstance(function, Intrinsic | Part):
            raise self.wrong(node, "no such function")
        args = [self.value(argument) for argument in node.args]
        if isinstance(function, Part):
            return self.call(function.function, args)
        if isinstance(function, Intrinsic):
            written: Value = function.write(self, *args)
            return written
        assert known is not None
        return known[1](self, *args)

    def _element_type(self, node: ast.expr) -> Kind | None:
        """The type that ``array.dtype.type`` refers to."""
        if not isinstance(node, ast.Attribute) or node.attr != "type":
            return None
        inner = node.value
        if not isinstance(inner, ast.Attribute) or inner.attr != "dtype":
            return None
        array = self.value(inner.value)
        return array.kind.element if isinstance(array, ArrayValue) else None

    def _length(self, node: ast.expr) -> Value:
        value = self.value(node)
        if isinstance(value, ArrayValue):
            return Scalar("i64", self.word(value, LENGTH))
        if isinstance(value, tuple):
            return constant("i64", len(value))
        raise self.wrong(node, "neither an array nor a tuple")

    def _tuple(self, node: ast.Tuple) -> Value:
        return tuple(self.value(part) for part in node.elts)

    def _literal(self, node: ast.Constant) -> Value:
        return None if node.value is None else self._constant(node, node.value)


_WRITERS: Final[dict[type[ast.expr], Any]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._literal,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._operation,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._decided,
    ast.IfExp: Expressions._either,
    ast.Call: Expressions._call,
    ast.Tuple: Expressions._tuple,
}
