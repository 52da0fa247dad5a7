"""A program's small functions as C++: of scalars, with their symbols looked up, and storing their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dromos.codegen.cuda.lower import C_NAMES, lower
from dromos.codegen.numba.functions import Argument, Function, argument_name
from dromos.program import TypedProgram
from dromos.program.expr import Expr

__all__ = ["ADDRESSES", "CHANGE", "EDGE", "VERTEX", "at", "define", "look_up", "place_of", "scalar", "store"]

EDGE: Final = (
    ("const Fields&", "S"), ("const EdgeFields&", "E"), ("const Context&", "K"), ("vid", "u"), ("vid", "v"),
    ("eid", "arc"), ("Weight", "weight"),
)  # fmt: skip
VERTEX: Final = (("const Fields&", "S"), ("const Context&", "K"), ("vid", "v"))
CHANGE: Final = (("const Fields&", "O"), *VERTEX)
ADDRESSES: Final = {
    **dict.fromkeys(("compute", "sends", "edge_init", "edge_update"), EDGE),
    **dict.fromkeys(("init", "start", "wants", "sent"), VERTEX),
    **dict.fromkeys(("update", "claim"), (*VERTEX, ("Message", "message"))),
    "active": CHANGE,
    "converged": (("const Context&", "K"),),
}


def define(result: str, name: str, arguments: Sequence[tuple[str, str]], body: Sequence[str]) -> str:
    """A function of the device, with its result, its typed arguments and its lines."""
    taken = ", ".join(f"{c_type} {argument}" for c_type, argument in arguments)
    return "\n".join([f"DEVICE {result} {name}({taken}) {{", *(f"    {line}" for line in body), "}"])


def _result_type(function: Function) -> str:
    if function.name == "compute":
        return "Message"
    if not function.results:
        return "void"
    return C_NAMES[function.results[0]] if len(function.results) == 1 else f"{function.name}_result"


def scalar(function: Function, typed: TypedProgram) -> str:
    """The function of scalars: it takes exactly the symbols that it uses."""
    statements, results = lower(function.roots, function.results, typed.typing, lambda leaf: argument_name(leaf, typed))
    result = _result_type(function)
    bundle = result == "Message" or len(results) > 1
    returned = [f"return {result}{{{', '.join(results)}}};"] if bundle else [f"return {r};" for r in results]
    arguments = [(_argument_type(a), a.name) for a in function.arguments]
    text = define(result, function.name, arguments, [*statements, *returned])
    if bundle and result != "Message":
        inside = "".join(f" {C_NAMES[dtype]} r{i};" for i, dtype in enumerate(function.results))
        text = f"struct {result} {{{inside} }};\n{text}"
    return text


def _argument_type(argument: Argument) -> str:
    c_type = C_NAMES[argument.dtype]
    return f"const {c_type}*" if argument.leaf.op == "table" else c_type


def _addresses(function: Function) -> tuple[tuple[str, str], ...]:
    return ADDRESSES.get(function.name, CHANGE)


def at(function: Function, typed: TypedProgram) -> str:
    """The same with its symbols looked up."""
    values = ", ".join(look_up(argument.leaf, typed) for argument in function.arguments)
    result = _result_type(function)
    call = f"{function.name}({values});"
    body = [call if result == "void" else f"return {call}"]
    return define(result, f"{function.name}_at", _addresses(function), body)


def store(function: Function, typed: TypedProgram) -> str:
    """Store the results; whether every integer among them fitted its field."""
    edge = function.name.startswith("edge")
    specs = {spec.name: spec for spec in (typed.ir.edge_fields if edge else typed.ir.fields)}
    addresses = (("const EdgeFields&" if edge else "const Fields&", "D"), *_addresses(function))
    name = f"{function.name}_store"
    if not function.writes:
        return define("bool", name, addresses, ["return true;"])
    taken = ", ".join(argument for _, argument in _addresses(function))
    single = len(function.writes) == 1
    values = ["fresh"] if single else [f"fresh.r{i}" for i in range(len(function.writes))]
    narrow = {field for where, field in typed.narrowing if where == function.name}
    checked = [i for i, (field, _) in enumerate(function.writes) if field in narrow]
    roots = [function.roots[i] for i in checked]
    whole = [typed.typing.of(root).dtype for root in roots]
    # the whole values are computed before anything is stored, since D may be S
    statements, wide = lower(roots, whole, typed.typing, lambda leaf: look_up(leaf, typed))
    fits = " && ".join(f"({a}) == {values[i]}" for a, i in zip(wide, checked, strict=True)) or "true"
    writes = [
        f"D.{'e' if edge else 'f'}_{field}[{place_of('arc' if edge else 'v', specs[field].size, index)}] = {value};"
        for (field, index), value in zip(function.writes, values, strict=True)
    ]
    body = [
        f"const auto fresh = {function.name}_at({taken});", *statements, f"const bool fits = {fits};", *writes,
        "return fits;",
    ]  # fmt: skip
    return define("bool", name, addresses, body)


def place_of(row: str, size: int | None, index: int) -> str:
    """The index of a component in the array of a field: rows of a vector field lie one after the other."""
    return row if size is None else f"(i64){row} * {size} + {index}"


def look_up(leaf: Expr, typed: TypedProgram) -> str:
    """Where a symbol's value lies, given the addresses."""
    match leaf.op:
        case "field":
            role, name, index = leaf.attr
            structure, row = "O" if role == "old" else "S", "u" if role == "source" else "v"
            return f"field({structure}.f_{name}, {place_of(row, typed.ir.field(name).size, index)})"
        case "edge_field":
            name, index = leaf.attr
            return f"E.e_{name}[{place_of('arc', typed.ir.field(name).size, index)}]"
        case "edge_param":
            name, index = leaf.attr
            spec = next(spec for spec in typed.ir.params if spec.name == name)
            return f"constant(E.e_{name} + {place_of('arc', spec.size, index)})"
        case "vertex_param" | "param":
            role, name, index = leaf.attr if leaf.op == "vertex_param" else ("", *leaf.attr)
            spec = next(spec for spec in typed.ir.params if spec.name == name)
            if leaf.op == "vertex_param":
                return f"constant(K.p_{name} + {place_of(_vertex(role), spec.size, index)})"
            return f"K.p_{name}" + (f"[{index}]" if spec.size is not None else "")
        case "table":
            return f"K.{'at' if leaf.attr[0] == 'field' else 'p'}_{leaf.attr[1]}"
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
