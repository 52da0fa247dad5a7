"""A program's functions in CUDA C++, as the kernels in ``engines/cuda/kernels`` call them.

The text is a function of the program and the graph's types alone. Hooks that every device shares are in
:mod:`dromos.codegen.hooks`; here are those that only a GPU needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dromos.codegen.cuda.improving import can_improve, improving
from dromos.codegen.cuda.lower import C_NAMES
from dromos.codegen.cuda.printer import CudaPrinter
from dromos.codegen.cuda.structures import context_members, declare, edge_members, field_members, merged_members
from dromos.codegen.facts import program_facts
from dromos.codegen.functions import assigning
from dromos.codegen.hooks import ADDRESSES, EDGE, VERTEX
from dromos.program import Analysis, TypedProgram
from dromos.program.expr import TRUE, walk
from dromos.program.patterns import guard

__all__ = ["hooks_text"]


def hooks_text(typed: TypedProgram, analysis: Analysis) -> str:
    """The text of a program's structures, constants and functions."""
    ir, printer = typed.ir, CudaPrinter(typed, analysis)
    parts = [
        f"// Program {ir.hash} for ids {typed.types.id} and weights {typed.types.weight}. Written by Dromos.",
        '#include "state.cuh"',
        *_structures(typed),
        *_constants(typed, analysis),
        *printer.functions(),
    ]
    if not ir.edge_fields:
        nothing = printer.give("true")
        stored = ("const EdgeFields& D", *EDGE)
        parts += [printer.define(name, stored, "bool", nothing) for name in ("edge_init_store", "edge_update_store")]
    parts += [*_claiming(printer), *_messages(printer), *printer.hooks(), *_reductions(printer), *improving(printer)]
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
    facts = program_facts(typed, analysis) | {
        "HAS_WEIGHTS": typed.types.weight is not None,
        "CAN_IMPROVE": can_improve(typed, analysis) is not None,
        "ASKS_SOURCE": _asks_source(typed),
        "WANTS_DECLARED": typed.ir.wants is not TRUE,
    }
    return [f"static const bool {name} = {str(value).lower()};" for name, value in facts.items()]


def _asks_source(typed: TypedProgram) -> bool:
    """Whether a message depends on state written earlier in the run: fields of its source, or of an edge."""
    return any(
        node.op == "edge_field" or (node.op == "field" and node.role == "source")
        for node in walk([*typed.ir.message, typed.ir.sends])
    )


def _claiming(printer: CudaPrinter) -> list[str]:
    """``is_open``: whether a vertex takes a message. ``claim_store``: ``update`` for such a vertex, without a test."""
    claimed = printer.analysis.claimed
    found = guard(printer.ir.update) if claimed is not None else None
    if claimed is None or found is None:
        update = printer.give("update_store(D, S, K, v, message)")
        return [
            printer.define("is_open", VERTEX, "bool", printer.give("true")),
            printer.define("claim_store", ("D", *ADDRESSES["update"]), "bool", update),
        ]
    taken = assigning(printer.typed, "claim", tuple(found[1].items()))
    is_open = printer.give(f"{printer.field_value('S', claimed, 0)} < 0")
    return [
        printer.define("is_open", VERTEX, "bool", is_open),
        printer.scalar(taken), printer.at(taken), printer.store(taken),
    ]  # fmt: skip


def _messages(printer: CudaPrinter) -> list[str]:
    """Hooks for messages of other lanes of a warp, and for messages that other threads may be merging into."""
    dtypes = printer.typed.accumulators
    parts = [printer.part("m", i) for i in range(len(dtypes))]
    newest = [f"({C_NAMES[d]}){printer.newest_accumulator(i)}" for i, d in enumerate(dtypes)]
    exchanged, fetched = (
        _shuffled(parts, dtypes, "xor_sync(lanes", "step"),
        _shuffled(parts, dtypes, "sync(FULL", "lane"),
    )
    return [
        printer.define(
            "exchange", ("unsigned lanes", "Message m", "int step"), "Message", printer.give_all("Message", exchanged)
        ),
        printer.define("fetch", ("Message m", "unsigned lane"), "Message", printer.give_all("Message", fetched)),
        printer.define("load_newest", ("A", "v"), "Message", printer.give_all("Message", newest)),
    ]


def _reductions(printer: CudaPrinter) -> list[str]:
    """Hooks that merge reductions of lanes and blocks, and show them to the next superstep."""
    names = [r.name for r in printer.ir.reductions]
    dtypes = [printer.typed.reduction_type(name) for name in names]
    moved = _shuffled([f"R.r_{name}" for name in names], dtypes, "xor_sync(FULL", "step")
    merged = printer.folded("a", [f"b.r_{name}" for name in names])
    return [
        printer.define("reduce_merge", ("Reduced a", "Reduced b"), "Reduced", merged),
        printer.define("exchange", ("R", "int step"), "Reduced", printer.give_all("Reduced", moved or ["0"])),
        printer.define("reduce_show", ("Context& K", "R"), "void", [f"K.r_{name} = R.r_{name};" for name in names]),
    ]


def _shuffled(values: Sequence[str], dtypes: Sequence[np.dtype[Any]], how: str, who: str) -> list[str]:
    """The same values from another lane; those of less than four bytes are shuffled as an int."""
    sent = [f"(int){value}" if dtype.itemsize < 4 else value for value, dtype in zip(values, dtypes, strict=True)]
    return [f"({C_NAMES[d]})__shfl_{how}, {value}, {who})" for value, d in zip(sent, dtypes, strict=True)]
