"""Which of the eight paths sync|async x push|pull x dd|td give a program's answer, and why the others do not.

Asynchronous execution applies messages one by one, in any order, from whatever state the source is in by then. That is
right for two families: *monotone* programs, whose only written field moves one way towards the same fixed point
whatever the order; and *delta* programs, whose sums may be taken in pieces because messages are linear in what is sent.
Both have to pass every change on: where ``active`` leaves some out, what others hear depends on the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType

from dromos.program.expr import FALSE, TRUE, Expr, reads
from dromos.program.ir import ProgramIR
from dromos.program.monoid import AND, ANY, ARGMAX, ARGMIN, MAX, MIN, OR, SUM
from dromos.program.passing import tells_of_changes, tells_of_improvements, tells_of_residual
from dromos.program.patterns import (
    folded,
    guard,
    is_free,
    is_linear,
    is_nondecreasing,
    state_of,
    updates_idempotently,
)
from dromos.program.typed import TypedProgram

__all__ = ["delta_field", "monotone_field", "why_not_by_path"]

_SILENT = "active() is not proven to hold whenever update() changes a vertex: who hears of it depends on the order"
_STEP = ("message", "sends", "wants", "sent", "update", "active")


def monotone_field(ir: ProgramIR) -> str | None:
    """The one field that every update moves the same way: ``f := min(f, message)``, or a keyed improvement of it."""
    if ir.sent:
        return None
    if ir.combine in (MIN, MAX, OR, AND) and len(ir.update) == 1:
        ((name, exprs),) = ir.update
        for index, expr in enumerate(exprs):
            x = folded(expr, Expr("field", attr=("vertex", name, index)), ir.combine.operator)
            if x is not Expr("message", attr=(index,)):
                return None
        return name
    if ir.combine in (ARGMIN, ARGMAX) and (found := guard(ir.update)) is not None:
        condition, values = found
        key = Expr("message", attr=(0,))
        for name, exprs in values.items():
            state = Expr("field", attr=("vertex", name, 0))
            better = {"lt": (key, state), "gt": (state, key)}
            if ir.combine is ARGMAX:
                better = {"lt": (state, key), "gt": (key, state)}
            if exprs == (key,) and better.get(condition.op) == condition.args:
                own = state_of("vertex", tuple(values))
                return name if all(is_free(e, own) for es in values.values() for e in es) else None
    return None


def delta_field(ir: ProgramIR) -> str | None:
    """The field that gathers sums (``f := f + message``) and is taken to zero when sent, with messages linear in it."""
    if ir.combine is not SUM or len(ir.update) != 1:
        return None
    ((name, exprs),) = ir.update
    sent = dict(ir.sent)
    at_source, at_vertex = state_of("source", (name,)), state_of("vertex", (name,))
    gathers = all(
        folded(expr, Expr("field", attr=("vertex", name, index)), "add") is Expr("message", attr=(index,))
        for index, expr in enumerate(exprs)
    )
    emptied = name in sent and all(expr.op == "const" and expr.value == 0 for expr in sent[name])
    additive = all(
        (x := folded(expr, Expr("field", attr=("vertex", other, index)), "add")) is not None and is_linear(x, at_vertex)
        for other, others in sent.items()
        if other != name
        for index, expr in enumerate(others)
    )
    linear = all(is_linear(expr, at_source) for expr in ir.message)
    return name if gathers and emptied and additive and linear else None


def why_not_by_path(
    typed: TypedProgram, monotone: str | None, delta: str | None, uniform: bool
) -> Mapping[str, str | None]:
    """Each path with None if it is legal, else the reason why not."""
    ir = typed.ir
    reasons: dict[str, str | None] = {}
    asynchronous = _why_not_async(typed, monotone, delta, uniform)
    if asynchronous is None and ir.converged is not FALSE:
        asynchronous = "converged() is asked between supersteps"
    if asynchronous is None and ir.reductions:  # the result of a run tells the last superstep's
        asynchronous = f"the reduction {ir.reductions[0].name!r} is folded at the end of each superstep"
    for sync, direction, driven in product(("sync", "async"), ("push", "pull"), ("dd", "td")):
        reason = asynchronous if sync == "async" else None
        if direction == "pull" and ir.edge_fields:
            reason = "edge fields lie in the order of out-edges, so a pull along in-edges cannot reach them"
        elif direction == "pull" and sync == "async" and delta is not None:
            reason = f"a delta must be taken once: {delta!r} cannot be emptied while several targets still pull it"
        reasons[f"{sync}-{direction}-{driven}"] = reason
    return MappingProxyType(reasons)


def _why_not_async(typed: TypedProgram, monotone: str | None, delta: str | None, uniform: bool) -> str | None:
    """Why messages may not be applied one by one in any order; None if they may."""
    ir = typed.ir
    if ir.edge_fields:
        return "edge fields are written between supersteps"
    for function in _STEP:
        if found := reads(ir.exprs(function), "superstep", "reduction"):
            what = "the superstep number" if found[0].op == "superstep" else f"the reduction {found[0].attr[0]!r}"
            return f"{_written(function)} reads {what}, which only supersteps define"
    if ir.tables:
        return f"self.at() reads {ir.tables[0]!r} as the last superstep left it, which only supersteps define"
    if delta is not None:
        if not tells_of_residual(ir, delta):
            return (
                f"active() does not ask whether much of {delta!r} is left, as new.{delta} > bound does: "
                "who is left with some of it depends on the order"
            )
        return _foreign_state(ir, delta)
    if not ir.combine.idempotent:
        return (
            f"{ir.combine} is not idempotent, and this is not the delta form: update {{f: v.f + message}}, "
            "sent {f: 0}, "
            "messages linear in u.f"
        )
    if uniform and updates_idempotently(ir) and not ir.sent:
        return _foreign_state(ir, None) if tells_of_changes(ir) else _SILENT
    if ir.combine is ANY:
        return "ANY keeps the first message to come, and asynchronous order is not breadth-first"
    if monotone is None:
        return f"update is not the improvement of one field by {ir.combine}, such as dr.minimum(v.f, message)"
    if not tells_of_improvements(ir, monotone):
        return _SILENT
    source, typing = state_of("source", (monotone,)), typed.typing
    rising = ir.message[:1] if ir.combine.keyed else ir.message
    lattice = ir.combine in (OR, AND)
    if not all(is_nondecreasing(e, source, typing, lattice=lattice, weights=ir.edge_weights) for e in rising):
        why = f"a message is not proven to rise and fall with u.{monotone}, so the order could change the answer"
        for promise in ("nonnegative", "positive"):
            if all(is_nondecreasing(e, source, typing, lattice=lattice, weights=promise) for e in rising):
                return f"{why}; it would be with edge_weights = {promise!r}, if all weights are so"
        return why
    return _foreign_state(ir, monotone)


def _foreign_state(ir: ProgramIR, own: str | None) -> str | None:
    """Why what goes along an edge depends on state that other messages change, beside the source's ``own`` field."""
    others = frozenset(ir.written) - {own}
    for number, expr in enumerate(ir.message):
        if ir.combine.keyed and number > 0 and not is_free(expr, state_of("source", frozenset(ir.written))):
            return "what travels with the key of a message reads fields that other messages change"
        if not is_free(expr, state_of("source", others)):
            return "a message reads a written field other than the one that is improved"
        if not is_free(expr, state_of("target", frozenset(ir.written))):
            return "a message reads a field of its target that other messages change"
    if ir.sends is not TRUE and (own is None or not _prunes(ir, own)):
        written = frozenset(ir.written)
        if not is_free(ir.sends, lambda n: n.op == "field" and n.attr[1] in written):
            return "sends() reads fields that other messages change"
    if not is_free(ir.wants, state_of("vertex", frozenset(ir.written))):
        return "wants() reads fields that other messages change"
    return None


def _prunes(ir: ProgramIR, name: str) -> bool:
    """Whether ``sends`` only drops messages that would not improve the target anyway."""
    target = Expr("field", attr=("target", name, 0))
    message = ir.message[0]
    better = {"lt": (message, target), "gt": (target, message)}
    if ir.combine in (MAX, ARGMAX):
        better = {"lt": (target, message), "gt": (message, target)}
    return ir.combine is not SUM and better.get(ir.sends.op) == ir.sends.args


def _written(function: str) -> str:
    return "compute()" if function == "message" else f"{function}()"
