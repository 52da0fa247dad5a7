"""Fold compile-time flags into the text of a skeleton before it is compiled.

Branches that are ruled out cost nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

__all__ = ["fold_flags"]


def fold_flags(text: str, flags: Mapping[str, bool]) -> str:
    """The module ``text`` with ``flags`` as constants in its functions, and without the branches that they rule out.

    A function that uses no flag is unchanged, including its comments.

    >>> print(fold_flags("def f(x):\\n    return 1 if FAST and x else 2  # why", {"FAST": True}))
    def f(x):
        return 1 if x else 2
    """
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if not isinstance(node, ast.FunctionDef):
            continue
        if not any(isinstance(inner, ast.Name) and inner.id in flags for inner in ast.walk(node)):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        assert node.end_lineno is not None
        folded = ast.fix_missing_locations(_Folding(flags).visit(node))
        lines[first - 1 : node.end_lineno] = ast.unparse(folded).splitlines()
    return "\n".join(lines)


class _Folding(ast.NodeTransformer):
    """Replaces flags by their values, and simplifies what depends on them."""

    def __init__(self, flags: Mapping[str, bool]) -> None:
        self._flags = flags

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self._flags[node.id]) if node.id in self._flags else node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self._condition(node.test)
        if not isinstance(node.test, ast.Constant):
            return self.generic_visit(node)
        left: list[ast.stmt] = []
        for statement in node.body if node.test.value else node.orelse:
            new = self.visit(statement)
            left += new if isinstance(new, list) else [new]
        return left or ast.Pass()

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        node.test = self._condition(node.test)
        if not isinstance(node.test, ast.Constant):
            return self.generic_visit(node)
        return self.visit(node.body if node.test.value else node.orelse)

    def _condition(self, node: ast.expr) -> ast.expr:
        """Fold an expression of which only the truth value matters."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self._condition(node.operand)
            return ast.Constant(not node.operand.value) if isinstance(node.operand, ast.Constant) else node
        if not isinstance(node, ast.BoolOp):
            folded: ast.expr = self.visit(node)
            return folded
        neutral = isinstance(node.op, ast.And)
        left: list[ast.expr] = []
        for value in map(self._condition, node.values):
            if not isinstance(value, ast.Constant):
                left.append(value)
            elif bool(value.value) != neutral:  # decides the result, unless an earlier operand does
                left.append(value)
                break
        if len(left) < 2:
            return left[0] if left else ast.Constant(neutral)
        node.values = left
        return node
