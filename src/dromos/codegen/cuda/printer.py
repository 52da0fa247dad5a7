"""Printing a program's functions and hooks as CUDA C++."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda.lower import C_NAMES, c_literal, lower
from dromos.codegen.cuda.structures import shared_type
from dromos.codegen.functions import Argument, Function, argument_name
from dromos.codegen.hooks import Printer
from dromos.codegen.syntax import Bundle
from dromos.program import Expr
from dromos.program.monoid import MAX, MIN, SUM, Monoid

__all__ = ["CudaPrinter", "place_of"]

_TYPES: Final = {
    **dict.fromkeys(("S", "O", "D", "P"), "const Fields&"),
    **dict.fromkeys(("u", "v"), "vid"),
    **dict.fromkeys(("message", "a", "b"), "Message"),
    "E": "const EdgeFields&", "A": "const Merged&", "K": "const Context&", "R": "Reduced", "arc": "eid",
    "weight": "Weight", "locks": "unsigned*",
}  # fmt: skip
"""The types of the arguments of hooks, by name."""
_OPERATORS: Final = {"SUM": "({a} + {b})", "OR": "({a} | {b})", "AND": "({a} & {b})"}


class CudaPrinter(Printer):
    """Writes C++. An argument of a function is a name in :data:`_TYPES`, or a type and a name."""

    both, either, newest_message = "&&", "||", "load_newest"

    def define(self, name: str, takes: Sequence[str], gives: str, body: Sequence[str]) -> str:
        taken = ", ".join(text if " " in text else f"{_TYPES[text]} {text}" for text in takes)
        return "\n".join([f"DEVICE {gives} {name}({taken}) {{", *(f"    {line}" for line in body), "}"])

    def give(self, value: str) -> list[str]:
        return [f"return {value};"]

    def give_all(self, bundle: Bundle, values: Sequence[str]) -> list[str]:
        return self.give(f"{bundle}{{{', '.join(values)}}}")

    def give_results(self, function: Function, results: Sequence[str]) -> list[str]:
        result = self.result_type(function)
        if result == "Message" or len(results) > 1:
            return self.give(f"{result}{{{', '.join(results)}}}")
        return [f"return {value};" for value in results]

    def let(self, name: str, value: str, dtype: np.dtype[Any] | None = None) -> str:
        return f"const {'auto' if dtype is None else C_NAMES[dtype]} {name} = {value};"

    def when(self, test: str, statements: Sequence[str]) -> list[str]:
        inside = " ".join(statements)
        return [f"if ({test}) {inside if len(statements) == 1 else f'{{ {inside} }}'}"]

    def choose(self, test: str, one: str, other: str) -> str:
        return f"{test} ? {one} : {other}"

    def assign(self, place: str, value: str) -> str:
        return f"{place} = {value};"

    def run(self, call: str) -> str:
        return f"{call};"

    def literal(self, value: Any, dtype: np.dtype[Any]) -> str:
        return c_literal(value, dtype)

    def merged(self, monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
        if monoid in (MIN, MAX):
            return f"{'lesser' if monoid is MIN else 'greater'}({a}, {b})"
        if monoid is SUM and dtype.kind in "iu":
            return f"wrap_add({a}, {b})"
        return f"({C_NAMES[dtype]}){_OPERATORS[monoid.name].format(a=a, b=b)}"

    def lower(
        self, roots: Sequence[Expr], dtypes: Sequence[np.dtype[Any]], *, by_address: bool
    ) -> tuple[list[str], list[str]]:
        name = self.look_up if by_address else lambda leaf: argument_name(leaf, self.typed)
        return lower(roots, dtypes, self.typed.typing, name)

    def argument(self, argument: Argument) -> str:
        c_type = C_NAMES[argument.dtype]
        return f"{f'const {c_type}*' if argument.leaf.op == 'table' else c_type} {argument.name}"

    def result_type(self, function: Function) -> str:
        if function.name == "compute":
            return "Message"
        if not function.results:
            return "void"
        return C_NAMES[function.results[0]] if len(function.results) == 1 else f"{function.name}_result"

    def scalar(self, function: Function) -> str:
        text, result = super().scalar(function), self.result_type(function)
        if not result.endswith("_result"):
            return text
        inside = "".join(f" {C_NAMES[dtype]} r{i};" for i, dtype in enumerate(function.results))
        return f"struct {result} {{{inside} }};\n{text}"

    def stored_into(self, function: Function) -> str:
        return "const EdgeFields& D" if function.name.startswith("edge") else "D"

    # ---- places --------------------------------------------------------------------------------------------------

    def field(self, fields: str, name: str, index: int) -> str:
        return f"{fields}.f_{name}[{place_of('v', self.ir.field(name).size, index)}]"

    def field_value(self, fields: str, name: str, index: int, row: str = "v") -> str:
        return f"field({fields}.f_{name}, {place_of(row, self.ir.field(name).size, index)})"

    def store_field(self, function: Function, name: str, index: int, value: str) -> str:
        if function.name.startswith("edge"):
            return f"D.e_{name}[{place_of('arc', self.ir.field(name).size, index)}] = {value};"
        return f"{self.field('D', name, index)} = {value};"

    def item(self, local: str, index: int, count: int) -> str:
        return local if count == 1 else f"{local}.r{index}"

    def part(self, message: str, index: int) -> str:
        return f"{message}.m{index}"

    def reduced(self, reductions: str, index: int) -> str:
        return f"{reductions}.r_{self.ir.reductions[index].name}"

    def accumulator(self, index: int) -> str:
        return f"({C_NAMES[self.typed.accumulators[index]]})A.a{index}[v]"

    def newest_accumulator(self, index: int) -> str:
        return f"newest(A.a{index} + v)"

    def store_accumulator(self, index: int, value: str) -> str:
        return f"A.a{index}[v] = {value};"

    share_accumulator = store_accumulator

    def atomic(self, monoid: Monoid, index: int, value: str) -> str:
        shared = C_NAMES[shared_type(self.typed.accumulators[index])]
        return f"merge_{monoid.name.lower()}(A.a{index} + v, ({shared}){value});"

    def locked(self, call: str) -> list[str]:
        return [f"under_lock(locks, v, [&] {{ {call}; }});"]

    def updated(self, update: Function) -> tuple[list[str], list[str]]:
        old = [self.field_value("S", name, index) for name, index in update.writes]
        return [self.let("fresh", "update_at(S, K, v, message)")], old

    def look_up(self, leaf: Expr) -> str:
        match leaf.op:
            case "field":
                role, name, index = leaf.attr
                return self.field_value("O" if role == "old" else "S", name, index, _vertex(role))
            case "edge_field":
                name, index = leaf.attr
                return f"E.e_{name}[{place_of('arc', self.ir.field(name).size, index)}]"
            case "edge_param":
                name, index = leaf.attr
                return f"constant(E.e_{name} + {place_of('arc', self._size(name), index)})"
            case "vertex_param":
                role, name, index = leaf.attr
                return f"constant(K.p_{name} + {place_of(_vertex(role), self._size(name), index)})"
            case "param":
                name, index = leaf.attr
                return f"K.p_{name}" + (f"[{index}]" if self._size(name) is not None else "")
            case "table":
                return f"K.{'at' if leaf.attr[0] == 'field' else 'p'}_{leaf.attr[1]}"
            case "reduction":
                return f"K.r_{leaf.attr[0]}"
            case "id":
                return f"given_id(K, {_vertex(leaf.attr[0])})"
            case "out_degree" | "in_degree":
                return f"degree(K.{leaf.op.removesuffix('_degree')}_offsets, {_vertex(leaf.attr[0])})"
            case "message":
                return self.part("message", leaf.attr[0])
            case "weight":
                return "weight"
        return f"K.{leaf.op}"  # superstep, num_vertices, num_arcs

    def _size(self, name: str) -> int | None:
        return next(spec.size for spec in self.ir.params if spec.name == name)


def place_of(row: str, size: int | None, index: int) -> str:
    """The index of a component in the array of a field: rows of a vector field are contiguous."""
    return row if size is None else f"(i64){row} * {size} + {index}"


def _vertex(role: str) -> str:
    return "u" if role == "source" else "v"
