"""What engines and the planner know about a program without asking its author: pure functions of the IR."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from dromos.program.expr import FALSE, TRUE, Expr, reads, substitute
from dromos.program.ir import ProgramIR
from dromos.program.legality import delta_field, monotone_field, why_not_by_path
from dromos.program.levels import LevelSearch, level_search
from dromos.program.monoid import ANY, SUM
from dromos.program.patterns import claimed_field, folded, guard, is_free, is_never, state_of, updates_idempotently
from dromos.program.typed import TypedProgram

__all__ = ["Activity", "Analysis", "analyse"]

Activity: TypeAlias = Literal["always", "changed", "other"]
_UNIFORM = ("field", "vertex_param", "id", "out_degree", "in_degree", "weight", "edge_field", "edge_param", "table")


@dataclass(frozen=True)
class Analysis:
    """The derived properties of a program on a graph of known types."""

    source_fields: frozenset[str]
    """Fields read at an edge's source (GTS's read-only attributes RA, with the written ones)."""
    target_fields: frozenset[str]
    """Fields read at an edge's target to decide on or make a message."""
    written_fields: frozenset[str]
    """Fields that a superstep may change (GTS's read/write attributes WA); the others can be shared."""
    message_bytes: int
    """The size of a merged message."""
    uses_weight: bool
    reads_target: bool
    """A message, or whether there is one, depends on the target's state."""
    source_only: bool
    """A message depends on nothing but its source: it can be made once per vertex instead of once per edge."""
    uniform: bool
    """All messages of a superstep are the same value."""
    idempotent_combine: bool
    idempotent_update: bool
    vote: bool
    """One message is as good as all of them: a pull may stop at the first."""
    deterministic: bool
    """The order of messages cannot change the answer (beyond rounding)."""
    monotone: str | None
    """The field that only ever moves one way, by a minimum, a maximum, or a set of bits."""
    delta: str | None
    """The field in which sums are gathered and from which they are taken once (residual form)."""
    claimed: str | None
    """The field that tells whether a vertex has taken its one message, and may so be written by whoever comes first."""
    search: LevelSearch | None
    """A search by levels, said as a minimum: it can be run as one in which vertices are claimed."""
    activity: Activity
    """``always``: every vertex, every superstep. ``changed``: only where the state changed. ``other``: ask."""
    update_skips_identity: bool
    """``update`` with the identity changes nothing: a vertex without a message may be skipped."""
    wants: Expr | None
    """Whether a vertex can still use a message, given or derived; None: always."""
    priority: tuple[str, Literal["ascending"]] | None
    """The field to schedule by, and which end comes first; None where that would change the answer or help nothing."""
    legal: Mapping[str, str | None]
    """Path -> None, or why this program cannot run on it."""
    notes: tuple[str, ...]
    """What the author may want to know: sums that are widened, a priority that is not used."""

    @property
    def legal_paths(self) -> tuple[str, ...]:
        """The paths that give this program's answer."""
        return tuple(path for path, reason in self.legal.items() if reason is None)


@lru_cache(maxsize=256)
def analyse(typed: TypedProgram) -> Analysis:
    """Everything that is derived from a program.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> class Labels(dr.Program):
    ...     label = dr.field(dr.ID)
    ...     combine = dr.MIN
    ...     def init(self, v): return v.id
    ...     def compute(self, u, edge, v): return u.label
    ...     def update(self, v, message): return dr.minimum(v.label, message)
    >>> facts = analyse(Labels.typed(dr.GraphTypes()))
    >>> facts.monotone, facts.activity, facts.message_bytes, len(facts.legal_paths)
    ('label', 'changed', 4, 8)
    """
    ir = typed.ir
    along = ir.exprs("message", "sends")
    uniform = not reads(ir.message, *_UNIFORM)
    monotone, delta = monotone_field(ir), delta_field(ir)
    activity = _activity(typed)
    legal = why_not_by_path(typed, monotone, delta, uniform)
    priority = _priority(typed, monotone, legal)
    wants = _wants(ir, activity)
    checked = any(function == "update" for function, _ in typed.narrowing)
    vote = ir.combine.idempotent and (ir.combine is ANY or uniform)
    return Analysis(
        source_fields=_fields(along + ir.exprs("edge_update"), "source"),
        target_fields=_fields(along, "target") | _fields([ir.wants], "vertex"),
        written_fields=frozenset(ir.written),
        message_bytes=typed.message_bytes,
        uses_weight=bool(reads(ir.exprs(), "weight")),
        reads_target=any(node.role == "target" for node in reads(along, *_UNIFORM)) or ir.wants is not TRUE,
        source_only=all(node.role == "source" for node in reads(ir.message, *_UNIFORM) if not _is_one(node, typed)),
        uniform=uniform,
        idempotent_combine=ir.combine.idempotent,
        idempotent_update=updates_idempotently(ir),
        vote=vote,
        deterministic=ir.combine is not ANY or uniform,
        monotone=monotone,
        delta=delta,
        # wants() is evaluated for every vertex there: it has to be known. Stored values have to fit. Several levels run
        # in one call, so that converged() would be asked too late. And pushes and pulls do, each with its own arcs.
        claimed=claimed_field(ir)
        if vote
        and ir.sends is TRUE
        and ir.wants is TRUE
        and wants is not None
        and not checked
        and ir.converged is FALSE
        and not ir.edge_params
        and not ir.tables
        else None,
        search=level_search(typed),
        activity=activity,
        update_skips_identity=_skips_identity(ir),
        wants=wants,
        priority=priority,
        legal=legal,
        notes=_notes(typed, activity, priority, legal),
    )


def _is_one(node: Expr, typed: TypedProgram) -> bool:
    """Whether ``node`` is the weight of an edge where no edge has one."""
    return node.op == "weight" and typed.types.weight is None


def _fields(exprs: list[Expr], role: str) -> frozenset[str]:
    return frozenset(node.attr[1] for node in reads(exprs, "field") if node.role == role)


def _activity(typed: TypedProgram) -> Activity:
    if typed.ir.active is TRUE:
        return "always"

    def unchanged(node: Expr) -> Expr | None:
        return Expr(node.op, attr=("old", *node.attr[1:])) if node.role == "new" else None

    return "changed" if is_never(substitute(typed.ir.active, unchanged), typed.typing) else "other"


def _skips_identity(ir: ProgramIR) -> bool:
    messages = [Expr("message", attr=(i,)) for i in range(len(ir.message))]
    return all(
        expr is own or any(folded(expr, own, ir.combine.part(i).operator) is x for i, x in enumerate(messages))
        for name, exprs in ir.update
        for index, expr in enumerate(exprs)
        for own in (Expr("field", attr=("vertex", name, index)),)
    )


def _wants(ir: ProgramIR, activity: Activity) -> Expr | None:
    if ir.wants is not TRUE:
        return ir.wants
    found = guard(ir.update)
    # an ignored message may still touch a vertex, so it can be dropped only where activity needs a change; an edge that
    # carries one is written all the same; and a sender's own change comes before the guard, but after this question
    sent = state_of("vertex", tuple(name for name, _ in ir.sent))
    if found is None or activity != "changed" or ir.edge_update:
        return None
    return found[0] if is_free(found[0], lambda node: node.op == "message" or sent(node)) else None


def _priority(
    typed: TypedProgram, monotone: str | None, legal: Mapping[str, str | None]
) -> tuple[str, Literal["ascending"]] | None:
    """The field that orders the vertices; a bool has two values, too few for an order to be of use."""
    name = typed.ir.priority
    if name is None or name != monotone or legal["async-push-dd"] is not None or typed.dtype(name).kind == "b":
        return None
    return name, "ascending"


def _notes(
    typed: TypedProgram, activity: Activity, priority: object, legal: Mapping[str, str | None]
) -> tuple[str, ...]:
    notes = []
    if any(typed.ir.combine.part(i) is SUM for i in range(len(typed.ir.message))):
        notes += [
            f"SUM merges {wide} for field {name!r} of type {typed.dtype(name)}: the sum is kept in {wide}, and storing "
            f"it is checked, so that an overflow is a FieldOverflowError; declare the field {wide} to drop the check"
            for function, name in typed.narrowing
            if function == "update"
            for wide in {str(d) for i, d in enumerate(typed.accumulators) if typed.ir.combine.part(i) is SUM}
        ]
    if typed.ir.priority is not None and priority is None:
        why = legal["async-push-dd"] or (
            "a bool has too few values for an order"
            if typed.dtype(typed.ir.priority).kind == "b"
            else "it is not the field that messages improve"
        )
        notes.append(f"priority = {typed.ir.priority!r} is not used: {why}")
    if activity == "other" and any(
        node.op == "ne" and typed.typing.of(node.args[0]).dtype.kind == "f" for node in reads([typed.ir.active], "ne")
    ):
        notes.append("active() compares floats with !=, which a NaN always satisfies; < or > tells engines more")
    return tuple(notes)
