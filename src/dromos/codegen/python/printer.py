"""Printing a program's functions and hooks as Python for the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dromos.codegen.functions import Function, argument_name
from dromos.codegen.hooks import Printer
from dromos.codegen.python.lower import bare, literal, lower
from dromos.codegen.syntax import Bundle
from dromos.program import Analysis, Expr, TypedProgram
from dromos.program.forms import is_offered_in_place
from dromos.program.monoid import Monoid

__all__ = ["ASYNCHRONOUS_LOAD", "CONTEXT", "PythonPrinter", "context_names", "returned"]

CONTEXT: Final = ("superstep", "num_vertices", "num_arcs", "out_degree", "in_degree")
"""The first entries of the context tuple ``K``; the parameters follow, then the reductions, as declared, then the
fields that are read by id.

For ``out_degree`` the entry is the graph's offsets, which exist anyway; for ``in_degree`` an array of the degrees."""

ASYNCHRONOUS_LOAD: Final = "load_relaxed"
"""The load for fields that other threads write concurrently, by relaxed stores."""
_OPERATORS: Final = {
    "SUM": "({a} + {b})", "OR": "({a} | {b})", "AND": "({a} & {b})",
    "MIN": "({b} if {b} < {a} else {a})", "MAX": "({b} if {b} > {a} else {a})",
}  # fmt: skip
_ATOMICS: Final = {
    "SUM": "atomic_add", "MIN": "atomic_min", "MAX": "atomic_max", "OR": "atomic_or", "AND": "atomic_and",
}  # fmt: skip


def context_names(typed: TypedProgram) -> list[str]:
    """The names of the context's entries, in order."""
    ir = typed.ir
    return [*CONTEXT, *(p.name for p in ir.context_params), *(r.name for r in ir.reductions), *map(_table, ir.tables)]


def _table(name: str) -> str:
    """The context name of a field that is read by id: user-defined names cannot contain a space."""
    return f"last {name}"


def returned(results: Sequence[str]) -> list[str]:
    """The statement that returns one value, or a tuple of them.

    >>> returned(["a", "b"])
    ['return (a, b)']
    """
    return [f"return {bare(results[0])}" if len(results) == 1 else f"return ({', '.join(results)})"]


class PythonPrinter(Printer):
    """Writes Python. A message of one component is a number, one of several a tuple; reductions are always a tuple.

    ``shared``: the atomic load for fields that other threads write concurrently, by relaxed stores.
    """

    both, either, newest_message = "and", "or", "load_message"

    def __init__(self, typed: TypedProgram, analysis: Analysis | None = None, *, shared: str = "") -> None:
        super().__init__(typed, analysis)
        self.shared = shared
        self._context = context_names(typed)

    def define(self, name: str, takes: Sequence[str], gives: str, body: Sequence[str]) -> str:
        return "\n".join([f"@inline\ndef {name}({', '.join(takes)}):", *(f"    {line}" for line in body or ["return"])])

    def give(self, value: str) -> list[str]:
        return [f"return {value}"]

    def give_all(self, bundle: Bundle, values: Sequence[str]) -> list[str]:
        return returned(values) if bundle == "Message" else [f"return ({', '.join(values)},)"]

    def give_results(self, function: Function, results: Sequence[str]) -> list[str]:
        return returned(results)

    def let(self, name: str, value: str, dtype: np.dtype[Any] | None = None) -> str:
        return f"{name} = {value}"

    def when(self, test: str, statements: Sequence[str]) -> list[str]:
        return [f"if {test}:", *(f"    {line}" for line in statements)]

    def choose(self, test: str, one: str, other: str) -> str:
        return f"{one} if {test} else {other}"

    def assign(self, place: str, value: str) -> str:
        return f"{place} = {value}"

    def run(self, call: str) -> str:
        return call

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        return literal(value, dtype)

    def merged(self, monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
        return _OPERATORS[monoid.name].format(a=a, b=b)

    def lower(
        self, roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], *, by_address: bool
    ) -> tuple[list[str], list[str]]:
        name = self.look_up if by_address else lambda leaf: argument_name(leaf, self.typed)
        return lower(roots, dtypes, self.typed.typing, name)

    # ---- places --------------------------------------------------------------------------------------------------

    def slot(self, name: str) -> int:
        """The position of a field among the fields."""
        return next(i for i, spec in enumerate(self.ir.fields) if spec.name == name)

    def field(self, fields: str, name: str, index: int) -> str:
        return f"{fields}[{self.slot(name)}][{_index('v')}{_component(self.ir.field(name).size, index)}]"

    field_value = field

    def store_field(self, function: Function, name: str, index: int, value: str) -> str:
        if not function.name.startswith("edge"):
            return self.store_shared(name, index, value) if self.shared else f"{self.field('D', name, index)} = {value}"
        slot = next(i for i, spec in enumerate(self.ir.edge_fields) if spec.name == name)
        return f"D[{slot}][{_index('arc')}{_component(self.ir.field(name).size, index)}] = {value}"

    def store_shared(self, name: str, index: int, value: str, fields: str = "D") -> str:
        """Set a component of a field of ``v`` while other threads may read it."""
        return f"store_relaxed({fields}[{self.slot(name)}], {_place('v', self.ir.field(name).size, index)}, {value})"

    def item(self, local: str, index: int, count: int) -> str:
        return local if count == 1 else f"{local}[{index}]"

    def part(self, message: str, index: int) -> str:
        return self.item(message, index, len(self.typed.accumulators))

    def reduced(self, reductions: str, index: int) -> str:
        return f"{reductions}[{index}]"

    @property
    def _racing(self) -> bool:
        """Whether an offer may be read while its vertex updates it."""
        return is_offered_in_place(self.ir, self.analysis)

    def accumulator(self, index: int) -> str:
        return self.newest_accumulator(index) if self._racing else f"A[{index}][{_index('v')}]"

    def newest_accumulator(self, index: int) -> str:
        return f"load_relaxed(A[{index}], v)"

    def store_accumulator(self, index: int, value: str) -> str:
        return self.share_accumulator(index, value) if self._racing else f"A[{index}][{_index('v')}] = {value}"

    def share_accumulator(self, index: int, value: str) -> str:
        return f"store_relaxed(A[{index}], v, {value})"

    def atomic(self, monoid: Monoid, index: int, value: str) -> str:
        narrow = f"np.uint8({value})" if self.typed.accumulators[index].kind == "b" else value
        return f"{_ATOMICS[monoid.name]}(A[{index}], v, {narrow})"

    def locked(self, call: str) -> list[str]:
        return ["lock(locks, v)", call, "unlock(locks, v)"]

    def updated(self, update: Function) -> tuple[list[str], list[str]]:
        """Other threads may write concurrently: read each component once, to compare the value that was updated."""
        reader = PythonPrinter(self.typed, shared=ASYNCHRONOUS_LOAD)
        own = [Expr("field", attr=("vertex", name, index)) for name, index in update.writes]
        read = {a.leaf: a.name for a in update.arguments if a.leaf.op == "field"}
        read |= {leaf: argument_name(leaf, self.typed) for leaf in own if leaf not in read}
        lines = [f"{local} = {reader.look_up(leaf)}" for leaf, local in read.items()]
        arguments = [read.get(a.leaf) or reader.look_up(a.leaf) for a in update.arguments]
        return [*lines, f"fresh = update({', '.join(arguments)})"], [read[leaf] for leaf in own]

    def look_up(self, leaf: Expr) -> str:
        match leaf.op:
            case "field":
                role, name, index = leaf.attr
                fields, size = f"{'O' if role == 'old' else 'S'}[{self.slot(name)}]", self.ir.field(name).size
                if self.shared:
                    return f"{self.shared}({fields}, {_place(_row(role), size, index)})"
                return f"{fields}[{_index(_row(role))}{_component(size, index)}]"
            case "edge_field" | "edge_param":
                name, index = leaf.attr
                by_edge = (*self.ir.edge_fields, *self.ir.edge_params)
                slot = next(i for i, spec in enumerate(by_edge) if spec.name == name)
                return f"E[{slot}][{_index('arc')}{_component(by_edge[slot].size, index)}]"
            case "vertex_param" | "param":
                role, name, index = leaf.attr if leaf.op == "vertex_param" else ("", *leaf.attr)
                size, given = next(s.size for s in self.ir.params if s.name == name), self._in_context(name)
                if role:
                    return f"{given}[{_index(_row(role))}{_component(size, index)}]"
                return given + (f"[{index}]" if size is not None else "")
            case "table":
                name = leaf.attr[1]
                return self._in_context(_table(name) if leaf.attr[0] == "field" else name)
            case "reduction":
                return self._in_context(leaf.attr[0])
            case "id":
                return f"np.{self.typed.types.id.name}({_row(leaf.attr[0])})"
            case "out_degree":
                row, offsets = _index(_row(leaf.attr[0])), self._in_context(leaf.op)
                return f"(np.int64({offsets}[{row} + np.uintp(1)]) - np.int64({offsets}[{row}]))"
            case "in_degree":
                return f"np.int64({self._in_context(leaf.op)}[{_index(_row(leaf.attr[0]))}])"
            case "message":
                return self.part("message", leaf.attr[0])
            case "weight":
                return "weight"
        return self._in_context(leaf.op)  # superstep, num_vertices, num_arcs

    def _in_context(self, name: str) -> str:
        return f"K[{self._context.index(name)}]"


def _row(role: str) -> str:
    return "u" if role == "source" else "v"


def _index(row: str) -> str:
    """A row as an unsigned index, which avoids the test for negative indices."""
    return f"np.uintp({row})"


def _place(row: str, size: int | None, index: int) -> str:
    """A row, and a component of a vector, as arguments of an intrinsic."""
    return row if size is None else f"({row}, {index})"


def _component(size: int | None, index: int) -> str:
    return "" if size is None else f", {index}"
