"""The class that a user derives a program from."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from dromos.dtypes import Array
from dromos.errors import InvalidArgumentError, ProgramError
from dromos.program.declare import REQUIRED, Global, Param, declared
from dromos.program.direction import Along
from dromos.program.ir import EdgeWeights, FieldSpec, Kind, ProgramIR, UpdateOn
from dromos.program.monoid import Monoid
from dromos.program.phases import is_phase, phase_names
from dromos.program.symbols import OtherVertex
from dromos.program.trace import trace
from dromos.program.typed import TypedProgram
from dromos.program.types import GraphTypes, IdType
from dromos.program.values import Value

__all__ = ["Program"]


class Program:
    """A graph algorithm: fields, and how they change along edges. Its methods are called once, with symbols.

    - Required: ``combine``, ``compute(self, u, edge, v)``, ``update(self, v, message)``.
    - Optional methods, with their defaults: ``init(self, v)``, ``start(self, v)`` (all vertices),
      ``active(self, old, new)`` (a written field changed), ``sends(self, u, edge, v)`` and ``wants(self, v)`` (always),
      ``sent(self, u)``, ``converged(self)``, ``edge_init`` and ``edge_update`` ``(self, u, edge, v)``.
    - Optional attributes: ``direction`` (``"out"``, ``"in"``, ``"both"``), ``phases``, ``update_on``, ``priority``,
      ``any_order``, ``edge_weights``.

    docs/design/program.md explains each of them.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> class Hops(dr.Program):
    ...     source = dr.param(int)
    ...     level = dr.field(np.int32, init=np.iinfo(np.int32).max)
    ...     combine = dr.MIN
    ...     def init(self, v): return dr.where(v.id == self.source, 0, np.iinfo(np.int32).max)
    ...     def start(self, v): return v.id == self.source
    ...     def compute(self, u, edge, v): return u.level + 1
    ...     def update(self, v, message): return dr.minimum(v.level, message)
    >>> Hops(source=3)
    Hops(source=3)
    """

    combine: ClassVar[Monoid | str | tuple[Monoid | str, ...]]
    priority: ClassVar[str | None] = None
    update_on: ClassVar[UpdateOn | None] = None
    kind: ClassVar[Kind | None] = None
    direction: ClassVar[Along] = "out"
    any_order: ClassVar[bool] = False
    edge_weights: ClassVar[EdgeWeights] = "any"
    phases: ClassVar[tuple[str, ...] | None] = None

    superstep = Global("superstep", "The number of the superstep being run, from 0 (int32).")
    num_vertices = Global("num_vertices", "How many vertices the graph has (int64).")
    num_arcs = Global("num_arcs", "How many arcs the graph has (int64).")

    is_traced = False
    # while it is traced:
    reduction_sizes: Mapping[str, int]  # of those that are vectors
    readable: Mapping[str, FieldSpec]  # what any vertex can be asked for by its id
    params: Mapping[str, Any]

    def __init__(self, **params: Any) -> None:
        self.ir()  # a malformed program is an error here, not in the middle of a run
        known = self._declared_params()
        if unknown := params.keys() - known.keys():
            has, names = ", ".join(known) or "none", ", ".join(sorted(unknown))
            raise InvalidArgumentError(f"{type(self).__name__} has no parameter {names}; it has {has}")
        values = {name: params.get(name, spec.default) for name, spec in known.items()}
        if missing := [name for name, value in values.items() if value is REQUIRED]:
            raise InvalidArgumentError(f"{type(self).__name__} needs {', '.join(f'{name}=...' for name in missing)}")
        self.params = MappingProxyType({name: self._convert(known[name], values[name]) for name in known})

    def in_phase(self, name: str) -> Any:
        """Whether the superstep belongs to the phase ``name``, one of the program's ``phases``; a truth value."""
        phases = phase_names(type(self))
        if name not in phases:
            raise ProgramError(f"there is no phase {name!r}; phases = {phases!r}", program=type(self).__name__)
        return Value(is_phase(phases, phases.index(name)))

    def at(self, vertex: Any) -> Any:
        """Another vertex, by its id: ``self.at(v.parent).label`` is its field as the last superstep left it.

        Its fields and ``vertex_param`` values can be read in ``compute``, ``sends``, ``wants``, ``sent``, ``update``,
        ``active`` and ``edge_update``. They are 0 for an id that no vertex has. A program that uses this runs in
        supersteps.

        >>> import dromos as dr
        >>> class Roots(dr.Program):
        ...     parent = dr.field(dr.ID)
        ...     combine = dr.MIN
        ...     update_on = "all"
        ...     def init(self, v): return dr.maximum(v.id - 1, 0)
        ...     def compute(self, u, edge, v): return 0
        ...     def update(self, v, message): return self.at(v.parent).parent
        >>> dr.run(Roots(), dr.generators.path(9), device="numpy", max_iter=2).parent.tolist()
        [0, 0, 0, 0, 0, 1, 2, 3, 4]
        """
        if not self.is_traced:
            raise InvalidArgumentError("self.at() is for the functions of a program; result.field[id] reads a result")
        return OtherVertex(vertex, self.readable)

    @classmethod
    def _declared_params(cls) -> Mapping[str, Param]:
        """By name; looked up once per class."""
        found: Mapping[str, Param] | None = cls.__dict__.get("_params_by_name")
        if found is None:
            found = dict(declared(cls, Param))
            cls._params_by_name = found  # type: ignore[attr-defined]
        return found

    @classmethod
    def _convert(cls, spec: Param, value: Any, *, copy: bool = True) -> Any:
        dtype = np.dtype(np.int64) if isinstance(spec.dtype, IdType) else spec.dtype
        is_number = spec.size is None and not (spec.per_vertex or spec.per_edge)
        if is_number and type(value) is int and dtype == np.int64 and -(2**63) <= value < 2**63:
            return np.int64(value)  # what most calls give: a vertex, or a count
        on_gpu = hasattr(value, "__cuda_array_interface__") and hasattr(value, "get")
        given = np.asarray(value.get() if on_gpu else value)
        rows = ("num_vertices",) if spec.per_vertex else ("num_arcs",) if spec.per_edge else ()
        rank = len(rows) + (spec.size is not None)
        if given.ndim != rank or (spec.size is not None and given.shape[-1] != spec.size):
            shape = (*rows, spec.size) if spec.size else rows
            raise InvalidArgumentError(
                f"{cls.__name__}: {spec.name} has shape {given.shape}, expected ({', '.join(map(str, shape))})"
            )
        whole = given.dtype.kind in "iu" and dtype.kind in "iu"
        if not (_within(given, dtype) if whole else np.can_cast(given.dtype, dtype, "same_kind")):
            hint = "; graph.vertex_id(label) finds the id of a label" if isinstance(spec.dtype, IdType) else ""
            raise InvalidArgumentError(
                f"{cls.__name__}: {spec.name}={value!r} is not a value of type {spec.dtype}{hint}"
            )
        if rank and not copy:
            return np.require(given, dtype, ["C", "W"])  # the type that kernels are compiled for
        converted = given.astype(dtype)
        return converted if rank else converted[()]

    @classmethod
    def taking(cls, **params: Any) -> Self:
        """An instance that takes arrays as they are, neither checked nor copied: for an engine that copies them itself.

        They may lie on that engine's device. The caller sees to it that they do not change while the program runs.
        """
        known = cls._declared_params()
        made = cls.__new__(cls)
        made.params = MappingProxyType(
            {name: value if np.ndim(value) else cls._convert(known[name], value) for name, value in params.items()}
        )
        return made

    @classmethod
    def keeping(cls, **params: Any) -> Self:
        """An instance that keeps arrays of the right type, instead of copies of them.

        For arrays that nobody else changes while the program runs, such as fields of a program that ran before.

        >>> from dromos.algorithms.spmv import SpMV
        >>> ones = np.ones(3)
        >>> SpMV.keeping(x=ones).params["x"] is ones, SpMV(x=ones).params["x"] is ones
        (True, False)
        """
        known = cls._declared_params()
        made = cls.__new__(cls)
        made.params = MappingProxyType(
            {name: cls._convert(known[name], value, copy=False) for name, value in params.items()}
        )
        return made

    def given(self, **params: Any) -> Self:
        """The same program with parameters set as they are, unchecked: what an engine knows better than the user."""
        made = copy(self)
        made.params = MappingProxyType({**self.params, **params})
        return made

    @classmethod
    def ir(cls) -> ProgramIR:
        """The traced program; made once per class."""
        found: ProgramIR | None = cls.__dict__.get("_ir")
        if found is None:
            found = trace(cls)
            cls._ir = found  # type: ignore[attr-defined]
        return found

    @classmethod
    def typed(cls, types: GraphTypes) -> TypedProgram:
        """The program with the number types that a graph gives it; made once per class and types."""
        known: dict[GraphTypes, TypedProgram] | None = cls.__dict__.get("_typed")
        if known is None:
            known = {}
            cls._typed = known  # type: ignore[attr-defined]
        if types not in known:
            known[types] = TypedProgram(cls.ir(), types)
        return known[types]

    def __getstate__(self) -> dict[str, Any]:
        """For pickle, which takes no read-only view of a dictionary: workers of a pool are sent programs by it."""
        return {**self.__dict__, "params": dict(self.params)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "params": MappingProxyType(state["params"])})

    def __repr__(self) -> str:
        values = (f"{k}={'<array>' if isinstance(v, np.ndarray) else v}" for k, v in self.params.items())
        return f"{type(self).__name__}({', '.join(values)})"


def _within(given: Array, dtype: np.dtype[Any]) -> bool:
    """Whether all of these whole numbers are numbers of ``dtype``."""
    ends = np.iinfo(dtype)
    return not given.size or bool(int(given.min()) >= ends.min and int(given.max()) <= ends.max)
