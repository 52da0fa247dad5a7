"""A vertex's state in C++: copied aside, compared, taken by the first message, and reduced over all vertices."""

from __future__ import annotations

from dromos.codegen.cuda.functions import ADDRESSES, CHANGE, VERTEX, at, define, place_of, scalar, store
from dromos.codegen.cuda.lower import C_NAMES, c_literal
from dromos.codegen.cuda.messages import merged
from dromos.codegen.merging import comes_first
from dromos.codegen.numba.functions import assigning, functions
from dromos.program import Analysis, TypedProgram
from dromos.program.patterns import guard

__all__ = ["claiming", "keeping", "reducing"]


def keeping(typed: TypedProgram) -> list[str]:
    """Copying a vertex's written fields aside, and telling whether a message would change them."""
    written = [spec for spec in typed.ir.fields if spec.name in typed.ir.written]
    rows = [(spec.name, place_of("v", spec.size, i)) for spec in written for i in range(spec.width)]
    keep = [f"D.f_{name}[{row}] = field(S.f_{name}, {row});" for name, row in rows]
    update = next(f for f in functions(typed) if f.name == "update")
    places = [f"field(S.f_{name}, {place_of('v', typed.ir.field(name).size, index)})" for name, index in update.writes]
    values = ["fresh"] if len(places) == 1 else [f"fresh.r{i}" for i in range(len(places))]
    differs = " || ".join(f"{value} != {place}" for value, place in zip(values, places, strict=True)) or "false"
    fresh = ["const auto fresh = update_at(S, K, v, message);"] if places else []
    return [
        define("void", "keep", (("const Fields&", "D"), ("const Fields&", "S"), ("vid", "v")), keep),
        define("bool", "changes", ADDRESSES["update"], [*fresh, f"return {differs};"]),
    ]


def reducing(typed: TypedProgram) -> list[str]:
    """The reductions: folded vertex by vertex, merged between lanes and blocks, and put into the context."""
    reductions = typed.ir.reductions
    dtypes = [typed.reduction_type(r.name) for r in reductions]
    both = list(zip(reductions, dtypes, strict=True))
    start = ", ".join(c_literal(r.monoid.identity(dtype), dtype) for r, dtype in both) or "0"
    moved = ", ".join(
        f"({C_NAMES[d]})__shfl_xor_sync(FULL, {f'(int)R.r_{r.name}' if d.itemsize < 4 else f'R.r_{r.name}'}, step)"
        for r, d in both
    )
    return [
        define("Reduced", "reduce_start", (), [f"return Reduced{{{start}}};"]),
        define("Reduced", "reduce_fold", (("Reduced", "R"), *CHANGE), _folding(typed, "R", "reduce_{}_at(O, S, K, v)")),
        define("Reduced", "reduce_merge", (("Reduced", "a"), ("Reduced", "b")), _folding(typed, "a", "b.r_{}")),
        define("Reduced", "exchange", (("Reduced", "R"), ("int", "step")), [f"return Reduced{{{moved or '0'}}};"]),
        define(
            "void",
            "reduce_show",
            (("Context&", "K"), ("Reduced", "R")),
            [f"K.r_{r.name} = R.r_{r.name};" for r in reductions],
        ),
    ]


def _folding(typed: TypedProgram, into: str, value: str) -> list[str]:
    """Statements that return the reductions ``into`` with others folded in, of which ``value`` is the text by name."""
    reductions = typed.ir.reductions
    lines, parts = [], {}
    for monoid, places in typed.ir.joint_reductions:
        for i in places:
            name = reductions[i].name
            dtype = typed.reduction_type(name)
            if monoid.keyed:
                lines.append(f"const {C_NAMES[dtype]} x{i} = {value.format(name)};")
                parts[i] = f"(wins{places[0]} ? x{i} : {into}.r_{name})"
            else:
                parts[i] = merged(monoid, dtype, f"{into}.r_{name}", value.format(name))
        if monoid.keyed:
            pairs = [(f"x{i}", f"{into}.r_{reductions[i].name}") for i in places]
            test = comes_first(monoid, pairs, either="||", both="&&")
            lines.append(f"const bool wins{places[0]} = {test};")
    return [*lines, f"return Reduced{{{', '.join(parts[i] for i in range(len(reductions))) or '0'}}};"]


def claiming(typed: TypedProgram, analysis: Analysis) -> str:
    """``is_open``: whether a vertex takes a message. ``claim_store``: ``update`` for one that does, without a look."""
    found = guard(typed.ir.update) if analysis.claimed is not None else None
    if found is None:
        body = ["return update_store(D, S, K, v, message);"]
        claim = define("bool", "claim_store", (("const Fields&", "D"), *ADDRESSES["update"]), body)
        return "\n".join([define("bool", "is_open", VERTEX, ["return true;"]), claim])
    taken = assigning(typed, "claim", tuple(found[1].items()))
    is_open = define("bool", "is_open", VERTEX, [f"return field(S.f_{analysis.claimed}, v) < 0;"])
    return "\n".join([is_open, scalar(taken, typed), at(taken, typed), store(taken, typed)])
