"""Writing the body of one function in LLVM's language: blocks, variables, elements of arrays, changes of type."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Protocol

from dromos.direct.values import INTEGER, REAL, TRUTH, ArrayValue, Kind, LoweringError, Value, memory_type

__all__ = ["Emitter", "Module"]


class Module(Protocol):
    """What a function asks of the module that it stands in."""

    def pointer(self, kind: str) -> str:
        """The type of addresses of elements of a kind."""

    def part(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> tuple[str, str]:
        """The name of a function that a kernel calls, and the type of what it returns."""


class Emitter:
    """Lines so far. Every variable has a slot in memory, of which LLVM makes registers."""

    def __init__(self, module: Module, name: str) -> None:
        self._module, self._name = module, name
        self.slots: list[str] = []
        self.lines: list[str] = []
        self._count = 0
        self._variables: dict[str, Value | ArrayValue] = {}

    def _emit(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def _new(self, type_: str, text: str) -> Value:
        self._count += 1
        self._emit(f"%r{self._count} = {text}")
        return Value(type_, f"%r{self._count}")

    def _labels(self, *names: str) -> list[str]:
        self._count += 1
        return [f"{name}{self._count}" for name in names]

    def _begin(self, label: str) -> None:
        """Go on with a new block, which the one before leads to."""
        self._emit(f"br label %{label}")
        self.lines.append(f"{label}:")

    def _leave(self, text: str) -> None:
        """End the block; what stands behind it is never reached, and is a block of its own."""
        self._emit(text)
        self.lines.append(f"{self._labels('never')[0]}:")

    def _slot(self, type_: str) -> str:
        self._count += 1
        self.slots.append(f"  %s{self._count} = alloca {type_}")
        return f"%s{self._count}"

    def _wrong(self, node: ast.AST, why: str) -> LoweringError:
        text = ast.unparse(node).splitlines()[0]
        return LoweringError(f"{self._name}: {text!r}: {why}; see dromos.direct for what a kernel may say")

    def _assign(self, name: str, value: Value, node: ast.AST) -> None:
        slot = self._variables.get(name)
        if isinstance(slot, ArrayValue):
            raise self._wrong(node, f"{name} is an array")
        if slot is None:
            type_ = INTEGER if value.type == TRUTH else value.type
            slot = self._variables[name] = Value(type_, self._slot(type_))
        self._emit(
            f"store {slot.type} {self._as(slot.type, value, node).text}, {self._module.pointer(slot.type)} {slot.text}"
        )

    def _read(self, variable: Value) -> Value:
        return self._new(variable.type, f"load {variable.type}, {self._module.pointer(variable.type)} {variable.text}")

    def _get(self, element: str, address: str, order: str = "") -> Value:
        type_ = memory_type(element)
        how = f", align {int(type_[1:]) // 8}" if order else ""
        atomic = "atomic " if order else ""
        read = self._new(
            type_, f"load {atomic}{type_}, {self._module.pointer(element)} {address}{' ' if order else ''}{order}{how}"
        )
        if type_ in (INTEGER, REAL):
            return read
        return self._new(INTEGER, f"{'zext' if element[0] == 'u' else 'sext'} {type_} {read.text} to i64")

    def _put(self, element: str, address: str, value: Value, node: ast.AST) -> None:
        type_ = memory_type(element)
        value = self._as(REAL if type_ == REAL else INTEGER, value, node)
        if type_ not in (INTEGER, REAL):
            value = self._new(type_, f"trunc i64 {value.text} to {type_}")
        self._emit(f"store {type_} {value.text}, {self._module.pointer(element)} {address}")

    def _as(self, type_: str, value: Value, node: ast.AST) -> Value:
        """A value as another type, where nothing is lost."""
        if value.type == type_:
            return value
        if type_ == TRUTH:
            how = f"fcmp une double {value.text}, 0.0" if value.type == REAL else f"icmp ne i64 {value.text}, 0"
            return self._new(TRUTH, how)
        if type_ == INTEGER and value.type == TRUTH:
            return self._new(INTEGER, f"zext i1 {value.text} to i64")
        if type_ == REAL:
            return self._new(REAL, f"sitofp i64 {self._as(INTEGER, value, node).text} to double")
        raise self._wrong(node, "a fraction where a whole number is expected")
