"""Applying messages directly with one atomic, and the order in which vertices are settled."""

from __future__ import annotations

import numpy as np

from dromos.codegen.cuda.lower import C_NAMES
from dromos.codegen.cuda.printer import CudaPrinter
from dromos.codegen.hooks import ADDRESSES, VERTEX
from dromos.codegen.merging import BETTER
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import Expr
from dromos.program.monoid import AND, MAX, MIN, OR, SUM

__all__ = ["can_improve", "improving"]


def can_improve(typed: TypedProgram, analysis: Analysis) -> str | None:
    """The field to which one atomic can apply a message; None if that is not enough."""
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


def improving(printer: CudaPrinter) -> list[str]:
    """``improve``: apply a message with one atomic, after a ``look`` if possible. ``take_delta``: take what is sent."""
    typed = printer.typed
    name = can_improve(typed, printer.analysis)
    improved = _improve(printer, name) if name is not None else printer.give("false")
    taken = _take_delta(printer, name) if name is not None and typed.ir.sent else []
    return [
        printer.define("improve", (*ADDRESSES["update"], "bool look"), "bool", improved),
        printer.define("take_delta", ("P", *VERTEX), "void", taken),
        *_priority(printer),
    ]


def _improve(printer: CudaPrinter, name: str) -> list[str]:
    monoid, dtype = printer.ir.combine, printer.typed.dtype(name)
    message, place = printer.part("message", 0), f"S.f_{name} + v"
    known = {Expr("field", attr=("old", name, 0)): "before", Expr("field", attr=("new", name, 0)): "after"}
    arguments = printer.by_name["active"].arguments
    values = [known.get(a.leaf) or printer.look_up(a.leaf).replace("O.", "S.") for a in arguments]
    better = BETTER.get(monoid.name)
    no = printer.give("false")
    return [
        *(printer.when(f"look && !({message} {better} newest({place}))", no) if better else []),
        printer.let("before", f"merge_{monoid.name.lower()}({place}, {message})", dtype),
        printer.let("after", printer.merged(monoid, dtype, "before", message), dtype),
        *([] if monoid is SUM else printer.when("before == after", no)),
        *printer.give(f"active({', '.join(values)})"),
    ]


def _take_delta(printer: CudaPrinter, name: str) -> list[str]:
    """Take the delta with one exchange; the other fields that ``sent`` writes are private to the sender."""
    ir, writes = printer.ir, printer.by_name["sent"].writes
    others = [(field, i) for field in ir.written if field != name for i in range(ir.field(field).width)]
    values = {where: printer.item("fresh", i, len(writes)) for i, where in enumerate(writes)}
    return [
        f"P.f_{name}[v] = take_all(S.f_{name} + v);",
        *(printer.assign(printer.field("P", *where), printer.field_value("S", *where)) for where in others),
        printer.let("fresh", "sent_at(P, K, v)"),
        *(printer.assign(printer.field("S", *where), value) for where, value in values.items() if where[0] != name),
    ]


def _priority(printer: CudaPrinter) -> list[str]:
    """The value by which vertices are ordered, and the limits of its type; 0 if the program has no order."""
    found = printer.analysis.priority
    name = found[0] if found is not None and printer.ir.field(found[0]).size is None else None
    dtype = np.dtype(np.int32) if name is None else printer.typed.dtype(name)
    low, high = (-np.inf, np.inf) if dtype.kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    value = "0" if name is None else f"newest(S.f_{name} + v)"
    return [
        f"typedef {C_NAMES[dtype]} Priority;",
        printer.define("priority_of", VERTEX, "Priority", printer.give(value)),
        printer.define("lowest_priority", (), "Priority", printer.give(printer.literal(low, dtype))),
        printer.define("greatest_priority", (), "Priority", printer.give(printer.literal(high, dtype))),
    ]
