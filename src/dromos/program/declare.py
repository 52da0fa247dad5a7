"""Declarations in the body of a program: fields, parameters, reductions, and the symbols of every program.

Each is a descriptor. On a program that is being traced, reading a parameter or a reduction gives its symbol; on an
ordinary instance, a parameter gives its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from dromos.errors import ProgramError, ProgramTypeError
from dromos.program.expr import Expr
from dromos.program.monoid import ANY, Monoid
from dromos.program.place import here
from dromos.program.types import FIELD_DTYPES, IdType, NumberType
from dromos.program.values import Value, Vector

__all__ = [
    "REQUIRED",
    "RESERVED",
    "EdgeField",
    "Field",
    "Global",
    "Param",
    "Reduction",
    "component_name",
    "declared",
    "edge_field",
    "edge_param",
    "field",
    "param",
    "reduction",
    "symbols",
    "vertex_param",
]

MAX_VECTOR: Final = 64
RESERVED: Final = frozenset(
    {
        "at",
        "id",
        "in_phase",
        "in_degree",
        "ir",
        "num_arcs",
        "num_vertices",
        "out_degree",
        "params",
        "superstep",
        "typed",
        "weight",
    }
)
"""Names that every vertex, edge or program has already."""


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
_TypeLike: TypeAlias = DTypeLike | IdType


def number_type(given: _TypeLike) -> NumberType:
    """``given`` as one of the types that a field may have."""
    if isinstance(given, IdType):
        return given
    dtype = np.dtype(given)
    if dtype not in FIELD_DTYPES:
        names = ", ".join(known.name for known in FIELD_DTYPES)
        raise ProgramTypeError(f"{dtype} is not a type for a field; use one of {names}, or dr.ID", **here())
    return dtype


def symbols(op: str, prefix: tuple[str, ...], size: int | None) -> Value | Vector:
    """The symbol of a declared value: a scalar, or a vector of its components."""
    if size is None:
        return Value(Expr(op, attr=(*prefix, 0)))
    return Vector([Expr(op, attr=(*prefix, index)) for index in range(size)])


class _Declared:
    """A named, typed value; ``size`` is None for a scalar."""

    name = "?"

    def __init__(self, dtype: _TypeLike, size: int | None) -> None:
        self.dtype = number_type(dtype)
        if size is not None and not 1 <= size <= MAX_VECTOR:
            raise ProgramTypeError(f"size={size} is outside 1..{MAX_VECTOR}; vector fields are small", **here())
        self.size = size

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name


class Field(_Declared):
    """A value of every vertex; see :func:`field`."""

    def __init__(self, dtype: _TypeLike, size: int | None, init: Any) -> None:
        super().__init__(dtype, size)
        self.init = init

    def __get__(self, instance: Any, owner: type) -> Field:
        if instance is not None:
            raise ProgramError(
                f"self.{self.name}: a field belongs to a vertex; read it from one (v.{self.name}), "
                "and after a run from the result",
                **here(),
            )
        return self


class EdgeField(Field):
    """A value of every edge; see :func:`edge_field`."""


class Param(_Declared):
    """A value given for each run; see :func:`param`, :func:`vertex_param` and :func:`edge_param`."""

    def __init__(
        self, dtype: _TypeLike, size: int | None, default: Any, *, per_vertex: bool = False, per_edge: bool = False
    ) -> None:
        super().__init__(dtype, size)
        self.default, self.per_vertex, self.per_edge = default, per_vertex, per_edge

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if not instance.is_traced:
            return instance.params[self.name]
        if self.per_vertex:
            raise ProgramError(f"self.{self.name} has a value for each vertex; read v.{self.name}", **here())
        if self.per_edge:
            raise ProgramError(f"self.{self.name} has a value for each edge; read edge.{self.name}", **here())
        return symbols("param", (self.name,), self.size)


def component_name(name: str, index: int) -> str:
    """What a component of a reduction is called."""
    return f"{name}__{index}"


class Reduction:
    """A value folded over all vertices; see :func:`reduction`."""

    name = "?"

    def __init__(self, monoid: Monoid, function: Callable[..., Any]) -> None:
        self.monoid, self.function = monoid, function

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None or not instance.is_traced:
            return self
        size = instance.reduction_sizes.get(self.name)
        if size is None:
            return Value(Expr("reduction", attr=(self.name,)))
        return Vector([Expr("reduction", attr=(component_name(self.name, index),)) for index in range(size)])


class Global:
    """A symbol that every program has: the superstep number, the size of the graph."""

    def __init__(self, op: str, doc: str) -> None:
        self.op, self.__doc__ = op, doc

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else Value(Expr(self.op))


T = TypeVar("T")


def declared(cls: type, kind: type[T]) -> Iterator[tuple[str, T]]:
    """What of ``kind`` a program and its bases declare, bases first, each name once (the most derived one)."""
    names = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    for name in names:
        found = next(vars(base)[name] for base in cls.__mro__ if name in vars(base))
        if type(found) is kind:
            yield name, found


def field(dtype: _TypeLike, *, size: int | None = None, init: Any = REQUIRED) -> Any:
    """Declare a value that every vertex has: a scalar, or a vector of ``size`` components.

    ``init`` is its initial value; a program's ``init(self, v)`` may set it instead. ``dr.ID`` stands for the type of
    the graph's vertex ids.

    >>> field(np.float32, init=np.inf).dtype
    dtype('float32')
    """
    return Field(dtype, size, init)


def edge_field(dtype: _TypeLike, *, size: int | None = None, init: Any = REQUIRED) -> Any:
    """Declare a value that every edge has. ``edge_update`` writes it; ``edge_init`` may set its initial value.

    >>> edge_field(np.float64, init=0.0).size is None
    True
    """
    return EdgeField(dtype, size, init)


def param(dtype: _TypeLike = float, default: Any = REQUIRED, *, size: int | None = None) -> Any:
    """Declare a parameter, given for each run. It is never part of generated code, so runs share compiled code.

    ``param(dr.ID)`` is a vertex of the graph, by its id; an id that the graph does not have is refused. The same
    check applies to a whole number that ``init`` or ``start`` compares with ``v.id``.

    >>> param(int).dtype
    dtype('int64')
    """
    return Param(dtype, size, default)


def vertex_param(dtype: _TypeLike = float, *, size: int | None = None) -> Any:
    """Declare an array with one row per vertex, given for each run; a program reads it as ``v.name``.

    >>> vertex_param(np.float32).per_vertex
    True
    """
    return Param(dtype, size, REQUIRED, per_vertex=True)


def edge_param(dtype: _TypeLike = float, *, size: int | None = None) -> Any:
    """Declare an array with one row per arc, given for each run; a program reads it as ``edge.name``.

    The rows are in the order of ``graph.targets``, like ``graph.weights`` and the edge fields of a result. An
    undirected edge is two arcs, each with a row of its own.

    >>> edge_param(np.int64).per_edge
    True
    """
    return Param(dtype, size, REQUIRED, per_edge=True)


def reduction(monoid: Monoid) -> Callable[[Callable[..., Any]], Any]:
    """Declare a value folded over all vertices at the end of each superstep.

    Decorates a function of ``(self, v)``, or of ``(self, old, new)`` to compare a vertex with its previous state.
    A program reads the value as ``self.name``: in ``converged`` that of the superstep that just ended, elsewhere that
    of the one before. Before the first superstep it is folded over the initial state, with ``old`` and ``new`` equal.
    The result of a run has the last value, ``result.name``. A program with reductions runs in supersteps: no path is
    asynchronous.

    A vector, or a tuple of numbers, is folded component by component and read as a vector. ARGMIN and ARGMAX keep the
    whole tuple ``(key, value, ...)`` with the smallest or greatest key: ``return v.distance, v.id`` also yields the
    vertex. The result has a tuple.

    >>> import dromos.program as dr
    >>> class Far(dr.Program):
    ...     x = dr.field(np.float64, init=0.0)
    ...     combine = dr.MAX
    ...     @dr.reduction(dr.ARGMAX)
    ...     def farthest(self, v): return v.x, v.id
    ...     def init(self, v): return dr.where(v.id == 1, 5.0, 0.0)
    ...     def compute(self, u, edge, v): return 0.0
    ...     def update(self, v, message): return v.x
    >>> from dromos.graph import generators
    >>> from dromos.runner import run
    >>> run(Far(), generators.path(3), device="numpy").farthest
    (5.0, 1)
    """
    if monoid is ANY:
        raise ProgramError("a reduction cannot use ANY; use MIN, MAX, SUM, OR, AND, ARGMIN or ARGMAX", **here())
    return lambda function: Reduction(monoid, function)
