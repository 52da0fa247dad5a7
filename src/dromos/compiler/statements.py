"""Statements of a kernel, and the functions that it calls, inlined at their calls."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from dromos.compiler.arithmetic import binary
from dromos.compiler.frames import Frame, NeedsSlot, Widened
from dromos.compiler.scalars import Kind, is_float, is_signed
from dromos.compiler.source import source_of
from dromos.compiler.values import ArrayValue, LoweringError, Scalar, Shape, Slot, Value, constant, shape_of
from dromos.compiler.variables import RETURNED, Variables
from dromos.compiler.writer import LENGTH

__all__ = ["Kernel"]

_DEEPEST: Final = 40


class Kernel(Variables):
    """The text of a kernel."""

    def __init__(self, first: int = 0) -> None:
        super().__init__(first)
        self._shapes: dict[Any, dict[str, Shape]] = {}
        self._depth = 0

    def call(self, function: Callable[..., Any], args: list[Value]) -> Value:
        """Inline a function's body at its call; returns its result.

        Variables have the types of the values seen so far; if a later value is wider, the body is written again.
        """
        source = source_of(function)
        if len(args) != len(source.parameters):
            raise LoweringError(f"{source.name} takes {len(source.parameters)} arguments, not {len(args)}")
        shapes = self._shapes.setdefault((function, tuple(shape_of(value) for value in args)), {})
        outer, lines, length, block = getattr(self, "frame", None), self.lines, len(self.lines), self.block
        self._depth += 1
        if self._depth > _DEEPEST:
            raise LoweringError(f"{source.name} calls itself")
        while True:
            self.frame = frame = Frame(source, shapes)
            try:
                self._body(frame, args)
                break
            except Widened as reason:
                if reason.frame is not frame:
                    raise
            except NeedsSlot as reason:
                if reason.frame is not frame or reason.name not in frame.seen:
                    raise LoweringError(f"{source.name}: {reason.name} is read before it is written") from None
                shapes[reason.name] = frame.seen[reason.name]
            self.lines = lines
            del lines[length:]
            self.block, self.reachable = block, True
        self._depth -= 1
        if outer is not None:
            self.frame = outer
        return frame.returned

    def _body(self, frame: Frame, args: list[Value]) -> None:
        source = frame.source
        for name, value in zip(source.parameters, args, strict=True):
            self.assign(name, value)
        if source.returns_last:
            self._block(source.body)
            return
        frame.end = self.label("return")
        self._block(source.body)
        if self.reachable:
            frame.returns_nothing = True
            self.go(frame.end)
        if frame.returns_nothing and RETURNED in frame.shapes:
            raise LoweringError(f"{source.name} returns a value on some paths only")
        self.begin(frame.end)
        slot = frame.variables.get(RETURNED)
        frame.returned = self.get(slot) if isinstance(slot, Slot) else None

    # ---- statements ----------------------------------------------------------------------------------------------

    def _block(self, statements: list[ast.stmt]) -> None:
        """Write statements up to the first that jumps elsewhere."""
        for statement in statements:
            if not self.reachable:
                return
            write = _WRITERS.get(type(statement))
            if write is None:
                raise self.wrong(statement, f"no {type(statement).__name__}")
            try:
                write(self, statement)
            except LoweringError as error:
                raise error if error.is_placed else self.wrong(statement, str(error)) from None

    def _inner(self, statements: list[ast.stmt]) -> None:
        """Write a block that may be skipped: names bound to registers in it are unknown after it."""
        frame = self.frame
        frame.scopes.append([])
        self._block(statements)
        for name in frame.scopes.pop():
            del frame.variables[name]

    def _expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def _assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._store(target, value)

    def _store(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise self.wrong(target, "not as many values as names")
            for part, element in zip(target.elts, value, strict=True):
                self._store(part, element)
        elif isinstance(target, ast.Subscript):
            array = self.value(target.value)
            if not isinstance(array, ArrayValue) or not isinstance(value, Scalar):
                raise self.wrong(target, "not a number as an element of an array")
            self.writes_to(array)
            self.store(array.kind.element, self.element(target, array), value)
        else:
            raise self.wrong(target, "neither a variable nor an element of an array")

    def _change(self, node: ast.AugAssign) -> None:
        target, op = node.target, type(node.op)
        if isinstance(target, ast.Name):
            old = self.value(ast.Name(target.id, ast.Load()))
            self.assign(target.id, self.operated(node, op, old, self.value(node.value)))
        elif isinstance(target, ast.Subscript):
            array = self.value(target.value)
            if not isinstance(array, ArrayValue):
                raise self.wrong(target, "not an element of an array")
            self.writes_to(array)
            address = self.element(target, array)
            element = array.kind.element
            self.store(element, address, binary(self, op, self.load(element, address), self.number(node.value)))
        else:
            raise self.wrong(target, "neither a variable nor an element of an array")

    def _if(self, node: ast.If) -> None:
        known = self.decision(node.test)
        if known is not None:
            self._block(node.body if known else node.orelse)
            return
        yes, end = self.label("then"), self.label("endif")
        no = self.label("else") if node.orelse else end
        self.branch(node.test, yes, no)
        self.begin(yes)
        self._inner(node.body)
        goes_on = self.reachable
        self.go(end)
        if node.orelse:
            self.begin(no)
            self._inner(node.orelse)
            goes_on |= self.reachable
            self.go(end)
        if goes_on or not node.orelse:
            self.begin(end)

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.wrong(node, "else of a loop")
        head, inside, again, end = (self.label(name) for name in ("while", "do", "again", "done"))
        self.go(head)
        self.begin(head)
        endless = self.decision(node.test)
        if not endless:
            self.branch(node.test, inside, end)
            self.begin(inside)
        self._loop(node.body, again, end)
        self.go(again)
        self.begin(again)
        self.repeat(head)
        if not endless or end in self.left:
            self.begin(end)

    def _loop(self, body: list[ast.stmt], again: str, end: str) -> None:
        self.frame.loops.append((again, end))
        self._inner(body)
        self.frame.loops.pop()

    def _for(self, node: ast.For) -> None:
        call = node.iter
        if node.orelse or not isinstance(node.target, ast.Name):
            raise self.wrong(node, "else of a loop, or several names")
        if not isinstance(call, ast.Call) or self.known(call.func) is not range:
            self._for_each(node, self.value(call))
            return
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.wrong(node, "no such range")
        name = node.target.id
        bounds = [self.number(bound) for bound in call.args]
        if any(is_float(bound.kind) or bound.kind == "b" for bound in bounds):
            raise self.wrong(node, "a range of something other than whole numbers")
        kinds = {bound.kind for bound in bounds}
        kind = "i64" if any(is_signed(bound) for bound in kinds) else "u64"
        first, last, step = constant(kind, 0), bounds[0], constant(kind, 1)
        if len(bounds) > 1:
            first, last = self.cast(bounds[0], kind), bounds[1]
        if len(bounds) > 2:
            step = self.cast(bounds[2], kind)
        last = self.cast(last, kind)
        self._count(kind, first, last, step, node.body, lambda at: self.assign(name, at))

    def _for_each(self, node: ast.For, values: Value) -> None:
        """Write a loop over a tuple, unrolled over its parts, or over a one-dimensional array."""
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        if isinstance(values, tuple):
            if any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node)):
                raise self.wrong(node, "break and continue in a loop over a tuple")
            for part in values:
                if not self.reachable:
                    return
                self.frame.scopes.append([])
                self.assign(name, part)
                self._block(node.body)
                for known in self.frame.scopes.pop():
                    del self.frame.variables[known]
            return
        if not isinstance(values, ArrayValue) or values.kind.dimensions != 1:
            raise self.wrong(node, "loops are over ranges, tuples, and arrays with one axis")
        array, first, step = values, constant("i64", 0), constant("i64", 1)

        def assign(at: Scalar) -> None:
            self.assign(name, self.load(array.kind.element, self.address(array, [at])))

        self._count("i64", first, Scalar("i64", self.word(array, LENGTH)), step, node.body, assign)

    def _count(
        self, kind: Kind, first: Scalar, last: Scalar, step: Scalar, body: list[ast.stmt],
        assign: Callable[[Scalar], None],
    ) -> None:  # fmt: skip
        """Write a loop from ``first`` to ``last``; ``assign`` sets the loop variable."""
        counter = self.slot(kind)
        self.put(counter, first)
        head, inside, again, end = (self.label(name) for name in ("for", "do", "next", "done"))
        self.go(head)
        self.begin(head)
        at = self.get(counter)
        assert isinstance(at, Scalar)
        self.fork(self._goes_on(at, last, step), inside, end)
        self.begin(inside)
        self.frame.scopes.append([])
        assign(at)
        self._loop(body, again, end)
        for name in self.frame.scopes.pop():
            del self.frame.variables[name]
        self.go(again)
        self.begin(again)
        how = "add nsw" if kind == "i64" else "add"
        self.put(counter, self.new(kind, f"{how} i64 {at.text}, {step.text}"))
        self.repeat(head)
        self.begin(end)

    def _goes_on(self, at: Scalar, last: Scalar, step: Scalar) -> str:
        """Whether a loop continues."""
        sign = "s" if at.kind == "i64" else "u"
        up = self.register(f"icmp {sign}lt i64 {at.text}, {last.text}")
        if sign == "u" or (step.constant is not None and step.constant > 0):
            return up
        down = self.register(f"icmp sgt i64 {at.text}, {last.text}")
        if step.constant is not None and step.constant < 0:
            return down
        rises = self.register(f"icmp sgt i64 {step.text}, 0")
        return self.register(f"select i1 {rises}, i1 {up}, i1 {down}")

    def _return(self, node: ast.Return) -> None:
        frame = self.frame
        value = None if node.value is None else self.value(node.value)
        if frame.source.returns_last:
            frame.returned = value
            return
        if value is not None:
            self.keep(RETURNED, value)
        else:
            frame.returns_nothing = True
        self.go(frame.end)

    def _continue(self, node: ast.Continue) -> None:
        self.go(self.frame.loops[-1][0])

    def _break(self, node: ast.Break) -> None:
        self.left.add(self.frame.loops[-1][1])
        self.go(self.frame.loops[-1][1])

    def _pass(self, node: ast.Pass) -> None:
        """Write nothing."""


_WRITERS: Final[dict[type[ast.stmt], Any]] = {
    ast.Expr: Kernel._expression,
    ast.Assign: Kernel._assignment,
    ast.AugAssign: Kernel._change,
    ast.If: Kernel._if,
    ast.While: Kernel._while,
    ast.For: Kernel._for,
    ast.Return: Kernel._return,
    ast.Continue: Kernel._continue,
    ast.Break: Kernel._break,
    ast.Pass: Kernel._pass,
}
