"""A program's functions in CUDA C++, as the kernels in ``engines/cuda/kernels`` call them.

The text is a function of the program and the graph's types alone. S, O, D are structures of pointers to the fields now,
before, and to be written; E to the edge fields; A to merged messages; K is the context.
"""

from __future__ import annotations

from typing import Final

from dromos.codegen.cuda.functions import EDGE, at, define, scalar, store
from dromos.codegen.cuda.improving import can_improve, improving
from dromos.codegen.cuda.lower import C_NAMES
from dromos.codegen.cuda.messages import merging
from dromos.codegen.cuda.state import claiming, keeping, reducing
from dromos.codegen.cuda.structures import context_members, declare, edge_members, field_members, merged_members
from dromos.codegen.facts import program_facts
from dromos.codegen.numba.functions import functions
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import TRUE, walk

__all__ = ["hooks_text"]

_STORING: Final = ("init", "edge_init", "sent", "update", "edge_update")


def hooks_text(typed: TypedProgram, analysis: Analysis) -> str:
    """The text of a program's structures, constants and functions."""
    ir = typed.ir
    parts = [
        f"// Program {ir.hash} for ids {typed.types.id} and weights {typed.types.weight}. Written by Dromos.",
        '#include "state.cuh"',
        *_structures(typed),
        *_constants(typed, analysis),
    ]
    for function in functions(typed):
        parts += [scalar(function, typed), at(function, typed)]
        if function.name in _STORING:
            parts.append(store(function, typed))
    if not ir.edge_fields:
        stored = (("const EdgeFields&", "D"), *EDGE)
        parts += [define("bool", name, stored, ["return true;"]) for name in ("edge_init_store", "edge_update_store")]
    parts.append(claiming(typed, analysis))
    parts += [*merging(typed), *keeping(typed), *reducing(typed), *improving(typed, analysis)]
    return "\n".join(parts) + "\n"


def _structures(typed: TypedProgram) -> list[str]:
    weight = C_NAMES[typed.types.weight] if typed.types.weight is not None else "int"
    message = "".join(f" {C_NAMES[dtype]} m{i};" for i, dtype in enumerate(typed.accumulators))
    reduced = "".join(f" {C_NAMES[typed.reduction_type(r.name)]} r_{r.name};" for r in typed.ir.reductions)
    return [
        f"typedef {weight} Weight;",
        declare("Fields", field_members(typed)),
        declare("EdgeFields", edge_members(typed)),
        declare("Merged", merged_members(typed)),
        declare("Context", context_members(typed)),
        f"struct Message {{{message} }};",
        f"struct Reduced {{{reduced or ' int nothing;'} }};",
    ]


def _constants(typed: TypedProgram, analysis: Analysis) -> list[str]:
    facts = program_facts(typed, analysis) | {
        "HAS_WEIGHTS": typed.types.weight is not None,
        "CAN_IMPROVE": can_improve(typed, analysis) is not None,
        "ASKS_SOURCE": _asks_source(typed),
        "WANTS_DECLARED": typed.ir.wants is not TRUE,
    }
    return [f"static const bool {name} = {str(value).lower()};" for name, value in facts.items()]


def _asks_source(typed: TypedProgram) -> bool:
    """Whether a message depends on what a run wrote before: its source's fields, or those of an edge."""
    return any(
        node.op == "edge_field" or (node.op == "field" and node.role == "source")
        for node in walk([*typed.ir.message, typed.ir.sends])
    )
