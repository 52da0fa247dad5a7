"""Programs whose supersteps take turns: functions of a phase, told apart by the superstep's number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dromos.errors import ProgramError
from dromos.program.expr import Expr, build, const

__all__ = ["choose", "is_phase", "phase_names"]


def phase_names(cls: Any) -> tuple[str, ...]:
    """The phases that a program declares, checked; none where every superstep is like the others."""
    names = cls.phases
    if names is None:
        return ()
    words = isinstance(names, tuple | list) and all(isinstance(name, str) and name.isidentifier() for name in names)
    if not words or len(set(names)) != len(names) or len(names) < 2:
        raise ProgramError(
            f"phases = {names!r} must be two names or more, such as ('offer', 'answer')", program=cls.__name__
        )
    return tuple(names)


def is_phase(phases: Sequence[str], index: int) -> Expr:
    """Whether a superstep belongs to the phase ``index``.

    >>> is_phase(("offer", "answer"), 1)
    eq(mod(superstep, const(int, 2)), const(int, 1))
    """
    return build("eq", build("mod", Expr("superstep"), const(len(phases))), const(index))


def choose(phases: Sequence[str], exprs: Sequence[Expr]) -> Expr:
    """The expression of the phase that a superstep belongs to; the only one, where there is one for all of them.

    >>> choose(("offer", "answer"), [Expr("weight"), Expr("weight")])
    weight
    """
    chosen = exprs[-1]
    for index in range(len(exprs) - 2, -1, -1):
        chosen = build("where", is_phase(phases, index), exprs[index], chosen)
    return chosen
