"""Expressions as text: the walk over them, with shared parts computed once; a language adds the text of operators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from dromos.program.evaluate import convert
from dromos.program.expr import Expr, walk
from dromos.program.types import Signature, Typing

__all__ = ["Lowered"]

_MAX_DEPTH: Final = 6  # deeper nesting is split into locals, for readers and for the languages' parsers


class Lowered(ABC):
    """Statements that compute shared parts, and the text of each result."""

    repeating: ClassVar[frozenset[str]]
    """Operators whose text repeats an argument."""

    def __init__(self, typing: Typing, name: Callable[[Expr], str]) -> None:
        self.typing, self.name = typing, name
        self.statements: list[str] = []
        self._text: dict[Expr, str] = {}
        self._depth: dict[Expr, int] = {}

    def add(self, roots: Sequence[Expr]) -> None:
        """Lower ``roots``; parts that they share are computed once."""
        nodes = list(walk(roots))
        uses = Counter(arg for node in nodes for arg in node.args) + Counter(roots)
        repeated = {arg for node in nodes if node.op in self.repeating for arg in node.args}
        for node in nodes:
            if node.op == "const":
                continue  # a literal is written in the type that its user needs
            if not node.args:
                self._text[node], self._depth[node] = self.name(node), 0
                continue
            text = self._lower(node)
            depth = 1 + max(self._depth.get(arg, 0) for arg in node.args)
            if uses[node] > 1 or node in repeated or depth > _MAX_DEPTH:
                local = f"t{len(self.statements)}"
                self.statements.append(self.assign(local, node, text))
                text, depth = local, 0
            self._text[node], self._depth[node] = text, depth

    def _lower(self, node: Expr) -> str:
        signature = self.typing.signature(node)
        if node.op == "cast":
            return self.typed(node.args[0], signature.result.dtype)
        arguments = [self.typed(a, d) for a, d in zip(node.args, signature.operands, strict=True)]
        return self.apply(node, signature, arguments)

    def typed(self, node: Expr, dtype: np.dtype[Any]) -> str:
        """The text of a lowered node, converted to ``dtype``."""
        if node.op == "const":
            with np.errstate(all="ignore"):
                return self.literal(convert(node.value, dtype), dtype)
        if node.op == "weight" and self.typing.graph.weight is None:
            return self.literal(1, dtype)
        return self.cast(self._text[node], dtype, self.typing.of(node).dtype)

    @abstractmethod
    def assign(self, local: str, node: Expr, text: str) -> str:
        """The statement that binds the value of ``node`` to a name."""

    @abstractmethod
    def apply(self, node: Expr, signature: Signature, arguments: Sequence[str]) -> str:
        """The text of an operator."""

    @abstractmethod
    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        """The text of a number."""

    @abstractmethod
    def cast(self, text: str, dtype: np.dtype[Any], source: np.dtype[Any]) -> str:
        """The text of a conversion."""
