"""The source of functions: their statements, and which of their names are assigned only once."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any, NamedTuple

from dromos.compiler.values import LoweringError

__all__ = ["Part", "Source", "source_of"]


class Source(NamedTuple):
    """The source of a function."""

    name: str
    parameters: tuple[str, ...]
    body: list[ast.stmt]
    once: frozenset[str]
    """Names assigned in one place only."""
    local: frozenset[str]
    """All assigned names."""
    inverted: frozenset[str]
    """Names to which ``~`` is applied."""
    returns_last: bool
    """Whether it returns at its end and nowhere else."""
    names: dict[str, Any]
    """The globals of its module, and the names that it captures from an enclosing function."""


class Part:
    """A function that is inlined into the kernels that call it."""

    __name__: str

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"{self.__name__}() is a part of kernels; only compiled code can call it")


@cache
def _functions(file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a module, by name and first line."""
    try:
        with open(file, encoding="utf-8") as text:
            tree = ast.parse(text.read())
    except (OSError, SyntaxError) as error:
        raise LoweringError(f"the source of {file} cannot be read: {error}") from None
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name, first] = node
    return found


@cache
def source_of(function: Callable[..., Any]) -> Source:
    """The source of a function."""
    code: Any = function.__code__
    node = _functions(code.co_filename).get((function.__name__, code.co_firstlineno))
    if node is None:
        raise LoweringError(f"{function.__qualname__} is not in {code.co_filename}")
    given = node.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs:
        raise LoweringError(f"{node.name} takes its arguments in an unusual way")
    parameters = tuple(argument.arg for argument in given.args)
    stored = Counter(parameters)
    inverted = set()
    returns = 0
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            stored[inner.id] += 1
        elif isinstance(inner, ast.Return):
            returns += 1
        elif isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Invert):
            inverted |= {part.id for part in ast.walk(inner) if isinstance(part, ast.Name)}
    last = returns == 0 or (returns == 1 and isinstance(node.body[-1], ast.Return))
    once = frozenset(name for name, count in stored.items() if count == 1)
    names = function.__globals__
    if function.__closure__:
        held = (cell.cell_contents for cell in function.__closure__)
        names = names | dict(zip(code.co_freevars, held, strict=True))
    return Source(node.name, parameters, node.body, once, frozenset(stored), frozenset(inverted), last, names)
