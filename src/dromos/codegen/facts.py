"""Compile-time facts about a program for the kernels of every device, by the names that the kernels use."""

from __future__ import annotations

from dromos.program import Analysis, ProgramIR, TypedProgram
from dromos.program.expr import TRUE

__all__ = ["is_always_active", "keeps_old_rows", "program_facts"]


def is_always_active(ir: ProgramIR, analysis: Analysis) -> bool:
    """Whether all vertices are active from the first superstep to the last, so that no queue of them is kept."""
    return analysis.activity == "always" and ir.start is TRUE


def keeps_old_rows(ir: ProgramIR) -> bool:
    """Whether the second half of a superstep keeps a copy of the fields that it writes.

    If it updates all vertices, one after the other, the old state of each is in registers. ``sent`` changes some of
    them before.
    """
    return ir.update_on != "all" or bool(ir.sent)


def program_facts(typed: TypedProgram, analysis: Analysis) -> dict[str, bool]:
    """Compile-time flags of a kernel.

    >>> import dromos.program as dr
    >>> class Labels(dr.Program):
    ...     label = dr.field(dr.ID)
    ...     combine = dr.MIN
    ...     def init(self, v): return v.id
    ...     def compute(self, u, edge, v): return u.label
    ...     def update(self, v, message): return dr.minimum(v.label, message)
    >>> typed = Labels.typed(dr.GraphTypes())
    >>> [name for name, value in program_facts(typed, dr.analyse(typed)).items() if value]
    ['SENDS_ALWAYS', 'WANTS_ALWAYS']
    """
    ir = typed.ir
    return {
        "VOTE": analysis.vote,
        "SENDS_ALWAYS": ir.sends is TRUE,
        "WANTS_ALWAYS": analysis.wants is None,
        "HAS_SENT": bool(ir.sent),
        "HAS_EDGE_FIELDS": bool(ir.edge_fields),
        "HAS_REDUCTIONS": bool(ir.reductions),
        "UPDATE_ALL": ir.update_on == "all",
        "REVISITS": analysis.activity != "changed",
        "ALWAYS_ACTIVE": is_always_active(ir, analysis),
    }
