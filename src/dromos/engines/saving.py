"""The state of a run as named arrays: what a checkpoint holds of an execution, or of a part of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

import numpy as np

from dromos.dtypes import Array
from dromos.engines import Execution, GraphLike
from dromos.engines.parts import Part
from dromos.plan import Stats

__all__ = [
    "ResumableExecution",
    "ResumablePart",
    "Saved",
    "pack",
    "put_back",
    "reductions_of",
    "state_of",
    "why_not_saved",
]

Saved = Mapping[str, Array]
_FIELD, _EDGE, _REDUCTION = "field.", "edge.", "reduction."


class ResumableExecution(Execution, Protocol):
    """An execution that can be saved between two steps, and continued in another process."""

    @property
    def why_not_saved(self) -> str:
        """Why this execution cannot be saved; empty if it can."""

    def save(self) -> Saved:
        """The arrays that :meth:`restore` needs beside :attr:`stats`; they may change with the next step."""

    def restore(self, saved: Saved, stats: Stats) -> None:
        """Continue from a saved state; this execution was prepared for the same program and graph, and has not run."""


class ResumablePart(Part, Protocol):
    """A part of a graph that can be saved between two supersteps."""

    reductions: tuple[Any, ...]

    def save(self) -> Saved:
        """The part's own rows, its frontier and the reductions, for :meth:`restore`."""

    def restore(self, saved: Saved, superstep: int) -> None:
        """Continue after ``superstep`` supersteps, in a part that has just started; others' rows follow."""

    def take_copies(self, fields: Mapping[str, Array]) -> None:
        """Set the rows of all vertices, after :meth:`restore`."""


def why_not_saved(execution: Execution) -> str:
    """Why an execution cannot be saved; empty if it can."""
    reason = "" if hasattr(execution, "save") else "its state lies in the memory of a device"
    return str(getattr(execution, "why_not_saved", reason))


def pack(fields: Saved, edge_fields: Saved, reductions: Iterable[Any], **more: Array | None) -> dict[str, Array]:
    """The state under the names that a checkpoint uses.

    >>> sorted(pack({"rank": np.ones(2)}, {}, [np.float64(2)], frontier=np.arange(1)))
    ['field.rank', 'frontier', 'reduction.0']
    """
    return {
        **{f"{_FIELD}{name}": values for name, values in fields.items()},
        **{f"{_EDGE}{name}": values for name, values in edge_fields.items()},
        **{f"{_REDUCTION}{number}": np.asarray(value) for number, value in enumerate(reductions)},
        **{name: values for name, values in more.items() if values is not None},
    }


def put_back(saved: Saved, fields: Saved, edge_fields: Saved) -> None:
    """Copy saved fields into the arrays of a run in place, since other objects may hold these arrays."""
    for prefix, arrays in ((_FIELD, fields), (_EDGE, edge_fields)):
        for name, values in arrays.items():
            np.copyto(values, saved[f"{prefix}{name}"], casting="no")


def reductions_of(saved: Saved) -> tuple[Any, ...]:
    """The reductions, as scalars of their own types.

    >>> reductions_of({"reduction.0": np.asarray(np.float32(0.5)), "reduction.1": np.asarray(7)})
    (np.float32(0.5), np.int64(7))
    """
    count = sum(name.startswith(_REDUCTION) for name in saved)
    return tuple(saved[f"{_REDUCTION}{number}"][()] for number in range(count))


def state_of(execution: Execution, graph: GraphLike) -> Saved:
    """A copy of the state of a run in one part, for ``restore`` of an execution on the whole graph that has not run.

    Without edge fields: engines keep these in different orders.
    """
    saved = cast(ResumableExecution, execution).save()
    whole = {name.removeprefix("0."): values.copy() for name, values in saved.items()}
    # the number of arcs that a search has not looked at only guides its choice of paths
    return {**whole, "untouched": np.asarray(float(graph.num_arcs))}
