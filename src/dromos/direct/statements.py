"""Functions of a kernel: their statements, and the module that holds them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

from dromos.direct.expressions import Expressions
from dromos.direct.values import INTEGER, TRUTH, ArrayValue, Kind, LoweringError, Value, memory_type

__all__ = ["lowered"]


class _Loop(NamedTuple):
    """The labels that ``continue`` and ``break`` lead to."""

    again: str
    end: str


def lowered(function: Callable[..., Any], kinds: tuple[Kind, ...], *, typed_pointers: bool = False) -> str:
    """A module in LLVM's language with ``kernel``: ``function`` for arguments of these kinds.

    An array is passed as its address and its size. ``typed_pointers``: as LLVM up to 16 writes addresses.

    >>> def add(total, values):
    ...     for i in range(values.size):
    ...         total[0] += values[i]
    >>> print(lowered(add, ("[double]", "[i32]")).splitlines()[0])
    define void @kernel(ptr %a0, i64 %n0, ptr %a1, i64 %n1) #0 {
    """
    module = _Module(typed_pointers)
    module.add(function, kinds, "kernel")
    return "\n".join([*module.texts, 'attributes #0 = { nounwind "no-builtins" }', ""])


class _Module:
    """The functions of one kernel."""

    def __init__(self, typed_pointers: bool) -> None:
        self.texts: list[str] = []
        self._typed_pointers = typed_pointers
        self._parts: dict[tuple[Callable[..., Any], tuple[Kind, ...]], tuple[str, str]] = {}

    def pointer(self, kind: str) -> str:
        """The type of addresses of elements of a kind."""
        return f"{memory_type(kind)}*" if self._typed_pointers else "ptr"

    def part(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> tuple[str, str]:
        """The name of a function that a kernel calls, and the type of what it returns."""
        if (function, kinds) not in self._parts:
            name = f"part{len(self._parts)}"
            self._parts[function, kinds] = name, self.add(function, kinds, name)
        return self._parts[function, kinds]

    def add(self, function: Callable[..., Any], kinds: tuple[Kind, ...], name: str) -> str:
        """Lower a function; the type that it returns."""
        body = _Function(self, function, kinds)
        scope = "define" if name == "kernel" else "define internal"
        inlined = "" if name == "kernel" else " alwaysinline"
        head = f"{scope} {body.returns} @{name}({', '.join(body.parameters)}) #0{inlined} {{"
        last = "ret void" if body.returns == "void" else "unreachable"
        self.texts += [head, "entry:", *body.slots, *body.lines, f"  {last}", "}"]
        return body.returns


class _Function(Expressions):
    """One function for arguments of certain kinds."""

    def __init__(self, module: _Module, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> None:
        super().__init__(module, function.__qualname__, function.__globals__)
        self.parameters: list[str] = []
        self.returns = "void"
        self._loops: list[_Loop] = []
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        names = [argument.arg for argument in tree.args.args]
        if len(names) != len(kinds):
            raise LoweringError(f"{self._name}() takes {len(names)} arguments, not {len(kinds)}")
        for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            if kind.startswith("["):
                self.parameters += [f"{module.pointer(kind[1:-1])} %a{number}", f"i64 %n{number}"]
                self._variables[name] = ArrayValue(kind[1:-1], f"%a{number}", f"%n{number}")
            else:
                self.parameters.append(f"{kind} %a{number}")
                self._assign(name, Value(kind, f"%a{number}"), tree)
        self._block(tree.body)

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ):
                for target, value in zip(targets, [self._number(value) for value in values], strict=True):
                    self._store(target, value)
            case ast.Assign(targets=[target], value=value):
                self._store(target, self._number(value))
            case ast.AugAssign(target=target, op=op, value=value):
                self._change(target, op, value)
            case ast.If(test=test, body=body, orelse=others):
                yes, no, end = self._labels("then", "else", "endif")
                self._emit(f"br i1 {self._truth(test)}, label %{yes}, label %{no}")
                self.lines.append(f"{yes}:")
                self._block(body)
                self._emit(f"br label %{end}")
                self.lines.append(f"{no}:")
                self._block(others)
                self._begin(end)
            case ast.While(test=test, body=body, orelse=[]):
                head, inside, end = self._labels("while", "do", "done")
                self._begin(head)
                self._emit(f"br i1 {self._truth(test)}, label %{inside}, label %{end}")
                self.lines.append(f"{inside}:")
                self._loop(body, _Loop(head, end))
                self._emit(f"br label %{head}")
                self.lines.append(f"{end}:")
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] as bounds, keywords=[]),
                body=body,
                orelse=[],
            ):
                self._for(node, name, bounds, body)
            case ast.Return(value=value):
                self._return(node, value)
            case ast.Continue():
                self._leave(f"br label %{self._loops[-1].again}")
            case ast.Break():
                self._leave(f"br label %{self._loops[-1].end}")
            case _:
                raise self._wrong(node, "no such statement")

    def _loop(self, body: list[ast.stmt], loop: _Loop) -> None:
        self._loops.append(loop)
        self._block(body)
        self._loops.pop()

    def _for(self, node: ast.stmt, name: str, bounds: list[ast.expr], body: list[ast.stmt]) -> None:
        head, inside, again, end = self._labels("for", "do", "next", "done")
        limits = [self._as(INTEGER, self._number(bound), node).text for bound in bounds]
        counter, pointer = self._slot(INTEGER), self._module.pointer(INTEGER)
        self._emit(f"store i64 {limits[0] if len(limits) == 2 else 0}, {pointer} {counter}")
        self._begin(head)
        at = self._new(INTEGER, f"load i64, {pointer} {counter}")
        more = self._new(TRUTH, f"icmp slt i64 {at.text}, {limits[-1]}")
        self._emit(f"br i1 {more.text}, label %{inside}, label %{end}")
        self.lines.append(f"{inside}:")
        self._assign(name, at, node)
        self._loop(body, _Loop(again, end))
        self._begin(again)
        following = self._new(INTEGER, f"add i64 {at.text}, 1")
        self._emit(f"store i64 {following.text}, {pointer} {counter}")
        self._emit(f"br label %{head}")
        self.lines.append(f"{end}:")

    def _return(self, node: ast.stmt, value: ast.expr | None) -> None:
        if value is None:
            if self.returns != "void":
                raise self._wrong(node, "another return gives a value")
            self._leave("ret void")
            return
        found = self._number(value)
        if self.returns == "void":
            self.returns = found.type
        self._leave(f"ret {self.returns} {self._as(self.returns, found, node).text}")

    def _store(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self._assign(name, value, target)
            case ast.Subscript():
                self._put(*self._element(target), value, target)
            case _:
                raise self._wrong(target, "neither a variable nor an element of an array")

    def _change(self, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        if isinstance(target, ast.Subscript):
            element, address = self._element(target)
            changed = self._operation(op, self._get(element, address), self._number(value), target)
            self._put(element, address, changed, target)
        else:
            self._store(target, self._operation(op, self._number(target), self._number(value), target))
