"""What a language has to know how to write, so that the functions and hooks of a program can be printed in it."""

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
"""Values that go together: the components of a message, or all reductions."""


class Syntax(ABC):
    """Statements and places of a language, for one program."""

    both: ClassVar[str]
    either: ClassVar[str]
    newest_message: ClassVar[str]
    """The hook that reads a merged message which other threads may be writing."""

    def __init__(self, typed: TypedProgram) -> None:
        self.typed, self.ir = typed, typed.ir

    @abstractmethod
    def define(self, name: str, takes: Sequence[str], gives: str, body: Sequence[str]) -> str:
        """A function."""

    @abstractmethod
    def give(self, value: str) -> list[str]:
        """Return a value."""

    @abstractmethod
    def give_all(self, bundle: Bundle, values: Sequence[str]) -> list[str]:
        """Return values as one bundle."""

    @abstractmethod
    def let(self, name: str, value: str, dtype: np.dtype[Any] | None = None) -> str:
        """Give a value a name; without ``dtype``, in the type that it has."""

    @abstractmethod
    def when(self, test: str, statements: Sequence[str]) -> list[str]:
        """Statements that are run if a test holds."""

    @abstractmethod
    def choose(self, test: str, one: str, other: str) -> str:
        """One of two values."""

    @abstractmethod
    def assign(self, place: str, value: str) -> str:
        """Set a place to a value."""

    @abstractmethod
    def run(self, call: str) -> str:
        """A call whose result nobody wants."""

    @abstractmethod
    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        """A number."""

    @abstractmethod
    def merged(self, monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
        """Two numbers as one."""

    @abstractmethod
    def lower(
        self, roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], *, by_address: bool
    ) -> tuple[list[str], list[str]]:
        """Statements and values of expressions; symbols by name, or ``by_address``."""

    @abstractmethod
    def look_up(self, leaf: Expr) -> str:
        """Where a symbol's value lies, given the addresses."""

    @abstractmethod
    def field(self, fields: str, name: str, index: int) -> str:
        """A component of a field of vertex ``v`` in ``fields``, to be set."""

    @abstractmethod
    def field_value(self, fields: str, name: str, index: int) -> str:
        """The same, to be read."""

    @abstractmethod
    def store_field(self, function: Function, name: str, index: int, value: str) -> str:
        """Set a component of a field in ``D``, of the vertices or of the edges as ``function`` is."""

    @abstractmethod
    def item(self, local: str, index: int, count: int) -> str:
        """One of ``count`` results of a function, which ``local`` holds."""

    @abstractmethod
    def part(self, message: str, index: int) -> str:
        """A component of a message."""

    @abstractmethod
    def reduced(self, reductions: str, index: int) -> str:
        """One of the reductions."""

    @abstractmethod
    def accumulator(self, index: int) -> str:
        """A component of the merged message of ``v``, as nobody else writes it."""

    @abstractmethod
    def newest_accumulator(self, index: int) -> str:
        """The same while others write it."""

    @abstractmethod
    def store_accumulator(self, index: int, value: str) -> str:
        """Set it."""

    @abstractmethod
    def share_accumulator(self, index: int, value: str) -> str:
        """Set it while others may set it too, any of them."""

    @abstractmethod
    def atomic(self, monoid: Monoid, index: int, value: str) -> str:
        """Merge a value into it by an atomic."""

    @abstractmethod
    def locked(self, call: str) -> list[str]:
        """A call under the lock of ``v``."""

    @abstractmethod
    def updated(self, update: Function) -> tuple[list[str], list[str]]:
        """Statements that let ``fresh`` be what ``update`` gives ``v``, and the values that it would replace."""

    def argument(self, argument: Argument) -> str:
        """An argument of a function of scalars."""
        return argument.name

    def result_type(self, function: Function) -> str:
        """What a function of a program gives, where the language wants to know."""
        return ""

    @abstractmethod
    def give_results(self, function: Function, results: Sequence[str]) -> list[str]:
        """Return the results of a function of scalars."""

    def stored_into(self, function: Function) -> str:
        """The first argument of a function that stores."""
        return "D"
