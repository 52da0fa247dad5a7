"""Expressions of a kernel."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any, Final

from dromos.direct.emitter import Emitter, Module
from dromos.direct.values import INTEGER, REAL, TRUTH, ArrayValue, Value, constant, load_relaxed, memory_type

__all__ = ["Expressions"]

_ARITHMETIC: Final[Mapping[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("add", "fadd"),
    ast.Sub: ("sub", "fsub"),
    ast.Mult: ("mul", "fmul"),
    ast.Div: ("", "fdiv"),
    ast.BitAnd: ("and", ""),
    ast.BitOr: ("or", ""),
    ast.BitXor: ("xor", ""),
    ast.LShift: ("shl", ""),
    ast.RShift: ("ashr", ""),
}
_COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}


class Expressions(Emitter):
    """Writes what an expression is computed by, and knows its register."""

    def __init__(self, module: Module, name: str, numbers: Mapping[str, Any]) -> None:
        super().__init__(module, name)
        self._globals = numbers

    def _number(self, node: ast.expr) -> Value:
        value = self._value(node)
        if isinstance(value, ArrayValue):
            raise self._wrong(node, "an array where a number is expected")
        return value

    def _truth(self, node: ast.expr) -> str:
        return self._as(TRUTH, self._number(node), node).text

    def _value(self, node: ast.expr) -> Value | ArrayValue:
        match node:
            case ast.Constant(value=bool() | int() | float() as value):
                return constant(value)
            case ast.Name(id=name):
                return self._named(node, name)
            case ast.Attribute(value=owner, attr="size"):
                array = self._value(owner)
                if isinstance(array, ArrayValue):
                    return Value(INTEGER, array.size)
            case ast.Subscript():
                return self._get(*self._element(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(op, self._number(left), self._number(right), node)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return constant(-value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._number(operand)
                if number.type == REAL:
                    return self._new(REAL, f"fneg double {number.text}")
                return self._new(INTEGER, f"sub i64 0, {self._as(INTEGER, number, node).text}")
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._new(TRUTH, f"xor i1 {self._truth(operand)}, true")
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                a, b = self._alike(self._number(left), self._number(right), node)
                whole, real = _COMPARISONS[type(op)]
                how = f"fcmp {real}" if a.type == REAL else f"icmp {whole}"
                return self._new(TRUTH, f"{how} {a.type} {a.text}, {b.text}")
            case ast.BoolOp(op=op, values=values):
                return self._connected(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._either(node, test, body, other)
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(node, function, arguments)
        raise self._wrong(node, "no such expression")

    def _named(self, node: ast.expr, name: str) -> Value | ArrayValue:
        known = self._variables.get(name)
        if isinstance(known, ArrayValue):
            return known
        if known is not None:
            return self._read(known)
        value = self._globals.get(name)
        if isinstance(value, (bool, int, float)):
            return constant(value)
        raise self._wrong(node, "not assigned before, and no number of the module")

    def _operation(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        if type(op) not in _ARITHMETIC:
            raise self._wrong(node, f"no {type(op).__name__}")
        whole, real = _ARITHMETIC[type(op)]
        if not whole:
            left, right = self._as(REAL, left, node), self._as(REAL, right, node)
        a, b = self._alike(left, right, node)
        name = real if a.type == REAL else whole
        if not name:
            raise self._wrong(node, f"no {type(op).__name__} of these types")
        return self._new(a.type, f"{name} {a.type} {a.text}, {b.text}")

    def _alike(self, left: Value, right: Value, node: ast.AST) -> tuple[Value, Value]:
        type_ = REAL if REAL in (left.type, right.type) else INTEGER
        return self._as(type_, left, node), self._as(type_, right, node)

    def _element(self, node: ast.Subscript) -> tuple[str, str]:
        """The kind of an element of an array, and its address."""
        array = self._value(node.value)
        if not isinstance(array, ArrayValue):
            raise self._wrong(node, "not an array")
        index = self._as(INTEGER, self._number(node.slice), node)
        if index.text.startswith("-"):
            raise self._wrong(node, "indices are from zero on")
        type_, pointer = memory_type(array.element), self._module.pointer(array.element)
        where = self._new("", f"getelementptr inbounds {type_}, {pointer} {array.address}, i64 {index.text}")
        return array.element, where.text

    def _connected(self, is_and: bool, values: list[ast.expr]) -> Value:
        """``and`` and ``or``: what comes behind is looked at only if it decides."""
        slot, pointer = self._slot(TRUTH), self._module.pointer("i1")
        (end,) = self._labels("known")
        for value in values:
            (following,) = self._labels("look")
            truth = self._truth(value)
            self._emit(f"store i1 {truth}, {pointer} {slot}")
            yes, no = (following, end) if is_and else (end, following)
            self._emit(f"br i1 {truth}, label %{yes}, label %{no}")
            self.lines.append(f"{following}:")
        self._begin(end)
        return self._new(TRUTH, f"load i1, {pointer} {slot}")

    def _either(self, node: ast.expr, test: ast.expr, body: ast.expr, other: ast.expr) -> Value:
        yes, no, end = self._labels("this", "that", "chosen")
        self._emit(f"br i1 {self._truth(test)}, label %{yes}, label %{no}")
        self.lines.append(f"{yes}:")
        first = self._number(body)
        type_ = INTEGER if first.type == TRUTH else first.type
        slot, pointer = self._slot(type_), self._module.pointer(type_)
        self._emit(f"store {type_} {self._as(type_, first, node).text}, {pointer} {slot}")
        self._emit(f"br label %{end}")
        self.lines.append(f"{no}:")
        self._emit(f"store {type_} {self._as(type_, self._number(other), node).text}, {pointer} {slot}")
        self._begin(end)
        return self._new(type_, f"load {type_}, {pointer} {slot}")

    def _call(self, node: ast.expr, function: ast.expr, arguments: list[ast.expr]) -> Value:
        match function, arguments:
            case ast.Attribute(value=ast.Name(id="np"), attr="int64"), [argument]:
                return self._as(INTEGER, self._number(argument), node)
        called = self._globals.get(function.id) if isinstance(function, ast.Name) else None
        if called is load_relaxed and len(arguments) == 2:
            return self._get(*self._element(ast.Subscript(arguments[0], arguments[1])), "monotonic")
        if not inspect.isfunction(called):
            raise self._wrong(node, "no function of this module")
        values = [self._value(argument) for argument in arguments]
        kinds = tuple(f"[{value.element}]" if isinstance(value, ArrayValue) else value.type for value in values)
        name, returns = self._module.part(called, kinds)
        if returns == "void":
            raise self._wrong(node, "it returns nothing")
        passed = [
            f"{self._module.pointer(value.element)} {value.address}, i64 {value.size}"
            if isinstance(value, ArrayValue)
            else f"{value.type} {value.text}"
            for value in values
        ]
        return self._new(returns, f"call {returns} @{name}({', '.join(passed)})")
