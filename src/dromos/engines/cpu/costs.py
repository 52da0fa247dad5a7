"""What the planner is told about paths on a CPU, for whole graphs and for parts of one."""

from __future__ import annotations

from typing import Any, Final

from dromos.codegen.facts import is_always_active
from dromos.plan import PATHS, Constants
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import sums_floats

__all__ = ["planning"]

# On a CPU a pull is left later than on a GPU: Beamer's beta.
_CONSTANTS: Final = Constants(alpha=15.0, beta=18.0)
_PUSH_COST: Final = 2.5  # an atomic, or a lock, and a store where a pull adds in a register


def planning(typed: TypedProgram, analysis: Analysis, *, several_threads: bool) -> dict[str, Any]:
    """Options of :class:`dromos.plan.Caps`.

    A push is not tried where all vertices send: it goes along the same arcs as a pull and pays atomics for it. Nor is
    it where several threads sum floats: they add pushed messages in the order in which they come, a pull along the row.
    ``any_order`` in the program allows it.
    """
    in_order = several_threads and sums_floats(typed) and not typed.ir.any_order
    pulled = is_always_active(typed.ir, analysis) or in_order
    dominated = tuple(path for path in PATHS if path.direction == "push") if pulled else ()
    return {"constants": _CONSTANTS, "dominated": dominated, "push_cost": _PUSH_COST}
