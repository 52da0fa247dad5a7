"""The costs of paths on a CPU for the planner, for whole graphs and for parts of one."""

from __future__ import annotations

from typing import Any, Final

from dromos.codegen.facts import is_always_active
from dromos.plan import PATHS, Constants
from dromos.program import Analysis, TypedProgram
from dromos.program.forms import sums_floats

__all__ = ["planning"]

# A CPU switches back from pull later than a GPU: Beamer's beta.
_CONSTANTS: Final = Constants(alpha=15.0, beta=18.0)
_PUSH_COST: Final = 2.5  # an atomic, or a lock, and a store, while a pull adds in a register


def planning(typed: TypedProgram, analysis: Analysis, *, several_threads: bool) -> dict[str, Any]:
    """Options of :class:`dromos.plan.Caps`.

    A push is not considered if all vertices send: it traverses the same arcs as a pull, with atomics. Nor is it if
    several threads sum floats: they add pushed messages in the order of arrival, while a pull adds along the row.
    ``any_order`` in the program allows it.
    """
    in_order = several_threads and sums_floats(typed) and not typed.ir.any_order
    pulled = is_always_active(typed.ir, analysis) or in_order
    dominated = tuple(path for path in PATHS if path.direction == "push") if pulled else ()
    return {"constants": _CONSTANTS, "dominated": dominated, "push_cost": _PUSH_COST}
