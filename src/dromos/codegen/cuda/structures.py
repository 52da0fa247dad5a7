"""The structures that kernels take: one list of members per structure gives its C++ text and its NumPy type.

A pointer is 8 bytes on the host too, so a host record with the same members and C's alignment is passed to a kernel by
value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dromos.codegen.cuda.lower import C_NAMES
from dromos.program import TypedProgram

__all__ = [
    "Member",
    "context_members",
    "declare",
    "edge_members",
    "field_members",
    "merged_members",
    "record_type",
    "shared_type",
]

POINTER = np.dtype(np.uint64)


class Member(NamedTuple):
    """One member: its C++ type, its name, and its type on the host."""

    c_type: str
    name: str
    dtype: np.dtype[Any]


def pointer(c_type: str, name: str) -> Member:
    """A member that points to device memory."""
    return Member(f"{c_type}*", name, POINTER)


def declare(structure: str, members: Sequence[Member]) -> str:
    """The C++ text of a structure; an empty one gets an unused member.

    >>> declare("Fields", [pointer("int", "f_level")])
    'struct Fields { int* f_level; };'
    """
    inside = " ".join(f"{m.c_type} {m.name};" for m in members) or "int nothing;"
    return f"struct {structure} {{ {inside} }};"


def record_type(members: Sequence[Member]) -> np.dtype[Any]:
    """The same structure as a NumPy type."""
    pairs = [(m.name, m.dtype) for m in members] or [("nothing", np.dtype(np.int32))]
    return np.dtype(pairs, align=True)


def _stored(dtypes: Iterable[tuple[str, np.dtype[Any]]]) -> tuple[Member, ...]:
    return tuple(pointer(C_NAMES[dtype], name) for name, dtype in dtypes)


def field_members(typed: TypedProgram) -> tuple[Member, ...]:
    """``Fields``: pointers to the vertex fields."""
    return _stored((f"f_{spec.name}", typed.dtype(spec.name)) for spec in typed.ir.fields)


def edge_members(typed: TypedProgram) -> tuple[Member, ...]:
    """``EdgeFields``: pointers to the edge fields, and to the values given per edge."""
    given = [(f"e_{spec.name}", typed.types.resolve(spec.dtype)) for spec in typed.ir.edge_params]
    return (
        *_stored((f"e_{spec.name}", typed.dtype(spec.name)) for spec in typed.ir.edge_fields),
        *(pointer(f"const {C_NAMES[dtype]}", name) for name, dtype in given),
    )


def shared_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which messages of ``dtype`` are merged in memory: atomics need at least 4 bytes."""
    return np.dtype(np.int32) if dtype.itemsize < 4 else dtype


def merged_members(typed: TypedProgram) -> tuple[Member, ...]:
    """``Merged``: the accumulators of messages, one per component."""
    return _stored((f"a{i}", shared_type(dtype)) for i, dtype in enumerate(typed.accumulators))


def context_members(typed: TypedProgram) -> tuple[Member, ...]:
    """``Context``: values that belong to no vertex, and pointers to the parameters that do."""
    ids = C_NAMES[typed.types.id]
    params = []
    for spec in typed.ir.context_params:
        dtype = typed.types.resolve(spec.dtype)
        inside = spec.per_vertex or spec.size is not None
        one = Member(C_NAMES[dtype], f"p_{spec.name}", dtype)
        params.append(pointer(f"const {C_NAMES[dtype]}", one.name) if inside else one)
    reductions = [
        Member(C_NAMES[typed.reduction_type(r.name)], f"r_{r.name}", typed.reduction_type(r.name))
        for r in typed.ir.reductions
    ]
    return (
        Member("int", "superstep", np.dtype(np.int32)),
        Member("i64", "num_vertices", np.dtype(np.int64)),
        Member("i64", "num_arcs", np.dtype(np.int64)),
        pointer("const eid", "out_offsets"),
        pointer("const eid", "in_offsets"),
        pointer(f"const {ids}", "ids"),
        *params,
        *reductions,
        *(pointer(f"const {C_NAMES[typed.dtype(name)]}", f"at_{name}") for name in typed.ir.tables),
    )
