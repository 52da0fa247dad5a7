"""How messages are merged in C++: in registers, between lanes, and in memory that all threads share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from dromos.codegen.cuda.functions import define
from dromos.codegen.cuda.lower import C_NAMES, c_literal
from dromos.codegen.cuda.structures import shared_type
from dromos.codegen.merging import BETTER, way_to_share
from dromos.program import TypedProgram
from dromos.program.monoid import ANY, MAX, MIN, SUM, Monoid

__all__ = ["merged", "merging"]

_OPERATORS: Final = {"SUM": "({a} + {b})", "OR": "({a} | {b})", "AND": "({a} & {b})"}


def _each(count: int, line: Callable[[int], str]) -> list[str]:
    return [line(i) for i in range(count)]


def merged(monoid: Monoid, dtype: np.dtype[Any], a: str, b: str) -> str:
    """Two values as one, in the type in which they are merged."""
    if monoid in (MIN, MAX):
        return f"{'lesser' if monoid is MIN else 'greater'}({a}, {b})"
    if monoid is SUM and dtype.kind in "iu":
        return f"wrap_add({a}, {b})"
    return f"({C_NAMES[dtype]}){_OPERATORS[monoid.name].format(a=a, b=b)}"


def merging(typed: TypedProgram) -> list[str]:
    """How messages are merged: in registers, between lanes, and in memory that all threads share."""
    monoid, dtypes = typed.ir.combine, typed.accumulators
    start = ", ".join(c_literal(value, dtype) for value, dtype in zip(typed.identities, dtypes, strict=True))
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
        define("Message", "identity", (), [f"return Message{{{start}}};"]),
        define("Message", "merge", two, _merge_body(monoid, dtypes)),
        define(
            "Message",
            "exchange",
            (("unsigned", "lanes"), ("Message", "m"), ("int", "step")),
            [f"return Message{{{exchange}}};"],
        ),
        define("Message", "fetch", (("Message", "m"), ("unsigned", "lane")), [f"return Message{{{fetched}}};"]),
        define("Message", "take", (("const Merged&", "A"), ("vid", "v")), [f"return Message{{{taken}}};"]),
        define("Message", "take_newest", (("const Merged&", "A"), ("vid", "v")), [f"return Message{{{newest}}};"]),
        define(
            "void",
            "put",
            (("const Merged&", "A"), ("vid", "v"), one),
            _each(count, lambda i: f"A.a{i}[v] = message.m{i};"),
        ),
        define(
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
        better = BETTER[monoid.name]
        return [
            *_each(len(dtypes), lambda i: f"if (b.m{i} != a.m{i}) return b.m{i} {better} a.m{i} ? b : a;"),
            "return a;",
        ]
    parts = ", ".join(merged(monoid.part(i), dtype, f"a.m{i}", f"b.m{i}") for i, dtype in enumerate(dtypes))
    return [f"return Message{{{parts}}};"]


def _shared_body(monoid: Monoid, dtypes: tuple[np.dtype[Any], ...]) -> list[str]:
    """Component by component where an atomic does it, else whole, under a lock."""
    way = way_to_share(monoid, len(dtypes))
    if way == "store":
        return ["A.a0[v] = message.m0;"]
    if way == "lock":
        kept = "message" if monoid is ANY else "merge(take_newest(A, v), message)"
        return [f"under_lock(locks, v, [&] {{ put(A, v, {kept}); }});"]
    lines = []
    for i, dtype in enumerate(dtypes):
        own = monoid.part(i)
        value = f"({C_NAMES[shared_type(dtype)]})message.m{i}"
        look = f"if (message.m{i} {BETTER[own.name]} newest(A.a{i} + v)) " if own in (MIN, MAX) else ""
        lines.append(f"{look}merge_{own.name.lower()}(A.a{i} + v, {value});")
    return lines
