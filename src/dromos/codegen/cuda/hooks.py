"""A program's functions in CUDA C++, as the kernels in ``engines/cuda/kernels`` call them.

The text is a function of the program and the graph's types alone. S, O, D are structures of pointers to the fields now,
before, and to be written; E to the edge fields; A to merged messages; K is the context.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda.lower import C_NAMES, c_literal, lower
from dromos.codegen.cuda.structures import (
    context_members,
    declare,
    edge_members,
    field_members,
    merged_members,
    shared_type,
)
from dromos.codegen.numba.functions import Function, argument_name, assigning, functions
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import TRUE, Expr
from dromos.program.monoid import AND, ANY, MAX, MIN, OR, SUM, Monoid
from dromos.program.patterns import guard

__all__ = ["can_improve", "hooks_text"]

_EDGE: Final = (
    ("const Fields&", "S"), ("const EdgeFields&", "E"), ("const Context&", "K"), ("vid", "u"), ("vid", "v"),
    ("eid", "arc"), ("Weight", "weight"),
)  # fmt: skip
_VERTEX: Final = (("const Fields&", "S"), ("const Context&", "K"), ("vid", "v"))
_CHANGE: Final = (("const Fields&", "O"), *_VERTEX)
_ADDRESSES: Final = {
    **dict.fromkeys(("compute", "sends", "edge_init", "edge_update"), _EDGE),
    **dict.fromkeys(("init", "start", "wants", "sent"), _VERTEX),
    **dict.fromkeys(("update", "claim"), (*_VERTEX, ("Message", "message"))),
    "active": _CHANGE,
    "converged": (("const Context&", "K"),),
}
_STORING: Final = ("init", "edge_init", "sent", "update", "edge_update")
_OPERATORS: Final = {"SUM": "({a} + {b})", "OR": "({a} | {b})", "AND": "({a} & {b})"}
_BETTER: Final = {"MIN": "<", "MAX": ">", "ARGMIN": "<", "ARGMAX": ">"}


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
        parts += [_scalar(function, typed), _at(function, typed)]
        if function.name in _STORING:
            parts.append(_store(function, typed))
    if not ir.edge_fields:
        stored = (("const EdgeFields&", "D"), *_EDGE)
        parts += [_define("bool", name, stored, ["return true;"]) for name in ("edge_init_store", "edge_update_store")]
    parts.append(_claiming(typed, analysis))
    parts += [*_merging(typed), *_keeping(typed), *_reducing(typed), *_asynchronous(typed, analysis)]
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
    ir = typed.ir
    facts = {
        "VOTE": analysis.vote,
        "SENDS_ALWAYS": ir.sends is TRUE,
        "WANTS_ALWAYS": analysis.wants is None,
        "HAS_SENT": bool(ir.sent),
        "HAS_EDGE_FIELDS": bool(ir.edge_fields),
        "HAS_REDUCTIONS": bool(ir.reductions),
        "HAS_WEIGHTS": typed.types.weight is not None,
        "UPDATE_ALL": ir.update_on == "all",
        "REVISITS": analysis.activity != "changed",
        "ALWAYS_ACTIVE": analysis.activity == "always" and ir.start is TRUE,
        "CAN_IMPROVE": can_improve(typed, analysis) is not None,
    }
    return [f"static const bool {name} = {str(value).lower()};" for name, value in facts.items()]


# ---- functions -----------------------------------------------------------------------------------------------------


def _define(result: str, name: str, arguments: Sequence[tuple[str, str]], body: Sequence[str]) -> str:
    taken = ", ".join(f"{c_type} {argument}" for c_type, argument in arguments)
    return "\n".join([f"DEVICE {result} {name}({taken}) {{", *(f"    {line}" for line in body), "}"])


def _result_type(function: Function) -> str:
    if function.name == "compute":
        return "Message"
    if not function.results:
        return "void"
    return C_NAMES[function.results[0]] if len(function.results) == 1 else f"{function.name}_result"


def _scalar(function: Function, typed: TypedProgram) -> str:
    """The function of scalars: it takes exactly the symbols that it uses."""
    statements, results = lower(function.roots, function.results, typed.typing, lambda leaf: argument_name(leaf, typed))
    result = _result_type(function)
    bundle = result == "Message" or len(results) > 1
    returned = [f"return {result}{{{', '.join(results)}}};"] if bundle else [f"return {r};" for r in results]
    arguments = [(C_NAMES[a.dtype], a.name) for a in function.arguments]
    text = _define(result, function.name, arguments, [*statements, *returned])
    if bundle and result != "Message":
        inside = "".join(f" {C_NAMES[dtype]} r{i};" for i, dtype in enumerate(function.results))
        text = f"struct {result} {{{inside} }};\n{text}"
    return text


def _addresses(function: Function) -> tuple[tuple[str, str], ...]:
    return _ADDRESSES.get(function.name, _CHANGE)


def _at(function: Function, typed: TypedProgram) -> str:
    """The same with its symbols looked up."""
    values = ", ".join(look_up(argument.leaf, typed) for argument in function.arguments)
    result = _result_type(function)
    call = f"{function.name}({values});"
    body = [call if result == "void" else f"return {call}"]
    return _define(result, f"{function.name}_at", _addresses(function), body)


def _store(function: Function, typed: TypedProgram) -> str:
    """Store the results; whether every integer among them fitted its field."""
    edge = function.name.startswith("edge")
    specs = {spec.name: spec for spec in (typed.ir.edge_fields if edge else typed.ir.fields)}
    addresses = (("const EdgeFields&" if edge else "const Fields&", "D"), *_addresses(function))
    name = f"{function.name}_store"
    if not function.writes:
        return _define("bool", name, addresses, ["return true;"])
    taken = ", ".join(argument for _, argument in _addresses(function))
    single = len(function.writes) == 1
    values = ["fresh"] if single else [f"fresh.r{i}" for i in range(len(function.writes))]
    narrow = {field for where, field in typed.narrowing if where == function.name.replace("claim", "update")}
    checked = [i for i, (field, _) in enumerate(function.writes) if field in narrow]
    roots = [function.roots[i] for i in checked]
    whole = [typed.typing.of(root).dtype for root in roots]
    # the whole values are computed before anything is stored, since D may be S
    statements, wide = lower(roots, whole, typed.typing, lambda leaf: look_up(leaf, typed))
    fits = " && ".join(f"({a}) == {values[i]}" for a, i in zip(wide, checked, strict=True)) or "true"
    writes = [
        f"D.{'e' if edge else 'f'}_{field}[{_row('arc' if edge else 'v', specs[field].size, index)}] = {value};"
        for (field, index), value in zip(function.writes, values, strict=True)
    ]
    body = [
        f"const auto fresh = {function.name}_at({taken});", *statements, f"const bool fits = {fits};", *writes,
        "return fits;",
    ]  # fmt: skip
    return _define("bool", name, addresses, body)


def _row(row: str, size: int | None, index: int) -> str:
    return row if size is None else f"(i64){row} * {size} + {index}"


def look_up(leaf: Expr, typed: TypedProgram) -> str:
    """Where a symbol's value lies, given the addresses."""
    match leaf.op:
        case "field":
            role, name, index = leaf.attr
            structure, row = "O" if role == "old" else "S", "u" if role == "source" else "v"
            return f"field({structure}.f_{name}, {_row(row, typed.ir.field(name).size, index)})"
        case "edge_field":
            name, index = leaf.attr
            return f"E.e_{name}[{_row('arc', typed.ir.field(name).size, index)}]"
        case "vertex_param" | "param":
            role, name, index = leaf.attr if leaf.op == "vertex_param" else ("", *leaf.attr)
            spec = next(spec for spec in typed.ir.params if spec.name == name)
            if leaf.op == "vertex_param":
                return f"constant(K.p_{name} + {_row(_vertex(role), spec.size, index)})"
            return f"K.p_{name}" + (f"[{index}]" if spec.size is not None else "")
        case "reduction":
            return f"K.r_{leaf.attr[0]}"
        case "id":
            return f"given_id(K, {_vertex(leaf.attr[0])})"
        case "out_degree" | "in_degree":
            side = leaf.op.removesuffix("_degree")
            return f"degree(K.{side}_offsets, {_vertex(leaf.attr[0])})"
        case "message":
            return f"message.m{leaf.attr[0]}"
        case "weight":
            return "weight"
    return f"K.{leaf.op}"  # superstep, num_vertices, num_arcs


def _vertex(role: str) -> str:
    return "u" if role == "source" else "v"


# ---- messages ------------------------------------------------------------------------------------------------------


def _each(count: int, line: Callable[[int], str]) -> list[str]:
    return [line(i) for i in range(count)]


def _merged(monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
    if monoid in (MIN, MAX):
        return f"{'lesser' if monoid is MIN else 'greater'}({a}, {b})"
    if monoid is SUM and dtype.kind in "iu":
        return f"wrap_add({a}, {b})"
    return f"({C_NAMES[dtype]}){_OPERATORS[monoid.name].format(a=a, b=b)}"


def _merging(typed: TypedProgram) -> list[str]:
    """How messages are merged: in registers, between lanes, and in memory that all threads share."""
    monoid, dtypes = typed.ir.combine, typed.accumulators
    start = ", ".join(c_literal(monoid.identity(dtype), dtype) for dtype in dtypes)
    count = len(dtypes)
    exchange = ", ".join(
        f"({C_NAMES[d]})__shfl_xor_sync(lanes, {f'(int)m.m{i}' if d.itemsize < 4 else f'm.m{i}'}, step)"
        for i, d in enumerate(dtypes)
    )
    fetched = ", ".join(
        f"({C_NAMES[d]})__shfl_sync(FULL, {f'(int)m.m{i}' if d.itemsize < 4 else f'm.m{i}'}, lane)"
        for i, d in enumerate(dtypes)
    )
    taken = ", ".join(f"({C_NAMES[d]})A.a{i}[v]" for i, d in enumerate(dtypes))
    newest = ", ".join(f"({C_NAMES[d]})newest(A.a{i} + v)" for i, d in enumerate(dtypes))
    two, one = (("Message", "a"), ("Message", "b")), ("Message", "message")
    return [
        _define("Message", "identity", (), [f"return Message{{{start}}};"]),
        _define("Message", "merge", two, _merge_body(monoid, dtypes)),
        _define(
            "Message",
            "exchange",
            (("unsigned", "lanes"), ("Message", "m"), ("int", "step")),
            [f"return Message{{{exchange}}};"],
        ),
        _define("Message", "fetch", (("Message", "m"), ("unsigned", "lane")), [f"return Message{{{fetched}}};"]),
        _define("Message", "take", (("const Merged&", "A"), ("vid", "v")), [f"return Message{{{taken}}};"]),
        _define("Message", "take_newest", (("const Merged&", "A"), ("vid", "v")), [f"return Message{{{newest}}};"]),
        _define(
            "void",
            "put",
            (("const Merged&", "A"), ("vid", "v"), one),
            _each(count, lambda i: f"A.a{i}[v] = message.m{i};"),
        ),
        _define(
            "void",
            "merge_shared",
            (("const Merged&", "A"), ("unsigned*", "locks"), ("vid", "v"), one),
            _shared_body(monoid, dtypes),
        ),
    ]


def _merge_body(monoid: Monoid, dtypes: tuple[np.dtype[Any], ...]) -> list[str]:
    if monoid is ANY:
        return ["return b;"]
    if monoid.keyed:
        better = _BETTER[monoid.name]
        return [
            *_each(len(dtypes), lambda i: f"if (b.m{i} != a.m{i}) return b.m{i} {better} a.m{i} ? b : a;"),
            "return a;",
        ]
    parts = ", ".join(_merged(monoid, dtype, f"a.m{i}", f"b.m{i}") for i, dtype in enumerate(dtypes))
    return [f"return Message{{{parts}}};"]


def _shared_body(monoid: Monoid, dtypes: tuple[np.dtype[Any], ...]) -> list[str]:
    """Component by component where an atomic does it, else whole, under a lock."""
    if monoid is ANY and len(dtypes) == 1:
        return ["A.a0[v] = message.m0;"]
    if monoid is ANY or monoid.keyed:
        kept = "message" if monoid is ANY else "merge(take_newest(A, v), message)"
        return [f"under_lock(locks, v, [&] {{ put(A, v, {kept}); }});"]
    operation = f"merge_{monoid.name.lower()}"
    lines = []
    for i, dtype in enumerate(dtypes):
        value = f"({C_NAMES[shared_type(dtype)]})message.m{i}"
        look = f"if (message.m{i} {_BETTER[monoid.name]} newest(A.a{i} + v)) " if monoid in (MIN, MAX) else ""
        lines.append(f"{look}{operation}(A.a{i} + v, {value});")
    return lines


# ---- state ---------------------------------------------------------------------------------------------------------


def _keeping(typed: TypedProgram) -> list[str]:
    """Copying a vertex's written fields aside, and telling whether a message would change them."""
    written = [spec for spec in typed.ir.fields if spec.name in typed.ir.written]
    rows = [(spec.name, _row("v", spec.size, i)) for spec in written for i in range(spec.width)]
    keep = [f"D.f_{name}[{row}] = field(S.f_{name}, {row});" for name, row in rows]
    update = next(f for f in functions(typed) if f.name == "update")
    places = [f"field(S.f_{name}, {_row('v', typed.ir.field(name).size, index)})" for name, index in update.writes]
    values = ["fresh"] if len(places) == 1 else [f"fresh.r{i}" for i in range(len(places))]
    differs = " || ".join(f"{value} != {place}" for value, place in zip(values, places, strict=True)) or "false"
    fresh = ["const auto fresh = update_at(S, K, v, message);"] if places else []
    return [
        _define("void", "keep", (("const Fields&", "D"), ("const Fields&", "S"), ("vid", "v")), keep),
        _define("bool", "changes", _ADDRESSES["update"], [*fresh, f"return {differs};"]),
    ]


def _reducing(typed: TypedProgram) -> list[str]:
    """The reductions: folded vertex by vertex, merged between lanes and blocks, and put into the context."""
    reductions = typed.ir.reductions
    dtypes = [typed.reduction_type(r.name) for r in reductions]
    both = list(zip(reductions, dtypes, strict=True))
    start = ", ".join(c_literal(r.monoid.identity(dtype), dtype) for r, dtype in both) or "0"
    merged = ", ".join(_merged(r.monoid, dtype, f"a.r_{r.name}", f"b.r_{r.name}") for r, dtype in both) or "0"
    folded = ", ".join(_merged(r.monoid, d, f"R.r_{r.name}", f"reduce_{r.name}_at(O, S, K, v)") for r, d in both) or "0"
    moved = ", ".join(
        f"({C_NAMES[d]})__shfl_xor_sync(FULL, {f'(int)R.r_{r.name}' if d.itemsize < 4 else f'R.r_{r.name}'}, step)"
        for r, d in both
    )
    return [
        _define("Reduced", "reduce_start", (), [f"return Reduced{{{start}}};"]),
        _define("Reduced", "reduce_fold", (("Reduced", "R"), *_CHANGE), [f"return Reduced{{{folded}}};"]),
        _define("Reduced", "reduce_merge", (("Reduced", "a"), ("Reduced", "b")), [f"return Reduced{{{merged}}};"]),
        _define("Reduced", "exchange", (("Reduced", "R"), ("int", "step")), [f"return Reduced{{{moved or '0'}}};"]),
        _define(
            "void",
            "reduce_show",
            (("Context&", "K"), ("Reduced", "R")),
            [f"K.r_{r.name} = R.r_{r.name};" for r in reductions],
        ),
    ]


def _claiming(typed: TypedProgram, analysis: Analysis) -> str:
    """``claim_store``: ``update`` for a vertex that is known to take its message, without a look at what it was."""
    found = guard(typed.ir.update) if analysis.claimed is not None else None
    if found is None:
        body = ["return update_store(D, S, K, v, message);"]
        return _define("bool", "claim_store", (("const Fields&", "D"), *_ADDRESSES["update"]), body)
    taken = assigning(typed, "claim", tuple(found[1].items()))
    return "\n".join([_scalar(taken, typed), _at(taken, typed), _store(taken, typed)])


# ---- messages applied at once --------------------------------------------------------------------------------------


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


def _asynchronous(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """``improve``: apply a message by one atomic. ``take_delta``: what a vertex sends, taken out of its state."""
    name = can_improve(typed, analysis)
    arguments = _ADDRESSES["update"]
    sent = (("const Fields&", "P"), *_VERTEX)
    if name is None:
        return [
            _define("bool", "improve", arguments, ["return false;"]),
            _define("void", "take_delta", sent, []),
            *_priority(typed, analysis),
        ]
    monoid, c_type = typed.ir.combine, C_NAMES[typed.dtype(name)]
    better = _BETTER.get(monoid.name)
    after = _merged(monoid, typed.dtype(name), "before", "message.m0")
    active = next(f for f in functions(typed) if f.name == "active")
    known = {
        Expr("field", attr=("old", name, 0)): "before",
        Expr("field", attr=("new", name, 0)): "after",
    }
    values = ", ".join(known.get(a.leaf) or look_up(a.leaf, typed).replace("O.", "S.") for a in active.arguments)
    body = [
        *([f"if (!(message.m0 {better} newest(S.f_{name} + v))) return false;"] if better else []),
        f"const {c_type} before = merge_{monoid.name.lower()}(S.f_{name} + v, message.m0);",
        f"const {c_type} after = {after};",
        *([] if monoid is SUM else ["if (before == after) return false;"]),
        f"return active({values});",
    ]
    return [
        _define("bool", "improve", arguments, body),
        _define("void", "take_delta", sent, _take_body(typed, name)),
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
        for row in (_row("v", typed.ir.field(field).size, i) for i in range(typed.ir.field(field).width))
    ]
    lines.append("const auto fresh = sent_at(P, K, v);")
    single = len(sent.writes) == 1
    for i, (field, index) in enumerate(sent.writes):
        if field != name:
            value = "fresh" if single else f"fresh.r{i}"
            lines.append(f"S.f_{field}[{_row('v', typed.ir.field(field).size, index)}] = {value};")
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
        _define("Priority", "priority_of", _VERTEX, [f"return {value};"]),
        _define("Priority", "lowest_priority", (), [f"return {c_literal(low, dtype)};"]),
        _define("Priority", "greatest_priority", (), [f"return {c_literal(high, dtype)};"]),
    ]
