"""A program's hooks in Python, as the skeletons in ``engines/cpu/skeletons`` call them.

Hooks that every device shares are in :mod:`dromos.codegen.hooks`; here are those that only the CPU's skeletons need.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dromos.codegen.facts import program_facts
from dromos.codegen.hooks import ADDRESSES, CHANGE, EDGE, VERTEX
from dromos.codegen.python.printer import CONTEXT, PythonPrinter
from dromos.codegen.python.render import render
from dromos.compiler.kept import IN_VECTORS
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import TRUE, Expr
from dromos.program.forms import is_claimed, is_offered, is_ordered, offers_early
from dromos.program.levels import LevelSearch

__all__ = ["CLAIMING_LOAD", "hooks_text", "skeleton_flags", "wanting_levels"]

_PRELUDE: Final = """from dromos.intrinsics import *
from dromos.jit import LINE, inline, kernel, barrier, publish, published, total"""
CLAIMING_LOAD: Final = "load_unordered"
"""The load for claims: it need not be fresh, since the swap detects a stale value. So the compiler may merge such
loads, and drop those whose values are not used."""
_LAST_BIN: Final = 1 << 61
_CLAIM: Final = (*ADDRESSES["update"], "contested")


def hooks_text(typed: TypedProgram, analysis: Analysis, *, shared: str = "") -> str:
    """The functions and constants that skeletons import from ``hooks``; ``shared`` as in :func:`render`."""
    printer = PythonPrinter(typed, analysis)
    parts = [
        render(typed, prelude=_PRELUDE, shared=shared).rstrip(), _constants(skeleton_flags(typed, analysis)),
        *_weights(printer), _prefetching(printer),
        *printer.hooks(), *_reducing(printer), *_old_values(printer), *_ordering(printer), _claiming(printer),
        *_before_claims(printer),
    ]  # fmt: skip
    return "\n\n".join(parts)


def skeleton_flags(typed: TypedProgram, analysis: Analysis) -> dict[str, bool]:
    """Compile-time flags of the CPU's skeletons."""
    return program_facts(typed, analysis) | {
        "OFFERS_EARLY": offers_early(typed.ir),
        "OFFERED": is_offered(typed.ir, analysis),
        "LOWERS": is_ordered(typed, analysis),
        "WANTS_DECLARED": typed.ir.wants is not TRUE,
        IN_VECTORS: any((field.size or 1) > 1 for field in typed.ir.fields),
    }


def _constants(flags: dict[str, bool]) -> str:
    return "\n".join(f"{name} = {value!r}" for name, value in flags.items())


def _weights(printer: PythonPrinter) -> list[str]:
    weight = printer.typed.types.weight
    one = printer.literal(1, weight or np.dtype(np.int64))
    return [
        printer.define(
            "weight_at", ("weights", "arc"), "", printer.give("1" if weight is None else "load(weights, arc)")
        ),
        printer.define("weight_one", (), "", printer.give(one)),
    ]


def _prefetching(printer: PythonPrinter) -> str:
    lines = [f"prefetch(A[{i}], v)" for i in range(len(printer.typed.accumulators))]
    return printer.define("prefetch_message", ("A", "v"), "", lines)


def _reducing(printer: PythonPrinter) -> list[str]:
    count = len(printer.ir.reductions)
    kept = [f"sums[{i}][place] = R[{i}]" for i in range(count)]
    stored = printer.folded("R", [f"sums[{i}][place]" for i in range(count)])
    kinds = [printer.typed.reduction_type(r.name).type.__name__ for r in printer.ir.reductions]
    first = len(CONTEXT) + len(printer.ir.context_params)
    last = first + count
    reduced = "".join(f"np.{kind}(R[{i}]), " for i, kind in enumerate(kinds))
    behind = f" + K[{last}:]" if printer.ir.tables else ""
    return [
        printer.define("reduce_store", ("R", "sums", "place"), "", kept),
        printer.define("reduce_fold_stored", ("R", "sums", "place"), "", stored),
        printer.define("with_reductions", ("K", "R"), "", printer.give(f"K[:{first}] + ({reduced}){behind}")),
        printer.define("in_superstep", ("K", "number"), "", printer.give("(np.int32(number),) + K[1:]")),
    ]


def _old_values(printer: PythonPrinter) -> list[str]:
    """Hooks that keep a vertex's old state in registers instead of rows of a copy."""
    ir = printer.ir
    kept = [(name, index) for name in ir.written for index in range(ir.field(name).width)]
    now = [printer.look_up(Expr("field", attr=("new", name, index))) for name, index in kept]

    def value(leaf: Expr) -> str:
        if leaf.role != "old" or leaf.op != "field":
            return printer.look_up(leaf)
        name, index = leaf.attr[1:]
        if (name, index) in kept:
            return f"H[{kept.index((name, index))}]"
        return printer.look_up(Expr("field", attr=("new", name, index)))

    def call(name: str) -> str:
        return f"{name}({', '.join(value(a.leaf) for a in printer.by_name[name].arguments)})"

    folded = printer.folded("R", [call(f"reduce_{r.name}") for r in ir.reductions])
    return [
        printer.define("old_values", ("S", "v"), "", printer.give(f"({', '.join(now) or '0'},)")),
        printer.define("active_from", ("H", *VERTEX), "", printer.give(call("active"))),
        printer.define("reduce_fold_from", ("R", "H", *CHANGE[1:]), "", folded),
    ]


def _ordering(printer: PythonPrinter) -> list[str]:
    """Hooks to settle vertices in the order of a field; placeholders for a program without an order."""
    priority = printer.analysis.priority
    name = priority[0] if priority is not None else printer.ir.fields[0].name
    own = Expr("field", attr=("source", name, 0))
    values = ["value" if a.leaf is own else printer.look_up(a.leaf) for a in printer.by_name["compute"].arguments]
    compute = printer.give(f"compute({', '.join(values)})")
    return [
        f"PRIORITY = {printer.slot(name)}",
        printer.define("bucket", ("value", "scale"), "", _bucket(printer.typed.dtype(name).kind)),
        printer.define("compute_from", ("value", *EDGE), "", compute),
    ]


def _bucket(kind: str) -> list[str]:
    """The bin of a value, clamped to the bins that kernels can distinguish; NaN is last."""
    if kind == "f":
        place = "value * scale"
        last, first = f"np.float64({_LAST_BIN})", f"np.float64({-_LAST_BIN})"
    elif kind == "u":
        place, last, first = "value >> np.uint64(scale)", f"np.uint64({_LAST_BIN})", "np.uint64(0)"
    else:
        place, last, first = "np.int64(value) >> scale", f"np.int64({_LAST_BIN})", f"np.int64({-_LAST_BIN})"
    return [
        f"place = {place}",
        f"place = place if place < {last} else {last}",
        f"return np.int64(place if place > {first} else {first})",
    ]


def _claiming(printer: PythonPrinter) -> str:
    """The hook by which a vertex takes its only message: a compare-and-swap of the field that shows whether it has."""
    analysis = printer.analysis
    if analysis.search is not None:
        return _claiming_levels(printer, analysis.search)
    name = analysis.claimed
    if name is None or not is_claimed(printer.typed, analysis):
        return printer.define("claim_store", _CLAIM, "", printer.give("False"))
    own, column = Expr("field", attr=("vertex", name, 0)), f"S[{printer.slot(name)}]"
    reader = PythonPrinter(printer.typed, shared=CLAIMING_LOAD)

    def call(function: str) -> str:
        given = ("old" if a.leaf is own else reader.look_up(a.leaf) for a in printer.by_name[function].arguments)
        return f"{function}({', '.join(given)})"

    writes = printer.by_name["update"].writes
    values = {where: printer.item("fresh", i, len(writes)) for i, where in enumerate(writes)}
    claimed = values.pop((name, 0))
    return printer.define(
        "claim_store", _CLAIM, "",
        [
            f"old = {CLAIMING_LOAD}({column}, v)",
            f"if not {call('wants')}:",
            "    return False",
            f"fresh = {call('update')}",
            "if not contested:",
            f"    store_relaxed({column}, v, {claimed})",
            f"elif not compare_and_swap_relaxed({column}, v, old, {claimed}):",
            "    return False",
            *(printer.store_shared(*where, value, fields="S") for where, value in values.items()),
            "return True",
        ],
    )  # fmt: skip


def _before_claims(printer: PythonPrinter) -> list[str]:
    """Hooks that test for wanting a message without concurrent writes, and prefetch the lines that a claim writes."""
    search = printer.analysis.search
    if search is not None:
        unreached = printer.literal(search.unreached, printer.typed.dtype(search.field))
        wants, written = f"S[{printer.slot(search.field)}][np.uintp(v)] == {unreached}", [search.field]
    else:
        wants = f"wants({', '.join(printer.look_up(a.leaf) for a in printer.by_name['wants'].arguments)})"
        written = [name for name in printer.ir.written if printer.ir.field(name).size is None]
    lines = [f"prefetch_to_write(S[{printer.slot(name)}], v)" for name in written]
    return [
        printer.define("wants_settled", VERTEX, "", printer.give(wants)),
        printer.define("prefetch_claim", ("S", "v"), "", [*lines, "return"]),
    ]


def _claiming_levels(printer: PythonPrinter, search: LevelSearch) -> str:
    """The same if the field is a level, and the message a smaller one."""
    column = f"S[{printer.slot(search.field)}]"
    return printer.define(
        "claim_store", _CLAIM, "",
        [
            f"old = {CLAIMING_LOAD}({column}, v)",
            "if not message < old:",
            "    return False",
            "if not contested:",
            f"    store_relaxed({column}, v, message)",
            "    return True",
            f"return compare_and_swap_relaxed({column}, v, old, message)",
        ],
    )  # fmt: skip


def wanting_levels(typed: TypedProgram, search: LevelSearch) -> str:
    """The hook that tests whether a vertex still wants a message in such a search: whether it was not reached."""
    printer = PythonPrinter(typed)
    unreached = printer.literal(search.unreached, typed.dtype(search.field))
    test = f"{CLAIMING_LOAD}(S[{printer.slot(search.field)}], v) == {unreached}"
    return printer.define("wants_at", VERTEX, "", printer.give(test))
