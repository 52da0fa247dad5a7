"""A program with the number types that a graph gives it: every type error is found here, before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dromos.errors import ProgramTypeError
from dromos.program.expr import Expr
from dromos.program.ir import ProgramIR
from dromos.program.monoid import AND, OR, SUM
from dromos.program.place import Place
from dromos.program.types import FLOAT64, GraphTypes, Type, Typing, is_within

__all__ = ["TypedProgram"]

_PREDICATES = ("start", "sends", "wants", "active", "converged")
_STORES = ("init", "edge_init", "sent", "update", "edge_update")


@dataclass(frozen=True)
class TypedProgram:
    """``ir`` on a graph of the given types.

    >>> import dromos.program as dr
    >>> class Degrees(dr.Program):
    ...     count = dr.field(np.int32, init=0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return 1
    ...     def update(self, v, message): return v.count + message
    >>> typed = Degrees.typed(GraphTypes())
    >>> typed.accumulators, typed.narrowing
    ((dtype('int64'),), (('update', 'count'),))
    """

    ir: ProgramIR
    types: GraphTypes

    def __post_init__(self) -> None:
        for function in ("message", *_PREDICATES, *_STORES, "reductions"):
            for label, expr in self.ir.roots(function):
                self._check(function, label, expr)

    @cached_property
    def typing(self) -> Typing:
        """The types of all expressions."""
        return Typing(self.types, self._leaf)

    @cached_property
    def message_types(self) -> tuple[np.dtype[Any], ...]:
        """The types of a message's components as they travel along an edge."""
        return tuple(self.typing.of(expr).dtype for expr in self.ir.message)

    @cached_property
    def accumulators(self) -> tuple[np.dtype[Any], ...]:
        """The types in which the components are merged, and that ``update`` sees."""
        return tuple(self.ir.combine.part(i).accumulator(dtype) for i, dtype in enumerate(self.message_types))

    @cached_property
    def identities(self) -> tuple[Any, ...]:
        """The message that changes nothing, in the types of :attr:`accumulators`."""
        return tuple(self.ir.combine.part(i).identity(dtype) for i, dtype in enumerate(self.accumulators))

    @property
    def message_bytes(self) -> int:
        """The size of one merged message: what an outbox entry or an atomic has to hold."""
        return sum(dtype.itemsize for dtype in self.accumulators)

    @cached_property
    def narrowing(self) -> tuple[tuple[str, str], ...]:
        """``(function, field)`` where a wider integer is stored: an engine checks these for overflow."""
        found = []
        for function in _STORES:
            for name, exprs in getattr(self.ir, function):
                target = self.dtype(name)
                types = [self.typing.of(expr) for expr in exprs]
                if any(not t.weak and not np.can_cast(t.dtype, target) for t in types) and target.kind in "iu":
                    found.append((function, name))
        return tuple(found)

    def dtype(self, name: str) -> np.dtype[Any]:
        """The type of the field called ``name``."""
        return self.types.resolve(self.ir.field(name).dtype)

    def reduction_type(self, name: str) -> np.dtype[Any]:
        """The type of a reduction: sums are kept in 64 bits."""
        spec = next(spec for spec in self.ir.reductions if spec.name == name)
        dtype = spec.monoid.accumulator(self.typing.of(spec.expr).dtype)
        return FLOAT64 if spec.monoid is SUM and dtype.kind == "f" else dtype

    def _leaf(self, node: Expr, typing: Typing) -> Type:
        match node.op:
            case "message":
                return Type(self.accumulators[node.attr[0]])
            case "reduction":
                return Type(self.reduction_type(node.attr[0]))
            case "table" if node.attr[0] == "field":
                return Type(self.dtype(node.attr[1]))
            case "field":
                return Type(self.dtype(node.attr[1]))
            case "edge_field":
                return Type(self.dtype(node.attr[0]))
        name = node.attr[1] if node.op in ("vertex_param", "table") else node.attr[0]
        spec = next(spec for spec in self.ir.params if spec.name == name)
        return Type(self.types.resolve(spec.dtype))

    def _check(self, function: str, label: str, expr: Expr) -> None:
        place = self._place(function, label)
        try:
            found = self.typing.of(expr)
        except ProgramTypeError as error:
            raise ProgramTypeError(str(error), **place) from None
        if function not in _STORES and not is_within(expr, found.dtype):
            raise ProgramTypeError(f"{expr.value} does not fit {found}; dr.cast it to a type that holds it", **place)
        if function in _PREDICATES and found.dtype.kind != "b":
            inverted = "; ~ makes a number of Python's own True and False: write not" if found.dtype.kind == "i" else ""
            raise ProgramTypeError(f"must return a truth value, not {found}{inverted}", **place)
        if function == "message":
            monoid = self.ir.combine.part(int(label.split(".")[1]))
            if monoid in (OR, AND) and found.dtype.kind == "f":
                raise ProgramTypeError(f"{monoid} merges truth values and integers, not {found}", **place)
        if function in _STORES:
            self._check_store(label.split(".")[1], expr, found, place)

    def _check_store(self, name: str, expr: Expr, found: Type, place: Place) -> None:
        target = self.dtype(name)
        if found.dtype.kind in "iu" and not is_within(expr, target):
            raise ProgramTypeError(f"{expr.value} does not fit field {name!r} of type {target}", **place)
        fits = _WEAKER[found.dtype.kind] <= _WEAKER[target.kind] if found.weak else _stores(found.dtype, target)
        if not fits:
            raise ProgramTypeError(
                f"returns {found} for field {name!r}, which is {target}; declare it as {found}, or dr.cast the value",
                **place,
            )

    def _place(self, function: str, label: str) -> Place:
        written = "compute" if function == "message" else label.split(".")[1] if function == "reductions" else function
        return self.ir.places.get(written, Place(program=self.ir.name, function=written))


_WEAKER = {"b": 0, "i": 1, "u": 1, "f": 2}


def _stores(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether ``source`` may be stored as ``target``: within a kind, or to a richer kind; never float to integer."""
    return np.can_cast(source, target, "same_kind")
