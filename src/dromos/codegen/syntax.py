"""What a language must provide so that the functions and hooks of a program can be printed in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from dromos.codegen.functions import Argument, Function
from dromos.program import Expr, TypedProgram
from dromos.program.monoid import Monoid

__all__ = ["Bundle", "Syntax"]

Bundle = Literal["Message", "Reduced"]
"""Values that belong together: the components of a message, or all reductions."""


class Syntax(ABC):
    """Statements and places of a language, for one program."""

    both: ClassVar[str]
    either: ClassVar[str]
    newest_message: ClassVar[str]
    """The hook that reads a merged message while other threads may write it."""

    def __init__(self, typed: TypedProgram) -> None:
        self.typed, self.ir = typed, typed.ir

    @abstractmethod
    def define(self, name: str, takes: Sequence[str], gives: str, body: Sequence[str]) -> str:
        """Define a function."""

    @abstractmethod
    def give(self, value: str) -> list[str]:
        """Return a value."""

    @abstractmethod
    def give_all(self, bundle: Bundle, values: Sequence[str]) -> list[str]:
        """Return values as one bundle."""

    @abstractmethod
    def let(self, name: str, value: str, dtype: np.dtype[Any] | None = None) -> str:
        """Bind a value to a name; without ``dtype``, in its own type."""

    @abstractmethod
    def when(self, test: str, statements: Sequence[str]) -> list[str]:
        """Statements that run if a test holds."""

    @abstractmethod
    def choose(self, test: str, one: str, other: str) -> str:
        """One of two values."""

    @abstractmethod
    def assign(self, place: str, value: str) -> str:
        """Set a place to a value."""

    @abstractmethod
    def run(self, call: str) -> str:
        """A call whose result is not used."""

    @abstractmethod
    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        """A number."""

    @abstractmethod
    def merged(self, monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
        """Merge two numbers."""

    @abstractmethod
    def lower(
        self, roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], *, by_address: bool
    ) -> tuple[list[str], list[str]]:
        """Statements and values of expressions; symbols by name, or ``by_address``."""

    @abstractmethod
    def look_up(self, leaf: Expr) -> str:
        """The place of a symbol's value, given the addresses."""

    @abstractmethod
    def field(self, fields: str, name: str, index: int) -> str:
        """A component of a field of vertex ``v`` in ``fields``, to be written."""

    @abstractmethod
    def field_value(self, fields: str, name: str, index: int) -> str:
        """The same, to be read."""

    @abstractmethod
    def store_field(self, function: Function, name: str, index: int, value: str) -> str:
        """Set a component of a field in ``D``, of the vertices or of the edges, depending on ``function``."""

    @abstractmethod
    def item(self, local: str, index: int, count: int) -> str:
        """One of the ``count`` results of a function, which are in ``local``."""

    @abstractmethod
    def part(self, message: str, index: int) -> str:
        """A component of a message."""

    @abstractmethod
    def reduced(self, reductions: str, index: int) -> str:
        """One of the reductions."""

    @abstractmethod
    def accumulator(self, index: int) -> str:
        """A component of the merged message of ``v``, without concurrent writers."""

    @abstractmethod
    def newest_accumulator(self, index: int) -> str:
        """The same with concurrent writers."""

    @abstractmethod
    def store_accumulator(self, index: int, value: str) -> str:
        """Set it."""

    @abstractmethod
    def share_accumulator(self, index: int, value: str) -> str:
        """Set it while other threads may set it too; any value may win."""

    @abstractmethod
    def atomic(self, monoid: Monoid, index: int, value: str) -> str:
        """Merge a value into it with an atomic."""

    @abstractmethod
    def locked(self, call: str) -> list[str]:
        """A call under the lock of ``v``."""

    @abstractmethod
    def updated(self, update: Function) -> tuple[list[str], list[str]]:
        """Statements that bind ``fresh`` to the result of ``update`` for ``v``, and the values it would replace."""

    def argument(self, argument: Argument) -> str:
        """An argument of a function on scalars."""
        return argument.name

    def result_type(self, function: Function) -> str:
        """The result type of a program's function, if the language needs it."""
        return ""

    @abstractmethod
    def give_results(self, function: Function, results: Sequence[str]) -> list[str]:
        """Return the results of a function on scalars."""

    def stored_into(self, function: Function) -> str:
        """The first argument of a function that stores."""
        return "D"
