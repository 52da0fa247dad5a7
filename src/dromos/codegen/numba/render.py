"""A program as a source module: its small functions of scalars, and the same ones addressed by vertex and edge.

The module depends on nothing but NumPy and Numba, and its text is a function of the program and the graph's types
alone. Kernels are appended to it and decorated with its ``kernel``: what a kernel calls is then in the text that names
the module, so a cached kernel never calls stale code. The small functions are not cached one by one; they end up
inside the kernels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dromos.codegen.numba.functions import Function, argument_name, functions
from dromos.codegen.numba.lower import lower
from dromos.program import Expr, TypedProgram

__all__ = ["CONTEXT", "look_up", "render", "returned"]

CONTEXT: Final = ("superstep", "num_vertices", "num_arcs", "out_degree", "in_degree")
"""What stands at the front of the context tuple ``K``; the parameters follow, then the reductions, as declared,
then the fields that are read by id.

For ``out_degree`` that is the graph's offsets, which are at hand anyway; for ``in_degree`` an array of the degrees."""

# Which addresses a function takes. S, O: fields after and before; E: edge fields; K: context; D: where to store.
_EDGE: Final = ("S", "E", "K", "u", "v", "arc", "weight")
_ADDRESSES: Final = {
    **dict.fromkeys(("compute", "sends", "edge_init", "edge_update"), _EDGE),
    **dict.fromkeys(("init", "start", "wants", "sent"), ("S", "K", "v")),
    "update": ("S", "K", "v", "message"),
    "active": ("O", "S", "K", "v"),
    "converged": ("K",),
}
_REDUCE: Final = ("O", "S", "K", "v")
_LONGEST_DISPLAY: Final = 30

_HEADER: Final = '''"""Program {hash} for ids {id} and weights {weight}. Written by Dromos; changes are lost.

Functions of scalars take the symbols that they use; *_at and *_store look them up.
S, O, D: the fields now, before, to be written: {fields}
E: the edge fields, and what is given by edge: {edges}
K: {context}
*_store returns whether every integer fitted its field.
"""

import numpy as np
{prelude}
'''

_PRELUDE: Final = "from dromos.jit import inline, kernel"


def render(typed: TypedProgram, prelude: str = _PRELUDE, *, shared: str = "") -> str:
    """The text of the module that holds a program's functions; ``prelude`` defines the decorators.

    ``shared``: the atomic load that fields are read by where other threads write them meanwhile, by relaxed stores; the
    prelude then brings both.

    >>> import numpy as np
    >>> import dromos.program as dr
    >>> class Spread(dr.Program):
    ...     x = dr.field(np.float32, init=1.0)
    ...     combine = dr.SUM
    ...     def compute(self, u, edge, v): return u.x / u.out_degree
    ...     def update(self, v, message): return message
    >>> text = render(Spread.typed(dr.GraphTypes()))
    >>> print(text[text.index("def compute(") : text.index("@inline", text.index("def compute("))].strip())
    def compute(u_x, u_out_degree):
        return np.float64(u_x) / np.float64(u_out_degree)
    """
    ir = typed.ir
    header = _HEADER.format(
        hash=ir.hash,
        id=typed.types.id,
        weight=typed.types.weight,
        fields=_tuple(spec.name for spec in ir.fields),
        edges=_tuple(spec.name for spec in (*ir.edge_fields, *ir.edge_params)),
        context=_tuple(_context(typed)),
        prelude=prelude,
    )
    parts = [header]
    for function in functions(typed):
        parts += [_scalar(function, typed), _at(function, typed, shared)]
        if function.name in ("init", "edge_init", "sent", "update", "edge_update"):
            parts.append(_store(function, typed, shared))
    return "\n\n".join(part.strip("\n") + "\n" for part in parts)


def _tuple(names: Iterable[str]) -> str:
    return f"({', '.join(names)})"


def _context(typed: TypedProgram) -> list[str]:
    return [
        *CONTEXT,
        *(spec.name for spec in typed.ir.context_params),
        *(spec.name for spec in typed.ir.reductions),
        *map(_table, typed.ir.tables),
    ]


def _table(name: str) -> str:
    """What a field that is read by id is called in the context: no name of a user's has a space."""
    return f"last {name}"


def _define(name: str, arguments: Sequence[str], body: Sequence[str]) -> str:
    lines = [f"@inline\ndef {name}({', '.join(arguments)}):", *(f"    {line}" for line in body)]
    return "\n".join(lines)


def returned(results: Sequence[str]) -> list[str]:
    """Statements that return one value, or a tuple of them.

    Python makes a tuple of more than 30 values by way of a list, which Numba follows only where nothing branches in
    between; so these are computed first.

    >>> returned(["a", "b"])
    ['return (a, b)']
    """
    if len(results) == 1:
        return [f"return {results[0]}"]
    if len(results) <= _LONGEST_DISPLAY:
        return [f"return ({', '.join(results)})"]
    named = [f"result_{i}" for i in range(len(results))]
    return [*(f"{name} = {value}" for name, value in zip(named, results, strict=True)), f"return ({', '.join(named)})"]


def _scalar(function: Function, typed: TypedProgram) -> str:
    statements, results = lower(function.roots, function.results, typed.typing, lambda leaf: argument_name(leaf, typed))
    return _define(function.name, [a.name for a in function.arguments], [*statements, *returned(results)])


def _addresses(function: Function) -> tuple[str, ...]:
    return _ADDRESSES.get(function.name, _REDUCE)


def _at(function: Function, typed: TypedProgram, shared: str) -> str:
    values = [look_up(argument.leaf, typed, shared) for argument in function.arguments]
    return _define(f"{function.name}_at", _addresses(function), [f"return {function.name}({', '.join(values)})"])


def _store(function: Function, typed: TypedProgram, shared: str) -> str:
    """Store the results, and tell whether the integers among them fit: one that does not differs after the cast."""
    row = "arc" if function.name.startswith("edge") else "v"
    specs = typed.ir.edge_fields if function.name.startswith("edge") else typed.ir.fields
    addresses = ("D", *_addresses(function))
    if not function.writes:
        return _define(f"{function.name}_store", addresses, ["return True"])
    take = f"new = {function.name}_at({', '.join(_addresses(function))})"
    values = ["new"] if len(function.writes) == 1 else [f"new[{i}]" for i in range(len(function.writes))]
    writes = []
    for (name, index), value in zip(function.writes, values, strict=True):
        slot = next(i for i, spec in enumerate(specs) if spec.name == name)
        if shared and row == "v":
            writes.append(f"store_relaxed(D[{slot}], {_place(row, specs[slot].size, index)}, {value})")
        else:
            writes.append(f"D[{slot}][{_index(row)}{_component(specs[slot].size, index)}] = {value}")
    narrow = {name for where, name in typed.narrowing if where == function.name}
    checked = [i for i, (name, _) in enumerate(function.writes) if name in narrow]
    roots = [function.roots[i] for i in checked]
    whole = [typed.typing.of(root).dtype for root in roots]
    # the whole values are computed before anything is stored, since D may be S
    statements, wide = lower(roots, whole, typed.typing, lambda leaf: look_up(leaf, typed, shared))
    fits = " and ".join(f"({a}) == {values[i]}" for a, i in zip(wide, checked, strict=True)) or "True"
    body = [take, *statements, f"fits = {fits}", *writes, "return fits"]
    return _define(f"{function.name}_store", addresses, body)


def look_up(leaf: Expr, typed: TypedProgram, shared: str = "") -> str:
    """Where a symbol's value lies, given the addresses; ``shared`` as in :func:`render`."""
    context = _context(typed)
    match leaf.op:
        case "field":
            role, name, index = leaf.attr
            array, row = {"old": "O"}.get(role, "S"), _index({"source": "u"}.get(role, "v"))
            slot = next(i for i, spec in enumerate(typed.ir.fields) if spec.name == name)
            if shared:
                return f"{shared}({array}[{slot}], {_place(_row(role), typed.ir.fields[slot].size, index)})"
            return f"{array}[{slot}][{row}{_component(typed.ir.fields[slot].size, index)}]"
        case "edge_field" | "edge_param":
            name, index = leaf.attr
            by_edge = (*typed.ir.edge_fields, *typed.ir.edge_params)
            slot = next(i for i, spec in enumerate(by_edge) if spec.name == name)
            return f"E[{slot}][{_index('arc')}{_component(by_edge[slot].size, index)}]"
        case "vertex_param":
            role, name, index = leaf.attr
            spec = next(spec for spec in typed.ir.params if spec.name == name)
            return f"K[{context.index(name)}][{_index(_row(role))}{_component(spec.size, index)}]"
        case "param":
            name, index = leaf.attr
            spec = next(spec for spec in typed.ir.params if spec.name == name)
            return f"K[{context.index(name)}]" + (f"[{index}]" if spec.size is not None else "")
        case "table":
            name = leaf.attr[1]
            return f"K[{context.index(_table(name) if leaf.attr[0] == 'field' else name)}]"
        case "reduction":
            return f"K[{context.index(leaf.attr[0])}]"
        case "id":
            return f"np.{typed.types.id.name}({_row(leaf.attr[0])})"
        case "out_degree":
            row, offsets = _index(_row(leaf.attr[0])), f"K[{context.index(leaf.op)}]"
            return f"(np.int64({offsets}[{row} + np.uintp(1)]) - np.int64({offsets}[{row}]))"
        case "in_degree":
            return f"np.int64(K[{context.index(leaf.op)}][{_index(_row(leaf.attr[0]))}])"
        case "message":
            return "message" if len(typed.ir.message) == 1 else f"message[{leaf.attr[0]}]"
        case "weight":
            return "weight"
    return f"K[{context.index(leaf.op)}]"  # superstep, num_vertices, num_arcs


def _row(role: str) -> str:
    return "u" if role == "source" else "v"


def _index(row: str) -> str:
    """A row as an index: unsigned, which spares the test for one that counts from the end."""
    return f"np.uintp({row})"


def _place(row: str, size: int | None, index: int) -> str:
    """A row, and a component of a vector, as an intrinsic takes them."""
    return row if size is None else f"({row}, {index})"


def _component(size: int | None, index: int) -> str:
    return "" if size is None else f", {index}"
