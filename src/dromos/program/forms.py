"""Forms of a program that unlock fast kernels, found from its text and its analysis."""

from __future__ import annotations

from dromos.program import Analysis, ProgramIR, TypedProgram
from dromos.program.expr import TRUE, Expr, reads
from dromos.program.monoid import ANY, MIN, SUM
from dromos.program.passing import tells_of_improvements

__all__ = [
    "is_claimed",
    "is_offered",
    "is_offered_in_place",
    "is_ordered",
    "offers_early",
    "spreads_ids",
    "sums_floats",
]


def is_offered(ir: ProgramIR, analysis: Analysis) -> bool:
    """Whether messages can be made once per vertex, and the identity offered where there is none."""
    harmless = ir.update_on == "all" or (analysis.update_skips_identity and analysis.activity == "changed")
    return analysis.source_only and ir.sends is TRUE and ir.combine is not ANY and harmless


def is_offered_in_place(ir: ProgramIR, analysis: Analysis) -> bool:
    """Whether an offer may be renewed while others gather: one field moves one way, by messages of one word."""
    return is_offered(ir, analysis) and analysis.monotone is not None and len(ir.message) == 1 and offers_early(ir)


def offers_early(ir: ProgramIR) -> bool:
    """Whether what a vertex offers in the next superstep is known as soon as it is updated in this one."""
    return not reads(ir.message, "superstep", "reduction")


def is_claimed(typed: TypedProgram, analysis: Analysis) -> bool:
    """Whether each vertex takes one message, told by one field that is no vector."""
    return analysis.claimed is not None and typed.ir.field(analysis.claimed).size is None


def is_ordered(typed: TypedProgram, analysis: Analysis) -> bool:
    """Whether a program lowers one scalar field by a minimum, wants that field's order, and is active when it falls.

    Messages are applied by one atomic, so they have to be of the field's own type.
    """
    ir = typed.ir
    if analysis.priority is None or ir.combine is not MIN or analysis.monotone != analysis.priority[0]:
        return False
    name = analysis.priority[0]
    if ir.field(name).size is not None or ir.sends is not TRUE or analysis.wants is not None:
        return False
    dtype = typed.dtype(name)
    fits = dtype == typed.accumulators[0] and dtype.itemsize >= 4
    return fits and analysis.activity == "changed" and tells_of_improvements(ir, name)


def spreads_ids(ir: ProgramIR, analysis: Analysis) -> str | None:
    """The field that starts as a vertex's id and falls to the least id that reaches it; None where there is none.

    Where every arc has one back, that is the least id of the vertex's component. A program that may run asynchronously
    means its fixed point, whatever leads there.
    """
    name = analysis.monotone
    if name is None or ir.combine is not MIN or "async-pull-td" not in analysis.legal_paths:
        return None
    own = Expr("field", attr=("source", name, 0))
    plain = ir.start is TRUE and ir.sends is TRUE and ir.wants is TRUE and ir.update_on == "received"
    starts_as_id = dict(ir.init).get(name) == (Expr("id", attr=("vertex",)),)
    quiet = analysis.activity == "changed" and not ir.reductions and not ir.tables
    return name if plain and quiet and starts_as_id and ir.message == (own,) else None


def sums_floats(typed: TypedProgram) -> bool:
    """Whether messages are floats that are added up, so that the order in which they come shows in the last digits."""
    return any(typed.ir.combine.part(i) is SUM and dtype.kind == "f" for i, dtype in enumerate(typed.accumulators))
