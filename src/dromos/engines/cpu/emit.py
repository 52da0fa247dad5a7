"""A program's kernel module: its rendered functions, the rest of what the skeletons call, and a skeleton's own text.

The skeletons are ordinary Python modules. Each imports its hooks from :mod:`dromos.engines.cpu.skeletons.hooks`, which
is what an editor, a linter and a reader see; here that import is replaced by the text of the program's own hooks, so
that one file holds all that a kernel depends on and its name, a hash of the text, is the key of its machine code.
"""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from dromos.codegen.cache import load
from dromos.codegen.facts import program_facts
from dromos.codegen.merging import BETTER, comes_first, way_to_share
from dromos.codegen.numba import argument_name, functions, look_up, render, returned
from dromos.codegen.numba.lower import literal
from dromos.engines.forms import is_offered, is_offered_in_place, offers_early
from dromos.program import Analysis, GraphTypes, ProgramIR, TypedProgram
from dromos.program.expr import TRUE, Expr
from dromos.program.levels import LevelSearch
from dromos.program.monoid import ANY, MAX, MIN, Monoid

__all__ = ["hooks_text", "kernel_module", "module_text"]

_modules: dict[tuple[str, GraphTypes, str], ModuleType] = {}
_PRELUDE = """from dromos.intrinsics import *
from dromos.jit import LINE, inline, lean_kernel, barrier, publish, published, total"""
# Skeletons in which a thread reads fields that another may be writing, and how. A claim needs no fresh value: the swap
# tells whether it was. So loads of it may be merged, and left out where nothing comes of them.
_SHARING = {"asynchronous": "load_relaxed", "claiming": "load_unordered"}
_OPERATORS = {"SUM": "{a} + {b}", "OR": "{a} | {b}", "AND": "{a} & {b}"}
_OPERATORS |= {"MIN": "{b} if {b} < {a} else {a}", "MAX": "{b} if {b} > {a} else {a}"}
_ATOMICS = {"SUM": "atomic_add", "MIN": "atomic_min", "MAX": "atomic_max", "OR": "atomic_or", "AND": "atomic_and"}


def kernel_module(typed: TypedProgram, analysis: Analysis, skeleton: str) -> ModuleType:
    """The compiled-on-first-call module of ``skeleton`` (the name of a module of skeletons) for a program."""
    key = (typed.ir.hash, typed.types, skeleton)
    module = _modules.get(key)
    if module is None:
        module = _modules[key] = load(module_text(typed, analysis, skeleton), f"{typed.ir.name}_{skeleton}")
    return module


def module_text(typed: TypedProgram, analysis: Analysis, skeleton: str) -> str:
    """The whole text of such a module."""
    parts = [hooks_text(typed, analysis, shared=_SHARING.get(skeleton, ""))]
    if skeleton == "claiming" and analysis.search is not None:
        parts += _wanting_levels(typed, analysis.search)
    return "\n\n".join([*parts, _skeleton_text(skeleton)])


def hooks_text(typed: TypedProgram, analysis: Analysis, *, shared: str = "") -> str:
    """The functions and constants that skeletons import from ``hooks``; ``shared`` as in ``render``."""
    rendered = render(typed, prelude=_PRELUDE, shared=shared)
    parts = [rendered.rstrip(), *_constants(typed, analysis), *_merging(typed, analysis), *_keeping(typed)]
    parts += [*_reducing(typed), *_holding(typed), *_ordering(typed, analysis), *_claiming(typed, analysis)]
    return "\n\n".join(parts)


def _constants(typed: TypedProgram, analysis: Analysis) -> list[str]:
    facts = program_facts(typed, analysis) | {
        "OFFERS_EARLY": offers_early(typed.ir),
        "OFFERED": is_offered(typed.ir, analysis),
        "WANTS_DECLARED": typed.ir.wants is not TRUE,
    }
    return ["\n".join(f"{name} = {value!r}" for name, value in facts.items())]


def _function(name: str, arguments: str, *body: str) -> str:
    return "\n".join(["@inline", f"def {name}({arguments}):", *(f"    {line}" for line in body)])


def _merging(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """How messages are merged: in registers, in the accumulators of one thread, and in those that threads share."""
    racing = is_offered_in_place(typed.ir, analysis)  # an offer is read by some while its vertex renews it
    monoid, dtypes = typed.ir.combine, typed.accumulators
    count = len(dtypes)
    at = [""] if count == 1 else [f"[{i}]" for i in range(count)]
    start = [literal(identity, dtype) for identity, dtype in zip(typed.identities, dtypes, strict=True)]
    weight = "return load(weights, arc)" if typed.types.weight is not None else "return 1"
    taken = [f"load_relaxed(A[{i}], v)" if racing else f"A[{i}][np.uintp(v)]" for i in range(count)]
    stored = [
        f"store_relaxed(A[{i}], v, message{part})" if racing else f"A[{i}][np.uintp(v)] = message{part}"
        for i, part in enumerate(at)
    ]
    return [
        _function("weight_at", "weights, arc", weight),
        _function("weight_one", "", f"return {literal(1, typed.types.weight or np.dtype(np.int64))}"),
        _function("identity", "", f"return {_joined(start)}"),
        _function("merge", "a, b", *_merge_body(monoid, dtypes)),
        _function("take", "A, v", f"return {_joined(taken)}"),
        _function("put", "A, v, message", *stored),
        _function("merge_shared", "A, locks, v, message", *_shared_body(monoid, dtypes)),
    ]


def _joined(values: list[str]) -> str:
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def _merge_body(monoid: Monoid, dtypes: tuple[np.dtype[Any], ...]) -> list[str]:
    if monoid is ANY:
        return ["return b"]
    if monoid.keyed:
        symbol = BETTER[monoid.name]
        if len(dtypes) == 1:
            return [f"return b if b {symbol} a else a"]
        lines = []
        for i in range(len(dtypes)):
            lines += [f"if b[{i}] != a[{i}]:", f"    return b if b[{i}] {symbol} a[{i}] else a"]
        return [*lines, "return a"]
    if len(dtypes) == 1:
        return [f"return {_OPERATORS[monoid.part(0).name].format(a='a', b='b')}"]
    operators = [_OPERATORS[monoid.part(i).name] for i in range(len(dtypes))]
    return returned([f"({operator.format(a=f'a[{i}]', b=f'b[{i}]')})" for i, operator in enumerate(operators)])


def _shared_body(monoid: Monoid, dtypes: tuple[np.dtype[Any], ...]) -> list[str]:
    """Merge into accumulators that several threads write: component by component, or whole under a lock."""
    way = way_to_share(monoid, len(dtypes))
    if way == "store":
        return ["store_relaxed(A[0], v, message)"]
    if way == "lock":
        kept = "message" if monoid is ANY else "merge(take(A, v), message)"
        return ["lock(locks, v)", f"put(A, v, {kept})", "unlock(locks, v)"]
    parts = ["message"] if len(dtypes) == 1 else [f"message[{i}]" for i in range(len(dtypes))]
    lines = []
    for i, (part, dtype) in enumerate(zip(parts, dtypes, strict=True)):
        own = monoid.part(i)
        operation = _ATOMICS[own.name]
        value = f"np.uint8({part})" if dtype.kind == "b" else part
        if own in (MIN, MAX):  # most messages improve nothing: look before the atomic
            lines += [f"if {part} {BETTER[own.name]} load_relaxed(A[{i}], v):", f"    {operation}(A[{i}], v, {value})"]
        else:
            lines.append(f"{operation}(A[{i}], v, {value})")
    return lines


def _keeping(typed: TypedProgram) -> list[str]:
    """Copying a vertex's written fields aside, and telling whether a message would change them."""
    slots = [(slot, spec) for slot, spec in enumerate(typed.ir.fields) if spec.name in typed.ir.written]
    rows = [(slot, index) for slot, spec in slots for index in (range(spec.width) if spec.size else (None,))]
    at = "np.uintp(v)"
    places = [f"[{slot}][{at}]" if index is None else f"[{slot}][{at}, {index}]" for slot, index in rows]
    update = next(function for function in functions(typed) if function.name == "update")
    # Other threads may write meanwhile: each component is read once, so that what is compared is what was updated.
    held = {leaf.leaf: argument_name(leaf.leaf, typed) for leaf in update.arguments if leaf.leaf.op == "field"}
    own = [Expr("field", attr=("vertex", name, index)) for name, index in update.writes]
    for leaf in own:
        held.setdefault(leaf, argument_name(leaf, typed))
    shared = _SHARING["asynchronous"]
    reading = [f"{local} = {look_up(leaf, typed, shared)}" for leaf, local in held.items()]
    arguments = [held.get(a.leaf) or look_up(a.leaf, typed, shared) for a in update.arguments]
    values = ["new"] if len(own) == 1 else [f"new[{i}]" for i in range(len(own))]
    differs = " or ".join(f"{value} != {held[leaf]}" for value, leaf in zip(values, own, strict=True)) or "False"
    return [
        _function("keep", "D, S, v", *[f"D{place} = S{place}" for place in places], "return"),
        _function(
            "changes", "S, K, v, message", *reading, f"new = update({', '.join(arguments)})", f"return {differs}"
        ),
    ]


def _claiming(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """How a vertex takes its one message: by a compare-and-swap of the field that tells whether it has."""
    arguments = "S, K, v, message, contested"
    if analysis.search is not None:
        return _claiming_levels(typed, analysis.search, arguments)
    name = analysis.claimed
    if name is None or typed.ir.field(name).size is not None:
        return [_function("claim_store", arguments, "return False")]
    by_name = {function.name: function for function in functions(typed)}
    own = Expr("field", attr=("vertex", name, 0))

    shared = _SHARING["claiming"]

    def call(function: str) -> str:
        given = ("old" if a.leaf is own else look_up(a.leaf, typed, shared) for a in by_name[function].arguments)
        return f"{function}({', '.join(given)})"

    writes = by_name["update"].writes
    values = ["new"] if len(writes) == 1 else [f"new[{i}]" for i in range(len(writes))]
    stores, claimed, column = [], "", ""
    for (field, index), value in zip(writes, values, strict=True):
        slot = next(i for i, spec in enumerate(typed.ir.fields) if spec.name == field)
        if field == name:
            claimed, column = value, f"S[{slot}]"
        else:
            place = "v" if typed.ir.fields[slot].size is None else f"(v, {index})"
            stores.append(f"store_relaxed(S[{slot}], {place}, {value})")
    return [
        _function(
            "claim_store", arguments,
            f"old = load_unordered({column}, v)",
            f"if not {call('wants')}:",
            "    return False",
            f"new = {call('update')}",
            "if not contested:",
            f"    store_relaxed({column}, v, {claimed})",
            f"elif not compare_and_swap_relaxed({column}, v, old, {claimed}):",
            "    return False",
            *stores,
            "return True",
        )
    ]  # fmt: skip


def _claiming_levels(typed: TypedProgram, search: LevelSearch, arguments: str) -> list[str]:
    """The same where the field is a level, and the message a smaller one."""
    slot = next(i for i, spec in enumerate(typed.ir.fields) if spec.name == search.field)
    return [
        _function(
            "claim_store", arguments,
            f"old = load_unordered(S[{slot}], v)",
            "if not message < old:",
            "    return False",
            "if not contested:",
            f"    store_relaxed(S[{slot}], v, message)",
            "    return True",
            f"return compare_and_swap_relaxed(S[{slot}], v, old, message)",
        )
    ]  # fmt: skip


def _wanting_levels(typed: TypedProgram, search: LevelSearch) -> list[str]:
    """Who still wants a message in such a search: who was not reached."""
    slot = next(i for i, spec in enumerate(typed.ir.fields) if spec.name == search.field)
    unreached = literal(search.unreached, typed.dtype(search.field))
    return [_function("wants_at", "S, K, v", f"return load_unordered(S[{slot}], v) == {unreached}")]


def _holding(typed: TypedProgram) -> list[str]:
    """A vertex's old state as values in registers instead of rows of a copy."""
    ir = typed.ir
    kept = [(name, index) for name in ir.written for index in range(ir.field(name).width)]
    now = [look_up(Expr("field", attr=("new", name, index)), typed) for name, index in kept]

    def value(leaf: Expr) -> str:
        if leaf.role != "old" or leaf.op != "field":
            return look_up(leaf, typed)
        name, index = leaf.attr[1:]
        if (name, index) in kept:
            return f"H[{kept.index((name, index))}]"
        return look_up(Expr("field", attr=("new", name, index)), typed)

    calls = {f.name: f"{f.name}({', '.join(value(a.leaf) for a in f.arguments)})" for f in functions(typed)}
    values = [calls[f"reduce_{r.name}"] for r in ir.reductions]
    return [
        _function("held", "S, v", f"return ({', '.join(now) or '0'},)"),
        _function("active_held", "H, S, K, v", f"return {calls['active']}"),
        _function("reduce_fold_held", "R, H, S, K, v", *_folding(ir, values)),
    ]


def _folding(ir: ProgramIR, values: list[str]) -> list[str]:
    """Statements that fold a vertex's ``values`` into the reductions ``R``."""
    if not values:
        return ["return R"]
    lines = [f"x{i} = {value}" for i, value in enumerate(values)]
    folded: dict[int, str] = {}
    for monoid, places in ir.joint_reductions:
        if monoid.keyed:
            test = comes_first(monoid, [(f"x{i}", f"R[{i}]") for i in places], either="or", both="and")
            lines.append(f"wins{places[0]} = {test}")
            folded |= {i: f"(x{i} if wins{places[0]} else R[{i}])" for i in places}
        else:
            folded |= {i: f"({_OPERATORS[monoid.name].format(a=f'R[{i}]', b=f'x{i}')})" for i in places}
    return [*lines, f"return ({', '.join(folded[i] for i in range(len(values)))},)"]


def _reducing(typed: TypedProgram) -> list[str]:
    """All reductions as one tuple of values, folded vertex by vertex and stored block by block."""
    ir = typed.ir
    if not ir.reductions:
        return [
            _function("reduce_start", "", "return (0,)"),
            _function("reduce_fold", "R, O, S, K, v", "return R"),
            _function("reduce_keep", "R, sums, place", "return"),
        ]
    dtypes = [typed.reduction_type(r.name) for r in ir.reductions]
    start = [literal(r.monoid.identity(dtype), dtype) for r, dtype in zip(ir.reductions, dtypes, strict=True)]
    values = [f"reduce_{r.name}_at(O, S, K, v)" for r in ir.reductions]
    return [
        _function("reduce_start", "", f"return ({', '.join(start)},)"),
        _function("reduce_fold", "R, O, S, K, v", *_folding(ir, values)),
        _function("reduce_keep", "R, sums, place", *(f"sums[{i}][place] = R[{i}]" for i in range(len(dtypes)))),
    ]


def _ordering(typed: TypedProgram, analysis: Analysis) -> list[str]:
    """What is needed to settle vertices in the order of a field; nothing for a program that asks for no order."""
    name = analysis.priority[0] if analysis.priority is not None else typed.ir.fields[0].name
    slot = next(i for i, spec in enumerate(typed.ir.fields) if spec.name == name)
    kind = typed.dtype(name).kind
    own = Expr("field", attr=("source", name, 0))
    compute = next(function for function in functions(typed) if function.name == "compute")
    values = ["value" if a.leaf is own else look_up(a.leaf, typed) for a in compute.arguments]
    return [
        f"PRIORITY = {slot}",
        _function("bucket", "value, scale", *_bucket(kind)),
        _function("compute_from", "value, S, E, K, u, v, arc, weight", f"return compute({', '.join(values)})"),
    ]


def _bucket(kind: str) -> list[str]:
    """The bin of a value, kept within the bins that kernels can tell apart; a NaN comes last."""
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


_LAST_BIN = 1 << 61


_USES = {  # skeletons that a skeleton takes functions from
    "claiming": ("claiming_rows",),
    "offering": ("offers",),
    "slices": ("supersteps", "offers"),
}


@cache
def _skeleton_text(name: str) -> str:
    """A skeleton module without its imports of hooks; with the hash of the helpers that it imports from Dromos."""
    from dromos import intrinsics, jit
    from dromos.engines.cpu import skeletons

    helpers = hashlib.sha256((inspect.getsource(intrinsics) + inspect.getsource(jit)).encode()).hexdigest()[:16]
    texts = [f"# helpers {helpers}"]
    for part in ("common", *_USES.get(name, ()), name):
        source = (skeletons.FOLDER / f"{part}.py").read_text()
        texts.append(source.partition(skeletons.HOOKS_END)[2].strip())
    return "\n\n\n".join(texts) + "\n"
