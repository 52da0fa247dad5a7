"""Messages applied at once, by one atomic, and the order in which vertices are settled."""

from __future__ import annotations

import numpy as np

from dromos.codegen.cuda.functions import ADDRESSES, VERTEX, define, look_up, place_of
from dromos.codegen.cuda.lower import C_NAMES, c_literal
from dromos.codegen.cuda.messages import merged
from dromos.codegen.merging import BETTER
from dromos.codegen.numba.functions import functions
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import Expr
from dromos.program.monoid import AND, MAX, MIN, OR, SUM

__all__ = ["can_improve", "improving"]


def can_improve(typed: TypedProgram, analysis: Analysis) -> str | None:
    """The field to which one atomic applies a message; None if it takes more than that."""
    name = analysis.monotone or analysis.delta
    ir = typed.ir
    if (
        name is None
        or ir.combine not in (MIN, MAX, OR, AND, SUM)
        or len(ir.update) != 1
        or len(typed.accumulators) != 1
    ):
        return None
    dtype = typed.dtype(name)
    fits = ir.field(name).size is None and dtype == typed.accumulators[0] and dtype.itemsize >= 4
    return name if fits else None


def improving(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """``improve``: apply a message by one atomic, after a ``look`` if it can. ``take_delta``: take what is sent."""
    name = can_improve(typed, analysis)
    arguments = (*ADDRESSES["update"], ("bool", "look"))
    sent = (("const Fields&", "P"), *VERTEX)
    if name is None:
        return [
            define("bool", "improve", arguments, ["return false;"]),
            define("void", "take_delta", sent, []),
            *_priority(typed, analysis),
        ]
    monoid, c_type = typed.ir.combine, C_NAMES[typed.dtype(name)]
    better = BETTER.get(monoid.name)
    after = merged(monoid, typed.dtype(name), "before", "message.m0")
    active = next(f for f in functions(typed) if f.name == "active")
    known = {
        Expr("field", attr=("old", name, 0)): "before",
        Expr("field", attr=("new", name, 0)): "after",
    }
    values = ", ".join(known.get(a.leaf) or look_up(a.leaf, typed).replace("O.", "S.") for a in active.arguments)
    body = [
        *([f"if (look && !(message.m0 {better} newest(S.f_{name} + v))) return false;"] if better else []),
        f"const {c_type} before = merge_{monoid.name.lower()}(S.f_{name} + v, message.m0);",
        f"const {c_type} after = {after};",
        *([] if monoid is SUM else ["if (before == after) return false;"]),
        f"return active({values});",
    ]
    return [
        define("bool", "improve", arguments, body),
        define("void", "take_delta", sent, _take_body(typed, name)),
        *_priority(typed, analysis),
    ]


def _take_body(typed: TypedProgram, name: str) -> list[str]:
    """Take the delta by one exchange; the other fields that ``sent`` writes belong to the sender alone."""
    if not typed.ir.sent:
        return []
    others = [field for field in typed.ir.written if field != name]
    sent = next(f for f in functions(typed) if f.name == "sent")
    lines = [f"P.f_{name}[v] = take_all(S.f_{name} + v);"]
    lines += [
        f"P.f_{field}[{row}] = field(S.f_{field}, {row});"
        for field in others
        for row in (place_of("v", typed.ir.field(field).size, i) for i in range(typed.ir.field(field).width))
    ]
    lines.append("const auto fresh = sent_at(P, K, v);")
    single = len(sent.writes) == 1
    for i, (field, index) in enumerate(sent.writes):
        if field != name:
            value = "fresh" if single else f"fresh.r{i}"
            lines.append(f"S.f_{field}[{place_of('v', typed.ir.field(field).size, index)}] = {value};")
    return lines


def _priority(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """The value that vertices are ordered by, and the ends of its type; 0 where the program asks for no order."""
    found = analysis.priority
    name = found[0] if found is not None and typed.ir.field(found[0]).size is None else None
    dtype = np.dtype(np.int32) if name is None else typed.dtype(name)
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    value = "0" if name is None else f"newest(S.f_{name} + v)"
    return [
        f"typedef {C_NAMES[dtype]} Priority;",
        define("Priority", "priority_of", VERTEX, [f"return {value};"]),
        define("Priority", "lowest_priority", (), [f"return {c_literal(low, dtype)};"]),
        define("Priority", "greatest_priority", (), [f"return {c_literal(high, dtype)};"]),
    ]
