"""Expressions of a program over whole arrays: how their leaves are looked up, and what a function stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np

from dromos.dtypes import Array
from dromos.engines.array_part import ArrayPart
from dromos.errors import FieldOverflowError
from dromos.program import Expr
from dromos.program.evaluate import evaluate_arrays

__all__ = ["EVERY", "ArcValues", "EvaluatingPart", "Vertices"]

EVERY: Final = slice(None)
"""All rows of an array."""

_WORTH_COPYING: Final = 4  # a column is copied if at least one in so many of its entries is looked up


class Vertices(NamedTuple):
    """Vertices in a role: their ids, and the indices of their rows in ``state``."""

    ids: Array
    state: Mapping[str, Array]
    at: Any


class ArcValues(NamedTuple):
    """Values of arcs: weights, edge fields at indices among the part's arcs, and edge parameters."""

    weights: Any
    places: Any
    given: Mapping[str, Array]


class EvaluatingPart(ArrayPart):
    """A part whose expressions are evaluated for many vertices or arcs at once."""

    _kept_degrees: dict[str, Array] | None = None

    @contextmanager
    def _keeping_degrees(self) -> Iterator[None]:
        """Inside, degrees are asked for once: a graph on disk makes them anew each time."""
        self._kept_degrees = {}
        try:
            yield
        finally:
            self._kept_degrees = None

    def _degrees(self, name: str) -> Array:
        """``in_degree`` or ``out_degree`` of all vertices."""
        kept = {} if self._kept_degrees is None else self._kept_degrees
        if name not in kept:
            kept[name] = getattr(self.shape, name)
        return kept[name]

    def _values(
        self,
        roots: Sequence[Expr],
        roles: Mapping[str, Vertices],
        arcs: ArcValues | None = None,
        messages: tuple[Array, ...] = (),
    ) -> list[Array]:
        """Evaluate expressions with vertices for each role; the only place where leaves are looked up."""

        def leaf(node: Expr) -> Any:
            match node.op:
                case "message":
                    return messages[node.attr[0]]
                case "weight":  # without arcs a message is made once per vertex: no edge has its own weight
                    return 1 if arcs is None else arcs.weights
                case "edge_field" if arcs is not None:
                    return _component(self.edge_state[node.attr[0]], arcs.places, node.attr[1])
                case "edge_param" if arcs is not None:
                    return _component(arcs.given[node.attr[0]], EVERY, node.attr[1])
                case "table":
                    name = node.attr[1]
                    return self.program.params[name] if node.attr[0] == "vertex_param" else self.table(name)
            if node.role is None:
                return self.global_value(node)
            vertices = roles[node.attr[0]]
            match node.op:
                case "field":
                    return _component(vertices.state[node.attr[1]], vertices.at, node.attr[2])
                case "vertex_param":
                    return _component(self.program.params[node.attr[1]], vertices.ids, node.attr[2])
                case "id":
                    return vertices.ids
            return self._degrees(node.op)[vertices.ids]

        return evaluate_arrays(roots, self.typed.typing, leaf)

    def _truths(self, expr: Expr, roles: Mapping[str, Vertices], count: int, arcs: ArcValues | None = None) -> Array:
        return np.broadcast_to(self._values([expr], roles, arcs)[0], count)

    def _stored(
        self,
        function: str,
        roles: Mapping[str, Vertices],
        rows: Array,
        arcs: ArcValues | None = None,
        messages: tuple[Array, ...] = (),
    ) -> dict[str, Array]:
        """The results of ``function``, in the types of the fields; an integer that does not fit is an error."""
        assignments = getattr(self.ir, function)
        found = iter(self._values([expr for _, exprs in assignments for expr in exprs], roles, arcs, messages))
        stored = {}
        for name, exprs in assignments:
            parts = [next(found) for _ in exprs]
            dtype = self.typed.dtype(name)
            with np.errstate(all="ignore"):
                columns = [part.astype(dtype, copy=False) for part in parts]
            for part, column in zip(parts, columns, strict=True):
                if dtype.kind in "iu" and not np.can_cast(part.dtype, dtype):
                    wrong = (column.astype(part.dtype) != part) | ((column < 0) != (part < 0))
                    if len(rows) and wrong.any():
                        at = int(np.argmax(np.broadcast_to(wrong, len(rows))))
                        raise FieldOverflowError(
                            f"{self.ir.name}.{function}: {np.broadcast_to(part, len(rows))[at]} does not fit field "
                            f"{name!r} of type {dtype} (vertex or arc {rows[at]}); declare the field with a wider type"
                        )
            count = len(rows)
            if self.ir.field(name).size is None:
                stored[name] = np.broadcast_to(columns[0], count)
            else:
                stored[name] = np.stack([np.broadcast_to(column, count) for column in columns], axis=1)
        return stored

    @staticmethod
    def _store(into: Mapping[str, Array], at: Any, values: Mapping[str, Array]) -> None:
        """Write all fields as if at once: a field assigned from another must not see that one's new value."""
        if len(values) > 1:
            values = {
                name: rows.copy() if any(np.may_share_memory(rows, into[other]) for other in values) else rows
                for name, rows in values.items()
            }
        for name, rows in values.items():
            into[name][at] = rows


def _component(values: Array, at: Any, index: int) -> Array:
    if values.ndim > 1:
        values = values[:, index]
    by_index = isinstance(at, slice) or (not values.flags.c_contiguous and _WORTH_COPYING * len(at) < len(values))
    # ``take`` is faster, but copies a column that is part of a matrix
    found: Array = values[at] if by_index else values.take(at)
    return found
