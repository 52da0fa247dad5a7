"""The parts of a graph as named arrays, for checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from dromos.dtypes import Array
from dromos.engines.parts import Part
from dromos.engines.saving import ResumablePart, Saved
from dromos.places.exchange import Exchange

__all__ = ["restore_parts", "save_parts"]


def save_parts(parts: Sequence[Part]) -> dict[str, Array]:
    """The arrays that each part owns, keyed by its number."""
    return {
        f"{number}.{name}": values
        for number, part in enumerate(cast(Sequence[ResumablePart], parts))
        for name, values in part.save().items()
    }


def restore_parts(parts: Sequence[Part], exchange: Exchange, saved: Saved, superstep: int) -> tuple[Any, ...]:
    """Restore what each part owns and refresh the copies of other parts' rows; return the reductions."""
    owners = cast(Sequence[ResumablePart], parts)
    for number, part in enumerate(owners):
        begin = f"{number}."
        part.restore(
            {name[len(begin) :]: values for name, values in saved.items() if name.startswith(begin)}, superstep
        )
    for name in owners[0].state:
        whole = exchange.gather(parts, name)
        for part in owners:
            part.take_copies({name: whole})
    return owners[0].reductions
